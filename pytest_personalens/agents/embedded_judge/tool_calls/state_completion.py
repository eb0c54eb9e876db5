"""The parts of a goal by what the team's system holds after the dialogue, whatever was said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_judge.tool_calls.actions import stored
from pytest_personalens.agents.embedded_judge.tool_calls.deeds import deeds_of, may_do
from pytest_personalens.agents.language.text import content, stems
from pytest_personalens.agents.reading.findings import MOST_OF
from pytest_personalens.agents.reading.goal import classes, deed_classes
from pytest_personalens.agents.reading.stored_facts import read_stored
from pytest_personalens.core.facts import RANGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.embedded_judge.tool_calls.actions import Action
    from pytest_personalens.agents.reading.stored_facts import StoredFinding
    from pytest_personalens.agents.reading.work import Stand, Work
    from pytest_personalens.core.dialogue.state import State, StoredRecord
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.judging.verdict import PartState
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
    """A stored thing as it is held against a goal: what it says of the facts, and its words."""

    record: StoredRecord
    findings: tuple[StoredFinding, ...]
    by_table: bool
    action: Action

    def right(self, part: GoalPart) -> set[str]:
        """Return the facts of a part of which the thing holds a right value."""
        return {f.finding.fact.name for f in self.findings if f.finding.right} & {*part.facts}

    def wrong(self, part: GoalPart) -> list[StoredFinding]:
        """Return what the thing holds against a part: a value that is not right, where none is."""
        right = self.right(part)
        return [
            f
            for f in self.findings
            if f.finding.fact.name in part.facts
            and not (f.finding.right or f.finding.of_taste or f.finding.fact.name in right)
        ]


class Shown(NamedTuple):
    """What a state makes of a part: its state, the stored thing, and what is wrong with it, or is lacking."""

    state: PartState
    thing: Thing | None = None
    details: tuple[str, ...] = ()


class StoredWork:
    """The things that a system holds, held against the parts of a goal."""

    def __init__(self, work: Work, state: State) -> None:
        self._work = work
        #: The message at which the state is quoted.
        self.turn = max((n for n, m in enumerate(work.messages) if m.role == "assistant"), default=0)
        read = read_stored(state, work.scenario, work.facts)
        self._things = [
            Thing(*facts, action) for facts, action in zip(read, stored(state, self.turn), strict=True)
        ]
        self._facts = {fact.name: fact for fact in work.facts.facts}

    def shown(self, stand: Stand) -> Shown | None:
        """Return what the state makes of a part, or None for a part that it cannot show."""
        part = stand.part
        if part.kind != "done" or part.never or _SHOWS_NOTHING.match(part.text):
            return None
        if _ENDS.search(part.text):
            return self._ended(part)
        standing = [thing for thing in self._things if not thing.action.failed]
        thing = self._best(part, standing)
        lacking = "claimed" if stand.state in ("done", "wrong") else stand.state
        if thing is None:
            return Shown(lacking, None, (f"the state lacks it{_wanted(self._of_part(part))}",))
        if wrong := thing.wrong(part):
            return Shown("wrong", thing, tuple(dict.fromkeys(map(_said, wrong))))
        missing = (*self._unchanged(part, thing), *self._missing(part, standing))
        return Shown(lacking if missing else "done", thing, missing)

    def _of_part(self, part: GoalPart) -> list[Fact]:
        """Return the facts of a part whose values are settled: no range, and nothing of taste."""
        facts = (self._facts[name] for name in part.facts if name in self._facts)
        return [
            f
            for f in facts
            if f.right
            and not (_is_of_taste(f) or MOST_OF.search(f.what))
            and not any(RANGE in r for r in f.right)
        ]

    def _best(self, part: GoalPart, things: Sequence[Thing]) -> Thing | None:
        """Return the stored thing that the part is about, or None."""
        settled = {fact.name for fact in self._of_part(part)}
        words = classes(content(part.text) | frozenset().union(*map(content, part.words)))
        if settled:  # a deed's own word may stand for any deed
            words -= deed_classes(words)
        wanted = deeds_of(frozenset(stems(part.text)))
        best: tuple[tuple[bool, bool, int, int, int], Thing] | None = None
        for place, thing in enumerate(things):
            right, wrong = thing.right(part), {f.finding.fact.name for f in thing.wrong(part)}
            exact, touches = len(right & settled), bool(thing.action.words & words)
            # Without a table, a thing that says nothing of the facts counts as a call without them does.
            alike = not (wanted and thing.action.deeds) or may_do(wanted, thing.action.deeds)
            silent = alike and (not thing.by_table or not settled)
            if not (exact or (touches and (right or wrong or silent)) or (not settled and right)):
                continue
            rank = (
                touches or exact >= _CERTAIN, bool(right or wrong), exact - len(wrong), exact, place,
            )  # fmt: skip
            if best is None or rank > best[0]:
                best = rank, thing
        return best[1] if best else None

    def _missing(self, part: GoalPart, things: Sequence[Thing]) -> Iterator[str]:
        """Yield the facts of a part that no thing holds, though it holds others of their kind."""
        held: dict[str, str] = {}
        for thing in things:
            for f in thing.findings:
                if f.finding.right:
                    held[f.finding.fact.name] = f"{held.get(f.finding.fact.name, '')} {f.finding.said}"
        kinds = {
            f.finding.fact.kind
            for thing in things
            for f in thing.findings
            if f.finding.right
            and f.finding.fact.name in part.facts
            and len(str(f.leaf.value)) <= _LONGEST_FIELD  # a sentence may say the rest in other words
        }
        for fact in self._of_part(part):
            if fact.name not in held:
                if fact.kind in kinds:
                    yield f"nothing holds {fact.what}, wanted {fact.says or fact.right[0]}"
            elif fact.every and (less := [v for v in fact.right if v not in held[fact.name]]):
                yield f"{fact.what}: without {' and '.join(less)}"

    def _unchanged(self, part: GoalPart, thing: Thing) -> Iterator[str]:
        """Yield the values of a thing that were to change and stand as before."""
        if not (_CHANGES.search(part.text) and any("." in name for name in part.facts)):
            return
        right = {f.finding.fact.name: f for f in thing.findings if f.finding.right}
        for name, found in right.items():
            kind = found.finding.fact.kind
            new = [
                f for f in self._facts.values() if f.kind == kind and "." not in f.name and f.right
            ]  # the day or the hour that it is to have
            if "." in name and kind in ("date", "time") and new and not any(f.name in right for f in new):
                yield f"{found.leaf.path}: still {found.shown}{_wanted(new)}"

    def _ended(self, part: GoalPart) -> Shown | None:
        """Return a part that is reached where something is gone, as far as the state shows it."""
        settled = {fact.name for fact in self._of_part(part)}
        about = [
            thing
            for thing in self._things
            if settled and settled <= {f.finding.fact.name for f in thing.findings if f.finding.right}
        ]
        standing = [thing for thing in about if not thing.action.failed]
        if standing:
            return Shown("claimed", standing[-1], (f"{standing[-1].record.path} still stands",))
        return Shown("done", about[-1]) if about else None


def by_state(work: Work, state: State) -> tuple[tuple[Stand, ...], dict[str, str]]:
    """Return the state of each part, where what is stored decides what was done and words what was told.

    The mapping says, by the text of a part, what is wrong with it or is lacking.
    """
    held, details = StoredWork(work, state), {}
    stands: list[Stand] = []
    for stand in work.stands:
        shown = held.shown(stand)
        if shown is None:
            stands.append(stand)
            continue
        if shown.details:
            details[stand.part.text] = "; ".join(shown.details)
        turn, quote = (
            (held.turn, shown.thing.record.in_one_line()) if shown.thing else (stand.turn, stand.quote)
        )
        stands.append(stand._replace(state=shown.state, turn=turn, quote=quote, wrong=()))
    return tuple(stands), details


def _said(found: StoredFinding) -> str:
    return f"{found.leaf.path}: {found.shown}{_wanted([found.finding.fact])}"


def _wanted(facts: Sequence[Fact]) -> str:
    wanted = [fact.says or fact.right[0] for fact in facts if fact.right]
    return f", wanted {', '.join(dict.fromkeys(wanted))}" if wanted else ""


def _is_of_taste(fact: Fact) -> bool:
    return fact.known == "history" and "." not in fact.name
