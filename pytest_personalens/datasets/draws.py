"""Draws by a digest: the same choice on every machine and in every process."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

_Value = TypeVar("_Value")


def digest(*key: str) -> bytes:
    """Return 32 bytes that depend on the key alone."""
    return hashlib.sha256("\x1f".join(key).encode("utf-8", "surrogatepass")).digest()


def number(*key: str) -> int:
    """Return a large number that depends on the key alone."""
    return int.from_bytes(digest(*key)[:8], "big")


def pick(values: Sequence[_Value], *key: str) -> _Value:
    """Return one of the values."""
    return values[number(*key) % len(values)]


def reference(*key: str) -> str:
    """Return the reference of a booking: two letters and four digits."""
    drawn = number(*key)
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # without I and O, which look like digits
    first, second = letters[drawn % 24], letters[drawn // 24 % 24]
    return f"{first}{second}{drawn // 576 % 9000 + 1000}"
