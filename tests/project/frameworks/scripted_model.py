"""A model behind the OpenAI protocol on loopback that calls a tool, and then says what the tool found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.support.servers.loopback import Handler, Loopback

ARGUMENTS = {"people": 2, "day": "Friday"}


class ScriptedModel(Loopback):
    """Whatever the user says, it books a table by the tool it was given, and then reports the result."""

    def __init__(self) -> None:
        super().__init__(_Answering)
        self.url += "/v1"


class _Answering(Handler):
    protocol_version = "HTTP/1.0"  # the end of the answer is that of the connection

    def serve(self) -> None:
        body = self.read()
        message, streamed = _answer(body), bool(body.get("stream"))
        self.head(200, Content_Type="text/event-stream" if streamed else "application/json")
        for part in _streamed(message) if streamed else (json.dumps(_whole("message", message)),):
            self.wfile.write(part.encode())


def _answer(body: dict[str, Any]) -> dict[str, Any]:
    last = body["messages"][-1]
    if last["role"] == "tool":
        return {"role": "assistant", "content": f"I've booked it: {_text(last['content'])}."}
    names = [tool["function"]["name"] for tool in body.get("tools", ())]
    name = next(name for name in names if "book_table" in name)
    number = sum(message["role"] == "tool" for message in body["messages"]) + 1
    function = {"name": name, "arguments": json.dumps(ARGUMENTS)}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _whole(key: str, message: dict[str, Any], end: bool = True) -> dict[str, Any]:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, key: message, "finish_reason": reason if end else None}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    kind = "chat.completion" if key == "message" else "chat.completion.chunk"
    head = {"id": "c1", "object": kind, "created": 0, "model": "scripted"}
    return {**head, "choices": [choice], "usage": usage}


def _streamed(message: dict[str, Any]) -> Iterator[str]:
    calls = [{"index": i, **call} for i, call in enumerate(message.get("tool_calls", ()))]
    delta = {**message, **({"tool_calls": calls} if calls else {})}
    yield f"data: {json.dumps(_whole('delta', delta, end=False))}\n\n"
    yield f"data: {json.dumps(_whole('delta', {} if not calls else {'tool_calls': []}))}\n\n"
    yield "data: [DONE]\n\n"
