"""The parts of a task by what the team's system holds after the dialogue, value by value."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from pytest_personalens.agents.embedded.judge.by_calls import Action, of_record
from pytest_personalens.agents.embedded.judge.read_dialogue import VERBS, deeds_of, may_do
from pytest_personalens.agents.embedded.reader.statements import (
    MOST,
    Facts,
    Finding,
    exact_first,
    is_taste,
    within_limit,
)
from pytest_personalens.agents.embedded.reader.text import content, plain, stems
from pytest_personalens.agents.embedded.reader.typed_values import TYPED, Value, said_in, values
from pytest_personalens.core.dialogue.state import facts_at, stored_records
from pytest_personalens.core.facts import RANGE
from pytest_personalens.core.safe_text import cut_line
from pytest_personalens.datasets.world.written import say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.embedded.judge.read_dialogue import PartReading, Reading
    from pytest_personalens.core.dialogue.state import Leaf, State, StoredRecord
    from pytest_personalens.core.facts import Fact, FactKind
    from pytest_personalens.core.scenario import GoalPart


_MOMENT: Final = re.compile(
    r"\b(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(?::\d{2}(?:[.,]\d+)?)?(Z|z|[+-]\d{2}:?\d{2})?(?!\d)"
)
_SPAN: Final = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:\d+S)?)?")
_NUMBER: Final = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?")
_LONGEST: Final = 60
#: Kinds whose values are names: another name is another thing. Two other texts cannot be compared.
_NAMES: Final = frozenset[str](("place", "person", "provider"))


class StoredFinding(NamedTuple):
    """What one stored value says of a fact: the words, and whether they are right. `shown` is the whole value."""

    leaf: Leaf
    shown: str
    fact: Fact
    said: str
    right: bool


class Thing(NamedTuple):
    """A stored thing, what its values say of the facts, and itself as the call that would have made it.

    `by_table` is true if a table says what its values are. `unlike` are those that a table gives for a fact
    and that cannot be compared with it.
    """

    record: StoredRecord
    findings: tuple[StoredFinding, ...]
    by_table: bool
    unlike: tuple[tuple[Fact, str], ...]
    action: Action

    @property
    def rights(self) -> set[str]:
        """The facts of which the thing holds a right value."""
        return {f.fact.name for f in self.findings if f.right}

    def wrong(self, part: GoalPart) -> list[StoredFinding]:
        """Return what the thing holds against a part: a value that is not right, where none is."""
        others = {*part.facts} - self.rights
        return [f for f in self.findings if f.fact.name in others and not is_taste(f.fact)]


def things_in(state: State, facts: Facts, turn: int) -> list[Thing]:
    """Return each thing of a state with what it says of the facts; the state is quoted at message `turn`.

    A thing with a field of the table is read by the table alone. Any other is read as the arguments of a tool
    call are.
    """
    zone = facts.now.zone if facts.now else ""
    found: list[Thing] = []
    for record in stored_records(state.data):
        mapped = {leaf: names for leaf in record.leaves if (names := facts_at(leaf, state.fields))}
        findings: list[StoredFinding] = []
        unlike: list[tuple[Fact, str]] = []
        for leaf in record.leaves:
            text = local(str(leaf.value), zone)
            if leaf in mapped or (not mapped and leaf.value is not None and not isinstance(leaf.value, bool)):
                names = mapped.get(leaf) or tuple(_counted(leaf, facts))
                line = f"{leaf.keys[-1].replace('_', ' ')}: {text}"
                by_table = _by_table(leaf.value, text, names, facts, unlike)
                of_leaf = by_table if names else facts.findings(line, deed=True)
                shown = _in_words(leaf.value, text)
                findings += (StoredFinding(leaf, shown, one.fact, one.said, one.right) for one in of_leaf)
        found.append(Thing(record, tuple(findings), bool(mapped), tuple(unlike), of_record(record, turn)))
    return found


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
        for fact in exact_first(fitting):
            yield Finding(fact, " and ".join(held[fact.name]), right=True)
        for fact in () if fitting else facts:
            listed = any(said_in(w, text, fact.kind, {}) for w in fact.wrong)
            if fact.kind in TYPED or fact.kind in _NAMES or listed:
                yield Finding(fact, text[:_LONGEST], right=False)
            else:
                unlike.append((fact, text[:_LONGEST]))


def _held(fact: Fact, value: Any, text: str, reader: Facts) -> list[str]:
    """Return the right values of a fact that a stored value holds."""
    found = _typed(fact.kind, value, text, reader) if fact.kind in TYPED else []
    if any(within_limit(one, fact) for one in found):
        return [*fact.right]
    return reader.rights(fact, text, found)


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
    return cut_line(words, _LONGEST)


#: Parts that are reached where something is gone, and those that a change reaches.
_ENDS: Final = re.compile(r"\b(?:cancel\w*|given up|deleted|removed)\b")
_CHANGES: Final = re.compile(
    r"\b(?:chang\w+|moved|rebooked|exchanged|swapped|replace\w*|new|another|in place of)\b"
)
#: Parts that no stored thing shows.
_SHOWS_NOTHING: Final = re.compile(r"^(?:nothing|nobody|no)\b")
#: A longer text is no field of a value, but a sentence.
_LONGEST_FIELD: Final = 60
#: From so many exact facts on, a stored thing is what a part is about, whatever its words are.
_CERTAIN: Final = 2


class StoredWork:
    """The things that a system holds, held against the parts of a task."""

    def __init__(self, reading: Reading, state: State) -> None:
        self._reading = reading
        #: The message at which the state is quoted.
        self.turn = max((n for n, m in enumerate(reading.messages) if m.role == "assistant"), default=0)
        self._things = things_in(state, reading.facts, self.turn)
        self._facts = {fact.name: fact for fact in reading.facts.all}

    def read(self, words: Sequence[PartReading]) -> tuple[PartReading, ...]:
        """Return the state of each part: what is stored decides what was done, and words what was told."""
        return tuple(self._shown(reading) or reading for reading in words)

    def _shown(self, words: PartReading) -> PartReading | None:
        """Return what the state makes of a part, or None for a part that it cannot show."""
        part = words.part
        if part.kind != "done" or part.never or _SHOWS_NOTHING.match(part.text):
            return None
        if _ENDS.search(part.text):
            return self._ended(words)
        standing = [thing for thing in self._things if not thing.action.failed]
        thing = self._best(part, standing)
        lacking = words._replace(state="claimed" if words.state in ("done", "wrong") else words.state)
        if thing is None:
            return lacking._replace(details=(f"the state lacks it{_wanted(self._settled(part))}",))
        here = lacking._replace(turn=self.turn, quote=thing.record.in_one_line())
        if wrong := thing.wrong(part):
            return here._replace(state="wrong", details=tuple(dict.fromkeys(map(_said, wrong))))
        if missing := (*self._unchanged(part, thing), *self._missing(part, standing)):
            return here._replace(details=missing)
        unlike = tuple(
            f"{fact.what}: {held!r} cannot be compared with {fact.right[0]!r}"
            for fact, held in thing.unlike
            if fact.name in part.facts
        )
        return here._replace(state="done", details=unlike)

    def _settled(self, part: GoalPart) -> list[Fact]:
        """Return the facts of a part whose values are settled: no range, and nothing of taste."""
        facts = (self._facts[name] for name in part.facts if name in self._facts)
        return [
            f
            for f in facts
            if f.right and not (is_taste(f) or MOST.search(f.what)) and not any(RANGE in r for r in f.right)
        ]

    def _best(self, part: GoalPart, things: Sequence[Thing]) -> Thing | None:
        """Return the stored thing that the part is about, or None."""
        settled = {fact.name for fact in self._settled(part)}
        words = content(part.text).union(*map(content, part.words))
        if settled:  # a deed's own word may stand for any deed
            words -= VERBS
        wanted = deeds_of(frozenset(stems(part.text)))
        best: tuple[tuple[bool, bool, int, int, int], Thing] | None = None
        for place, thing in enumerate(things):
            right, wrong = thing.rights & {*part.facts}, {f.fact.name for f in thing.wrong(part)}
            exact, touches = len(right & settled), bool(thing.action.words & words)
            # Without a table, a thing that says nothing of the facts counts as a call without them does.
            silent = may_do(wanted, thing.action.deeds) and (not thing.by_table or not settled)
            if not (exact or (touches and (right or wrong or silent)) or (not settled and right)):
                continue
            rank = touches or exact >= _CERTAIN, bool(right or wrong), exact - len(wrong), exact, place
            if best is None or rank > best[0]:
                best = rank, thing
        return best[1] if best else None

    def _missing(self, part: GoalPart, things: Sequence[Thing]) -> Iterator[str]:
        """Yield the facts of a part that no thing holds, though it holds others of their kind."""
        held: dict[str, str] = {}
        kinds: set[str] = set()
        unlike = {fact.name for thing in things for fact, _ in thing.unlike}
        for f in (f for thing in things for f in thing.findings if f.right):
            held[f.fact.name] = f"{held.get(f.fact.name, '')} {f.said}"
            # A sentence may say the rest in other words.
            if f.fact.name in part.facts and len(str(f.leaf.value)) <= _LONGEST_FIELD:
                kinds.add(f.fact.kind)
        for fact in self._settled(part):
            if fact.name not in held:
                if fact.kind in kinds and fact.name not in unlike:
                    yield f"nothing holds {fact.what}, wanted {fact.says or fact.right[0]}"
            elif fact.every and (less := [v for v in fact.right if v not in held[fact.name]]):
                yield f"{fact.what}: without {' and '.join(less)}"

    def _unchanged(self, part: GoalPart, thing: Thing) -> Iterator[str]:
        """Yield the values of a thing that were to change and stand as before."""
        if not (_CHANGES.search(part.text) and any("." in name for name in part.facts)):
            return
        right = {f.fact.name: f for f in thing.findings if f.right}
        for name, found in right.items():
            kind = found.fact.kind
            # The day or the hour that it is to have.
            new = [f for f in self._facts.values() if f.kind == kind and "." not in f.name and f.right]
            if "." in name and kind in ("date", "time") and new and not any(f.name in right for f in new):
                yield f"{found.leaf.path}: still {found.shown}{_wanted(new)}"

    def _ended(self, words: PartReading) -> PartReading | None:
        """Return a part that is reached where something is gone, as far as the state shows it."""
        settled = {fact.name for fact in self._settled(words.part)}
        about = [t for t in self._things if settled and settled <= t.rights]
        if not about:
            return None
        standing = [thing for thing in about if not thing.action.failed]
        last = (standing or about)[-1]
        details = (f"{last.record.path} still stands",) if standing else ()
        return words._replace(
            state="claimed" if standing else "done",
            turn=self.turn,
            quote=last.record.in_one_line(),
            details=details,
        )


def _said(found: StoredFinding) -> str:
    return f"{found.leaf.path}: {found.shown}{_wanted([found.fact])}"


def _wanted(facts: Sequence[Fact]) -> str:
    wanted = [fact.says or fact.right[0] for fact in facts if fact.right]
    return f", wanted {', '.join(dict.fromkeys(wanted))}" if wanted else ""
