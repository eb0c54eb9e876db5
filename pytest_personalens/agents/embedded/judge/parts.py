"""The state of each part of a task by the assistant's words, and which part a statement is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded.reader.fact_readings import is_taste
from pytest_personalens.agents.embedded.reader.statements import DONE
from pytest_personalens.agents.embedded.reader.text import content, fold, names, stem, stems
from pytest_personalens.agents.embedded.reader.typed_values import TYPED, is_day_word, said_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.agents.embedded.judge.read_dialogue import Reading
    from pytest_personalens.agents.embedded.reader.fact_readings import FactReading
    from pytest_personalens.agents.embedded.reader.statements import Act, Statement
    from pytest_personalens.core.judging.verdict import PartState
    from pytest_personalens.core.scenario import GoalPart, Slot


#: Kinds of deeds, each with the verbs that tools and goals have for it.
_DEEDS: Final[dict[str, frozenset[str]]] = {
    kind: frozenset(map(stem, verbs.split()))
    for kind, verbs in {
        "get": "book booked reserve reserved reservation booking buy bought purchase order ordered"
        " engage engaged hire rent rented borrow borrowed hold held pay",
        "make": "create created make made add added set schedule scheduled arrange arranged place placed enter"
        " entered save saved activate enable start subscribe register plan write post put running active issue"
        " open confirm submit",
        "change": "change changed move moved update updated modify reschedule rescheduled exchange exchanged swap"
        " rebook rebooked shift shifted switch switched upgrade edit extend postpone replace adjust set",
        "stop": "cancel cancelled delete deleted remove removed pause paused mute muted silence disable release"
        " drop end stop skip snooze suspend unsubscribe",
        "send": "send sent invite invited invitation share shared message mail email notify pass forward text deliver",
        "play": "play plays playing queue",
        "return": "return returned refund",
    }.items()
}
#: What may do a deed of a kind: what is to be changed may be made anew, what is to be ended may be changed.
_DONE_BY: Final = {
    "get": {"get", "make", "change"},
    "make": {"get", "make", "change"},
    "change": {"get", "make", "change", "return"},
    "stop": {"stop", "change"},
    "return": {"get", "make", "change", "return", "stop"},
    "send": {"send"},
    "play": {"get", "make", "play"},
}
#: Words for what may be done to anything. To send, play or return something says what is meant.
VERBS: Final = frozenset().union(*(_DEEDS[kind] for kind in ("get", "make", "change", "stop")))
_DONE: Final = frozenset(map(stem, re.sub(r"[^a-z|]", "", DONE.replace("ll?", "ll")).split("|")))
#: Stems of deeds. Alone, they say nothing of what a statement is about.
DEEDS: Final = _DONE.union(*_DEEDS.values())
#: Deeds of every kind.
ANY_DEED: Final = frozenset(
    stems(
        "done arranged sorted confirmed completed placed finished set made active live place ready fixed changed"
        " corrected updated switched turned put"
    )
)


def deeds_of(words: frozenset[str]) -> frozenset[str]:
    """Return the kinds of deeds that stems of words speak of."""
    return frozenset(kind for kind, verbs in _DEEDS.items() if words & verbs)


def may_do(wanted: frozenset[str], had: frozenset[str]) -> bool:
    """True where deeds of the kinds `had` may be one of those that are wanted, or nothing says which is wanted."""
    return not wanted or not had or any(had & _DONE_BY[kind] for kind in wanted)


_AWAY: Final = re.compile(r"\b(?:not|no|nothing|none|never|without)\b")
_STATES: Final[dict[Act, PartState]] = {
    "offered": "proposed", "asked": "proposed", "promised": "promised", "handed": "handed-back", "refused": "refused", "undone": "refused",
}  # fmt: skip


#: The details that may have any value and that a typed value shows, by its kind.
_SLOTS: Final[Mapping[str, Slot]] = {
    "money": "price", "time": "time", "date": "day", "duration": "length", "count": "count",
}  # fmt: skip
_NAMED: Final = frozenset[str](("provider", "person", "item", "place", "text"))


class PartReading(NamedTuple):
    """The state of a part, the message and the quote that show it, and what is wrong or lacking.

    `known` is false where words cannot show the part: nothing says how an assistant speaks of it.
    """

    part: GoalPart
    state: PartState
    turn: int | None = None
    quote: str = ""
    details: tuple[str, ...] = ()
    known: bool = True


def read_parts(reading: Reading) -> tuple[PartReading, ...]:
    """Return the state of each part of the task by the assistant's words."""
    return _PartReader(reading).read()


