"""Which part of a task a statement is about: by the words of the part and by the values of its facts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.reader.findings import Facts
from pytest_personalens.agents.embedded.reader.names import said_in
from pytest_personalens.agents.embedded.reader.statements import DONE
from pytest_personalens.agents.embedded.reader.text import content, stem
from pytest_personalens.agents.embedded.reader.values import TYPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded.reader.statements import Statement
    from pytest_personalens.core.scenario import GoalPart

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
