"""What statements and dialogues say of the facts of a scenario: right values, wrong ones, or nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.agents.embedded.reader.statements import FIRM, TELLS, Statement, pieces
from pytest_personalens.agents.embedded.reader.text import content, fold, mentions, plain, stems
from pytest_personalens.agents.embedded.reader.typed_values import (
    PERSONS,
    SHORTEST,
    TYPED,
    agrees,
    first_name,
    is_start,
    said_in,
    says,
    values,
)
from pytest_personalens.core.facts import RANGE
from pytest_personalens.datasets.world.written import ordinal, range_ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_personalens.agents.embedded.reader.typed_values import Value
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Scenario

#: Facts that are the most that something may take or cost.
MOST: Final = re.compile(r"\b(?:most|longest|at most|may cost|may be paid|how much time|budget|limit)\b")
_OF_ITSELF: Final = re.compile(r"\W*(?:by the way,? )?(?:our|this (?:chat|conversation|service))\b")
#: Units of length, which counts of people and things do not count.
_UNITS: Final = frozenset(stems("night day week month hour minute year"))
_TICKETS: Final = frozenset(stems("ticket seat"))
_NO_THINGS: Final = frozenset(stems("table the for of how many on in a an is are at or and to per it"))


class Finding(NamedTuple):
    """What a statement says of one fact, and whether it is right.

    What is not `sure` may be about something else. It is wrong only if nothing says the right value.
    """

    fact: Fact
    said: str
    right: bool
    sure: bool = True


def is_taste(fact: Fact) -> bool:
    """True for a fact of taste, which the history tells: what goes against it concerns personalization."""
    return fact.known == "history" and "." not in fact.name


class Facts:
    """The facts of a scenario as statements can be held against them."""

    def __init__(self, scenario: Scenario) -> None:
        parts = scenario.task.parts
        self.now = scenario.now
        self.named = frozenset(name for part in parts if not part.never for name in part.facts)
        never = {name for part in parts if part.never for name in part.facts}
        self.all = tuple(f for f in scenario.task.facts if f.name not in never or f.name in self.named)
        #: The closed facts that a part names. The others are no part of the task.
        self.wanted = tuple(f for f in self.all if f.right and f.name in self.named)
        #: The other ways to say the values of preferences, as the data names them.
        self.synonyms: dict[str, tuple[str, ...]] = {}
        for words in scenario.words.values():
            for kind in words.types.values():
                for value, ways in kind.synonyms.items():
                    self.synonyms[value] = (*self.synonyms.get(value, ()), *ways)
        self.goal = plain(scenario.task.goal)
        of_parts = (w for p in parts for w in (p.text, *p.words))
        held = (item for types in scenario.preferences.values() for item in types.items())
        #: The stems of what the task is about, and the same with those of the preferences.
        self.about_task = content(" ".join((scenario.task.intent, *(f.what for f in self.all), *of_parts)))
        self.topic = self.about_task | content(" ".join(w for kind, ways in held for w in (kind, *ways)))
        self._told: dict[str, frozenset[str]] = {}
        #: What affirms a fact. Where nothing is to be done, a proposal tells what was asked for.
        self.telling = FIRM if any(p.kind == "done" and not p.never for p in parts) else TELLS
        self._things = {f.name: _things(f, scenario) for f in self.all if f.kind == "count"}

    def findings(
        self, text: str, of_user: Sequence[Value] = (), *, deed: bool = False
    ) -> tuple[Finding, ...]:
        """Return what a statement says of the facts.

        The values `of_user` are no mistakes of an assistant. `deed` is true for a report of a deed, whose
        values are those of the deed.
        """
        return (*self._typed(values(text, self.now), of_user, deed), *self._named(text))

    def told_by(self, text: str) -> frozenset[str]:
        """Return the names of the facts of which a text says a right value."""
        if text not in self._told:
            self._told[text] = frozenset(f.fact.name for f in self.findings(text) if f.right)
        return self._told[text]

    def relevant(self, said: Sequence[Statement]) -> tuple[Statement, ...]:
        """Return the statements without those on the assistant's own house: "Our shop is closed on Sundays"."""
        own = (s for s in said if s.act in FIRM and not s.words & self.about_task)
        left = {id(s) for s in own if _OF_ITSELF.match(plain(s.text))}
        return tuple(s for s in said if id(s) not in left)

    def fits(self, value: Value, fact: Fact) -> bool:
        """True if a value is right for a fact. A range may hold single values that are wrong.

        A sum in another currency than dollars cannot be compared, and is what was asked for where any is.
        """
        if value.thing == "other" and value.kind == fact.kind == "money":
            return fact.known == "open"
        if not any(agrees(fact.kind, right, value) for right in fact.right):
            return False
        ranges = any(RANGE in right for right in fact.right)
        return not ranges or value.vague or not any(agrees(fact.kind, wrong, value) for wrong in fact.wrong)

    def rights(self, fact: Fact, text: str, found: Iterable[Value]) -> list[str]:
        """Return the right values of a fact that a text says, whose typed values were `found`."""
        if fact.kind not in TYPED:
            return [right for right in fact.right if said_in(right, text, fact.kind, self.synonyms)]
        each = ((right, fact.model_copy(update={"right": (right,)})) for right in fact.right)
        return [right for right, only in each if any(self.fits(value, only) for value in found)]

    def counts_persons(self, fact: Fact) -> bool:
        """True for a count of persons, or of what each person has one of."""
        return fact.kind == "count" and bool(self._things[fact.name] & PERSONS)

    def about(self, value: Value) -> list[Fact]:
        """Return the facts that a value may be about, by its kind and by what it counts."""
        facts = [f for f in self.all if f.kind == value.kind]
        if value.kind != "count":
            return facts
        things = set(value.thing.split())
        if things & _UNITS or (value.value == 1 and not things & (PERSONS | _TICKETS)):
            # Five nights are none of ten days, and "one leaves at 7:25" counts nothing.
            return [f for f in facts if things & set(stems(f.what))]
        return [f for f in facts if things & self._things[f.name]]

    def _typed(self, found: Sequence[Value], of_user: Sequence[Value], deed: bool) -> Iterator[Finding]:
        rights: dict[str, str] = {}
        others: list[tuple[Value, list[Fact]]] = []
        for value in found:
            about = self.about(value)
            fitting = [fact for fact in about if self.fits(value, fact)]
            for fact in exact_first(fitting):
                rights.setdefault(fact.name, value.said)
                yield Finding(fact, rights[fact.name], right=True)
            open_ = fitting or value.thing in ("other", "free") or any(not f.right for f in about)
            if not (open_ or any(value.same(one) for one in of_user)):
                others.append((value, about))
        for value, about in others:
            only = sum(f.kind == value.kind for f in self.wanted) == 1
            for fact in about:
                if fact.name not in self.named or fact.name in rights or within_limit(value, fact):
                    continue
                listed = any(agrees(fact.kind, wrong, value) for wrong in fact.wrong)
                sized = value.kind != "duration" or _of_a_size(value, fact)
                if listed or ((only or deed) and sized):
                    yield Finding(fact, value.said, right=False, sure=(listed or only) and deed)

    def _named(self, text: str) -> Iterator[Finding]:
        rights: set[str] = set()
        said: list[str] = []
        others = [f for f in self.all if f.kind not in TYPED]
        for fact in others:
            for right in fact.right:
                if way := said_in(right, text, fact.kind, self.synonyms):
                    rights.add(fact.name)
                    said.append(right)
                    yield Finding(fact, way, right=True)
        named = " ".join(said)
        folded = plain(text)
        for fact in others:
            if fact.name in rights or fact.name not in self.named:
                continue
            for wrong in fact.wrong:
                here = mentions(wrong, text) if len(wrong) > SHORTEST else says(wrong, text, fact.kind)
                left = fact.kind == "place" and is_start(wrong, folded)
                if here and not left and not mentions(wrong, named):
                    yield Finding(fact, wrong, right=False)
                    break
                first = first_name(wrong) if fact.kind == "person" else ""
                if first and re.search(rf"\b{re.escape(first)}\b", folded):
                    yield Finding(fact, first, right=False, sure=False)
                    break


