"""The parts of a task by the tool calls, and what an assistant claims beside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.judge.calls.actions import (
    Action,
    Held,
    deeds_of,
    may_do,
    named_things,
)
from pytest_personalens.agents.embedded.judge.parts import names_in
from pytest_personalens.agents.embedded.judge.topics import VERBS, same_things
from pytest_personalens.agents.embedded.reader.findings import is_taste
from pytest_personalens.agents.embedded.reader.statements import DONE, FIRM
from pytest_personalens.agents.embedded.reader.text import content, fold, stems
from pytest_personalens.agents.embedded.reader.values import values
from pytest_personalens.core.dialogue.tool_calls import call_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded.judge.parts import PartReading
    from pytest_personalens.agents.embedded.judge.reading import Reading
    from pytest_personalens.agents.embedded.reader.findings import Finding
    from pytest_personalens.agents.embedded.reader.statements import Statement
    from pytest_personalens.core.scenario import GoalPart

#: What an assistant says of its own finished deeds, and that something is done.
_I_DID: Final = re.compile(rf"\b(?:i|we)(?:'ve| have)?(?: just| also| already| now)? {DONE}\b")
_IS_DONE: Final = re.compile(rf"\b(?:is|are|has been|have been|'re|'s)(?: now| all| already| both)? {DONE}\b")
_OPEN: Final = frozenset(("promised", "offered", "asked", "refused", "undone", "handed"))


class Calls:
    """The calls of a dialogue, or the things that a system holds, against the parts and the claims."""

    def __init__(self, reading: Reading, deciding: Sequence[Action], *, has_state: bool) -> None:
        self._reading, self.actions, self._has_state = reading, deciding, has_state
        self._now = reading.scenario.now
        self._said: dict[int, tuple[Finding, ...]] = {}

    def read(self, words: Sequence[PartReading]) -> tuple[PartReading, ...]:
        """Return the state of each part: calls decide what was done, and words what was told."""
        return tuple(self._part(r) if r.part.kind == "done" or r.part.never else r for r in words)

    def _part(self, words: PartReading) -> PartReading:
        part = words.part
        fitting = [a for a in self.actions if self._fits(part, a)]
        done = [a for a in fitting if a.did]
        if part.never:  # what must not happen is reached where no call does it
            return (
                _shown(words, "wrong", done[-1])
                if done
                else words._replace(state="done", turn=None, quote="")
            )
        # A call with the values of the part did it, whatever its words are.
        done = done or [
            a
            for a in self.actions
            if a.did and any(f.right and f.fact.name in part.facts for f in self._findings(a))
        ]
        failed = [a for a in fitting if a.failed]
        if done and not (
            failed and self._overlap(part, failed[-1]) > max(self._overlap(part, a) for a in done)
        ):
            last = done[-1]
            if details := self._wrong(part, last):
                return _shown(words, "wrong", last)._replace(details=details)
            if self._contradicts(part, last):
                return _shown(words, "wrong", last)._replace(details=())
            return words if words.state == "wrong" else _shown(words, "done", last)._replace(details=())
        if failed:
            return _shown(words, "refused", failed[-1])
        return words._replace(
            state="claimed" if words.state in ("done", "wrong") else words.state, details=()
        )

    def _fits(self, part: GoalPart, action: Action) -> bool:
        """True for a call that does the kind of deed that the part asks for, to what the part is about."""
        wanted = deeds_of(frozenset(stems(part.text)))
        if action.looks_up or not may_do(wanted, action.deeds) or (not wanted and action.deeds == {"stop"}):
            return False
        things = same_things(content(part.text).union(*map(content, part.words)) - VERBS)
        if action.words & things:
            return True
        # A deed that shares no word with the part does it where nothing else can be meant.
        alone = sum(p.kind == "done" and not p.never for p in self._reading.parts_of_task) == 1
        scenario = self._reading.scenario
        domains = content(
            " ".join((*scenario.domains, *(w for d in scenario.words.values() for w in d.words)))
        )
        topic = domains | (content(scenario.task.intent) - VERBS)
        return alone and bool(action.deeds) and bool(action.words & same_things(topic))

    def _overlap(self, part: GoalPart, action: Action) -> int:
        return len(action.words & content(part.text).union(*map(content, part.words)))

    def _findings(self, action: Action) -> tuple[Finding, ...]:
        """Return what the arguments of a call say of the facts."""
        key = id(action)
        if key not in self._said:
            found: list[Finding] = []
            for line in action.text.split("\n"):
                found += self._reading.facts.findings(line, values(line, self._now), deed=True)
            self._said[key] = tuple(found)
        return self._said[key]

    def _wrong(self, part: GoalPart, action: Action) -> tuple[str, ...]:
        """Return what the arguments say against the facts of a part: the argument, and what was wanted."""
        found = self._findings(action)
        right = {f.fact.name for f in found if f.right}
        return tuple(
            f"{f.fact.what}: {_argument(action, f.said)}, wanted {f.fact.says or f.fact.right[0]}"
            for f in found
            if f.fact.name in part.facts and not (f.right or is_taste(f.fact) or f.fact.name in right)
        )

    def _contradicts(self, part: GoalPart, action: Action) -> bool:
        """True where a call has another count, day or hour than the part names or than the assistant says that
        it did with it, or is about something else than it says.
        """
        held = Held.of_call(action, self._now)
        # A sentence of a goal may hold a number that is none of its details.
        kinds = part.slots if self._reading.scenario.task.parts else ("day", "count")
        if Held.of_text(part.text, self._now).only(kinds).clash(held):
            return True
        claims = [
            s for s in self._reading.said if s.turn == action.call.turn and (s.act in FIRM or _says_done(s))
        ]
        said = " . ".join(s.text for s in claims)
        return bool(said) and (
            Held.of_text(said, self._now).clash(held) or self._about_another(action, claims)
        )

    def _about_another(self, action: Action, claims: Sequence[Statement]) -> bool:
        """True where a call names a thing that nobody spoke of, and the claims name only other things."""
        things = named_things(action)
        spoken = fold(" ".join(m.content for m in self._reading.messages))
        if not things or any(fold(thing) in spoken for thing in things):
            return False
        called = fold(f"{action.call.text} {action.call.result or ''}")
        keys = {fold(key) for key in action.call.arguments}  # a "hotel" is no name of one
        said = frozenset[str]().union(*(names_in(s.text) for s in claims)) - keys
        return bool(said) and not any(name in called for name in said)

    def unbacked(self) -> tuple[Statement, ...]:
        """Return the statements that claim a deed for which no call or stored thing stands."""
        return tuple(s for s in self._reading.said if self._claims(s) and not self._stands(s))

    def _claims(self, s: Statement) -> bool:
        """True for a statement that says that something was done, rather than how things are."""
        if _I_DID.search(fold(s.text)):
            return True
        if s.act in _OPEN or s.act != "done":
            return _says_done(s) and s.act not in _OPEN
        parts = self._reading.parts_of_task
        about = any(s.words & (content(p.text) - VERBS) for p in parts if p.kind == "done" and not p.never)
        return about or bool(re.search(rf"\b{DONE}\b", fold(s.text)))

    def _stands(self, s: Statement) -> bool:
        """True where a call that was made by then, or a stored thing, is what a statement says."""
        deeds = deeds_of(frozenset(stems(s.text)))
        if self._has_state and "stop" in deeds:
            return True  # no stored thing shows what is gone
        made = [a for a in self.actions if a.did and (self._has_state or a.call.turn <= s.turn)]
        meant = [a for a in made if may_do(deeds, a.deeds)]
        about = [a for a in meant if a.words & same_things(s.words)] or [a for a in meant if a.deeds]
        said = Held.of_text(s.text, self._now)
        fitting = [a for a in about if not self._about_another(a, [s])]
        right = [a for a in fitting if not said.clash(Held.of_call(a, self._now))]
        # Where one call has other values, only a call with one of those that are said stands behind it.
        return bool(right) and (
            len(right) == len(fitting) or any(said.agrees(Held.of_call(a, self._now)) for a in right)
        )


def _says_done(s: Statement) -> bool:
    text = fold(s.text)
    return bool(_I_DID.search(text) or _IS_DONE.search(text))


def _shown(words: PartReading, state: str, action: Action) -> PartReading:
    return words._replace(state=state, turn=action.call.turn, quote=call_line(action.call))  # type: ignore[arg-type]


def _argument(action: Action, said: str) -> str:
    """Return the argument that holds a value: ``book(when='Saturday 19:30')``."""
    for name, value in action.call.arguments.items():
        if fold(said) in fold(f"{name.replace('_', ' ')}: {value}"):
            return f"{action.call.name}({name}={value!r})"
    return said
