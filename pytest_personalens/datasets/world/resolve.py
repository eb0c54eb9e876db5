"""Gives the facts of a task their values for one person at one moment."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.facts import RANGE, Fact, Thing
from pytest_personalens.core.frozen import unchecked
from pytest_personalens.datasets.draws import pick, reference
from pytest_personalens.datasets.world import values
from pytest_personalens.datasets.world.dates import days_of
from pytest_personalens.datasets.world.entries import FactEntry, ThingEntry
from pytest_personalens.datasets.world.placeholders import fill_placeholders
from pytest_personalens.datasets.world.surroundings import (
    Surroundings,
    UnresolvedError,
    inside,
    named_type,
    says,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.facts import FactKind, Known

#: Any value is right.
ANY: Final = "*"
#: What a value that cannot be read raises, or one that lies outside the calendar.
_UNREADABLE: Final = (ValueError, OverflowError)
_REFERENCE: Final = re.compile(
    r"@(?P<name>[\w.]+)(?: (?P<sign>[+-]) (?P<step>(?:\d+|@(?P<by>\w+))(?: \w+)?))?(?P<unit> days?)?"
)
#: The fields of a life that hold people, and those that hold places: what is wrong for one is another.
_PEOPLE: Final = (
    "guests", "friends", "close", "sister", "brother", "cousin", "niece", "nephew", "old_friend",
    "wedding_friend", "far_contact",
)  # fmt: skip
_PLACES: Final = ("trip_city", "family_town", "sister_city", "wedding_city", "old_friend_city", "city")


class Resolver:
    """The facts and things of one task for one person and moment; `UnresolvedError` if one has no value."""

    def __init__(self, entries: Mapping[str, FactEntry | ThingEntry], around: Surroundings) -> None:
        self._around = around
        self._today = dt.date.fromisoformat(around.now.date)
        self._entries: dict[str, FactEntry] = {}
        self._things = {n: e for n, e in entries.items() if isinstance(e, ThingEntry)}
        for name, entry in entries.items():
            if isinstance(entry, ThingEntry):
                self._entries |= {f"{name}.{field}": fact for field, fact in entry.has.items()}
            else:
                self._entries[name] = entry
        self._right: dict[str, tuple[str, ...]] = {}
        self._examples: dict[str, str] = {}
        self._under_way: list[str] = []

    def facts(self) -> tuple[Fact, ...]:
        """Return the facts of the task, the fields of things among them."""
        return tuple(self._fact(name, entry) for name, entry in self._entries.items())

    def things(self) -> tuple[Thing, ...]:
        """Return the things of the task, in words."""
        return tuple(self._thing(name, entry) for name, entry in self._things.items())

    def _fact(self, name: str, entry: FactEntry) -> Fact:
        right = self.right(name)
        example = self.example(name)
        known = entry.known or self._where_known(name, entry, right)
        try:
            wrong = self._wrong(name, entry, right)
        except _UNREADABLE as error:
            raise UnresolvedError(name, str(error)) from None
        # Its values come from entries that are checked already, and a run makes thousands of facts.
        return unchecked(
            Fact,
            name=name,
            what=entry.what
            or (entry.preference.split(": ")[-1] if entry.preference else name.split(".")[-1]),
            kind=entry.kind,
            known=known,
            right=right,
            wrong=wrong,
            every=entry.every,
            rule=next((v for v in (entry.value, *entry.open) if self._on_open(v)), ""),
            example=example,
            says=says(entry.kind, right, every=entry.every),
        )

    def right(self, name: str) -> tuple[str, ...]:
        """Return the values and ranges of which any is right; empty if any value is."""
        if name not in self._right:
            entry = self._entry(name)
            self._under_way.append(name)
            try:
                self._right[name] = self._values(name, entry)
            except _UNREADABLE as error:
                raise UnresolvedError(name, str(error)) from None
            finally:
                self._under_way.pop()
        return self._right[name]

    def example(self, name: str) -> str:
        """Return one right value, which an assistant could choose."""
        if name not in self._examples:
            try:
                self._examples[name] = self._example(name, self._entry(name))
            except _UNREADABLE as error:
                raise UnresolvedError(name, str(error)) from None
        return self._examples[name]

    def _entry(self, name: str) -> FactEntry:
        if name in self._under_way:
            raise UnresolvedError(name, f"depends on itself: {' -> '.join([*self._under_way, name])}")
        if name not in self._entries:
            raise UnresolvedError(
                self._under_way[-1] if self._under_way else name,
                f"no fact {name!r}; known: {', '.join(self._entries)}",
            )
        return self._entries[name]

    def _values(self, name: str, entry: FactEntry) -> tuple[str, ...]:
        if entry.open:
            return () if ANY in entry.open else tuple(self._span(name, entry.kind, v) for v in entry.open)
        found = self._source(name, entry)
        if entry.pick:
            found = (pick(found, self._around.key, name),)
        return tuple(self._written(entry.kind, value) for value in found)

    def _source(self, name: str, entry: FactEntry) -> tuple[str, ...]:
        """Return the values before they are read."""
        if entry.code:
            return (reference(self._around.key, name),)
        if entry.draw:
            drawn = pick(entry.draw, self._around.key, name)
            return (self._span(name, entry.kind, drawn),)
        if entry.value:
            return (self._span(name, entry.kind, entry.value),)
        if entry.life:
            return self._of_life(name, entry.life)
        if not (preferred := self._around.preferred(entry.preference)):
            domain, kind = named_type(entry.preference, self._around.domains)
            raise UnresolvedError(name, f"the person has no preference {kind!r} in {domain}")
        return preferred

    def _of_life(self, name: str, field: str) -> tuple[str, ...]:
        if field == "name":
            return (self._around.name,)
        if field not in self._around.life:
            known = ", ".join(self._around.life) or "none"
            raise UnresolvedError(name, f"the [life] of the person has no {field!r}; known: {known}")
        value = self._around.life[field]
        return (value,) if isinstance(value, str) else tuple(value)

    def _written(self, kind: FactKind, value: str) -> str:
        first, last = values.range_ends(value)
        return value if first != last else values.parse(kind, value)

    def _span(self, name: str, kind: FactKind, text: str, *, by_example: bool = False) -> str:
        """Return a value or a range in its written form, with references put in."""
        first, dots, last = text.partition(RANGE)
        if not dots:
            return self._one(kind, text, by_example=by_example)
        low = values.range_ends(self._one(kind, first, by_example=by_example))[0]
        high = values.range_ends(self._one(kind, last, by_example=by_example))[1]
        if values.ordinal(kind, low) > values.ordinal(kind, high):
            raise UnresolvedError(name, f"the range {low}{RANGE}{high} is upside down")
        return f"{low}{RANGE}{high}" if low != high else low

    def _one(self, kind: FactKind, text: str, *, by_example: bool) -> str:
        if "@" in text and (match := _REFERENCE.fullmatch(text)):
            return self._referred(kind, match, by_example=by_example)
        if kind == "date":
            birthday = str(self._around.life.get("birthday", ""))
            first, last = days_of(text, self._today, birthday)
            return first.isoformat() if first == last else f"{first.isoformat()}{RANGE}{last.isoformat()}"
        return values.parse(kind, text)

    def _referred(self, kind: FactKind, match: re.Match[str], *, by_example: bool) -> str:
        name = match["name"]
        if name == "now":
            base = self._around.now.time
        elif name.startswith("life."):
            base = self._of_life(name, name.removeprefix("life."))[0]
        elif by_example:
            base = self.example(name)
        else:
            base = (self.right(name) or (self.example(name),))[0]
        if match["unit"]:  # "@days days": a number as a duration
            return values.parse(kind, f"{base}{match['unit']}")
        if not match["step"]:
            return base
        step = match["step"]
        if match["by"]:
            step = step.replace(f"@{match['by']}", self.example(match["by"]))
        ends = dict.fromkeys(
            values.shift(kind, end, f"{match['sign']}{step}") for end in values.range_ends(base)
        )
        return RANGE.join(ends)

    def _on_open(self, text: str) -> bool:
        """Return True if a value follows from a fact that is itself open."""
        names = [m["name"] for m in _REFERENCE.finditer(text)] if "@" in text else []
        return any(n in self._entries and self._entries[n].open for n in names)

    def _example(self, name: str, entry: FactEntry) -> str:
        key = self._around.key
        if entry.value and self._on_open(entry.value):
            return self._span(name, entry.kind, entry.value, by_example=True)
        if entry.examples:
            return self._written(entry.kind, pick(entry.examples, key, name))
        if entry.open and (entry.preference or entry.life):
            return self._written(entry.kind, pick(self._source(name, entry), key, name))
        if entry.open:
            span = self._span(name, entry.kind, pick(entry.open, key, name), by_example=True)
            excluded = self._excluded(name, entry)
            return inside(entry.kind, span, excluded)
        if entry.every:
            return values.join_words([values.say(entry.kind, v) for v in self.right(name)])
        return values.range_ends(pick(self.right(name), key, name))[0]

    def _excluded(self, name: str, entry: FactEntry) -> tuple[str, ...]:
        return (self._span(name, entry.kind, entry.excluded),) if entry.excluded else ()

    def _wrong(self, name: str, entry: FactEntry, right: Sequence[str]) -> tuple[str, ...]:
        found = [*self._excluded(name, entry), *entry.wrong]
        thing, _, field = name.rpartition(".")
        if thing and field in self._things[thing].other:
            found.append(self._other_value(thing, field, entry))
        for value in right:
            found += values.neighbours(entry.kind, value)
        if entry.draw:
            found += [self._span(name, entry.kind, v) for v in entry.draw]
        if entry.life:
            names = _PEOPLE if entry.kind == "person" else _PLACES
            found += [v for n in names if n in self._around.life for v in self._of_life(name, n)]
        if entry.preference and right:
            found += [self._written(entry.kind, v) for v in self._around.strange(entry.preference)]
        return tuple(dict.fromkeys(v for v in found if v not in right))

    def _other_value(self, thing: str, field: str, entry: FactEntry) -> str:
        text = self._things[thing].other[field]
        if entry.code:
            return reference(self._around.key, thing, "other")
        return self._span(f"{thing}.{field}", entry.kind, text)

    def _thing(self, name: str, entry: ThingEntry) -> Thing:
        today = self._around.now.date
        own: dict[str, tuple[FactKind, Sequence[str]]] = {
            field: (fact.kind, self.right(f"{name}.{field}")[:1] or (self.example(f"{name}.{field}"),))
            for field, fact in entry.has.items()
        }
        # A field that `other` leaves out is the same for both.
        other: dict[str, tuple[FactKind, Sequence[str]]] = {
            field: (entry.has[field].kind, (self._other_value(name, field, entry.has[field]),))
            for field in entry.other
        }
        return unchecked(
            Thing,
            name=name,
            what=entry.what,
            domain=entry.domain or self._around.domains[0],
            record=fill_placeholders(entry.record, own, today),
            other=fill_placeholders(entry.record, own | other, today) if entry.other else "",
        )

    def _where_known(self, name: str, entry: FactEntry, right: Sequence[str]) -> Known:
        """Return where a fact is known that does not say it: what the histories tell need not be asked."""
        if entry.open:
            return "open"
        if entry.preference or "." in name:
            return "history"
        told = entry.life and all(v.casefold() in self._around.known for v in right)
        return "history" if told else "told"
