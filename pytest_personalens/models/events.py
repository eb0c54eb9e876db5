"""Takes a body apart that is a stream: server-sent events, or JSON in lines."""

from __future__ import annotations

import json
import re
from typing import Any, Final

#: The ends of a line, and no other character that Python takes for one: a text may hold those.
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_LAST: Final = "[DONE]"
_FAILED: Final = ("error", "exception")


def read_events(text: str) -> list[Any]:
    """Return the data of each server-sent event, as JSON or as text, and "[DONE]" as it is.

    The data of an event of the name "error" becomes ``{"type": "error", "error": data}``.
    """
    events: list[Any] = []
    name, lines = "", list[str]()
    for line in [*_LINE_END.split(text), ""]:
        field, _, value = line.partition(":")
        if field == "event":
            name = value.strip().lower()
        elif field == "data":
            lines.append(value.removeprefix(" "))
        elif not line:
            data = "\n".join(lines)
            if data.strip() == _LAST:
                events.append(_LAST)
            elif data:
                value_ = json_or_text(data)
                events.append({"type": "error", "error": value_} if name in _FAILED else value_)
            name, lines = "", []
    return events


def read_lines(text: str) -> list[Any]:
    """Return the data of each line, as JSON or as text."""
    return [json_or_text(line.lstrip("\x1e")) for line in _LINE_END.split(text) if line.strip()]


def json_or_text(text: str) -> Any:
    """Return the data of a JSON text, and any other text as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
