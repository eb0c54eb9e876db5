"""Checks whether the assistant's work is about the user's task.

A relevant reply names things of the task, and says more than the user's own words.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.preferences.alternatives import EVERYDAY
from pytest_personalens.agents.embedded_user.preferences.constraints import constraint
from pytest_personalens.agents.language.lexicon import DOMAIN_WORDS, asks_for, domain_words
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, mentions, stem, stems

if TYPE_CHECKING:
    from pytest_personalens.agents.embedded_user.listening.replies import Replies
    from pytest_personalens.agents.embedded_user.preferences.breaches import AskedType

#: Words of a domain that fit any deed: "I've booked it", "sent", "the order", "your service".
_GENERIC: Final = frozenset(
    map(stem, ["book", "order", "show", "play", "plan", "text", "send", "sent", "watch", "event", "price", "delivery", "service", "share", "stay", "room", "visit", "game", "match", "market", "provider", "product", "schedule", "reminder", "notification", "appointment", "score", "race", "group", "basket", "chat", "message", "list", "meeting", "signal", "team", "buy", "bought", "purchase", "bank", "reading", "platform", "station", "group", "dish", "shop", "cart", "status", "status", "table", "suite"])
)  # fmt: skip
#: Words of an intent that do not show what it is about.
_COMMON: Final = frozenset(
    map(stem, ["evening", "night", "morning", "afternoon", "day", "book", "find", "buy", "choose", "get", "help", "look", "night-time", "money", "people", "person", "friend", "friends", "home", "home-made", "house", "nice", "little", "usual", "short", "long", "time", "work", "moment", "plan", "change", "pay", "set", "send", "order", "reference", "confirmed", "booked", "confirmation", "detail", "ready", "thing", "week", "weekend", "start", "hour", "minutes", "option", "tonight", "tomorrow", "today", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "out", "new", "pick", "call", "best", "free"])
)  # fmt: skip
#: Words with which a deed says what was done.
_BARE: Final = content(
    "done booked set sent ordered reserved ready sorted finished complete completed sure thing great noted saved added made taken care confirmed reference confirmation booking number code"
)
#: The least words of its own that a deed needs.
_SUBSTANCE: Final = 2


class Bearing:
    """The relevance of the replies of a transcript to the task."""

    def __init__(self, reading: Replies) -> None:
        self.reading, self.scenario = reading, reading.scenario

    @cached_property
    def _domain_words(self) -> frozenset[str]:
        return frozenset(
            {
                stem(w)
                for d in self.scenario.domains
                for w in (*domain_words(d, self.scenario), *plain(d).split())
            }
            - _GENERIC
        )

    @cached_property
    def _task_words(self) -> frozenset[str]:
        return self._domain_words | (content(self.scenario.task.intent) - _COMMON)

    @cached_property
    def _foreign_words(self) -> tuple[frozenset[str], ...]:
        """Return the words of each domain that is not part of the task."""
        word_lists = (words for d, words in DOMAIN_WORDS.items() if d not in self.scenario.domains)
        return tuple(frozenset(map(stem, words)) - _GENERIC - self._task_words for words in word_lists)

    def _counted_words(self, turn: int) -> tuple[bool, int, int]:
        """Return three facts about what a reply states.

        They are whether it names a thing of the domain, how many other words of the task it has, and how many
        words of another domain.
        """
        text = self._stated(turn)
        words = frozenset(stems(text))
        values = {
            v for t in self.reading.types for v in t[3] if v.lower() not in EVERYDAY and mentions(v, text)
        }
        foreign = max((len(words & of_domain) for of_domain in self._foreign_words), default=0)
        return bool(words & self._domain_words), len(words & self._task_words) + len(values), foreign

    def about_task(self, turn: int) -> bool:
        """True if a reply is about the task.

        A reply that names no thing at all may also be about a preference.
        """
        named, of_task, foreign = self._counted_words(turn)
        if named or of_task > foreign:
            return True
        return not foreign and any(self._named(t, self._stated(turn)) for t in self.reading.types)

    def foreign(self, turn: int) -> bool:
        """True if a reply names things of another domain and nothing of the task."""
        named, of_task, foreign = self._counted_words(turn)
        return foreign > 0 and not named and not of_task

    def _named(self, t: AskedType, text: str) -> bool:
        if asks_for(t[2], text) or any(
            re.search(rf"\b{re.escape(plain(v))}\b", plain(text))
            for v in t[2].values
            if v.lower() not in EVERYDAY
        ):
            return True
        # An hour alone says nothing, because every booking has one.
        return bool(content(" ".join(t[3])) & content(text)) and not constraint(t[1], t[3]).slots

    def substantial(self, turn: int) -> bool:
        """True if a reply says in words of its own what was done."""
        first = self.reading.messages[0].content
        text = self._stated(turn)
        return len(content(text) - content(first) - _BARE) >= _SUBSTANCE

    def _stated(self, turn: int) -> str:
        """Return what a reply states.

        Echoes of the user, questions and offers do not count.
        """
        return "\n".join(
            s.text for s in self.reading.in_turn(turn) if s.act not in ("echo", "question", "courtesy")
        )

    def serves(self, turn: int) -> bool:
        """True if a reply did something for the task and says what.

        A reply that repeats an earlier one does not count.
        """
        return self.about_task(turn) and self.substantial(turn) and not self._constant(turn)

    def _constant(self, turn: int) -> bool:
        """True if the reply is word for word an earlier one."""
        now = stems(self.reading.messages[turn].content)
        return any(m.role == "assistant" and stems(m.content) == now for m in self.reading.messages[:turn])
