"""What each tool call of a dialogue does: looks something up or changes something, and whether it succeeded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.embedded_judge.tool_calls.call_results import has_failed, is_gone
from pytest_personalens.agents.embedded_judge.tool_calls.deeds import deeds_of
from pytest_personalens.agents.language.text import fold, stem, stems
from pytest_personalens.agents.reading.goal import classes
from pytest_personalens.core.dialogue.state import stored_records
from pytest_personalens.core.dialogue.tool_calls import Call, calls_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.dialogue.state import State, StoredRecord

#: Verbs of tools that change nothing.
_LOOKS_UP: Final = frozenset(
    """
    search find get list lookup look check query fetch read show view retrieve recommend suggest browse
    compare calculate compute estimate quote describe count validate verify recall load see inspect
    locate
    """.split()  # noqa: SIM905
)
#: Names of tools that have no verb and tell something.
_TELLS: Final = frozenset(
    """
    availability status info information details catalogue catalog menu timetable fixtures events
    forecast weather history options price prices inventory listing map seatmap profile preferences
    memory results news
    """.split()  # noqa: SIM905
)
#: Verbs of deeds as names of tools begin with them.
_VERBS: Final = frozenset(
    """
    book reserve buy purchase order create make add set schedule arrange place enter save activate enable start
    subscribe register engage hire rent borrow change move update modify reschedule exchange swap rebook shift
    switch upgrade edit extend cancel delete remove pause mute disable send invite share notify play return
    submit confirm
    """.split()  # noqa: SIM905
)
#: Words of names and arguments that say nothing of what a call is about.
_GENERAL: Final = frozenset(
    stems("the for and with tool function api call action new item data info details request type id user")
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d{1,2}:\d{2}|\d+")


class Action(NamedTuple):
    """A tool call as it is held against a goal.

    `words` are the stems of its name and arguments, `deeds` the kinds of deeds that its name speaks of.
    """

    call: Call
    words: frozenset[str]
    deeds: frozenset[str]
    looks_up: bool
    failed: bool

    @property
    def did(self) -> bool:
        """True for a call that changed something, as far as is known."""
        return not self.looks_up and not self.failed


def actions(messages: Sequence[Message]) -> tuple[Action, ...]:
    """The calls of a dialogue, in order."""
    return tuple(map(_action, calls_of(messages)))


def stored(state: State, turn: int) -> tuple[Action, ...]:
    """The things that a system holds, each as the call that would have made it."""
    return tuple(_of_record(record, turn) for record in stored_records(state.data))


def _of_record(record: StoredRecord, turn: int) -> Action:
    fields = dict(record.fields)
    name = record.kind.removesuffix("s") or "state"  # one of the bookings
    made = _action(Call(name, fields, record.in_one_line(), None, turn))
    return made._replace(looks_up=False, failed=is_gone(fields))


def values(value: Any) -> Iterator[str]:
    """The values within arguments, as texts."""
    if isinstance(value, dict):
        for item in value.values():
            yield from values(item)
    elif isinstance(value, list):
        for item in value:
            yield from values(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _action(call: Call) -> Action:
    name = _stems(call.name) | _stems(str(call.arguments.get("action", "")))
    lower = {word.lower() for word in _WORD.findall(call.name)}
    deeds = deeds_of(name)
    keys = _stems(" ".join(_keys(call.arguments)))
    argument_stems = _stems(" ".join((*_keys(call.arguments), *values(call.arguments))))
    begins_with_deed = bool({w.lower() for w in _WORD.findall(call.name)[:1]} & _VERBS)
    looks_up = (bool(lower & _LOOKS_UP) and not begins_with_deed) or (not deeds and bool(lower & _TELLS))
    words = (name | argument_stems) - _GENERAL
    # A tool that makes something may send it to others too.
    deeds |= deeds_of(keys) & {"send"}
    return Action(call, classes(words) | words, deeds, looks_up, has_failed(call))


def _keys(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        yield name
        if isinstance(value, dict):
            yield from _keys(value)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(fold(word)) for word in _WORD.findall(text))
