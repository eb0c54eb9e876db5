"""A model behind the OpenAI protocol on loopback that calls a tool, and then says what the tool found."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ARGUMENTS = {"people": 2, "day": "Friday"}


class ScriptedModel:
    """Whatever the user says, it books a table by the tool it was given, and then reports the result."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = _answer(body)
        streamed = bool(body.get("stream"))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        self.end_headers()
        for part in _streamed(message) if streamed else (json.dumps(_whole("message", message)),):
            self.wfile.write(part.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class names it so)
        pass


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
