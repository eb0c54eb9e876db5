"""What the server of a model refused in this run, which is then not sent to it again."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.files.json_lines import append_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

#: Parts of a request, and how servers name them in a refusal. The first that was sent and is named counts.
_NAMED: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "stream": r"['\"`]stream['\"`]|\.stream\b|\bstream\b.{0,40}\b(?:permitted|allowed|supported|extra)",
        "max_tokens": (
            r"max_?(?:completion_|new_|output_)?tokens|maximum tokens|completion tokens|the completion\b"
        ),
        "max_completion_tokens": r"max_?(?:completion_)?tokens|completion tokens|(?:in|for) the completion",
        "temperature": r"temperature",
        "cache": r"cache_?point|cache point|prompt caching",
        "tool_choice": r"tool_?choice",
        "tools": (
            r"\btools?\b|tool_?(?:use|calls?|config|spec)|function.?call|\bfunctions?\b|jinja|\bschema\b|grammar"
        ),
        "system": (
            r"\bsystem\b.{0,30}(?:message|prompt|field|role|instruction|text)|(?:message|role)s?\b.{0,30}\bsystem\b"
            r"|developer instruction|roles must alternate"
        ),
    }.items()
}
#: The highest limit of tokens that a model takes, in the refusal of a higher one.
_AT_MOST: Final = re.compile(
    r"(?:at most|limit (?:of|is)|maximum (?:of|is|allowed is)|up to|<=|less than or equal to|lower than)"
    r"\D{0,20}?(\d[\d,]{0,8})",
    re.IGNORECASE,
)
_LIMIT: Final = "max_tokens<="


class Learnt:
    """The parts of a request that one model refused; thread-safe.

    Without a `file` only this process knows them; all processes of a run share a file that only grows.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file, self._size = file, 0
        self._parts: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def parts(self) -> frozenset[str]:
        """Return what the model is known to refuse now; it has no part that a request may be sent without."""
        with self._lock:
            if self._file is not None:
                self._take_over(self._file)
            return self._parts

    def learn(self, problem: str, sent: Collection[str], tokens: int) -> bool:
        """Take in a refusal; return True if it names a part that was `sent`, so a new request may help.

        `tokens` is the limit of tokens that was sent. Whether another thread has learnt the same meanwhile
        does not matter: this request sent the part.
        """
        part = next((name for name, named in _NAMED.items() if name in sent and named.search(problem)), None)
        if part is None:
            return False
        if part in ("max_tokens", "max_completion_tokens"):
            limits = [int(digits.replace(",", "")) for digits in _AT_MOST.findall(problem)]
            if lower := [limit for limit in limits if 0 < limit < tokens]:
                part = f"{_LIMIT}{max(lower)}"
        with self._lock:
            if part not in self._parts:
                self._parts |= {part}
                if self._file is not None:
                    append_line(self._file, part)
        return True

    def _take_over(self, file: Path) -> None:
        """Take in what other processes have learnt since."""
        try:
            if file.stat().st_size == self._size:
                return
            text = file.read_text(encoding="ascii")
        except OSError:  # nobody has learnt anything yet, or the run is over
            return
        self._size = len(text)
        self._parts |= {line.strip() for line in text.splitlines()}


def limited(tokens: int, parts: Collection[str]) -> int:
    """Return the limit of tokens to send in place of `tokens`, as far as the model's own limit is known."""
    known = (int(part.removeprefix(_LIMIT)) for part in parts if part.startswith(_LIMIT))
    return min(tokens, *known, tokens)


def named_in(data: Any, problem: str) -> str:
    """Return the words of a refusal that may name a part of the request, and nothing that was sent with it.

    Servers put the name into `param`, or into the `loc` of a list of details.
    """
    error = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(error, list) and error:
        error = error[0]
    if not isinstance(error, dict):
        return problem
    listed = error.get("detail")
    details = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if details:
        return " ".join(f"{'.'.join(map(str, d.get('loc') or ()))} {d.get('msg', '')}" for d in details)
    return f"{error.get('param') or ''} {problem}"