def exact_first(fitting: Sequence[Fact]) -> Sequence[Fact]:
    """Return the fitting facts with exact values, or else all: those say nothing of one that lies in a range."""
    return [fact for fact in fitting if not any(RANGE in right for right in fact.right)] or fitting


def within_limit(value: Value, fact: Fact) -> bool:
    """True if a fact is the most that something may take or cost, and the value is less."""
    if not MOST.search(fact.what) or not isinstance(value.value, int | float) or len(fact.right) != 1:
        return False
    return RANGE not in fact.right[0] and value.value <= ordinal(value.kind, fact.right[0])


def _of_a_size(value: Value, fact: Fact) -> bool:
    """True if a length is of the size of the fact's: ten minutes are none of a rental for a month."""
    assert isinstance(value.value, float | int)
    low, high = (ordinal("duration", end) for end in range_ends(fact.right[0]))
    return low / 3 <= value.value <= high * 3


def _things(fact: Fact, scenario: Scenario) -> frozenset[str]:
    """Return the stems of what a count counts, by the words of the fact and of its parts."""
    parts = [p for p in scenario.task.parts if fact.name in p.facts]
    texts = (fact.what, *(p.text for p in parts), *(w for p in parts for w in p.words))
    words = set(stems(fold(" ".join(texts))))
    if words & PERSONS or fold(fact.what).startswith("how many people"):
        words |= PERSONS
    return frozenset(words - _NO_THINGS)


