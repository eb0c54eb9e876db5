"""A service on loopback that answers each request as it is told to: by HTTP, or as AWS frames its events."""

from __future__ import annotations

import json
import struct
import threading
import time
from base64 import b64encode
from binascii import crc32
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.servers.loopback import Handler, Loopback


@dataclass
class Answer:
    """One answer in pieces, each sent after `pause` seconds; `cut` breaks off before the last."""

    pieces: Sequence[bytes] = ()
    kind: str = "application/json"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    pause: float = 0.0
    cut: bool = False


@dataclass
class Asked:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any


def json_answer(data: object, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer([json.dumps(data).encode()], status=status, headers=named)


def events(*data: object, end: bool = True) -> Answer:
    """Server-sent events, as OpenAI's protocol streams them."""
    pieces = [f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n".encode() for one in data]
    return Answer([*pieces, *([b"data: [DONE]\n\n"] if end else [])], "text/event-stream; charset=utf-8")


class Service(Loopback):
    """Answers from `answers` in turn, or by `answer` if they are used up."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.answer: Callable[[Asked], Answer] = lambda asked: json_answer("Done: it is booked for 16:00.")
        self.asked: list[Asked] = []
        self._lock = threading.Lock()
        super().__init__(self._handler())

    def reply_to(self, asked: Asked) -> Answer:
        with self._lock:
            self.asked.append(asked)
            return self.answers.pop(0) if self.answers else self.answer(asked)

    def _handler(self) -> type[Handler]:
        service = self

        class Answering(Handler):
            def serve(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = service.reply_to(Asked(self.path, headers, self.read()))
                self.head(
                    answer.status, Content_Type=answer.kind, Transfer_Encoding="chunked", **answer.headers
                )
                for piece in answer.pieces[: -1 if answer.cut else None]:
                    time.sleep(answer.pause)
                    self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                    self.wfile.flush()
                if answer.cut:
                    self.cut()
                else:
                    self.wfile.write(b"0\r\n\r\n")

        return Answering


def agent_turn(*events: tuple[str, object]) -> Answer:
    """What InvokeAgent answers: (kind, data) framed as AWS frames events; bytes stand for a chunk of text."""
    told = (
        (k, {"bytes": b64encode(data).decode()} if isinstance(data, bytes) else data) for k, data in events
    )
    return Answer([_frame(*one) for one in told], "application/vnd.amazon.eventstream")


def _frame(kind: str, data: object) -> bytes:
    """One message of application/vnd.amazon.eventstream: lengths, headers, payload, and two checksums."""
    about = "exception" if kind.endswith("Exception") else "event"
    named = {":message-type": about, f":{about}-type": kind, ":content-type": "application/json"}
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in named.items()
    )
    payload = json.dumps(data).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    head = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return head + struct.pack(">I", crc32(head))
