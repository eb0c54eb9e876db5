"""The same bot in other words: openers, layout, farewells, as products of today have them."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from helpbot.assistant import Helpbot, Messages, is_closing

_FACT = re.compile(r"(\d{1,2}[:.]\d{2}|[$€£]\d[\d.,]*|[A-Z][\w'-]+(?: [A-Z][\w'-]+)+)")
_SENTENCE = re.compile(r"(?<=[.!]) (?=[A-Z])")


@cache
def wordings() -> dict[str, dict[str, Any]]:
    """Every wording by name."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class Worded:
    """A bot whose replies are put in the words of a wording; what they do and tell stays as it is."""

    def __init__(self, bot: Helpbot, wording: str) -> None:
        self.bot, self.words = bot, wordings()[wording]

    def __call__(self, messages: Messages) -> str:
        """The bot's reply, in this wording."""
        reply = self.bot(messages)
        if is_closing([m["content"] for m in messages if m["role"] == "user"]):
            return self._pick("goodbye", messages) or reply
        for old, new in self.words.get("swap", ()):
            reply = reply.replace(old, new)
        if "?" in reply:
            return " ".join(part for part in (self._pick("ask", messages), reply) if part)
        before, after = self._pick("deed", messages), self._pick("end", messages)
        before = "" if reply.startswith("Yes, ") else before
        return _laid_out(reply, self.words.get("layout", "plain"), before, after)

    def _pick(self, kind: str, messages: Messages) -> str:
        phrases = self.words.get(kind, [])
        return str(phrases[len(messages[-1]["content"]) % len(phrases)]) if phrases else ""


def _laid_out(reply: str, layout: str, before: str, after: str) -> str:
    sentences = _SENTENCE.split(reply)
    if layout == "bold":
        return " ".join(part for part in (before, _FACT.sub(r"**\1**", reply), after) if part)
    if layout in ("bullets", "checklist"):
        mark = "- [x] " if layout == "checklist" else "- "
        return "\n".join(part for part in (before, *(mark + s for s in sentences), after) if part)
    if layout == "headed":
        return "\n\n".join(part for part in (f"### {before}", reply, after) if part)
    return " ".join(part for part in (before, reply, after) if part)
