"""What each tool call of a dialogue does: looks something up or changes something, and whether it succeeded."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.embedded_judge.goal import classes
from pytest_personalens.agents.language.text import fold, stem
from pytest_personalens.core.tool_calls import Call, calls_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.core.message import Message

#: Verbs of tools that change nothing.
_LOOKS_UP: Final = frozenset(
    [
        "search",
        "find",
        "get",
        "list",
        "lookup",
        "look",
        "check",
        "query",
        "fetch",
        "read",
        "show",
        "view",
        "retrieve",
        "recommend",
        "suggest",
        "browse",
        "compare",
        "calculate",
        "compute",
        "estimate",
        "quote",
        "describe",
        "count",
        "validate",
        "verify",
        "recall",
        "load",
        "see",
        "inspect",
        "locate",
    ]
)
#: Names of tools that have no verb and tell something.
_TELLS: Final = frozenset(
    [
        "availability",
        "status",
        "info",
        "information",
        "details",
        "catalogue",
        "catalog",
        "menu",
        "timetable",
        "fixtures",
        "events",
        "forecast",
        "weather",
        "history",
        "options",
        "price",
        "prices",
        "inventory",
        "listing",
        "map",
        "seatmap",
        "profile",
        "preferences",
        "memory",
        "results",
        "news",
    ]
)
#: Kinds of deeds, each with the verbs that tools and goals have for it.
_DEEDS: Final[dict[str, frozenset[str]]] = {
    kind: frozenset(map(stem, verbs.split()))
    for kind, verbs in {
        "make": "book booked reserve reserved reservation booking buy bought purchase order ordered create created"
        " make made add added set schedule scheduled arrange arranged place placed enter entered save saved"
        " activate enable start subscribe register plan engage engaged hire rent rented borrow borrowed hold held"
        " write post put running active issue open pay",
        "change": "change changed move moved update updated modify reschedule rescheduled exchange exchanged swap"
        " rebook rebooked shift shifted switch switched upgrade edit extend postpone replace adjust set",
        "stop": "cancel cancelled delete deleted remove removed pause paused mute muted silence disable release"
        " drop end stop skip snooze suspend unsubscribe",
        "send": "send sent invite invited invitation share shared message mail email notify pass forward text deliver",
        "play": "play plays playing queue",
        "return": "return returned refund",
    }.items()
}
#: Verbs of deeds as names of tools begin with them.
_BASE_VERBS: Final = frozenset(
    [
        "book",
        "reserve",
        "buy",
        "purchase",
        "order",
        "create",
        "make",
        "add",
        "set",
        "schedule",
        "arrange",
        "place",
        "enter",
        "save",
        "activate",
        "enable",
        "start",
        "subscribe",
        "register",
        "engage",
        "hire",
        "rent",
        "borrow",
        "change",
        "move",
        "update",
        "modify",
        "reschedule",
        "exchange",
        "swap",
        "rebook",
        "shift",
        "switch",
        "upgrade",
        "edit",
        "extend",
        "cancel",
        "delete",
        "remove",
        "pause",
        "mute",
        "disable",
        "send",
        "invite",
        "share",
        "notify",
        "play",
        "return",
        "submit",
        "confirm",
    ]
)
#: What may do a deed of a kind: what is to be changed may be made anew, what is to be ended may be changed.
_DONE_BY: Final = {
    "make": {"make", "change"},
    "change": {"change", "make", "return"},
    "stop": {"stop", "change"},
    "return": {"return", "make", "change", "stop"},
    "send": {"send"},
    "play": {"play", "make"},
}
#: The classes of a goal's words (`goal.classes`) by the kinds of deeds that they speak of.
_OF_CLASS: Final = {
    "=0": "make", "=1": "make", "=2": "send", "=3": "make", "=5": "stop", "=6": "change", "=7": "play",
}  # fmt: skip
#: Words of names and arguments that say nothing of what a call is about.
_GENERAL: Final = frozenset(
    map(
        stem,
        [
            "the",
            "for",
            "and",
            "with",
            "tool",
            "function",
            "api",
            "call",
            "action",
            "new",
            "item",
            "data",
            "info",
            "details",
            "request",
            "type",
            "id",
            "user",
        ],
    )
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d{1,2}:\d{2}|\d+")
#: Keys of a result that say by their value whether it went well.
_BAD_IF_TRUE: Final = ("error", "errors", "exception", "iserror", "is_error", "failure")
_BAD_IF_FALSE: Final = ("ok", "success", "succeeded", "successful", "done", "booked", "confirmed")
_STATUS: Final = ("status", "state", "outcome", "result", "message", "detail", "reason")
_FAILED: Final = re.compile(
    r"\b(?:error|exception|traceback|fail(?:ed|ure|s)?|declined|rejected|denied|refused|unauthori[sz]ed|forbidden"
    r"|not[ _](?:found|available|possible|allowed|permitted|booked|saved|sent|done|supported|enough)|unavailable"
    r"|sold[ _]out|fully booked|no longer|does not exist|timed?[ _-]?out|timeout|could not|couldn't|cannot|can't"
    r"|unable|invalid|insufficient|no (?:seats?|tables?|rooms?|tickets?|availability|such|free|places?)|conflict)\b"
)
_NO_ERROR: Final = re.compile(r"\b(?:no|without|0|zero)[ _](?:error|failure|conflict)s?\b")
#: From this status of HTTP's on, a call failed.
_HTTP_ERROR: Final = 400
#: So much of a result tells how it went.
_READ: Final = 400


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


def deeds_of(words: frozenset[str]) -> frozenset[str]:
    """The kinds of deeds that stems of words speak of."""
    return frozenset(kind for kind, verbs in _DEEDS.items() if words & verbs)


def deeds_of_classes(words: frozenset[str]) -> frozenset[str]:
    """The kinds of deeds that a goal's words speak of, by their classes."""
    return frozenset(_OF_CLASS[word] for word in words if word in _OF_CLASS)


