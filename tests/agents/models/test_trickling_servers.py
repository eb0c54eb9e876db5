"""A server that sends a byte now and then is waited for no longer than a silent one."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.support.repository import Repository
from tests.support.servers.endpoint import environment

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
#: What is sent at once, and what every tenth of a second after it.
WAYS = {
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "a body": (HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
    "headers": (HEAD + b"X-Slow: ", b"x"),
}


@pytest.fixture
def trickle(request: pytest.FixtureRequest) -> Iterator[str]:
    first, again = WAYS[request.param]
    server = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.recv(65536)
            connection.sendall(first)
            while True:
                connection.sendall(again)
                time.sleep(0.1)

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    server.close()


@pytest.mark.slow
@pytest.mark.parametrize("trickle", WAYS, indirect=True)
@pytest.mark.parametrize("provider", ["openai", "bedrock"])
def test_a_call_has_a_time_limit(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, trickle: str, provider: str
) -> None:
    for name, value in environment(trickle).items():
        monkeypatch.setenv(name, value)
    once = "\nfrom pytest_personalens.models import retry\nretry.ATTEMPTS = 1\n"  # which is enough to tell
    repo.write(conftest=(repo.path / "conftest.py").read_text() + once)
    model = ("--personalens-record", "live", "--personalens-user-model", f"{provider}:nova-lite?timeout=0.5")
    result = repo.run("--personalens-sample", "1", *model)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*no whole answer within 0.5 s; give it longer with ?timeout= (*"])
