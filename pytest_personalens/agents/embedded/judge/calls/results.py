"""Whether a tool call failed, as its result says, and whether a stored thing still stands."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.embedded.reader.text import fold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.core.dialogue.tool_calls import Call

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
#: Fields of a stored thing that say by a True that it does not stand, and words of its status that do.
_ENDED: Final = ("cancelled", "canceled", "deleted")
_GONE: Final = re.compile(
    r"\b(?:cancel+ed|deleted|removed|void|expired|failed|rejected|declined)\b", re.IGNORECASE
)
#: From this status of HTTP's on, a call failed.
_HTTP_ERROR: Final = 400
#: So much of a result tells how it went.
_READ: Final = 400


def has_failed(call: Call) -> bool:
    """True for a call whose result says that it failed.

    A call without a result counts as made; one that no tool could read does not.
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


def is_gone(fields: Mapping[str, Any]) -> bool:
    """True for a stored thing that does not stand: cancelled, deleted, expired, failed."""
    by_name = {name.lower(): value for name, value in fields.items()}
    ended = any(by_name.get(name) is True for name in _ENDED) or _says_failed(by_name)
    return ended or any(_GONE.search(str(by_name[name])) for name in ("status", "state") if name in by_name)


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
