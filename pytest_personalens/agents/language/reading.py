"""Reads a transcript against the preferences of a scenario: which are asked for, and which the assistant goes against."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language.lexicon import (
    TypeWords,
    asks_for,
    embedded_types,
    in_domain,
    words_for,
)
from pytest_personalens.agents.language.sentence_types import is_deed, is_negated, is_proposal, is_question
from pytest_personalens.agents.language.text import mentions, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

_ALTERNATIVE: Final = re.compile(r"\bor\b|/|,")


class Ask(NamedTuple):
    """A question of the assistant about a preference type, at message `turn`."""

    turn: int
    sentence: str
    again: bool


class Clash(NamedTuple):
    """A value of the type that the assistant chose and that is not the user's.

    The assistant chose it at message `turn` without being told.
    """

    turn: int
    sentence: str
    domain: str
    type: str
    value: str


class DialogueReading:
    """What a transcript says of the preferences. Each part is computed once, when it is needed."""

    def __init__(self, scenario: Scenario, messages: Sequence[Message]) -> None:
        self.scenario, self.messages = scenario, tuple(messages)

    def _of_assistant(self) -> Iterator[tuple[int, str]]:
        for turn, message in enumerate(self.messages):
            if message.role == "assistant":
                for sentence in sentences(message.content):
                    yield turn, sentence

    @cached_property
    def types(self) -> tuple[tuple[str, str, TypeWords, tuple[str, ...]], ...]:
        """Return (domain, type, words, the user's values) of each preference of the task's domains."""
        return tuple(
            (domain, name, words_for(self.scenario, domain, name), values)
            for domain, types in self.scenario.preferences.items()
            for name, values in types.items()
            if values
        )

    def relevant(self, domain: str, name: str) -> bool:
        """True if the task names the type, or if the task names no type."""
        return not self.scenario.task.relevant or (domain, name) in self.scenario.task.relevant

    def said_by_user(self, domain: str, name: str, before: int) -> bool:
        """True if the user named one of the type's values before message `before`."""
        return any(
            mentions(value, sentence)
            for message in self.messages[:before]
            if message.role == "user"
            for sentence in sentences(message.content)
            for value in self.scenario.preferences[domain][name]
        )

    @cached_property
    def asks(self) -> tuple[Ask, ...]:
        """Return the questions about types whose value is known.

        A question that names only the user's own value is a confirmation and does not count.
        """
        asks: list[Ask] = []
        for turn, sentence in self._of_assistant():
            if not is_question(sentence):
                continue
            for domain, name, words, values in self.types:
                if not asks_for(words, sentence):
                    continue
                own = any(mentions(v, sentence) for v in values)
                others = [v for v in words.values if v not in values and mentions(v, sentence)]
                several = _ALTERNATIVE.search(sentence)
                # One other value alone is a proposal in the form of a question; see `clashes`.
                if (own and not (others and several)) or (not own and not several and len(others) == 1):
                    continue
                asks.append(Ask(turn, sentence, self.said_by_user(domain, name, turn)))
        return tuple(asks)

    def asks_elsewhere(self, domain: str, name: str, question: str) -> bool:
        """True if the question asks for a type of a domain that the task does not have, and not for this one."""
        own = (*self.scenario.domains, domain)
        if asks_for(words_for(self.scenario, domain, name), question) or any(
            in_domain(d, question, self.scenario) for d in own
        ):
            return False
        return any(in_domain(d, question) and asks_for(words, question) for d, words in embedded_types())

    @cached_property
    def _named(self) -> frozenset[tuple[int, str, str]]:
        """Return (turn, domain, type) where a message names a value of the user's."""
        return frozenset(
            (turn, domain, name)
            for turn, message in enumerate(self.messages)
            for domain, name, _, values in self.types
            if any(mentions(v, message.content) for v in values)
        )

    @cached_property
    def clashes(self) -> tuple[Clash, ...]:
        """Return the values that the assistant chose and that are not the user's.

        Values that the user had said do not count.
        """
        clashes: list[Clash] = []
        for turn, sentence in self._of_assistant():
            if is_question(sentence) and _ALTERNATIVE.search(sentence):
                continue
            for domain, name, words, values in self.types:
                if not self.relevant(domain, name) or (turn, domain, name) in self._named:
                    continue
                for value in words.values:
                    if (
                        not mentions(value, sentence)
                        or any(mentions(value, v) or mentions(v, value) for v in values)
                        or self._user_wanted(value, turn)
                        or is_negated(value, sentence)
                    ):
                        continue
                    if is_deed(sentence) or is_proposal(sentence) or asks_for(words, sentence):
                        clashes.append(Clash(turn, sentence, domain, name, value))
        return tuple(clashes)

    def _user_wanted(self, value: str, before: int) -> bool:
        return any(m.role == "user" and mentions(value, m.content) for m in self.messages[:before])
