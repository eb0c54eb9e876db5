"""What a service answered, read to its reply: text, JSON, server-sent events, or JSON in lines."""

from __future__ import annotations

import json
from typing import Any, Final

from pytest_personalens.core.dialogue.message_fields import is_message
from pytest_personalens.core.dialogue.stream import Stream
from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.models.http import problem_in, short

#: The ini key that holds the path of the reply.
REPLY: Final = "personalens_assistant_reply"
#: The largest answer that is read, in bytes.
MOST_BYTES: Final = 50_000_000
_LINES: Final = (
    "application/x-ndjson",
    "application/jsonl",
    "application/x-jsonlines",
    "application/json-seq",
)
_END: Final = "[DONE]"


class Answer:
    """Reads answers. `path` leads to the reply by keys and numbers, such as ``data.0.text``.

    If it is empty, the reply is the answer itself, or what a chat completion says.
    """

    def __init__(self, path: str) -> None:
        self._path = path.strip()
        self._steps = [step for step in self._path.split(".") if step]

    def reply(self, body: bytes, content_type: str) -> object:
        """Return the reply: a text, a message, or a list of messages.

        Raise `ModelBusy` for what cannot be read, and `ModelError` if the path leads nowhere.
        """
        kind = content_type.partition(";")[0].strip().lower()
        text = body.decode("utf-8", "replace")
        if kind == "text/event-stream":
            return self._of_stream(_events(text))
        if kind in _LINES:
            return self._of_stream([json_or_text(line) for line in text.splitlines() if line.strip()])
        if not text.strip():
            return ""
        if kind == "text/html":
            raise ModelError(
                f"the service answers with a page (text/html): {short(text)[:80]}; check the address"
            )
        if kind.startswith("text/") and not self._steps:
            return text
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ModelBusy(f"the service's answer could not be read: {error}") from error
        return self._of_whole(data)

    def _of_whole(self, data: Any) -> object:
        if self._steps:
            reply = _at(data, self._steps)
            if reply is None:
                raise ModelError(f"the answer has nothing at {self._path!r} ({REPLY}): it is {_shape(data)}")
            return reply
        if isinstance(data, dict) and data.get("choices"):
            return _at(data, ["choices", "0", "message"])
        if isinstance(data, (str, list)) or is_message(data):
            return data
        raise ModelError(f"the service's answer is {_shape(data)}; say by {REPLY} where the reply is in it")

    def _of_stream(self, pieces: list[Any]) -> object:
        """Put the pieces together. One without anything at the path is about something else."""
        stream, has_part = Stream(), False
        for piece in pieces:
            if isinstance(piece, dict) and piece.get("error"):
                raise ModelError(f"the service's stream ends with an error: {problem_in(piece)}")
            part = _at(piece, self._steps)
            has_part = has_part or part is not None
            stream.add(part)
        if not has_part:
            nothing = f"nothing at {self._path!r} ({REPLY})" if pieces else "no event in it"
            last = f"; its last event is {_shape(pieces[-1])}" if pieces else ""
            raise ModelError(f"the service's stream has {nothing}{last}")
        return stream.reply()


def _at(data: Any, steps: list[str]) -> Any:
    """Return what stands at a path, or None."""
    for step in steps:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and step.lstrip("-").isdigit():
            data = data[int(step)] if -len(data) <= int(step) < len(data) else None
        else:
            return None
    return data


def _events(text: str) -> list[Any]:
    """Return the data of each server-sent event, as JSON or as text."""
    events = []
    for block in "\n".join(text.splitlines()).split("\n\n"):
        lines = (line.removeprefix("data:") for line in block.split("\n") if line.startswith("data:"))
        data = "\n".join(line.removeprefix(" ") for line in lines)
        if data.strip() == _END:
            break
        if data:
            events.append(json_or_text(data))
    return events


def json_or_text(text: str) -> Any:
    """Return the data of a JSON text, and any other text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shape(data: Any) -> str:
    """Return what an answer is, for somebody who looks for the reply in it."""
    if isinstance(data, dict):
        keys = ", ".join(map(str, list(data)[:10]))
        return short(f"an object with the keys {keys}") if data else "an empty object"
    return short(json.dumps(data)[:80])
