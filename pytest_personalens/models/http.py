"""The common part of the HTTP clients.

It makes connections, reads values for headers, and finds the error message of a server.
"""

from __future__ import annotations

import json
import os
from typing import Any

from pytest_personalens.core.errors import ModelError
from pytest_personalens.core.text.redaction import redact


def from_environment(name: str) -> str:
    """Return an environment variable as the value of a header, or an empty text.

    The text is empty if the variable is not set. Raise `ModelError` for a value that no header can hold.
    """
    value = os.environ.get(name, "").strip()  # a pasted secret often ends with a line break
    if not (value.isascii() and value.isprintable()):
        raise ModelError(f"{name} holds a line break, or a character that is no ASCII; set it again")
    return value


def pool_for(url: str, connections: int, timeout: float) -> Any:
    """Return a pool of connections to the server.

    The pool uses the proxy that the environment names for the server.
    """
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    import urllib3

    parts = urlsplit(url)
    # Some Python installations do not find the certificates of the system. botocore brings its own set.
    options: dict[str, Any] = {"maxsize": connections, "timeout": urllib3.Timeout(connect=10.0, read=timeout)}
    if parts.scheme == "https":
        from botocore.httpsession import get_cert_path

        options["ca_certs"] = os.environ.get("SSL_CERT_FILE") or get_cert_path(True)
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(parts.hostname or ""):
        return urllib3.ProxyManager(proxy, **options)
    return urllib3.PoolManager(**options)


def problem_in(data: Any) -> str:
    """Return the error message of the server with its code.

    Servers differ in the form of their error messages.
    """
    error = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(error, dict):
        words = [str(error[key]) for key in ("message", "code") if error.get(key)]
        return short(" ".join(words) or json.dumps(error))
    return short(str(error))


def short(text: str) -> str:
    """Return foreign text as one line of at most 300 characters, without secrets."""
    return " ".join(redact(text).split())[:300]  # redact before the cut: a cut secret is not recognised
