"""An assistant behind HTTP: one POST for each of the user's messages."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelBusy, ModelError, SpecError
from pytest_personalens.core.safe_text import add_secret
from pytest_personalens.models.base import (
    Answer,
    HttpClient,
    Request,
    json_or_text,
    problem_in,
    short,
    timeout_error,
)
from pytest_personalens.models.services import FLAG
from pytest_personalens.models.services.replies import MOST_BYTES, ReplyReader, Template
from pytest_personalens.models.services.replies import REQUEST as TEMPLATE
from pytest_personalens.models.specs import holds_password

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The ini key that holds headers.
HEADERS: Final = "personalens_assistant_headers"
#: What is sent where no template says it.
REQUEST: Final = (
    '{"messages": "{messages}", "user": "{user}", "session": "{session}", "context": "{context}"}'
)
#: Headers whose values are no secrets.
_PLAIN: Final = ("accept", "accept-language", "content-type", "user-agent")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")


class HttpService(HttpClient):
    """An assistant behind ``http:URL``, which answers with JSON, text or a stream of either."""

    paid = False

    def __init__(
        self,
        url: str,
        template: Template,
        answer: ReplyReader,
        headers: Mapping[str, str],
        *,
        connections: int,
    ) -> None:
        super().__init__("the service", connections)
        self.name = url
        self.tells_context = template.tells_context
        self._url, self._template, self._answer = url, template, answer
        self._headers = {"Content-Type": "application/json", "Accept": "*/*", **headers}

    def complete(self, request: Request) -> Answer:
        """Make one POST. Raise `ModelBusy` for what may pass, and `ModelError` for what will not."""
        import urllib3

        assert request.conversation is not None
        timeout = request.conversation.timeout
        try:
            answer = self._connect().request(
                "POST",
                self._url,
                body=self._template.fill(request.conversation),
                headers=self._headers,
                timeout=urllib3.Timeout(connect=min(10.0, timeout), read=timeout),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            body = _read_whole(answer)
        except urllib3.exceptions.ReadTimeoutError as error:
            raise timeout_error(timeout) from error
        except urllib3.exceptions.HTTPError as error:
            raise ModelBusy(f"no answer from the service: {short(str(error))}") from error
        if answer.status >= 300:
            problem = problem_in(json_or_text(body.decode("utf-8", "replace")))
            raise self._error(answer.status, problem, answer.headers)
        return self._answer.read(body, answer.headers.get("Content-Type", ""))

    def _connect(self) -> Any:
        with self._lock:
            self._pool = self._pool or self._open(self._url, 60.0)
            return self._pool

    def _error(self, status: int, problem: str, headers: Mapping[str, str]) -> Exception:
        if status in (401, 403):
            return ModelError(
                f"the service lets nobody in without its key: {status}: {problem}; set {HEADERS}"
            )
        if status in (404, 405):
            return ModelError(f"the service takes no POST at this address: {status}: {problem}")
        refused = ModelError(f"the service refuses the call: {status}: {problem}; see {TEMPLATE}")
        return self._common_error(status, problem, headers) or refused


def read_url(spec: str) -> str | None:
    """Return the address in ``http:URL``, or None for another spec. Raise `SpecError` for no address."""
    if spec.startswith(("http://", "https://")):
        url = spec
    elif spec.startswith("http:"):
        url = spec.removeprefix("http:")
    else:
        return None
    from urllib.parse import parse_qsl, urlsplit

    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or not url.isascii() or not url.isprintable() or " " in url:
        raise SpecError(f"{FLAG}: expected http:URL, such as http:http://localhost:8000/chat, not {spec!r}")
    if holds_password(url):
        raise SpecError(
            f"{FLAG}: the address holds a user or a password; leave it out, and set {HEADERS}", code="PL302"
        )
    for _, value in parse_qsl(parts.query):
        add_secret(value)  # a query may hold a key
    return url


def read_headers(lines: Sequence[str]) -> dict[str, str]:
    """Return the headers of the ini file, a line ``NAME: VALUE`` each. Raise `SpecError` for any other line.

    ``${NAME}`` in a value is a variable of the environment.
    """
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
            raise SpecError(f"{HEADERS}: expected 'NAME: VALUE', not {line!r}")
        if name.lower() not in _PLAIN:
            add_secret(value)
        parts = _VARIABLE.split(value)
        parts[1::2] = [_variable(variable, name) for variable in parts[1::2]]
        headers[name] = "".join(parts)
        if not (headers[name].isascii() and headers[name].isprintable()):
            raise SpecError(f"{HEADERS}: {name} holds a line break, or a character that is no ASCII")
    return headers


def _variable(name: str, header: str) -> str:
    value = os.environ.get(name, "").strip()  # a secret is often pasted with its line break
    if not value:
        raise SpecError(
            f"{HEADERS}: {header} needs the environment variable {name}, which is not set", code="PL302"
        )
    add_secret(value)
    return value


def _read_whole(answer: Any) -> bytes:
    body = bytearray()
    for piece in answer.stream(65_536):
        body += piece
        if len(body) > MOST_BYTES:
            answer.close()
            raise ModelError(f"the service's answer has more than {MOST_BYTES:,} bytes, which is the limit")
    answer.release_conn()
    return bytes(body)
