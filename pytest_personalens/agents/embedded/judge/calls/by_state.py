"""The parts of a task by what the team's system holds after the dialogue, whatever was said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded.judge.calls.actions import Action, deeds_of, may_do, stored
from pytest_personalens.agents.embedded.judge.calls.stored import StoredFacts, read_stored
from pytest_personalens.agents.embedded.judge.topics import VERBS, same_things
from pytest_personalens.agents.embedded.reader.findings import MOST, is_taste
from pytest_personalens.agents.embedded.reader.text import content, stems
from pytest_personalens.core.facts import RANGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.embedded.judge.calls.stored import StoredFinding
    from pytest_personalens.agents.embedded.judge.parts import PartReading
    from pytest_personalens.agents.embedded.judge.reading import Reading
    from pytest_personalens.core.dialogue.state import State
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import GoalPart

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


class Thing(NamedTuple):
    """A stored thing as it is held against a part: what it says of the facts, and its words."""

    facts: StoredFacts
    action: Action

    def right(self, part: GoalPart) -> set[str]:
        """Return the facts of a part of which the thing holds a right value."""
        return {f.finding.fact.name for f in self.facts.findings if f.finding.right} & {*part.facts}

    def wrong(self, part: GoalPart) -> list[StoredFinding]:
        """Return what the thing holds against a part: a value that is not right, where none is."""
        right = self.right(part)
        return [
            f
            for f in self.facts.findings
            if f.finding.fact.name in part.facts
            and not (f.finding.right or is_taste(f.finding.fact) or f.finding.fact.name in right)
        ]


class StoredWork:
    """The things that a system holds, held against the parts of a task."""

    def __init__(self, reading: Reading, state: State) -> None:
        self._reading = reading
        #: The message at which the state is quoted.
        self.turn = max((n for n, m in enumerate(reading.messages) if m.role == "assistant"), default=0)
        self._things = [
            Thing(*pair)
            for pair in zip(read_stored(state, reading.facts), stored(state, self.turn), strict=True)
        ]
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
        here = lacking._replace(turn=self.turn, quote=thing.facts.record.in_one_line())
        if wrong := thing.wrong(part):
            return here._replace(state="wrong", details=tuple(dict.fromkeys(map(_said, wrong))))
        if missing := (*self._unchanged(part, thing), *self._missing(part, standing)):
            return here._replace(details=missing)
        unlike = tuple(
            f"{fact.what}: {held!r} cannot be compared with {fact.right[0]!r}"
            for fact, held in thing.facts.unlike
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
        words = same_things(content(part.text).union(*map(content, part.words)))
        if settled:  # a deed's own word may stand for any deed
            words -= VERBS
        wanted = deeds_of(frozenset(stems(part.text)))
        best: tuple[tuple[bool, bool, int, int, int], Thing] | None = None
        for place, thing in enumerate(things):
            right, wrong = thing.right(part), {f.finding.fact.name for f in thing.wrong(part)}
            exact, touches = len(right & settled), bool(thing.action.words & words)
            # Without a table, a thing that says nothing of the facts counts as a call without them does.
            silent = may_do(wanted, thing.action.deeds) and (not thing.facts.by_table or not settled)
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
        unlike = {fact.name for thing in things for fact, _ in thing.facts.unlike}
        for f in (f for thing in things for f in thing.facts.findings if f.finding.right):
            held[f.finding.fact.name] = f"{held.get(f.finding.fact.name, '')} {f.finding.said}"
            # A sentence may say the rest in other words.
            if f.finding.fact.name in part.facts and len(str(f.leaf.value)) <= _LONGEST_FIELD:
                kinds.add(f.finding.fact.kind)
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
        right = {f.finding.fact.name: f for f in thing.facts.findings if f.finding.right}
        for name, found in right.items():
            kind = found.finding.fact.kind
            # The day or the hour that it is to have.
            new = [f for f in self._facts.values() if f.kind == kind and "." not in f.name and f.right]
            if "." in name and kind in ("date", "time") and new and not any(f.name in right for f in new):
                yield f"{found.leaf.path}: still {found.shown}{_wanted(new)}"

    def _ended(self, words: PartReading) -> PartReading | None:
        """Return a part that is reached where something is gone, as far as the state shows it."""
        settled = {fact.name for fact in self._settled(words.part)}
        about = [
            t
            for t in self._things
            if settled and settled <= {f.finding.fact.name for f in t.facts.findings if f.finding.right}
        ]
        if not about:
            return None
        standing = [thing for thing in about if not thing.action.failed]
        last = (standing or about)[-1]
        details = (f"{last.facts.record.path} still stands",) if standing else ()
        return words._replace(
            state="claimed" if standing else "done",
            turn=self.turn,
            quote=last.facts.record.in_one_line(),
            details=details,
        )


def _said(found: StoredFinding) -> str:
    return f"{found.leaf.path}: {found.shown}{_wanted([found.finding.fact])}"


def _wanted(facts: Sequence[Fact]) -> str:
    wanted = [fact.says or fact.right[0] for fact in facts if fact.right]
    return f", wanted {', '.join(dict.fromkeys(wanted))}" if wanted else ""
