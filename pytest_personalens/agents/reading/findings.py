"""Holds what a statement says against the facts of a scenario."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language.slots import Time
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, fold, mentions, stem
from pytest_personalens.agents.language.value_mentions import OF_PERSONS
from pytest_personalens.agents.reading.typed_values import (
    TYPED,
    TypedValue,
    agrees,
    same_length,
    typed_values,
)
from pytest_personalens.core.facts import RANGE
from pytest_personalens.datasets.world.values import UNITS, ordinal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Scenario

#: A value that is put aside: the old one, one of another matter, one that is turned down.
_PUT_ASIDE: Final = re.compile(
    r"\b(?:untouched|unchanged|not touched|left alone|none touches|stays? (?:as|exactly|just|where)|remains?|before:?|old)\b[^.;!?]{0,40}|[^.;!?|]{0,60}\b(?:untouched|unchanged|not touched|left alone|as (?:it|they) (?:was|were)|stays as)\b|\b(?:not|instead of|rather than|never|except|other than|(?:it|that|this|which) (?:was|were|had)|the old|used to|no longer|replaces?|replacing|originally|previous(?:ly)?|you said|you asked|you wanted)\b[^,.;!?:]{0,40}"
)
#: Clauses about something beside the deed: how it is paid, until when it can be changed.
_BESIDE: Final = re.compile(
    r"\b(?:until|expires?|refund\w*|free cancellation|cancel\w*|posted|ships?|shipped|since|due|paid|charged|because|reminder|reminds?|remind|rain\w*|forecast|also|extra|spare|other|as of|usual"
    r"|lasts?|walk|opens?|closes?|ends?|check(?:-| )?(?:in|out)|back|home|arriv\w*|deliver\w*|minutes? (?:before|earlier|later|after)|away|at the latest|before|by)\b"
)
#: The share of a name's words by which it is said.
_MOST: Final = 0.6


class Finding(NamedTuple):
    """What a statement says of one fact: the words, and whether they are right.

    What is `beside` the fact may be about something else. It is wrong only if nothing says the right value.
    """

    fact: Fact
    said: str
    right: bool
    beside: bool = False

    @property
    def of_taste(self) -> bool:
        """True for a fact of taste: what goes against it concerns personalization, and not the task."""
        return self.fact.known == "history" and "." not in self.fact.name


class FactReader:
    """The facts of a scenario as a statement can be held against them."""

    def __init__(self, scenario: Scenario, said: Sequence[str] = ()) -> None:
        never = {name for part in scenario.task.parts if part.never for name in part.facts}
        kept = {name for part in scenario.task.parts if not part.never for name in part.facts}
        self.facts = tuple(f for f in scenario.task.facts if f.name not in never or f.name in kept)
        self.today = scenario.now.date if scenario.now else "2026-01-01"
        self.closed = [f for f in self.facts if f.right]
        self._of_parts = kept
        #: The values that the user names are no mistakes of the assistant.
        self._said = [value for text in said for value in typed_values(plain(text), self.today)]
        self._things = {f.name: _things_of(f, scenario) for f in self.facts if f.kind == "count"}

    def findings(self, text: str) -> tuple[Finding, ...]:
        """Return what the statement says of the facts."""
        folded = plain(text)
        kept = _PUT_ASIDE.sub(lambda m: " " * len(m[0]), folded)
        return (*self._typed(kept, folded), *self._named(text, kept))

    def _typed(self, kept: str, folded: str) -> Iterator[Finding]:
        found = typed_values(folded, self.today)
        firm = typed_values(kept, self.today)
        rights: set[str] = set()
        for value in found:
            fitting = [fact for fact in self.alike(value) if self.fits(value, fact)]
            # The exact value of one fact says nothing of another that may lie in a range.
            exact = [fact for fact in fitting if not any(RANGE in right for right in fact.right)]
            for fact in exact or fitting:
                rights.add(fact.name)
                yield Finding(fact, value.said, right=True)
        for value in firm:
            alike = self.alike(value)
            if (excluded := self._excluded(value, alike)) is not None:
                yield Finding(excluded, value.said, right=False)
                continue
            if any(not f.right for f in alike) or any(self.fits(value, f) for f in alike):
                continue
            if value.thing == "other" or any(_same(value, one) for one in self._said):
                continue
            before = kept[max(kept.rfind(mark, 0, value.start) for mark in ",;.!?") + 1 : value.start]
            beside = value.kind in ("time", "date") and bool(_BESIDE.search(before))
            for fact in alike:
                if keeps_limit(value, fact):
                    continue
                if fact.name not in self._of_parts:
                    limits = value.kind == "money" or (value.kind == "duration" and MOST_OF.search(fact.what))
                    if limits and fact.known == "said" and len(alike) == 1:
                        yield Finding(fact, value.said, right=False, beside=True)
                    continue
                named = any(agrees(value, wrong, self.today) for wrong in fact.wrong)
                if value.kind == "duration" and not (named or of_a_size(value, fact)):
                    continue
                if fact.name not in rights:
                    beside = beside and (not named or _is_vague(value))
                    if not (beside and _is_vague(value)):
                        yield Finding(fact, value.said, right=False, beside=beside)
        yield from self._spans(found)

    def _spans(self, found: Sequence[TypedValue]) -> Iterator[Finding]:
        """Find what two dates make of a length in days."""
        dates = [day for v in found if v.kind == "date" and (day := self._day(v))]
        lengths = [
            f for f in self.closed if f.kind == "duration" and f.name in self._of_parts and "." not in f.name
        ]
        if len(dates) != 2 or len(lengths) != 1:
            return
        (first, last), fact = dates, lengths[0]
        days = (last - first).days
        low, _, high = fact.right[0].partition(RANGE)
        least, most = ordinal("duration", low) / UNITS["day"], ordinal("duration", high or low) / UNITS["day"]
        if days > 1 and least / 3 <= days <= most * 3:
            right = least * 0.9 - 1 <= days <= most * 1.1 + 1
            yield Finding(fact, f"{days} days", right=right, beside=True)

    def _day(self, value: TypedValue) -> dt.date | None:
        """Return the next day of that month and number."""
        assert isinstance(value.value, tuple)
        _, month, day, _ = value.value
        today = dt.date.fromisoformat(self.today)
        if month is None or day is None:
            return None
        try:
            return dt.date(today.year + ((month, day) < (today.month, today.day)), month, day)
        except ValueError:  # 29 February
            return None

    def _excluded(self, value: TypedValue, alike: Sequence[Fact]) -> Fact | None:
        """Return the fact of a part for which the user ruled the value out: a day on which it has no time."""
        ruled_out = [
            f for f in alike if f.name not in self._of_parts and "." not in f.name and self.fits(value, f)
        ]
        if not ruled_out or (_is_vague(value) and value.kind == "time"):
            return None
        return next(
            (
                f
                for f in alike
                if f.name in self._of_parts
                and any(RANGE in right for right in f.right)
                and any(wrong in one.right for one in ruled_out for wrong in f.wrong)
            ),
            None,
        )

    def fits(self, value: TypedValue, fact: Fact) -> bool:
        """True if the value is right for the fact. A range may hold single values that are wrong."""
        if any(agrees(value, right, self.today) for right in fact.right):
            return (
                not any(RANGE in right for right in fact.right)
                or _is_vague(value)
                or not any(agrees(value, wrong, self.today) for wrong in fact.wrong)
            )
        return False

    def alike(self, value: TypedValue) -> list[Fact]:
        """Return the facts that the value may be about."""
        facts = [f for f in self.facts if f.kind == value.kind]
        if (
            value.kind == "duration"
            and any(_counts_units(f, value) for f in self.facts)
            and not any(self.fits(value, f) for f in facts)
        ):
            return []  # "the four-hour limit" is a count of hours
        if value.kind != "count":
            return facts
        thing = stem(value.thing)
        if thing in _UNITS:  # five nights are none of ten days
            return [f for f in facts if thing in {stem(word) for word in f.what.split()} or f.kind != "count"]
        if value.value == 1 and thing not in _OF_PEOPLE | _PLACES:  # "one leaves at 7:25" counts nothing
            return [f for f in facts if thing in {stem(word) for word in f.what.split()}]
        return [f for f in facts if thing in self._things[f.name]]

    def _named(self, text: str, kept: str) -> Iterator[Finding]:
        rights: dict[str, list[str]] = {}
        for fact in self.facts:
            if fact.kind not in TYPED:
                said = [value for value in fact.right if says(value, text, fact)]
                if said:
                    rights[fact.name] = said
                    yield Finding(fact, " and ".join(said), right=True)
        named = " ".join(v for values in rights.values() for v in values)
        for fact in self.facts:
            if fact.kind in TYPED or fact.name in rights:
                continue
            wrong = next(
                (
                    w
                    for w in fact.wrong
                    if (mentions(w, kept) if len(w) > _SHORTEST else says(w, text, fact))
                    and not mentions(w, named)
                    and not _in_a_name(w, text)
                    and not (fact.kind == "place" and _is_start(w, kept))
                ),
                None,
            )
            if wrong is not None:
                yield Finding(fact, wrong, right=False)
            elif fact.kind == "person" and (name := _first_name_of_another(fact, kept)):
                yield Finding(fact, name, right=False, beside=True)


def _first_name_of_another(fact: Fact, folded: str) -> str:
    """Return the first name of somebody else who is known, if a text says it."""
    for whole in fact.wrong:
        first = whole.split()[0]
        if len(first) > _SHORTEST and re.search(rf"\b{re.escape(fold(first))}\b", folded):
            return first
    return ""


def _same(one: TypedValue, other: TypedValue) -> bool:
    if one.kind == other.kind == "date":
        assert isinstance(one.value, tuple)
        assert isinstance(other.value, tuple)
        return one.value[:3] == other.value[:3]
    return one.kind == other.kind and one.value == other.value and one.thing == other.thing


def keeps_limit(value: TypedValue, fact: Fact) -> bool:
    """True if the fact is the most that something may take or cost, and the value is less."""
    if not MOST_OF.search(fact.what) or not isinstance(value.value, int | float) or len(fact.right) != 1:
        return False
    return RANGE not in fact.right[0] and value.value <= ordinal(value.kind, fact.right[0])


#: Facts that are the most that something may take or cost.
MOST_OF: Final = re.compile(r"\b(?:most|longest|at most|may cost|may be paid|how much time|budget|limit)\b")


def of_a_size(value: TypedValue, fact: Fact) -> bool:
    """True if a duration is of the size of the fact's: ten minutes are none of a rental for a month."""
    assert isinstance(value.value, float)
    first, _, last = fact.right[0].partition(RANGE)
    low, high = ordinal("duration", first), ordinal("duration", last or first)
    return low / 3 <= value.value <= high * 3


