"""What Helpbot can do, and what there is to choose from: read once from the TOML files of this folder."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from helpbot.memory import Options

_HERE = Path(__file__).parent


class Choice(NamedTuple):
    """Something on which users differ: the topic whose notes tell, the question for it, and the options."""

    topic: str
    ask: str
    options: Options


class Habit(NamedTuple):
    """A circumstance to act on: the notes that show it, the skills it matters to, and what was seen to."""

    topic: str
    skills: re.Pattern[str]
    words: list[str]
    say: str


class Skill(NamedTuple):
    """A kind of request: words that show it (all words of one entry), a proposal maybe, and the reply once it
    is done.
    """

    name: str
    words: list[re.Pattern[str]]
    reply: str
    first: str
    weights: list[int]

    def score(self, text: str) -> int:
        """How many words of the best entry the text holds; 0 if it holds none whole."""
        return max((w for p, w in zip(self.words, self.weights, strict=True) if p.match(text)), default=0)

    @property
    def choices(self) -> list[str]:
        """The choices that the reply has places for, also by way of things that go with a choice."""
        places = re.findall(r"\{(\w+?)\d?\}", f"{self.first} {self.reply}")
        names = (THINGS[p][0] if p in THINGS else p for p in places)
        return [name for name in dict.fromkeys(names) if name in CHOICES]


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))


def _skill(name: str, entry: dict[str, Any]) -> Skill:
    # "move coach" is meant where both words begin somewhere, in any order.
    ways = [
        re.compile("".join(rf"(?=.*\b(?:{w}))" for w in words.split()), re.IGNORECASE | re.DOTALL)
        for words in entry["words"]
    ]
    return Skill(name, ways, entry["reply"], entry.get("first", ""), [len(w.split()) for w in entry["words"]])


CHOICES: dict[str, Choice] = {
    name: Choice(
        entry["topic"], entry.get("ask", ""), entry.get("options") or {n: [] for n in entry.get("names", [])}
    )
    for name, entry in (_read("choices") | _read("names")).items()
}
THINGS: dict[str, tuple[str, dict[str, list[str]]]] = {
    n: (e.pop("by", ""), e) for n, e in _read("things").items()
}
SKILLS = [
    _skill(name, entry) for file in ("single", "several", "fallback") for name, entry in _read(file).items()
]
_HABITS = _read("habits")
HABITS = [Habit(h["topic"], re.compile(h["skills"]), h["words"], h["say"]) for h in _HABITS["habits"]]
PARTS: dict[str, str] = _HABITS["parts"]
