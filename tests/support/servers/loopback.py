"""What the servers on loopback share: they run until they are closed, and print nothing."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Answers each request by `serve`."""

    protocol_version = "HTTP/1.1"

    def serve(self) -> None:
        raise NotImplementedError

    def do_POST(self) -> None:
        with suppress(OSError):  # nobody may wait for the answer any more
            self.serve()

    do_GET = do_PATCH = do_PUT = do_POST  # noqa: N815

    def read(self) -> Any:
        length = int(self.headers.get("Content-Length") or 0)
        return json.loads(self.rfile.read(length)) if length else {}

    def head(self, status: int, **headers: str) -> None:
        """Send the status and the headers, in whose names _ stands for -."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def cut(self) -> None:
        """End the connection. Closing alone would leave it open: the handler's files still hold it."""
        self.wfile.flush()
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *args: object) -> None:
        """Not to the terminal."""


class Loopback:
    """A server that runs until it is closed."""

    def __init__(self, handler: type[Handler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        serve = {"poll_interval": 0.02}
        threading.Thread(target=self._server.serve_forever, kwargs=serve, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
