"""Helpbot under test, and three bots that get wrong what it gets right; the tests tell them apart."""

from __future__ import annotations

from typing import Any

from helpbot.assistant import Helpbot, Messages, is_closing, wanted
from helpbot.catalogue import CHOICES, Skill
from helpbot.memory import Memory, named

__all__ = ["BOTS", "Helpbot", "Messages"]


class ForgetfulBot(Helpbot):
    """Has no memory: asks for up to three choices, and then does as it is told."""

    def __init__(self, user: str, memory: Memory) -> None:
        super().__init__(user, Memory())

    def stages(self, skill: Skill) -> list[str]:
        asks = [CHOICES[name].ask for name in skill.choices if CHOICES[name].ask][:3]
        if not asks:
            return super().stages(skill)
        last = asks.pop()
        question = f"{', '.join(asks)}, and {last}" if asks else last
        return [
            f"{question[0].upper()}{question[1:]}?",
            *super().stages(skill),
        ]


class ContradictingBot(Helpbot):
    """Takes what the user never takes, and something else again when corrected."""

    def foresight(self, skill: Skill) -> str:
        return ""

    def deed(self, skill: Skill, said: list[str]) -> str:
        return self.fill(skill.reply, said)

    def whole(self, deed: str, said: list[str]) -> str:
        return super().whole(deed, said[:1])

    def choose(self, name: str, said: list[str], number: int = 1) -> str | None:
        if name == "person":
            return "your former landlord"
        choice = CHOICES[name]
        liked = {
            *self.memory.find(self.user, choice.topic, choice.options),
            *named(choice.options, " ".join(said)),
        }
        notes = self.memory.notes(self.user, choice.topic).lower()
        wrong = [o for o in choice.options if o not in liked and o.lower() not in notes]
        return wrong[(len(self.user) + len(said) * 3 + number) % len(wrong)] if wrong else None


class NameDroppingBot(Helpbot):
    """Says all it knows and does nothing with it."""

    def __call__(self, messages: Messages) -> str:
        said = [m["content"] for m in messages if m["role"] == "user"]
        skill, _ = wanted(said)
        if not skill or is_closing(said):
            return super().__call__(messages)
        known = [v for name in skill.choices if (v := self.choose(name, said[:1]))]
        loves = " and ".join(known[:2]) or "good things"
        return _BOASTS[(len(self.user) + len(said)) % len(_BOASTS)].format(loves=loves)


_BOASTS = [
    "I know you love {loves}! You have such good taste.",
    "Ah, {loves}, that's so you! I never forget a thing about you.",
    "Knowing you, it's all about {loves}. What a lovely idea!",
    "You really adore {loves}, I remember that well. How exciting!",
    "As a big fan of {loves}, you must be looking forward to this!",
]


BOTS: dict[str, Any] = {
    "remembers": Helpbot,
    "forgets": ForgetfulBot,
    "contradicts": ContradictingBot,
    "name-drops": NameDroppingBot,
}
