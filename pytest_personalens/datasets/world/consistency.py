"""Finds what cannot be true in a scenario: in its clock, its facts and its sessions."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import TYPE_CHECKING

from pytest_personalens.datasets.world import values
from pytest_personalens.datasets.world.dates import HOURS, WEEKDAYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.facts import Clock, Fact
    from pytest_personalens.core.scenario import Scenario, Situation


def contradictions(scenario: Scenario) -> Iterator[str]:
    """Yield the problems with what a scenario knows, each with its field."""
    if scenario.now is not None:
        yield from _clock(scenario.now, scenario.situation)
    names = [fact.name for fact in scenario.task.facts]
    yield from (f"task.facts: two facts are called {name!r}" for name, n in Counter(names).items() if n > 1)
    for fact in scenario.task.facts:
        yield from (f"task.facts.{fact.name}: {problem}" for problem in _fact(fact))
    for number, part in enumerate(scenario.task.parts, 1):
        for name in (name for name in part.facts if name not in names):
            yield f"task.parts.{number}: no fact {name!r}; known: {', '.join(names) or 'none'}"
    last = ""
    for session in scenario.sessions:
        if session.date < last:
            yield f"sessions.{session.id}: {session.date} lies before {last}, the session before it"
        if scenario.now is not None and session.date > scenario.now.date:
            yield f"sessions.{session.id}: {session.date} lies after now, {scenario.now.date}"
        last = max(last, session.date)


def _clock(now: Clock, situation: Situation) -> Iterator[str]:
    day = WEEKDAYS[dt.date.fromisoformat(now.date).weekday()]
    if situation.day_of_week in WEEKDAYS and day != situation.day_of_week:
        yield f"now.date: {now.date} is a {day}, and the situation says {situation.day_of_week}"
    hours = HOURS.get(situation.time_of_day)
    minute = values.ordinal("time", now.time)
    # A time of day has no sharp ends: five in the afternoon may be called evening.
    if hours is not None and not hours[0] - 120 <= minute <= hours[1] + 120:
        yield f"now.time: {now.time} is no {situation.time_of_day.lower()}, as the situation says"


def _fact(fact: Fact) -> Iterator[str]:
    if not fact.right and fact.known != "open":
        yield "a fact without a value; write what is right, or that it is open"
    for value in (*fact.right, *fact.wrong):
        first, last = values.range_ends(value)
        try:
            values.parse(fact.kind, first)
            values.parse(fact.kind, last)
        except ValueError as error:
            yield str(error)
            continue
        if first != last and values.ordinal(fact.kind, first) > values.ordinal(fact.kind, last):
            yield f"the range {value!r} is upside down"
    both = set(fact.right) & set(fact.wrong)
    yield from (f"{value!r} is right and wrong" for value in sorted(both))
