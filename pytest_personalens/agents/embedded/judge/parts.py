"""The state of each part of a task by the assistant's words, and which part a statement is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded.reader.findings import Facts, is_taste, told_by
from pytest_personalens.agents.embedded.reader.forms import is_day_word
from pytest_personalens.agents.embedded.reader.statements import DONE
from pytest_personalens.agents.embedded.reader.text import content, fold, names, stem
from pytest_personalens.agents.embedded.reader.values import TYPED, said_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.agents.embedded.reader.facts import FactReading
    from pytest_personalens.agents.embedded.reader.statements import Act, Statement
    from pytest_personalens.core.judging.verdict import PartState
    from pytest_personalens.core.scenario import GoalPart, Slot


#: Words for the same deed. A goal uses one of them, and an assistant may use another.
_SAME: Final = tuple(
    frozenset(map(stem, words.split()))
    for words in (
        "book booked reserve reserved buy bought purchase confirm confirmed hold held secured get got yours paid ticket",
        "set active ring rings wake wakes running on",
        "send sent out write wrote written posted forwarded delivered texted message messaged told know knows",
        "save saved keep kept note noted store stored list add added put written",
        "order ordered way coming arrive",
        "cancel cancelled remove removed delete deleted off gone up",
        "move moved change changed shift shifted rebook rebooked reschedule rescheduled put",
        "play playing plays start started queue queued",
        "calendar entered entry scheduled event appointment diary entries",
        "plan planned itinerary draft",
        "alert alerts notify notification watch",
        "reminder remind reminds reminded remember",
    )
)
#: Words that stand for a deed and not for what it is done to.
VERBS: Final = frozenset().union(*_SAME[:8])
#: Stems of deeds. Alone, they say nothing of what a statement is about.
DEEDS: Final = (
    frozenset(stem(word) for word in re.sub(r"[^a-z|]", "", DONE.replace("ll?", "ll")).split("|")) | VERBS
)
#: Deeds of every kind.
ANY_DEED: Final = frozenset(
    map(
        stem,
        "done arranged sorted confirmed completed placed finished set made active live place ready fixed changed corrected updated switched turned put".split(),  # noqa: SIM905
    )
)


#: Words for the same thing, beside those for the same deed.
_SAME_THINGS: Final = (
    *_SAME[8:],
    *(frozenset(map(stem, words.split())) for words in ("price cost total fare", "user traveller person")),
)


def same_things(words: frozenset[str]) -> frozenset[str]:
    """Return stems with those of other words for the same thing."""
    return words.union(*(group for group in _SAME_THINGS if group & words))


def wider(words: frozenset[str]) -> frozenset[str]:
    """Return stems with those of other words for the same deed."""
    return words.union(*(group for group in _SAME if group & words))


class Topics:
    """The parts of a task by their words, and how far a statement is about each of them."""

    def __init__(self, parts: Sequence[GoalPart], facts: Facts) -> None:
        self._facts = {fact.name: fact for fact in facts.all}
        self._reader, self._parts = facts, parts
        raw = [content(p.text).union(*map(content, p.words)) for p in parts]
        #: All words of each part, its deeds with other words for them, and what the deed is done to.
        self.words = [wider(words) for words in raw]
        self.deeds = [wider(words & DEEDS) & DEEDS for words in raw]
        self.things = [words - DEEDS for words in raw]
        self._raw = raw
        self._done = [n for n, part in enumerate(parts) if part.kind == "done" and not part.never]
        self._scores: dict[int, list[float]] = {}

    def _score(self, number: int, statement: Statement) -> float:
        """Return how well a statement fits a part: its words, and the values of its facts."""
        own = statement.words & (self.things[number] | (self._raw[number] & DEEDS))
        fit = sum(1.0 / sum(word in raw for raw in self._raw) for word in own)
        for name in self._parts[number].facts:
            if (fact := self._facts.get(name)) is None or not fact.right:
                continue
            if fact.kind in TYPED:
                said = any(v.kind == fact.kind and self._reader.fits(v, fact) for v in statement.values)
            else:
                said = any(
                    said_in(right, statement.text, fact.kind, self._reader.synonyms) for right in fact.right
                )
            if said:
                fit += 0.5 / sum(name in part.facts for part in self._parts)
        return fit

    def scores(self, statement: Statement) -> list[float]:
        """Return how well a statement fits each part."""
        key = id(statement)
        if key not in self._scores:
            self._scores[key] = [self._score(n, statement) for n in range(len(self._parts))]
        return self._scores[key]

    def belongs(self, number: int, statement: Statement) -> bool:
        """True if no part fits a statement better than this one."""
        scores = self.scores(statement)
        return scores[number] > 0 and scores[number] >= max(scores) - 0.01

    def names_deed(self, statement: Statement) -> bool:
        """True if a statement has a word or a value of a part that is to be done."""
        return any(self.scores(statement)[n] for n in self._done)

    def does(self, number: int, statement: Statement) -> bool:
        """True if a statement may report the deed of a part."""
        said = statement.words & DEEDS
        if said and not said & (self.deeds[number] | ANY_DEED):
            return False
        others = [n for n in self._done if n != number]
        return bool(
            statement.words & self.things[number].difference(*(self.things[n] for n in others))
            or statement.words & self.deeds[number].difference(*(self.deeds[n] for n in others))
        ) or (self.scores(statement)[number] >= 0.25 and self.belongs(number, statement))

    def touches(self, number: int, statement: Statement) -> bool:
        """True if a statement shares a word with a part."""
        return bool(statement.words & self.words[number])


#: What the user does, and not the assistant: "the user has agreed".
_OF_USER: Final = re.compile(r"\bthe user has (?:agreed|picked|approved|accepted|chosen)\b")
_AWAY: Final = re.compile(r"\b(?:not|no|nothing|none|never|without)\b")
_STATES: Final[dict[Act, PartState]] = {
    "offered": "proposed", "asked": "proposed", "promised": "promised", "handed": "handed-back", "refused": "refused", "undone": "refused",
}  # fmt: skip


#: The details that may have any value and that a typed value shows, by its kind.
_SLOTS: Final[Mapping[str, Slot]] = {
    "money": "price",
    "time": "time",
    "date": "day",
    "duration": "length",
    "count": "count",
}
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


class PartReader:
    """Reads the parts of a task in the statements of an assistant."""

    def __init__(
        self,
        parts: Sequence[GoalPart],
        facts: Facts,
        said: Sequence[Statement],
        readings: Mapping[str, FactReading],
        user: Sequence[str],
    ) -> None:
        self.topics = Topics(parts, facts)
        self._parts, self._said, self._readings = parts, said, readings
        self._facts = {f.name: f for f in facts.all}
        self._firm = [s for s in said if s.act in facts.telling]
        self._user, self._reader = user, facts
        known = content(" ".join(user))
        self._new = [s for s in self._firm if any(not content(name) <= known for name in names_in(s.text))]
        #: False where no statement has a word or a value but those of the user and of the goal.
        heard = known | content(facts.goal) | DEEDS
        self._tells = any(
            any(v.said not in facts.goal for v in s.values) or not s.words <= heard
            for s in said
            if s.act not in ("refused", "undone")
        )

    def read(self) -> tuple[PartReading, ...]:
        """Return the reading of each part."""
        return tuple(self._read(n, part) for n, part in enumerate(self._parts))

    def _read(self, number: int, part: GoalPart) -> PartReading:
        if part.never:
            return self._never(number, part)
        if _OF_USER.search(part.text):
            return PartReading(part, "done")
        named = [self._readings[name] for name in part.facts if name in self._readings]
        closed = [r for r in named if not is_taste(r.fact)]
        # A taste concerns personalization, until the user has named it.
        wrong = [
            r
            for r in named
            if r.state == "contradicted" and (not is_taste(r.fact) or self._is_named(r.fact.name))
        ]
        if wrong:
            last = max(wrong, key=lambda r: r.turn or 0)
            return PartReading(
                part,
                "wrong",
                last.turn,
                last.quote,
                tuple(f"{r.fact.what}: {r.said}, wanted {r.fact.says or r.fact.right[0]}" for r in wrong),
            )
        deed = self._deed(number, part) if part.kind == "done" else None
        if deed is not None and deed.state not in ("done", "missing"):
            return deed
        if unsaid := [r for r in closed if r.state == "not said"]:
            details = tuple(
                f"{r.fact.what}: not said, wanted {r.fact.says or r.fact.right[0]}" for r in unsaid
            )
            return PartReading(
                part, "missing", deed.turn if deed else None, deed.quote if deed else "", details
            )
        if deed is not None and (deed.state == "done" or not closed):
            return deed
        if part.kind == "told" and (lacking := self._untold(number, part, closed=bool(closed))):
            return lacking
        if closed:
            last = max(closed, key=lambda r: r.turn or 0)
            return PartReading(part, "done", last.turn, last.quote)
        shown = next((s for s in reversed(self._firm) if self.topics.belongs(number, s)), None)
        return PartReading(part, "done", *((shown.turn, shown.text) if shown else ()))

    def _is_named(self, fact: str) -> bool:
        """True if the user has said the right value of a fact."""
        return any(fact in told_by(text, self._reader) for text in self._user)

    def _never(self, number: int, part: GoalPart) -> PartReading:
        words = self.topics.words[number]
        bad = next(
            (
                s
                for s in self._said
                if s.act == "done" and len(words & s.words) > 1 and not _AWAY.search(fold(s.text))
            ),
            None,
        )
        return PartReading(part, "wrong", bad.turn, bad.text) if bad else PartReading(part, "done")

    def _deed(self, number: int, part: GoalPart) -> PartReading:
        """Return the last state of a deed: reported, opened again, or never reported."""
        topics = self.topics
        found = PartReading(part, "missing", known=bool(topics.words[number]))
        heading: Statement | None = None
        opened, spoken = False, -1
        for s in self._said:
            if heading is not None and heading.turn != s.turn:
                heading = None
            if s.act == "done" and not (s.words & (DEEDS - topics.deeds[number] - ANY_DEED)):
                heading = s  # "Booked:", and a list of what was booked
            if s.act == "undone" and spoken == s.turn and not topics.names_deed(s):
                # "It has not gone out": what was said just before.
                found, opened = PartReading(part, "refused", s.turn, s.text), True
            spoken = s.turn if topics.scores(s)[number] else spoken
            if not topics.does(number, s):
                continue
            own = topics.belongs(number, s)
            # A question is settled by a report in a later reply.
            opened = opened and not (found.state == "proposed" and s.turn > (found.turn or 0))
            if s.act == "undone" or (s.act == "refused" and own):
                found, opened = PartReading(part, "refused", s.turn, s.text), True
            elif s.act in _STATES and own and found.state != "done":
                found, opened = PartReading(part, _STATES[s.act], s.turn, s.text), True
            elif s.act == "done" and (not opened or (own and s.words & (topics.deeds[number] | ANY_DEED))):
                found, opened = PartReading(part, "done", s.turn, s.text), False
            elif s.act == "told" and heading is not None and not opened:
                found = PartReading(part, "done", s.turn, s.text)
        return found

    def _untold(self, number: int, part: GoalPart, *, closed: bool) -> PartReading | None:
        """Return the part as missing if a detail of it that may have any value is not told; None if all is."""
        firm = [s for s in self._said if s in self._firm or s.act == "handed"] or [
            s for s in self._said if s.act in ("offered", "promised")
        ]
        open_facts = [
            f for name in part.facts if (f := self._facts.get(name)) and (not f.right or is_taste(f))
        ]
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
        if any(self.topics.touches(number, s) for s in firm):
            return None
        # A name that the user did not say may be what was asked for. What is no name cannot be read at all.
        name = any(f.kind in _NAMED and not f.right for f in open_facts) or bool(
            {"name", "title", "place"} & {*part.slots}
        )
        if name and self._new:
            return None
        return PartReading(part, "missing", known=name)


def names_in(text: str) -> frozenset[str]:
    """Return the names of a statement; a single first word with a capital letter is none."""
    text = text.replace(": ", " ")
    found = names(f"x {text}" if re.match(r"[^\W\d_]+,? (?:[A-ZÀ-Þ]|\d)", text) else text)
    return frozenset(name for name in found if not is_day_word(name))
