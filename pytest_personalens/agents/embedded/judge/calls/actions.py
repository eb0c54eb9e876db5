"""What each tool call does: looks something up or changes something, to what, and whether it succeeded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.embedded.judge.calls.results import has_failed, is_gone
from pytest_personalens.agents.embedded.judge.topics import same_things
from pytest_personalens.agents.embedded.reader.text import fold, stem, stems
from pytest_personalens.core.dialogue.state import stored_records
from pytest_personalens.core.dialogue.tool_calls import Call, calls_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.dialogue.state import State, StoredRecord

#: Verbs of tools that change nothing, and names of tools that have no verb and tell something.
_LOOKS_UP: Final = frozenset(
    "search find get list lookup look check query fetch read show view retrieve recommend suggest browse compare calculate compute estimate quote describe count"  # noqa: SIM905
    " validate verify recall load see inspect locate".split()
)
_TELLS: Final = frozenset(
    "availability status info information details catalogue catalog menu timetable fixtures events forecast weather history options price prices inventory"  # noqa: SIM905
    " listing map seatmap profile preferences memory results news".split()
)
#: Kinds of deeds, each with the verbs that tools and goals have for it.
_DEEDS: Final[dict[str, frozenset[str]]] = {
    kind: frozenset(map(stem, verbs.split()))
    for kind, verbs in {
        "make": "book booked reserve reserved reservation booking buy bought purchase order ordered create created"
        " make made add added set schedule scheduled arrange arranged place placed enter entered save saved"
        " activate enable start subscribe register plan engage engaged hire rent rented borrow borrowed hold held"
        " write post put running active issue open pay confirm submit",
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
    "make": {"make", "change"},
    "change": {"change", "make", "return"},
    "stop": {"stop", "change"},
    "return": {"return", "make", "change", "stop"},
    "send": {"send"},
    "play": {"play", "make"},
}
#: Words of names and arguments that say nothing of what a call is about.
_GENERAL: Final = frozenset(
    stems("the for and with tool function api call action new item data info details request type id user")
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d{1,2}:\d{2}|\d+")


def deeds_of(words: frozenset[str]) -> frozenset[str]:
    """Return the kinds of deeds that stems of words speak of."""
    return frozenset(kind for kind, verbs in _DEEDS.items() if words & verbs)


def may_do(wanted: frozenset[str], had: frozenset[str]) -> bool:
    """True where deeds of the kinds `had` may be one of those that are wanted, or nothing says which is wanted."""
    return not wanted or not had or any(had & _DONE_BY[kind] for kind in wanted)


class Action(NamedTuple):
    """A tool call as it is held against a task.

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

    @property
    def text(self) -> str:
        """The arguments as lines that can be read like statements."""
        return "\n".join(
            f"{name.replace('_', ' ')}: {value}"
            for name, one in self.call.arguments.items()
            for value in plain_values(one)
        )


def actions(messages: Sequence[Message]) -> tuple[Action, ...]:
    """Return the calls of a dialogue, in order."""
    return tuple(map(_action, calls_of(messages)))


def stored(state: State, turn: int) -> tuple[Action, ...]:
    """Return the things that a system holds, each as the call that would have made it."""
    return tuple(_of_record(record, turn) for record in stored_records(state.data))


def plain_values(value: Any) -> Iterator[str]:
    """Yield the values within arguments, as texts."""
    if isinstance(value, dict):
        for item in value.values():
            yield from plain_values(item)
    elif isinstance(value, list):
        for item in value:
            yield from plain_values(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _of_record(record: StoredRecord, turn: int) -> Action:
    fields = dict(record.fields)
    name = record.kind.removesuffix("s") or "state"  # one of the bookings
    made = _action(Call(name, fields, record.in_one_line(), None, turn))
    return made._replace(looks_up=False, failed=is_gone(fields))


def _action(call: Call) -> Action:
    name = _stems(call.name) | _stems(str(call.arguments.get("action", "")))
    parts = [word.lower() for word in _WORD.findall(call.name)]
    deeds = deeds_of(name)
    keys = _stems(" ".join(_keys(call.arguments)))
    said = keys | _stems(" ".join(plain_values(dict(call.arguments))))
    begins_with_deed = bool(deeds_of(frozenset(map(stem, parts[:1]))))
    looks_up = (bool(_LOOKS_UP & set(parts)) and not begins_with_deed) or (
        not deeds and bool(_TELLS & set(parts))
    )
    # A tool that makes something may send it to others too.
    return Action(
        call,
        same_things((name | said) - _GENERAL),
        deeds | (deeds_of(keys) & {"send"}),
        looks_up,
        has_failed(call),
    )


def _keys(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        yield name
        if isinstance(value, dict):
            yield from _keys(value)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(fold(word)) for word in _WORD.findall(text))
