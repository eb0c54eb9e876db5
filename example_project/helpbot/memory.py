"""What Helpbot keeps of its users: plain notes, searched by the words of what there is to choose from."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache

Options = dict[str, list[str]]

_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_NOT = re.compile(
    r"\b(?:no|not|never|nor|nothing|without|except|instead"
    r" of|than|hates?|avoids?|refused|turned down|rejected|(?:ca|wo|would|do|does|is)n't)\b[^,;:]{0,24}$",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,] )(?!I\b|[A-Z]\w*days?\b)[A-Z][^\W\d_]+")
#: What an assistant once did and the user changed, up to the change.
_MISTAKE = re.compile(
    r"\bthe assistant (?:had |has )?(?:first )?(?:set|chose|reserved|wrote|written|gave|given|took|taken|put|"
    r"booked|ordered|played|sent|picked)\b"
    r"[^.!?]*?(?:[.!?]\s*|, (?:and|but) )(?=(?:he|she|they) (?:changed|corrected|asked)\b)",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|from|near|to|the|on|by|of|via|through)\s$")


class Memory:
    """Notes by user id and topic. Helpbot's production memory is a table with the same three columns."""

    def __init__(self) -> None:
        self._notes: dict[tuple[str, str], list[str]] = defaultdict(list)

    def remember(self, user: str, topic: str, summary: str) -> None:
        """Keep the summary of a conversation under the user and the topic, without what the user changed."""
        self._notes[user, topic].append(_MISTAKE.sub("", " ".join(summary.split())))

    def topics(self, user: str) -> list[str]:
        """The topics on which something is kept of the user."""
        return [topic for name, topic in self._notes if name == user]

    def notes(self, user: str, topic: str) -> str:
        """All that is kept on the topic."""
        return " ".join(self._notes.get((user, topic), ()))

    def find(self, user: str, topic: str, options: Options) -> list[str]:
        """Those of the options that the notes speak of with favor, those by their own word before others."""
        return named(options, self.notes(user, topic))

    def speaks_of(self, user: str, topic: str, words: list[str]) -> bool:
        """True if the notes on the topic hold one of the patterns."""
        return any(re.search(rf"\b(?:{w})", self.notes(user, topic), re.IGNORECASE) for w in words)

    def person(self, user: str, topic: str) -> str | None:
        """Who is named most often in the notes on the topic, other than the user and what stands after "in"
        or "the".
        """
        notes = self.notes(user, topic)
        names = [m[0] for m in _NAME.finditer(notes) if not _PLACE.search(notes[: m.start()])]
        own = [n for n in names if n.lower() not in user.lower()]
        return Counter(own).most_common(1)[0][0] if own else None


def named(options: Options, text: str) -> list[str]:
    """The options that the text names, by themselves or by one of their words,
    unless it says "not" before.
    """
    found: dict[str, tuple[bool, int]] = {}
    for option, words in options.items():
        for match in _pattern(option, *words).finditer(text):
            before = _SENTENCE.findall(text[: match.start()] or " ")[-1]
            if option.startswith("no ") or not _NOT.search(before):
                found.setdefault(option, (match[0].lower() != option.lower(), match.start()))
    return sorted(found, key=lambda option: found[option])


@cache
def _pattern(*words: str) -> re.Pattern[str]:
    # "Signal" is an app, "no signal" is not: only what is written small may be written large.
    parts = (
        f"(?i:{re.escape(w)})" if w.islower() else re.escape(w) for w in sorted(words, key=len, reverse=True)
    )
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)")
