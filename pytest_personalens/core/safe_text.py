"""Makes any text safe where it is shown, stored or used: on terminals, in CI, in file names, in a shell; and
cuts, counts and capitals that all layers write alike.

Secrets are the keys, tokens and passwords that this process knows, and texts that look like one.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, quote_plus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Texts that a runner reads as a command in a line of output: GitHub's "::" at its start, and "##[" anywhere
#: in it, as that of Azure Pipelines does, which also reads "##vso[".
_COMMAND: Final = re.compile(r"^(\s*):(?=:)|##(?=(?:vso)?\[)", re.MULTILINE | re.IGNORECASE)


#: Categories of characters that are not seen, or that steer what is.
_UNSEEN: Final = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def harmless(text: str) -> str:
    """Return `text` with escapes for what could control a terminal or a CI runner."""
    unseen = {c for c in {*text} - {"\n"} if unicodedata.category(c) in _UNSEEN}
    written = text.translate({ord(c): c.encode("unicode_escape").decode() for c in unseen})
    return _COMMAND.sub(lambda mark: r"#\x23" if mark[0] == "##" else rf"{mark[1]}\x3a", written)


def one_line(text: str) -> str:
    """Return `text` made harmless, as one line."""
    return harmless(text.replace("\n", r"\n"))


_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SLUG_LIMIT: Final = 80


@lru_cache(maxsize=4096)
def slug(text: str) -> str:
    """Return a name that is safe in file names and test ids.

    It holds only ``[a-z0-9-]`` and has at most 80 characters. If the conversion loses something (other
    letters, length), the slug ends with a short digest of `text`, so that two different names do not share a
    slug. Upper case and spaces do not count as lost.
    """
    plain = text.lower().replace(" ", "-").replace("_", "-")
    if _SLUG.fullmatch(plain) and len(plain) <= _SLUG_LIMIT:
        return plain
    ascii_text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    stem = "-".join(re.findall(r"[a-z0-9]+", ascii_text))[: _SLUG_LIMIT - 9].strip("-")
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{stem}-{mark}" if stem else mark


_WINDOWS: Final = os.name == "nt"
#: A word that cmd.exe and PowerShell both take as it is.
_PLAIN: Final = re.compile(r"[\w+./:\\-][\w+./:\\=-]*")


def shell_line(words: Iterable[str]) -> str:
    """Return the words as one line, each quoted for the shell of this system.

    cmd.exe does not know single quotes, so on Windows a word gets double quotes. They also keep ``>`` and
    ``[`` from having a meaning.
    """
    if not _WINDOWS:
        return shlex.join(words)
    return " ".join(word if _PLAIN.fullmatch(word) else _in_double_quotes(word) for word in words)


def _in_double_quotes(word: str) -> str:
    # A program on Windows takes a backslash for an escape only before a double quote.
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', word)
    return '"' + re.sub(r"(\\+)$", r"\1\1", escaped) + '"'


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


def count(number: int, what: str = "scenario") -> str:
    """Return ``1 scenario``, or ``2 scenarios``."""
    return f"{number} {what}{'s' if number != 1 else ''}"


def age_text(seconds: float) -> str:
    """Return an age in its largest unit of which there are two: ``1 minute``, ``90 minutes``, ``3 days``."""
    minutes = max(0, round(seconds / 60))
    for size, unit in ((60 * 24, "day"), (60, "hour")):
        if minutes >= 2 * size:
            return count(minutes // size, unit)
    return count(minutes, "minute")


def upper_first(text: str) -> str:
    """Return the text with a capital at its start."""
    return text[:1].upper() + text[1:]


def cut_to(text: str, longest: int) -> str:
    """Return the text, and of a long one its beginning and how many characters more there are."""
    more = len(text) - longest
    return f"{text[:longest]} [... {more:,} more characters]" if more > 0 else text


def cut_line(line: str, longest: int) -> str:
    """Return the line, and of a long one its beginning with an ellipsis."""
    return line if len(line) <= longest else f"{line[:longest]}..."
