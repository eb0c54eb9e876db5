"""Helpbot itself, and three bots that get wrong what it gets right; the tests tell them apart."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from helpbot.memory import Memory

_CATALOGUE = tomllib.loads((Path(__file__).parent / "catalogue.toml").read_text(encoding="utf-8"))

Messages = list[dict[str, str]]


class Topic(NamedTuple):
    """Something Helpbot can do, and the choices that go with it."""

    name: str
    words: list[str]
    done: str
    choices: dict[str, list[str]]


TOPICS = [Topic(**entry) for entry in _CATALOGUE["topics"]]
_CLOSINGS = ("thank", "that's all", "we're done", "never mind", "forget it", "give up")


class Helpbot:
    """Does what is asked, choosing as the user chooses: by what was said, then by what is remembered."""

    def __init__(self, user: str, memory: Memory) -> None:
        self.user, self.memory = user, memory

    def __call__(self, messages: Messages) -> str:
        """The reply to the last message."""
        if any(word in messages[-1]["content"].lower() for word in _CLOSINGS):
            return "You're welcome. Have a good day!"
        topics = self.topics(messages)
        if not topics:
            return "I can set alarms, book travel and tables, find things to read and watch, and more. Where shall I start?"
        return " ".join(self.serve(topic, messages) for topic in topics)

    def topics(self, messages: Messages) -> list[Topic]:
        """What the conversation is about, in the order of the catalogue."""
        said = _said(messages)
        return [t for t in TOPICS if any(re.search(rf"\b{w}s?\b", said) for w in t.words)]

    def serve(self, topic: Topic, messages: Messages) -> str:
        """Do what the topic needs, and say what was chosen and why."""
        chosen = {}
        for name, options in topic.choices.items():
            choice = _spoken(options, messages) or self.memory.option(self.user, topic.name, options)
            if choice:
                chosen[name] = choice
        reply = topic.done + "".join(f", {name}: {choice}" for name, choice in chosen.items()) + "."
        habit = self.memory.habit(self.user, topic.name, _said(messages))
        return f'{reply} I kept my note in mind: "{habit}"' if habit else reply


class ForgetfulBot(Helpbot):
    """Has no memory: asks for everything, and then does as it is told."""

    def serve(self, topic: Topic, messages: Messages) -> str:
        open_choices = [n for n, options in topic.choices.items() if not _spoken(options, messages)]
        if len([m for m in messages if m["role"] == "user"]) == 1 and open_choices:
            return " ".join(f"What {name} would you like?" for name in open_choices[:2])
        chosen = {n: _spoken(options, messages) for n, options in topic.choices.items()}
        return topic.done + "".join(f", {n}: {c}" for n, c in chosen.items() if c) + "."


class ContradictingBot(Helpbot):
    """Takes what the user never takes, and something else again when corrected."""

    def serve(self, topic: Topic, messages: Messages) -> str:
        turn = len(messages) // 2
        chosen = {}
        for name, options in topic.choices.items():
            known = " ".join(self.memory.notes(self.user, topic.name)).lower()
            wrong = [o for o in options if o.lower() not in known and o.lower() not in _said(messages)]
            if wrong:
                chosen[name] = wrong[turn % len(wrong)]
        return topic.done + "".join(f", {n}: {c}" for n, c in chosen.items()) + "."


class NameDroppingBot(Helpbot):
    """Says all it knows and does nothing with it."""

    def serve(self, topic: Topic, messages: Messages) -> str:
        known = [self.memory.option(self.user, topic.name, options) for options in topic.choices.values()]
        loves = " and ".join(k for k in known if k)
        habit = self.memory.habit(self.user, topic.name, _said(messages))
        claim = f"I know you love {loves}!" if loves else f"I remember everything about you: {habit}"
        return f"{claim} What a great idea, {topic.name.lower()} are always fun."


def _said(messages: Messages) -> str:
    return " ".join(m["content"] for m in messages if m["role"] == "user").lower()


def _spoken(options: list[str], messages: Messages) -> str | None:
    said = _said(messages)
    # The last one said counts: people change their minds.
    found = [(said.rfind(o.lower()), o) for o in options if o.lower() in said]
    return max(found)[1] if found else None


BOTS: dict[str, Any] = {
    "remembers": Helpbot,
    "forgets": ForgetfulBot,
    "contradicts": ContradictingBot,
    "name-drops": NameDroppingBot,
}
