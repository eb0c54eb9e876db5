"""What Helpbot keeps of its users: plain notes, found again by the words in them."""

from __future__ import annotations

import re
from collections import defaultdict

_SENTENCE = re.compile(r"[^.!?]+[.!?]")
_WORD = re.compile(r"[^\W\d_]{4,}")


class Memory:
    """Notes by user id and topic. Helpbot's production memory is a table with the same three columns."""

    def __init__(self) -> None:
        self._notes: dict[tuple[str, str], list[str]] = defaultdict(list)

    def remember(self, user: str, topic: str, text: str) -> None:
        """Keep `text`, sentence by sentence, under the user and the topic."""
        self._notes[user, topic] += [s.strip() for s in _SENTENCE.findall(" ".join(text.split()))]

    def notes(self, user: str, topic: str) -> list[str]:
        """All notes on the topic."""
        return list(self._notes[user, topic])

    def option(self, user: str, topic: str, options: list[str]) -> str | None:
        """The one of `options` that the notes on the topic speak of first; None if they speak of none."""
        text = " ".join(self.notes(user, topic))
        found = [(match.start(), o) for o in options if (match := _pattern(o).search(text))]
        return min(found)[1] if found else None

    def habit(self, user: str, topic: str, said: str) -> str | None:
        """The note that has most in common with what was `said`; the last one if none has anything."""
        words = set(_WORD.findall(said.lower()))
        notes = self.notes(user, topic)
        if not notes:
            return None
        return max(reversed(notes), key=lambda n: len(words & set(_WORD.findall(n.lower()))))


def _pattern(option: str) -> re.Pattern[str]:
    # "Signal" is an app, "no signal" is not: only what is written small may be written large.
    return re.compile(rf"\b{re.escape(option)}\b", re.IGNORECASE if option.islower() else 0)