def may_do(wanted: frozenset[str], had: frozenset[str]) -> bool:
    """True where deeds of the kinds `had` may be one of those that are wanted."""
    return any(had & _DONE_BY[kind] for kind in wanted)


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
    begins_with_deed = bool(_first(call.name) & _BASE_VERBS)
    looks_up = (bool(lower & _LOOKS_UP) and not begins_with_deed) or (not deeds and bool(lower & _TELLS))
    words = (name | argument_stems) - _GENERAL
    # A tool that makes something may send it to others too.
    deeds |= deeds_of(keys) & {"send"}
    return Action(call, classes(words) | words, deeds, looks_up, _failed(call))


def _first(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name)[:1])


def _keys(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        yield name
        if isinstance(value, dict):
            yield from _keys(value)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(fold(word)) for word in _WORD.findall(text))


def _failed(call: Call) -> bool:
    """True for a result that says so. A call without one counts as made; one that no tool could read does
    not.
    """
    if call.result is None:
        return bool(call.text.strip()) and not call.arguments and call.text.strip() not in ("{}", "null")
    try:
        result = json.loads(call.result)
    except (ValueError, RecursionError):
        result = call.result
    if isinstance(result, dict):
        return _says_failed(result)
    return isinstance(result, str) and _bad(result)


def _says_failed(result: Mapping[str, Any]) -> bool:
    fields = {name.lower(): value for name, value in result.items()}
    if any(fields.get(name) for name in _BAD_IF_TRUE) or any(
        fields.get(name) is False for name in _BAD_IF_FALSE
    ):
        return True
    code = fields.get("status", fields.get("code"))
    if isinstance(code, int) and not isinstance(code, bool) and code >= _HTTP_ERROR:
        return True
    return any(isinstance(text := fields.get(name), str) and _bad(text) for name in _STATUS)


def _bad(text: str) -> bool:
    return bool(_FAILED.search(_NO_ERROR.sub("", fold(text[:_READ]))))
