"""A server on loopback that plays the part of GitHub's and GitLab's API that comments need."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.servers.loopback import Handler, Loopback

_COMMENTS = re.compile(r"/repos/acme/bot/issues/7/comments|/projects/42/merge_requests/7/notes")
_COMMENT = re.compile(r"(?:/repos/acme/bot/issues/comments|/projects/42/merge_requests/7/notes)/(\d+)")
_ARTIFACT = re.compile(r"/projects/42/jobs/artifacts/main/raw/(.+)")


class Forge:
    """The comments by number, the requests that came, and what to answer instead: a status for a method."""

    def __init__(self) -> None:
        self.comments: dict[int, str] = {}
        self.requests: list[tuple[str, str]] = []
        self.refuse: dict[str, list[int]] = {}
        self.artifacts: dict[str, bytes] = {}
        self.tokens = {"Authorization": "Bearer s3cret", "PRIVATE-TOKEN": "s3cret", "JOB-TOKEN": "s3cret"}
        self.url = ""

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Status and JSON for a request."""
        where = urlsplit(path)
        if self.refuse.get(method):
            return self.refuse[method].pop(0), {"message": "Resource not accessible by integration"}
        if method == "GET" and (found := _ARTIFACT.fullmatch(where.path)):
            file = self.artifacts.get(found[1])
            return (404, {}) if file is None else (200, file)
        if method == "GET" and _COMMENTS.fullmatch(where.path):
            asked = parse_qs(where.query)
            size, page = int(asked["per_page"][0]), int(asked["page"][0])
            every = [{"id": number, "body": text} for number, text in sorted(self.comments.items())]
            return 200, every[(page - 1) * size : page * size]
        if method == "POST" and _COMMENTS.fullmatch(where.path):
            number = max(self.comments, default=0) + 1
            self.comments[number] = body["body"]
            return 201, {"id": number}
        one = _COMMENT.fullmatch(where.path)
        if one and method == ("PATCH" if path.startswith("/repos") else "PUT"):
            self.comments[int(one[1])] = body["body"]
            return 200, {"id": int(one[1])}
        return 404, {"message": "Not Found"}


@contextmanager
def forge() -> Iterator[Forge]:
    """A server that runs until the end of the block."""
    state = Forge()

    class Answering(Handler):
        def serve(self) -> None:
            body = self.read()
            state.requests.append((self.command, self.path))
            status, found = 401, {"message": "Bad credentials"}
            if any(self.headers.get(name) == value for name, value in state.tokens.items()):
                status, found = state.answer(self.command, self.path, body)
            data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.head(status, Content_Length=str(len(data)))
            self.wfile.write(data)

    with closing(Loopback(Answering)) as server:
        state.url = server.url
        yield state
