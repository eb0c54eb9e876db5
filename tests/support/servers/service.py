"""A service on loopback that answers each request as it is told to: by HTTP, or as AWS frames its events."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from binascii import crc32
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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


class Service:
    """Answers from `answers` in turn, or by `answer` if they are used up."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.answer: Callable[[Asked], Answer] = lambda asked: json_answer("Done: it is booked for 16:00.")
        self.asked: list[Asked] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        serve = {"poll_interval": 0.02}
        threading.Thread(target=self._server.serve_forever, kwargs=serve, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reply_to(self, asked: Asked) -> Answer:
        with self._lock:
            self.asked.append(asked)
            return self.answers.pop(0) if self.answers else self.answer(asked)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = service.reply_to(Asked(self.path, headers, json.loads(body)))
                with suppress(OSError):  # nobody may wait for it any more
                    self.send(answer)

            def send(self, answer: Answer) -> None:
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.kind)
                self.send_header("Transfer-Encoding", "chunked")
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for piece in answer.pieces[: -1 if answer.cut else None]:
                    time.sleep(answer.pause)
                    self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                    self.wfile.flush()
                if answer.cut:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                else:
                    self.wfile.write(b"0\r\n\r\n")

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class names it so)
                pass

        return Handler


def agent_turn(*events: tuple[str, object]) -> Answer:
    """What InvokeAgent answers: (kind, data) framed as AWS frames events; bytes stand for a chunk of text."""
    frames = [
        _frame(kind, {"bytes": _base64(data)} if isinstance(data, bytes) else data) for kind, data in events
    ]
    return Answer(frames, "application/vnd.amazon.eventstream")


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


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