class _PartReader:
    """Reads the parts of a task in the statements of an assistant."""

    def __init__(self, reading: Reading) -> None:
        parts, facts, said = reading.parts_of_task, reading.facts, reading.said
        self._parts, self._reader, self._said, self._readings = parts, facts, said, reading.readings
        self._user = [reading.scenario.name, *(m.content for m in reading.messages if m.role == "user")]
        self._facts = {f.name: f for f in facts.all}
        self._firm = [s for s in said if s.act in facts.telling]
        #: All words of each part, its deeds with other words for them, and what the deed is done to.
        self._raw = [content(p.text).union(*map(content, p.words)) for p in parts]
        self._deeds = [
            (words & DEEDS).union(*(_DEEDS[kind] for kind in deeds_of(words))) for words in self._raw
        ]
        self._things = [words - DEEDS for words in self._raw]
        self._done = [n for n, part in enumerate(parts) if part.kind == "done" and not part.never]
        self._scored: dict[int, list[float]] = {}
        known = content(" ".join(self._user))
        self._new = [s for s in self._firm if any(not content(name) <= known for name in names_in(s.text))]
        #: False where no statement has a word or a value but those of the user and of the goal.
        heard = known | content(facts.goal) | DEEDS
        self._tells = any(
            any(v.said not in facts.goal for v in s.values) or not s.words <= heard
            for s in said
            if s.act not in ("refused", "undone")
        )

    def _score(self, number: int, statement: Statement) -> float:
        """Return how well a statement fits a part: its words, and the values of its facts."""
        own = statement.words & (self._things[number] | (self._raw[number] & DEEDS))
        fit = sum(1.0 / sum(word in raw for raw in self._raw) for word in own)
        for name in self._parts[number].facts:
            if (fact := self._facts.get(name)) is None or not fact.right:
                continue
            if fact.kind in TYPED:
                said = any(v.kind == fact.kind and self._reader.fits(v, fact) for v in statement.values)
            else:
                text, others = statement.text, self._reader.synonyms
                said = any(said_in(right, text, fact.kind, others) for right in fact.right)
            if said:
                fit += 0.5 / sum(name in part.facts for part in self._parts)
        return fit

    def _scores(self, statement: Statement) -> list[float]:
        """Return how well a statement fits each part."""
        key = id(statement)
        if key not in self._scored:
            self._scored[key] = [self._score(n, statement) for n in range(len(self._parts))]
        return self._scored[key]

    def _belongs(self, number: int, statement: Statement) -> bool:
        """True if no part fits a statement better than this one."""
        scores = self._scores(statement)
        return scores[number] > 0 and scores[number] >= max(scores) - 0.01

    def _does(self, number: int, statement: Statement) -> bool:
        """True if a statement may report the deed of a part."""
        said = statement.words & DEEDS
        if said and not said & (self._deeds[number] | ANY_DEED):
            return False
        others = [n for n in self._done if n != number]
        return bool(
            statement.words & self._things[number].difference(*(self._things[n] for n in others))
            or statement.words & self._deeds[number].difference(*(self._deeds[n] for n in others))
        ) or (self._scores(statement)[number] >= 0.25 and self._belongs(number, statement))

    def read(self) -> tuple[PartReading, ...]:
        """Return the reading of each part."""
        return tuple(self._read(n, part) for n, part in enumerate(self._parts))

    def _read(self, number: int, part: GoalPart) -> PartReading:
        if part.never:
            return self._never(number, part)
        named = [self._readings[name] for name in part.facts if name in self._readings]
        closed = [r for r in named if not is_taste(r.fact)]
        contradicted = (r for r in named if r.state == "contradicted")
        # A taste concerns personalization, until the user has named it.
        if wrong := [r for r in contradicted if not is_taste(r.fact) or self._is_named(r.fact.name)]:
            last = max(wrong, key=lambda r: r.turn or 0)
            return PartReading(part, "wrong", last.turn, last.quote, tuple(map(_wanted, wrong)))
        deed = self._deed(number, part) if part.kind == "done" else None
        if deed is not None and deed.state not in ("done", "missing"):
            return deed
        if unsaid := tuple(_wanted(r) for r in closed if r.state == "not said"):
            missing = deed or PartReading(part, "missing")
            return PartReading(part, "missing", missing.turn, missing.quote, unsaid)
        if deed is not None and (deed.state == "done" or not closed):
            return deed
        if part.kind == "told" and (lacking := self._untold(number, part, closed=bool(closed))):
            return lacking
        if closed:
            last = max(closed, key=lambda r: r.turn or 0)
            return PartReading(part, "done", last.turn, last.quote)
        shown = next((s for s in reversed(self._firm) if self._belongs(number, s)), None)
        return PartReading(part, "done", *((shown.turn, shown.text) if shown else ()))

    def _is_named(self, fact: str) -> bool:
        """True if the user has said the right value of a fact."""
        return any(fact in self._reader.told_by(text) for text in self._user)

    def _never(self, number: int, part: GoalPart) -> PartReading:
        words = self._raw[number] | self._deeds[number]
        about = (s for s in self._said if s.act == "done" and len(words & s.words) > 1)
        bad = next((s for s in about if not _AWAY.search(fold(s.text))), None)
        return PartReading(part, "wrong", bad.turn, bad.text) if bad else PartReading(part, "done")

    def _deed(self, number: int, part: GoalPart) -> PartReading:
        """Return the last state of a deed: reported, opened again, or never reported."""
        found, deeds = PartReading(part, "missing", known=bool(self._raw[number])), self._deeds[number]
        heading: Statement | None = None
        opened, spoken = False, -1
        for s in self._said:
            if heading is not None and heading.turn != s.turn:
                heading = None
            if s.act == "done" and not (s.words & (DEEDS - deeds - ANY_DEED)):
                heading = s  # "Booked:", and a list of what was booked
            if s.act == "undone" and spoken == s.turn:
                # "It has not gone out": what was said just before.
                found, opened = PartReading(part, "refused", s.turn, s.text), True
            spoken = s.turn if self._scores(s)[number] else spoken
            if not self._does(number, s):
                continue
            own = self._belongs(number, s)
            # A question is settled by a report in a later reply.
            opened = opened and not (found.state == "proposed" and s.turn > (found.turn or 0))
            if s.act == "undone" or (s.act == "refused" and own):
                found, opened = PartReading(part, "refused", s.turn, s.text), True
            elif s.act in _STATES and own and found.state != "done":
                found, opened = PartReading(part, _STATES[s.act], s.turn, s.text), True
            elif s.act == "done" and (not opened or (own and s.words & (deeds | ANY_DEED))):
                found, opened = PartReading(part, "done", s.turn, s.text), False
            elif s.act == "told" and heading is not None and not opened:
                found = PartReading(part, "done", s.turn, s.text)
        return found

    def _untold(self, number: int, part: GoalPart, *, closed: bool) -> PartReading | None:
        """Return the part as missing if a detail of it that may have any value is not told; None if all is."""
        firm = [s for s in self._said if s in self._firm or s.act == "handed"] or [
            s for s in self._said if s.act in ("offered", "promised")
        ]
        facts = (self._facts[name] for name in part.facts if name in self._facts)
        open_facts = [f for f in facts if not f.right or is_taste(f)]
        wanted = {kind for kind, slot in _SLOTS.items() if slot in part.slots}
        wanted |= {f.kind for f in open_facts if f.kind in _SLOTS and not f.right}
        lacking = sorted(_SLOTS[kind] for kind in wanted - {v.kind for s in firm for v in s.values})
        if lacking:
            return PartReading(part, "missing", details=tuple(f"the {slot}: not said" for slot in lacking))
        if closed or wanted:
            return None
        tastes = [f for f in open_facts if is_taste(f)]
        if any(self._readings[f.name].state != "not said" for f in tastes if f.name in self._readings):
            return None
        if not self._tells:
            return PartReading(part, "missing")
        if any(s.words & (self._raw[number] | self._deeds[number]) for s in firm):
            return None
        # A name that the user did not say may be what was asked for. What is no name cannot be read at all.
        name = any(f.kind in _NAMED and not f.right for f in open_facts) or bool(
            {"name", "title", "place"} & {*part.slots}
        )
        if name and self._new:
            return None
        return PartReading(part, "missing", known=name)


def _wanted(reading: FactReading) -> str:
    """Return what is wrong or not said of a fact, and what was wanted."""
    fact = reading.fact
    return f"{fact.what}: {reading.said or 'not said'}, wanted {fact.says or fact.right[0]}"


def names_in(text: str) -> frozenset[str]:
    """Return the names of a statement; a single first word with a capital letter is none."""
    text = text.replace(": ", " ")
    found = names(f"x {text}" if re.match(r"[^\W\d_]+,? (?:[A-ZÀ-Þ]|\d)", text) else text)
    return frozenset(name for name in found if not is_day_word(name))
