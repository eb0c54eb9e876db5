"""Says the facts of a scenario to the models that play its user or judge its dialogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.datasets.world.values import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Scenario

_HOW_KNOWN: Final = {
    "said": "say it in your first message",
    "told": "tell it when you are asked",
    "history": "the assistant may know it from before; tell it when you are asked",
}
#: How the assistant can know a fact, for a judge.
_SOURCE: Final = {
    "said": "the person says it at once",
    "told": "the person tells it when asked",
    "history": "known from before",
    "open": "open to the assistant",
}
#: How many of its words a judge is told of each limit.
_WORDS: Final = 6
#: How many wrong values a judge is told of each fact.
_WRONG: Final = 3


def with_knowledge(scenario: Scenario) -> str:
    """Return the intent, and what the user knows of it as values; the intent alone without facts."""
    if not scenario.task.facts:
        return scenario.task.intent
    lines = [scenario.task.intent, "", "What you know, and nobody else can know better:", *_moment(scenario)]
    lines += [
        f"- {fact.what}: {fact.says} ({_HOW_KNOWN[fact.known]})"
        for fact in scenario.task.facts
        if fact.known in _HOW_KNOWN and fact.says
    ]
    lines += [
        f"- {fact.what}: the assistant may choose" + (f", {fact.says}" if fact.says else "")
        for fact in scenario.task.facts
        if fact.known == "open"
    ]
    for thing in scenario.task.things:
        lines.append(f"- you have {thing.record}")
        if thing.other:
            lines.append(f"- you also have {thing.other}; this is not the one that you mean")
    return "\n".join(lines)


def fact_sources(scenario: Scenario) -> list[str]:
    """Return a line for each fact of the task: its value, and how the assistant can know it."""
    return [
        *_moment(scenario),
        *(
            f"- {fact.what}: {fact.says or 'any value will do'} ({_SOURCE[fact.known]})"
            for fact in scenario.task.facts
        ),
    ]


def with_values(scenario: Scenario) -> str:
    """Return the goal, and what counts as right as values; the goal alone without facts."""
    if not scenario.task.facts:
        return scenario.task.goal
    lines = [scenario.task.goal, "", "As values, where the goal rests on them:", *_moment(scenario)]
    lines += [f"- {fact.what}: {fact.says}{_wrong(fact)}" for fact in scenario.task.facts if fact.says]
    for thing in scenario.task.things:
        lines.append(f"- the {thing.what} that is meant: {thing.record}")
        if thing.other:
            lines.append(f"- another {thing.what} of the user, which must stay as it is: {thing.other}")
    return "\n".join(lines)


def with_limits(profile: str, scenario: Scenario) -> str:
    """Return the profile, and what must never happen to this person."""
    if not scenario.limits:
        return profile
    lines = [f"- {x.text} (such as: {', '.join(x.words[:_WORDS])})" for x in scenario.limits]
    return "\n".join([profile, "", "Never acceptable:", *lines])


def _moment(scenario: Scenario) -> Iterator[str]:
    if scenario.now is not None:
        yield f"- it is now {scenario.now}"


def _wrong(fact: Fact) -> str:
    values = [say(fact.kind, value) for value in fact.wrong[:_WRONG]]
    return f" (wrong would be {', '.join(values)})" if values else ""
