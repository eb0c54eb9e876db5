"""Reads a transcript against a scenario.

It finds who mentioned, asked, contradicted or did something, and at which turn.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language.lexicon import TypeWords, asks_for, in_domain, words_for
from pytest_personalens.agents.language.sentence_types import (
    is_deed,
    is_negated,
    is_proposal,
    is_question,
    is_refusal,
)
from pytest_personalens.agents.language.text import mentions, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

_ALTERNATIVE: Final = re.compile(r"\bor\b|/|,")


class Mention(NamedTuple):
    """A preference value in a sentence of message `turn`."""

    turn: int
    sentence: str
    domain: str
    type: str
    value: str
    role: str


class Ask(NamedTuple):
    """A question of the assistant about a preference type, at message `turn`."""

    turn: int
    sentence: str
    domain: str
    type: str
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
    """Everything that the embedded agents read from a transcript.

    Each part is computed once, when it is needed.
    """

    def __init__(self, scenario: Scenario, messages: Sequence[Message]) -> None:
        self.scenario, self.messages = scenario, tuple(messages)

    def _sentences(self, role: str) -> Iterator[tuple[int, str]]:
        for turn, message in enumerate(self.messages):
            if message.role == role:
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

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Return every preference value that anybody said, in order."""
        return tuple(
            Mention(turn, sentence, domain, name, value, message.role)
            for turn, message in enumerate(self.messages)
            for sentence in sentences(message.content)
            for domain, name, _, values in self.types
            for value in values
            if mentions(value, sentence)
        )

    def said_by_user(self, domain: str, name: str, before: int) -> bool:
        """True if the user named one of the type's values before message `before`."""
        return any(
            m.role == "user" and m.turn < before and (m.domain, m.type) == (domain, name)
            for m in self.mentions
        )

    @cached_property
    def asks(self) -> tuple[Ask, ...]:
        """Return the questions about types whose value is known.

        A question that names only the user's own value is a confirmation and does not count.
        """
        asks: list[Ask] = []
        for turn, sentence in self._sentences("assistant"):
            if not is_question(sentence):
                continue
            for domain, name, words, values in self.types:
                if not asks_for(words, sentence):
                    continue
                own_values = [v for v in values if mentions(v, sentence)]
                other_values = [v for v in words.values if v not in values and mentions(v, sentence)]
                if own_values and not (other_values and _ALTERNATIVE.search(sentence)):
                    continue
                if (
                    other_values
                    and not own_values
                    and not _ALTERNATIVE.search(sentence)
                    and len(other_values) == 1
                ):
                    continue  # a proposal in the form of a question; see `clashes`
                again = self.said_by_user(domain, name, turn)
                asks.append(Ask(turn, sentence, domain, name, again))
        return tuple(asks)

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
        for turn, sentence in self._sentences("assistant"):
            if is_question(sentence) and _ALTERNATIVE.search(sentence):
                continue
            for domain, name, words, values in self.types:
                if not words.values or not self.relevant(domain, name):
                    continue
                if (turn, domain, name) in self._named:
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
        return any(
            m.role == "user" and i < before and mentions(value, m.content)
            for i, m in enumerate(self.messages)
        )

    @cached_property
    def deeds(self) -> tuple[tuple[int, str], ...]:
        """Return the sentences in which the assistant says that something is done or given."""
        return tuple((turn, s) for turn, s in self._sentences("assistant") if is_deed(s))

    @cached_property
    def refusals(self) -> tuple[tuple[int, str], ...]:
        """Return the sentences in which the assistant says that something cannot be done."""
        return tuple((turn, s) for turn, s in self._sentences("assistant") if is_refusal(s))

    def undone_domains(self) -> tuple[str, ...]:
        """Return the domains of a multi-domain task that no deed or proposal mentions."""
        if len(self.scenario.domains) == 1:
            return ()  # a deed can only be about this domain; many replies say just "Done."
        texts = [
            m.content for turn, m in enumerate(self.messages) if m.role == "assistant" and self._works(turn)
        ]
        named = {m.domain for m in self.mentions if m.role == "assistant"}
        return tuple(
            d
            for d in self.scenario.domains
            if d not in named and not any(in_domain(d, text, self.scenario) for text in texts)
        )

    def _works(self, turn: int) -> bool:
        return any(t == turn for t, _ in self.deeds) or is_proposal(self.messages[turn].content)
