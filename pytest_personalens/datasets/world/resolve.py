"""Gives the facts of a task their values for one person at one moment, and puts them into texts."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.facts import RANGE, Fact, Thing
from pytest_personalens.core.frozen import unchecked
from pytest_personalens.datasets.dataset import pick, reference
from pytest_personalens.datasets.world import written
from pytest_personalens.datasets.world.dates import HOURS, WEEKDAYS, days_of
from pytest_personalens.datasets.world.fact_entries import FactEntry, ThingEntry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.facts import Clock, FactKind, Known
    from pytest_personalens.core.scenario import Scenario, Situation


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
        return written.join_words([written.say(kind, v, _clear(kind, v, form, today)) for v in held])

    return _PLACE.sub(place, text)


def _clear(kind: FactKind, value: str, form: str, today: str) -> str:
    if form != "weekday" or kind != "date":
        return form
    days = written.ordinal("date", written.range_ends(value)[0]) - written.ordinal("date", today)
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
        elif match["form"] and match["form"] not in written.FORMS:
            yield f"the placeholder {match[0]} asks for an unknown form; known: {', '.join(written.FORMS)}"


@dataclass(frozen=True)
class Surroundings:
    """What the facts of a task draw on.

    `preferences` maps a domain to the person's values by type, `possible` to the values that exist.
    `known` is what an assistant with a memory knows of the task's domains, in small letters.
    """

    now: Clock
    key: str
    name: str
    life: Mapping[str, str | tuple[str, ...]]
    domains: tuple[str, ...]
    preferences: Mapping[str, Mapping[str, tuple[str, ...]]]
    possible: Mapping[str, Mapping[str, tuple[str, ...]]]
    known: str

    def preferred(self, name: str) -> tuple[str, ...]:
        """Return the person's values of a preference; empty if there are none."""
        domain, kind = named_type(name, self.domains)
        return self.preferences.get(domain, {}).get(kind, ())

    def strange(self, name: str) -> list[str]:
        """Return the values of a preference that exist and that the person has not."""
        domain, kind = named_type(name, self.domains)
        held = self.preferred(name)
        return [v for v in self.possible.get(domain, {}).get(kind, ()) if v not in held]


class UnresolvedError(Exception):
    """A fact that has no value; `field` is its name."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field, self.problem = field, problem


def named_type(name: str, domains: Sequence[str]) -> tuple[str, str]:
    """Return the domain and the type of a preference that is called ``Type`` or ``Domain: Type``."""
    domain, colon, kind = name.partition(": ")
    return (domain, kind) if colon else (domains[0], name)


def inside(kind: FactKind, span: str, excluded: Sequence[str]) -> str:
    """Return a value near the beginning of a range, not an excluded one; a price lies below the most."""
    first, last = written.range_ends(span)
    if first == last:
        return first
    if kind == "money":
        return str(max(int(first), int(last) * 4 // 5))
    step = {"date": "+1 day", "time": "+15 minutes"}.get(kind, "+1")
    value = first
    while kind != "duration":
        try:
            later = written.shift(kind, value, step)
        except ValueError:
            break
        if written.ordinal(kind, later) > written.ordinal(kind, last):
            break
        if later not in excluded:
            return later
        value = later
    return first


def says(kind: FactKind, right: Sequence[str], *, every: bool) -> str:
    """Return how a person says what is right; empty if any value is."""
    joint = "and" if every else "or"
    return written.join_words([written.say(kind, v) for v in right], joint) if right else ""


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
    minute = written.ordinal("time", now.time)
    # A time of day has no sharp ends: five in the afternoon may be called evening.
    if hours is not None and not hours[0] - 120 <= minute <= hours[1] + 120:
        yield f"now.time: {now.time} is no {situation.time_of_day.lower()}, as the situation says"


def _fact(fact: Fact) -> Iterator[str]:
    if not fact.right and fact.known != "open":
        yield "a fact without a value; write what is right, or that it is open"
    for value in (*fact.right, *fact.wrong):
        first, last = written.range_ends(value)
        try:
            written.parse(fact.kind, first)
            written.parse(fact.kind, last)
        except ValueError as error:
            yield str(error)
            continue
        if first != last and written.ordinal(fact.kind, first) > written.ordinal(fact.kind, last):
            yield f"the range {value!r} is upside down"
    both = set(fact.right) & set(fact.wrong)
    yield from (f"{value!r} is right and wrong" for value in sorted(both))


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
        first, last = written.range_ends(value)
        return value if first != last else written.parse(kind, value)

    def _span(self, name: str, kind: FactKind, text: str, *, by_example: bool = False) -> str:
        """Return a value or a range in its written form, with references put in."""
        first, dots, last = text.partition(RANGE)
        if not dots:
            return self._one(kind, text, by_example=by_example)
        low = written.range_ends(self._one(kind, first, by_example=by_example))[0]
        high = written.range_ends(self._one(kind, last, by_example=by_example))[1]
        if written.ordinal(kind, low) > written.ordinal(kind, high):
            raise UnresolvedError(name, f"the range {low}{RANGE}{high} is upside down")
        return f"{low}{RANGE}{high}" if low != high else low

    def _one(self, kind: FactKind, text: str, *, by_example: bool) -> str:
        if "@" in text and (match := _REFERENCE.fullmatch(text)):
            return self._referred(kind, match, by_example=by_example)
        if kind == "date":
            birthday = str(self._around.life.get("birthday", ""))
            first, last = days_of(text, self._today, birthday)
            return first.isoformat() if first == last else f"{first.isoformat()}{RANGE}{last.isoformat()}"
        return written.parse(kind, text)

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
            return written.parse(kind, f"{base}{match['unit']}")
        if not match["step"]:
            return base
        step = match["step"]
        if match["by"]:
            step = step.replace(f"@{match['by']}", self.example(match["by"]))
        ends = dict.fromkeys(
            written.shift(kind, end, f"{match['sign']}{step}") for end in written.range_ends(base)
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
            return written.join_words([written.say(entry.kind, v) for v in self.right(name)])
        return written.range_ends(pick(self.right(name), key, name))[0]

    def _excluded(self, name: str, entry: FactEntry) -> tuple[str, ...]:
        return (self._span(name, entry.kind, entry.excluded),) if entry.excluded else ()

    def _wrong(self, name: str, entry: FactEntry, right: Sequence[str]) -> tuple[str, ...]:
        found = [*self._excluded(name, entry), *entry.wrong]
        thing, _, field = name.rpartition(".")
        if thing and field in self._things[thing].other:
            found.append(self._other_value(thing, field, entry))
        for value in right:
            found += written.neighbours(entry.kind, value)
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
