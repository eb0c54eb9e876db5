"""Secrets kept out of every text that is shown or stored:
keys, tokens and passwords that this process knows.
"""

from __future__ import annotations

import os
import re
from typing import Final
from urllib.parse import quote, quote_plus

MASK: Final = "***"
#: Environment variables that hold a secret, by the end of their name.
_NAMED: Final = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_ID|_BEDROCK)?\Z", re.IGNORECASE
)
#: A shorter value is no secret, and may be a word of the text.
_SHORTEST: Final = 8
#: What looks like a secret whoever gave it: the user and password of an address, a bearer token, the id of an
#: AWS key.
_LOOKS_SECRET: Final = re.compile(
    r"(?<=://)[^/?#\s@]+(?=@)|(?<=%3A%2F%2F)[^/?#\s@&]+?(?=%40)"
    r"|(?<=\bbearer )(?=\S*\d)[^\s'\"\\]{8,}|\b(?:AKIA|ASIA)[A-Z0-9]{12,}",
    re.IGNORECASE,
)

_told: set[str] = set()


def keep_secret(value: str | None) -> None:
    """Let `redacted` know a secret that does not stand in the environment,
    such as one of a credentials file.
    """
    _told.update(_parts(value or ""))


def redacted(text: str) -> str:
    """`text` with every known secret, and whatever looks like one, replaced by ``***``."""
    for secret in _known():
        text = text.replace(secret, MASK)
    return _LOOKS_SECRET.sub(MASK, text)


def _known() -> list[str]:
    """Every secret in the forms in which a server may repeat it, the longest first: one may be the beginning
    of another.
    """
    values = {
        part for name, value in os.environ.items() if _NAMED.search(name) for part in _parts(value)
    } | _told
    return sorted(
        {form for value in values for form in (value, quote(value, safe=""), quote_plus(value))},
        key=len,
        reverse=True,
    )


def _parts(value: str) -> set[str]:
    # An error message may break a value, or write it out, where it has a line break.
    return {part for part in value.split() if len(part) >= _SHORTEST}
