"""What an assistant says that it did, held against the tool calls that it made."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.agents.embedded_judge.tool_calls.actions import Action, actions, stored, values
from pytest_personalens.agents.embedded_judge.tool_calls.call_values import Values, named_things
from pytest_personalens.agents.embedded_judge.tool_calls.deeds import deeds_of, deeds_of_classes, may_do
from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.lexicon import domain_words
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, fold, mentions, stems
from pytest_personalens.agents.reading.goal import classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.agents.embedded_judge.acts.knowledge import PreferenceFinding
    from pytest_personalens.agents.reading.goal import Part
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.dialogue.state import State
    from pytest_personalens.core.scenario import Scenario

#: What became of a part by the calls alone.
Backing = Literal["done", "failed", "wrong", "claimed"]
#: A statement claims a deed from this probability on.
_CLAIM: Final = 0.5
#: Words of deeds, by the classes that words of goals have: they alone make no call fit a part.
_OF_DEEDS: Final = frozenset(f"={i}" for i in range(8))


#: What an assistant says of its own finished deeds.
_I_DID: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have)?(?: just| also| already| now)? (?:booked|reserved|bought|purchased|ordered|got you"
    r"|created|added|set (?:up|it|your|a|an|the)|scheduled|arranged|placed|saved|activated|sent|messaged|texted|invited"
    r"|shared|cancell?ed|deleted|removed|paused|muted|moved|changed|updated|rescheduled|rebooked|exchanged|switched"
    r"|rented|hired|subscribed|put)\b"
)


#: Words of a deed that is finished.
_PARTICIPLES: Final = (
    r"(?:booked|reserved|bought|purchased|ordered|created|made|added|set|scheduled|arranged|placed|entered|saved"
    r"|activated|active|switched on|on hold|subscribed|rented|hired|engaged|changed|moved|updated|rescheduled"
    r"|exchanged|rebooked|cancell?ed|deleted|removed|paused|muted|sent|invited|shared|confirmed|on its way)\b"
)
_DONE: Final = re.compile(rf"\b{_PARTICIPLES}")
_IS_DONE: Final = re.compile(
    rf"\b(?:is|are|has been|have been|'re|'s)(?: now| all| already| both)? {_PARTICIPLES}"
)


class BackedPart(NamedTuple):
    """A part of the goal, what its calls make of it, and the call that decides."""

    part: Part
    backing: Backing
    action: Action | None


class Backed:
    """The calls of a dialogue against the goal and against what the assistant says.

    For a dialogue that tells its calls. It is decided by this dialogue alone, so that an item's verdict does
    not depend on which others are run.
    """

    def __init__(
        self,
        scenario: Scenario,
        messages: Sequence[Message],
        parts: Sequence[Part],
        spoken: Sequence[Spoken],
        state: State | None = None,
    ) -> None:
        self._scenario, self._messages, self._spoken = scenario, messages, spoken
        self._parts = parts
        self.actions = actions(messages)
        #: What decides: the things that the system holds, where the team tells them, else the calls.
        self._deciding = self.actions
        if state is not None:
            last = max((n for n, m in enumerate(messages) if m.role == "assistant"), default=0)
            self._deciding = stored(state, last)
        self._has_state = state is not None

    @cached_property
    def parts(self) -> tuple[BackedPart, ...]:
        """What the calls make of each part that is to be done; of those to be told they tell nothing."""
        return tuple(self._of_part(part) for part in self._parts if not part.to_tell)

    @cached_property
    def unbacked(self) -> tuple[Spoken, ...]:
        """The statements that claim a deed for which no call stands."""
        return tuple(s for s in self._spoken if self._claims(s) and not self._stands(s))

    def with_preferences(self, findings: Sequence[PreferenceFinding]) -> tuple[PreferenceFinding, ...]:
        """The findings on preferences, where one that no words use is applied by the arguments of a call."""
        return tuple(self._applied(f) if f.code == "ignores" else f for f in findings)

    def _applied(self, finding: PreferenceFinding) -> PreferenceFinding:
        for action in (a for a in self.actions if a.did):
            arguments = " . ".join(values(action.call.arguments))
            for value in self._scenario.preferences[finding.domain][finding.type]:
                if mentions(value, arguments):
                    call = action.call
                    return finding._replace(code="applies", value=value, turn=call.turn, quote=repr(call))
        return finding

    def _of_part(self, part: Part) -> BackedPart:
        fitting = [a for a in self._deciding if self._fits(part, a)]
        done = [a for a in fitting if a.did]
        if part.never:  # what must not happen is reached where no call does it
            return BackedPart(part, "wrong" if done else "done", done[-1] if done else None)
        right = [a for a in done if not self._contradicts(part, a)]
        if right and (not done or right[-1] is done[-1]):
            return BackedPart(part, "done", right[-1])
        if done:
            return BackedPart(part, "wrong", done[-1])
        failed = [a for a in fitting if a.failed]
        return BackedPart(part, "failed" if failed else "claimed", failed[-1] if failed else None)

    def _fits(self, part: Part, action: Action) -> bool:
        """True for a call that does the kind of deed that the part asks for, to what the part is about."""
        if action.looks_up:
            return False
        wanted = deeds_of(frozenset(stems(part.text))) or deeds_of_classes(part.words)
        if wanted and action.deeds and not may_do(wanted, action.deeds):
            return False
        if action.words & (part.words - _OF_DEEDS):
            return True
        # A deed that shares no word with the part does it where nothing else can be meant.
        alone = sum(not p.to_tell for p in self._parts) == 1
        return alone and bool(action.deeds) and bool(action.words & self._topic)

    @cached_property
    def _topic(self) -> frozenset[str]:
        s = self._scenario
        domains = " ".join(f"{d} {' '.join(domain_words(d, s))}" for d in s.domains)
        return (content(domains) | content(s.task.intent)) - _OF_DEEDS

    def _contradicts(self, part: Part, action: Action) -> bool:
        """True where the call has another count, day or hour than the goal names, or than the assistant says
        that it did with it, or is about something else than it says.
        """
        arguments = Values.of_call(action)
        # A sentence of a goal may hold a number that is none of its details.
        kinds = part.slots if self._scenario.task.parts else frozenset(("day", "count"))
        if Values.of_text(plain(part.text)).only(kinds).clash(arguments):
            return True
        claims = [
            s for s in self._of_turn(action.call.turn) if s.acts["deed"] > _CLAIM or _says_it_is_done(s)
        ]
        said = " . ".join(s.line.text for s in claims)
        return bool(said) and (
            Values.of_text(plain(said)).clash(arguments) or self._about_another(action, claims)
        )

    def _of_turn(self, turn: int) -> list[Spoken]:
        return [s for s in self._spoken if s.line.turn == turn and s.line.role == "assistant"]

    def _about_another(self, action: Action, claims: Sequence[Spoken]) -> bool:
        """True where the call names a thing that nobody spoke of, and the claims name only other things."""
        things = named_things(action)
        spoken_of = fold(" ".join(m.content for m in self._messages))
        if not things or any(fold(thing) in spoken_of for thing in things):
            return False
        called = fold(f"{action.call.text} {action.call.result or ''}")
        names = frozenset[str]().union(*(slots.names(f"x {s.line.text}") for s in claims))
        return bool(names) and not any(name in called for name in names)

    def _stands(self, statement: Spoken) -> bool:
        """True where a call that was made by then, or a thing in the state, is what the statement says."""
        deeds = deeds_of(frozenset(stems(statement.line.text)))
        if self._has_state and "stop" in deeds:
            return True  # no stored thing shows what is gone
        made = [
            a for a in self._deciding if a.did and (self._has_state or a.call.turn <= statement.line.turn)
        ]
        if not made:
            return False
        words = statement.line.words | classes(statement.line.words)
        meant = [a for a in made if not deeds or not a.deeds or may_do(deeds, a.deeds)]
        about = [a for a in meant if a.words & words] or [a for a in meant if a.deeds]
        said = Values.of_text(plain(statement.line.text))
        fitting = [a for a in about if not self._about_another(a, [statement])]
        right = [a for a in fitting if not said.clash(Values.of_call(a))]
        # Where one call has other values, only a call with one of those that are said stands behind it.
        return bool(right) and (
            len(right) == len(fitting) or any(said.agrees(Values.of_call(a)) for a in right)
        )

    def _claims(self, statement: Spoken) -> bool:
        """True for a statement of the assistant that says that something was done, rather than how things
        are.
        """
        acts = statement.acts
        if statement.line.role != "assistant":
            return False
        if _I_DID.search(fold(statement.line.text)):
            return True
        not_deed = max(acts["promise"], acts["failure"], acts["question"], acts["proposal"])
        if _says_it_is_done(statement) and not_deed < _CLAIM:
            return True
        if acts["deed"] < max(_CLAIM, not_deed):
            return False
        words = statement.line.words | classes(statement.line.words)
        about = any(words & (p.words - _OF_DEEDS) for p in self._parts if not (p.to_tell or p.never))
        return about or bool(_DONE.search(fold(statement.line.text)))


def _says_it_is_done(statement: Spoken) -> bool:
    text = fold(statement.line.text)
    return bool(_I_DID.search(text) or _IS_DONE.search(text))
