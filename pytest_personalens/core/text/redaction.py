"""Removes the keys, tokens and passwords that this process knows from texts that are shown or stored."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Callable

MASK: Final = "***"
#: The ends of names of environment variables that hold a secret.
_NAMED: Final = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_ID|_BEDROCK)?\Z", re.IGNORECASE
)
#: A shorter value is treated as no secret, because it may be a word of the text.
SHORTEST: Final = 8
#: Texts that look like a secret, whoever gave them: the user and password of an address, a bearer token, the
#: id of an AWS key.
_LOOKS_SECRET: Final = re.compile(
    r"(?<=://)[^/?#\s@]+(?=@)|(?<=%3A%2F%2F)[^/?#\s@&]+?(?=%40)"
    r"|(?<=\bbearer )(?=\S*\d)[^\s'\"\\]{8,}|\b(?:AKIA|ASIA)[A-Z0-9]{12,}",
    re.IGNORECASE,
)
#: What a text holds in small letters in which something looks so. Most texts hold none of it, and to search
#: for these takes a tenth of the time.
_SIGNS: Final = ("://", "%3a%2f%2f", "bearer ", "akia", "asia")

_kept_secrets: set[str] = set()


def add_secret(value: str | None) -> None:
    """Add a secret from outside the environment, such as one in a credentials file."""
    _kept_secrets.update(_parts(value or ""))


def redact(text: str) -> str:
    """Return `text` with ``***`` for every known secret, and for texts that look like one."""
    return make_redactor()(text)


def make_redactor() -> Callable[[str], str]:
    """Return `redact` for many texts, which looks up the secrets of the environment only once."""
    secrets, kept = _all_secrets(), len(_kept_secrets)

    def scrub(text: str) -> str:
        nonlocal secrets, kept
        if kept != len(_kept_secrets):  # a model has just read its credentials
            secrets, kept = _all_secrets(), len(_kept_secrets)
        for secret in secrets:
            text = text.replace(secret, MASK)
        small = text.lower()
        return _LOOKS_SECRET.sub(MASK, text) if any(sign in small for sign in _SIGNS) else text

    return scrub


def _all_secrets() -> list[str]:
    """Return every secret in all forms in which a server may repeat it, the longest first."""
    # Only the names are walked, and a value may be gone: pytest sets and removes PYTEST_CURRENT_TEST in its
    # own thread while dialogues run in others.
    names = filter(_is_secret, list(os.environ))
    values = {part for name in names for part in _parts(os.environ.get(name, ""))} | _kept_secrets
    return sorted(set().union(*map(_forms, values)), key=len, reverse=True)


@lru_cache(maxsize=1024)  # every dialogue asks
def _is_secret(name: str) -> bool:
    return _NAMED.search(name) is not None


@lru_cache(maxsize=256)
def _forms(value: str) -> frozenset[str]:
    return frozenset((value, quote(value), quote(value, safe=""), quote_plus(value)))


def _parts(value: str) -> set[str]:
    # A server may break a value at its line breaks, or escape them, so each part counts alone.
    return {part for part in value.split() if len(part) >= SHORTEST}
