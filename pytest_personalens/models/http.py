"""The common part of the HTTP clients: connections, headers, streams, and the errors of servers."""

from __future__ import annotations

import json
import os
import re
import threading
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.core.text.redaction import redact
from pytest_personalens.models.base import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping


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


#: Statuses below 500 for failures that may pass: time-out, conflict, too early.
_PASSING: Final = frozenset({408, 409, 425})


class HttpClient:
    """A client with a pool of connections to one server, which the first use opens.

    `server` is the word for the server in messages. `connections` is the number of calls at once.
    """

    def __init__(self, server: str, connections: int) -> None:
        self._server, self._connections = server, connections
        self._pool: Any = None
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the open connections, if there are any."""
        if self._pool is not None:
            self._pool.clear()

    def _open(self, url: str, timeout: float) -> Any:
        """Return a pool that uses the proxy which the environment names for the server."""
        from urllib.parse import urlsplit
        from urllib.request import getproxies, proxy_bypass

        import urllib3

        parts, times = urlsplit(url), urllib3.Timeout(connect=10.0, read=timeout)
        options: dict[str, Any] = {"maxsize": self._connections, "timeout": times}
        if parts.scheme == "https":
            # Some Python installations do not find the certificates of the system. botocore has its own set.
            from botocore.httpsession import get_cert_path

            options["ca_certs"] = os.environ.get("SSL_CERT_FILE") or get_cert_path(True)
        proxy = getproxies().get(parts.scheme)
        if proxy and not proxy_bypass(parts.hostname or ""):
            return urllib3.ProxyManager(proxy, **options)
        return urllib3.PoolManager(**options)

    def _common_error(self, status: int, problem: str, headers: Mapping[str, str]) -> Exception | None:
        """Return the error for a status that means the same for every server, or None."""
        if status == 429:
            wait = retry_after(headers)
            return ModelBusy(f"{self._server} throttles: {problem}", throttled=True, retry_after=wait)
        if status >= 500 or status in _PASSING:
            return ModelBusy(f"{self._server} failed: {status}: {problem}", retry_after=retry_after(headers))
        if status < 400:
            place = headers.get("Location", "nowhere")
            return ModelError(
                f"{self._server} sends this call elsewhere: {status} to {place}; give that address"
            )
        return None


def from_environment(name: str) -> str:
    """Return an environment variable, or an empty text. Raise `ModelError` if no header can hold it."""
    value = os.environ.get(name, "").strip()  # a pasted secret often ends with a line break
    if not (value.isascii() and value.isprintable()):
        raise ModelError(f"{name} holds a line break, or a character that is no ASCII; set it again")
    return value


def problem_in(data: Any) -> str:
    """Return the error message of a server with its code; servers differ in the form of their messages."""
    error = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(error, dict):
        words = [str(error[key]) for key in ("message", "code") if error.get(key)]
        return short(" ".join(words) or json.dumps(error))
    return short(str(error))


def short(text: str) -> str:
    """Return foreign text as one line of at most 300 characters, without secrets."""
    return " ".join(redact(text).split())[:300]  # redact before the cut: a cut secret is not recognised


def is_private(url: str) -> bool:
    """True if the address is of this machine, or can only be of a private network."""
    host = (urlsplit(url).hostname or "").lower()
    try:
        address = ip_address(host)
    except ValueError:
        # A name without a dot is a neighbour's, such as a service of docker-compose.
        return "." not in host or host.endswith((".local", ".localhost", ".internal"))
    return address.is_loopback or address.is_private or address.is_link_local
