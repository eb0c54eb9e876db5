"""Names that are safe in file names and test ids."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache
from typing import Final

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