def _is_start(place: str, folded: str) -> bool:
    """True if a text names a place only as the one that somebody leaves."""
    at = folded.find(fold(place))
    return at >= 0 and bool(
        re.search(r"\b(?:from|via|leav\w*|home|near|live\w*|based)\b[^,.;]{0,16}$", folded[:at])
    )


def _in_a_name(value: str, text: str) -> bool:
    """True if the text has the value only inside of a longer name: "Dubbo" in "Dubbo Buslines"."""
    if not value[:1].isupper():
        return False
    places = list(re.finditer(re.escape(value), text))
    return bool(places) and all(
        re.match(r"'?s? [A-Z]\w", text[m.end() :]) or re.search(r"[A-Z]\w+ $", text[: m.start()])
        for m in places
    )


def _is_vague(value: TypedValue) -> bool:
    """True for a weekday without its date, and for an hour of either half of the day."""
    if value.kind == "date":
        return isinstance(value.value, tuple) and value.value[0] is not None
    return isinstance(value.value, Time) and value.value.half < 0


def _counts_units(fact: Fact, value: TypedValue) -> bool:
    """True if a fact counts hours, days or weeks, and the duration has that number of them."""
    unit = re.search(r"\b(hour|day|week|month|minute)s?\b", fact.what)
    if fact.kind != "count" or unit is None or not isinstance(value.value, float):
        return False
    return any(one.isdecimal() and float(one) * UNITS[unit[1]] == value.value for one in fact.right)