FactState = Literal["affirmed", "contradicted", "not said"]
#: A reply that says yes to what the user asks.
_YES: Final = re.compile(
    r"^\W*(?:oh |ah )?(?:yes|yep|yeah|correct|exactly|that's (?:right|correct)|indeed|right|it is|they are|it does|confirmed)\b(?! now)"
)


class FactReading(NamedTuple):
    """What the assistant says of a fact by the end: the words, the message, and the statement as a quote.

    With ``not said``, `said` and `quote` are empty and `turn` is None.
    """

    fact: Fact
    state: FactState
    said: str = ""
    turn: int | None = None
    quote: str = ""


def read_statements(
    facts: Facts, messages: Sequence[Message], said: Sequence[Statement]
) -> dict[str, FactReading]:
    """Return the reading of each closed fact that a part of the task names, by the end of the messages.

    A fact is affirmed by a statement of the assistant that reports a deed or tells how things are. Questions,
    offers, promises and refusals affirm nothing. The last statement counts. A fact of which every value is
    needed is affirmed if each of them is said.
    """
    first = next((m.content for m in messages if m.role == "user"), "")
    of_user = values(first, facts.now)
    readings = {fact.name: FactReading(fact, "not said") for fact in facts.wanted}
    every: dict[str, set[str]] = {}
    for statement, found in _findings(facts, messages, said, of_user):
        by_name: dict[str, list[Finding]] = {}
        for finding in found:
            by_name.setdefault(finding.fact.name, []).append(finding)
        for name, several in by_name.items():
            if name not in readings:
                continue
            right = [f for f in several if f.right]
            if right and right[0].fact.every:
                found_here = values(statement.text, facts.now)
                every.setdefault(name, set()).update(facts.rights(right[0].fact, statement.text, found_here))
                if len(every[name]) < len(right[0].fact.right):
                    continue
            old, best = readings[name], (right or several)[0]
            # Within a reply, and where it is not sure, a right value counts before a wrong one.
            newer = old.state == "contradicted" or (old.turn or 0) < statement.turn
            if right or old.state == "not said" or (best.sure and newer):
                state: FactState = "affirmed" if right else "contradicted"
                readings[name] = FactReading(best.fact, state, best.said, statement.turn, statement.text)
    _one_person(readings, facts, said)
    return readings


def _one_person(readings: dict[str, FactReading], facts: Facts, said: Sequence[Statement]) -> None:
    """Affirm the counts of persons that are 1: a report of a deed that names no number is about one."""
    deed = next((s for s in reversed(said) if s.act == "done"), None)
    if deed is None:
        return
    for name, reading in readings.items():
        if reading.state == "not said" and "1" in reading.fact.right and facts.counts_persons(reading.fact):
            readings[name] = FactReading(reading.fact, "affirmed", "one", deed.turn, deed.text)


def _findings(
    facts: Facts, messages: Sequence[Message], said: Sequence[Statement], of_user: Sequence[Value]
) -> Iterator[tuple[Statement, tuple[Finding, ...]]]:
    """Yield each firm statement with what it says of the facts, and what a "yes" of the assistant says."""
    answered: set[int] = set()
    for statement in said:
        turn = statement.turn
        if turn not in answered:
            answered.add(turn)
            if turn and _YES.match(fold(messages[turn].content)):
                for asked in (s for s in pieces(messages[turn - 1].content) if s.rstrip().endswith("?")):
                    found = facts.findings(asked)
                    yield statement._replace(text=asked), tuple(f for f in found if f.right)
        if statement.act in facts.telling:
            found = facts.findings(statement.text, of_user, deed=statement.act == "done")
            if not _is_idle(statement, found, facts):
                yield statement, found


def _is_idle(statement: Statement, found: Sequence[Finding], facts: Facts) -> bool:
    """True where a value is the only thing that a statement has of the task: "The weather is lovely today"."""
    if len({f.fact.name for f in found}) != 1 or found[0].fact.kind not in TYPED:
        return False
    own = statement.words - content(found[0].said)
    return statement.act == "told" and len(own) > 1 and not own & facts.topic
