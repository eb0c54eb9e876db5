"""HTTP as clients of ours speak it: connections, what a header may hold, and what a server says is wrong."""

from __future__ import annotations

import json
import os
from typing import Any

from pytest_personalens.core.errors import ModelError
from pytest_personalens.core.redaction import redacted


def from_environment(name: str) -> str:
    """The environment variable as the value of a header; empty if it is not set.

    Raises `ModelError` for what no header can hold.
    """
    value = os.environ.get(name, "").strip()  # a secret is often pasted with its line break
    if not (value.isascii() and value.isprintable()):
        raise ModelError(f"{name} holds a line break, or a character that is no ASCII; set it again")
    return value


def pool_for(url: str, connections: int, timeout: float) -> Any:
    """A pool of connections to the server, through the proxy that the environment names for it."""
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    import urllib3

    parts = urlsplit(url)
    # Not every Python knows where the system keeps its certificates; botocore brings a set.
    options: dict[str, Any] = {"maxsize": connections, "timeout": urllib3.Timeout(connect=10.0, read=timeout)}
    if parts.scheme == "https":
        from botocore.httpsession import get_cert_path

        options["ca_certs"] = os.environ.get("SSL_CERT_FILE") or get_cert_path(True)
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(parts.hostname or ""):
        return urllib3.ProxyManager(proxy, **options)
    return urllib3.PoolManager(**options)


def problem_in(data: Any) -> str:
    """What the server says is wrong, with its code; servers differ in how they say it."""
    error = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(error, dict):
        words = [str(error[key]) for key in ("message", "code") if error.get(key)]
        return short(" ".join(words) or json.dumps(error))
    return short(str(error))


def short(text: str) -> str:
    """What somebody else says, as one line of at most 300 characters and without any secret."""
    return " ".join(redacted(text).split())[:300]  # first, because half of a secret is not known any more
