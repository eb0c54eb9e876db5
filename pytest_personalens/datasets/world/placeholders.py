"""Puts the values of facts into the texts of a task, such as ``a table for {party} on {day:weekday}``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.datasets.world import values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.facts import Fact, FactKind

_PLACE: Final = re.compile(r"\{(?P<name>[\w.]+)(?::(?P<form>\w+))?\}")


def fill_placeholders(text: str, facts: Mapping[str, tuple[FactKind, Sequence[str]]], today: str) -> str:
    """Return the text with the values of facts; raise ValueError for a placeholder without a fact.

    `today` is an ISO date: a weekday that is not within the next six days is said with its date.
    """

    def place(match: re.Match[str]) -> str:
        if match["name"] not in facts:
            raise ValueError(f"the placeholder {match[0]} has no fact; known: {', '.join(facts)}")
        kind, held = facts[match["name"]]
        form = match["form"] or ""
        return values.join_words([values.say(kind, v, _clear(kind, v, form, today)) for v in held])

    return _PLACE.sub(place, text)


def _clear(kind: FactKind, value: str, form: str, today: str) -> str:
    if form != "weekday" or kind != "date":
        return form
    days = values.ordinal("date", values.range_ends(value)[0]) - values.ordinal("date", today)
    return form if 0 < days < 7 else ""


def placeholder_values(facts: Sequence[Fact]) -> dict[str, tuple[FactKind, Sequence[str]]]:
    """Return the values that placeholders stand for."""
    return {f.name: (f.kind, f.right or (f.example,)) for f in facts}


def goal_pattern(goal: str) -> re.Pattern[str]:
    """Return a pattern of a goal with any values in its places, as named groups."""
    texts, names = _PLACE.split(goal)[::3], [m["name"].replace(".", "__") for m in _PLACE.finditer(goal)]
    pattern = re.escape(texts[0])
    for number, (name, text) in enumerate(zip(names, texts[1:], strict=True)):
        seen = name in names[:number]
        pattern += (f"(?P={name})" if seen else f"(?P<{name}>.+?)") + re.escape(text)
    return re.compile(pattern)


def fill_from_match(text: str, found: Mapping[str, str]) -> str:
    """Return a text whose places hold the values that `goal_pattern` found."""

    def place(match: re.Match[str]) -> str:
        value = found[match["name"].replace(".", "__")]
        return value if match["form"] in ("weekday", "capital") else value[:1].lower() + value[1:]

    return _PLACE.sub(place, text)


def placeholder_problems(text: str, known: Sequence[str]) -> Iterator[str]:
    """Yield the problem with each placeholder of a text that names no fact, or asks for an unknown form."""
    for match in _PLACE.finditer(text):
        if match["name"] not in known:
            yield f"the placeholder {match[0]} has no fact; known: {', '.join(known) or 'none'}"
        elif match["form"] and match["form"] not in values.FORMS:
            yield f"the placeholder {match[0]} asks for an unknown form; known: {', '.join(values.FORMS)}"