@lru_cache(maxsize=8192)
def says(value: str, text: str, fact: Fact) -> bool:
    """True if a text says a value that is a name or words."""
    if len(value) <= _SHORTEST:  # a size, a letter
        return bool(re.search(rf"(?<![\w'’]){re.escape(value)}(?![\w'’])", text))
    if mentions(value, text) or (fact.kind == "item" and same_length(value, text)):
        return True
    if fact.kind == "person":
        if (plain_name := fold(value).replace(".", "")) in fold(text).replace(".", ""):
            return bool(plain_name)
        first = re.split(r"[ -]", fold(value))[0]
        return (
            len(first) > 2
            and first not in _TITLES
            and bool(re.search(rf"\b{re.escape(first)}\b", fold(text)))
        )
    wanted = content(value)
    return len(wanted) > 1 and len(wanted & content(text)) / len(wanted) >= _MOST


_SHORTEST: Final = 3
_TITLES: Final = frozenset(
    {"the", "aunt", "auntie", "uncle", "cousin", "mrs", "mr.", "mrs.", "dr.", "your", "grandma", "babcia"}
)


def _things_of(fact: Fact, scenario: Scenario) -> frozenset[str]:
    """Return the stems of the things that a count counts, by what the fact and its parts say."""
    parts = [p for p in scenario.task.parts if fact.name in p.facts]
    text = " ".join((fact.what, *(p.text for p in parts), *(w for p in parts for w in p.words)))
    words = {stem(w) for w in re.findall(r"[a-z]+", fold(text))}
    # A place of a part may be a restaurant, and one of a count is a seat.
    people = _OF_PEOPLE if re.search(r"\bplaces?\b", fold(fact.what)) else _OF_PEOPLE - {stem("place")}
    if words & people or fold(fact.what).startswith("how many people"):
        words |= _OF_PEOPLE
    return frozenset(words - _NO_THINGS)


_UNITS: Final = frozenset(
    map(stem, ("night", "nights", "day", "days", "week", "weeks", "month", "hour", "minute", "year", "years"))
)
_OF_PEOPLE: Final = frozenset(map(stem, OF_PERSONS)) | {"people", "chair", "member", "person"}
_PLACES: Final = frozenset(map(stem, ("tickets", "seats")))
_NO_THINGS: Final = frozenset(
    map(stem, ("table", "the", "for", "of", "how", "many", "on", "in", "a", "is", "are"))
)
