"""Holds what a system stores against the facts of a scenario, value by value."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from pytest_personalens.agents.embedded.reader.findings import Facts, Finding, within_limit
from pytest_personalens.agents.embedded.reader.forms import Value
from pytest_personalens.agents.embedded.reader.names import said_in
from pytest_personalens.agents.embedded.reader.text import content, plain
from pytest_personalens.agents.embedded.reader.values import TYPED, values
from pytest_personalens.core.dialogue.state import facts_at, stored_records
from pytest_personalens.core.facts import RANGE
from pytest_personalens.datasets.world.values import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.dialogue.state import Leaf, State, StoredRecord
    from pytest_personalens.core.facts import Fact, FactKind

_MOMENT: Final = re.compile(
    r"\b(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(?::\d{2}(?:[.,]\d+)?)?(Z|z|[+-]\d{2}:?\d{2})?(?!\d)"
)
_SPAN: Final = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:\d+S)?)?")
_NUMBER: Final = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?")
_LONGEST: Final = 60
#: Kinds whose values are names: another name is another thing. Two other texts cannot be compared.
_NAMES: Final = frozenset[str](("place", "person", "provider"))


class StoredFinding(NamedTuple):
    """What one stored value says of a fact. `shown` is the value in words."""

    leaf: Leaf
    shown: str
    finding: Finding


class StoredFacts(NamedTuple):
    """A stored thing, and what its values say of the facts; `by_table` is true if a table says what they are.

    `unlike` are the values that a table gives for a fact and that cannot be compared with it.
    """

    record: StoredRecord
    findings: tuple[StoredFinding, ...]
    by_table: bool
    unlike: tuple[tuple[Fact, str], ...] = ()


def read_stored(state: State, facts: Facts) -> tuple[StoredFacts, ...]:
    """Return what each thing of a state says of the facts.

    A thing with a field of the table is read by the table alone. Any other is read as the arguments of a tool
    call are.
    """
    zone = facts.now.zone if facts.now else ""
    read: list[StoredFacts] = []
    for record in stored_records(state.data):
        mapped = {leaf: names for leaf in record.leaves if (names := facts_at(leaf, state.fields))}
        found: list[StoredFinding] = []
        unlike: list[tuple[Fact, str]] = []
        for leaf in record.leaves:
            text = local(str(leaf.value), zone)
            if leaf in mapped or (not mapped and leaf.value is not None and not isinstance(leaf.value, bool)):
                names = mapped.get(leaf) or tuple(_counted(leaf, facts))
                line = f"{leaf.keys[-1].replace('_', ' ')}: {text}"
                of_leaf = (
                    _by_table(leaf.value, text, names, facts, unlike)
                    if names
                    else facts.findings(line, values(line, facts.now), deed=True)
                )
                found += (StoredFinding(leaf, _in_words(leaf.value, text), one) for one in of_leaf)
        read.append(StoredFacts(record, tuple(found), bool(mapped), tuple(unlike)))
    return tuple(read)


def local(text: str, zone: str) -> str:
    """Return a text with each moment as a day and an hour apart, in the user's own time.

    >>> local("2026-11-27T18:30:00Z", "Europe/Paris")
    '2026-11-27 19:30'
    """

    def apart(match: re.Match[str]) -> str:
        day, hour, offset = match.groups()
        if offset and zone:
            try:
                moment = dt.datetime.fromisoformat(f"{day}T{hour}{offset.upper()}").astimezone(ZoneInfo(zone))
            except (ValueError, OverflowError, OSError):  # no day of the calendar, or no such zone
                return f"{day} {hour}"
            return f"{moment:%Y-%m-%d %H:%M}"
        return f"{day} {hour}"

    return _MOMENT.sub(apart, text)


def _counted(leaf: Leaf, facts: Facts) -> list[str]:
    """Return the facts that a bare number is about: those whose name or words its key has."""
    if not _NUMBER.fullmatch(str(leaf.value)):
        return []
    key = leaf.keys[-1].replace("_", " ").lower()
    words = content(key)
    return [
        fact.name
        for fact in facts.all
        if fact.kind in ("count", "money")
        and (fact.name.rpartition(".")[2] == key or words & content(f"{fact.what} {fact.name}"))
    ]


def _by_table(
    value: Any, text: str, names: Sequence[str], reader: Facts, unlike: list[tuple[Fact, str]]
) -> Iterator[Finding]:
    for name in names:
        facts = [f for f in reader.all if name in (f.name, f.kind) and f.right]
        if value is None or value == "":
            yield from (Finding(f, "nothing", right=False) for f in facts if f.name == name)
            continue
        held = {f.name: _held(f, value, text, reader) for f in facts}
        fitting = [f for f in facts if held[f.name]]
        # The exact value of one fact says nothing of another that may lie in a range.
        exact = [f for f in fitting if not any(RANGE in right for right in f.right)]
        for fact in exact or fitting:
            yield Finding(fact, " and ".join(held[fact.name]), right=True)
        for fact in () if fitting else facts:
            if (
                fact.kind in TYPED
                or fact.kind in _NAMES
                or any(said_in(w, text, fact.kind, {}) for w in fact.wrong)
            ):
                yield Finding(fact, text[:_LONGEST], right=False)
            else:
                unlike.append((fact, text[:_LONGEST]))


def _held(fact: Fact, value: Any, text: str, reader: Facts) -> list[str]:
    """Return the right values of a fact that a stored value holds."""
    if fact.kind not in TYPED:
        return [right for right in fact.right if said_in(right, text, fact.kind, reader.synonyms)]
    found = _typed(fact.kind, value, text, reader)
    return [
        right
        for right in fact.right
        if any(
            within_limit(v, fact) or reader.fits(v, fact.model_copy(update={"right": (right,)}))
            for v in found
        )
    ]


def _typed(kind: FactKind, value: Any, text: str, reader: Facts) -> list[Value]:
    """Return the values of a kind in a field that holds it: a bare number is one too."""
    found = [v for v in values(plain(text), reader.now) if v.kind == kind]
    if found or kind in ("date", "time"):
        return found
    if kind == "duration" and (span := _SPAN.fullmatch(text)) and len(text) > 1:
        days, hours, minutes = (int(part or 0) for part in span.groups())
        return [Value(kind, float(days * 1440 + hours * 60 + minutes), 0, 0, text)]
    number = _NUMBER.search(text)
    if number is None or isinstance(value, bool):
        return []
    return [Value(kind, float(number[0].replace(",", "")), 0, 0, text)]


def _in_words(value: Any, text: str) -> str:
    """Return a stored value as a person says it: a day with its name, and an hour behind it."""

    def day(match: re.Match[str]) -> str:
        try:
            return say("date", match[0])
        except ValueError:
            return match[0]

    words = "nothing" if value is None or value == "" else re.sub(r"\b\d{4}-\d{2}-\d{2}\b", day, text)
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."
