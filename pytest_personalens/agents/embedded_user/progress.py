"""How far a dialogue is for the user: what was done, what speaks against it, and whether to give up."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.listening.questions import is_promise, options, questions
from pytest_personalens.agents.embedded_user.listening.replies import brings_facts
from pytest_personalens.agents.embedded_user.preferences.breaches import fits
from pytest_personalens.agents.embedded_user.preferences.objections import objections
from pytest_personalens.agents.embedded_user.preferences.relevance import Bearing
from pytest_personalens.agents.embedded_user.voice.openings import task_text
from pytest_personalens.agents.language.lexicon import in_domain
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content

if TYPE_CHECKING:
    from pytest_personalens.agents.embedded_user.listening.replies import Replies
    from pytest_personalens.agents.embedded_user.preferences.objections import Objection

#: The user gives up after this many replies in a row that bring nothing.
PATIENCE: Final = 3
#: The dialogue ends after this many replies in any case, plus `_PER_DOMAIN` for each domain of the task.
_LONGEST, _PER_DOMAIN = 6, 2
#: Intents of users who only want to know something.
_TO_KNOW: Final = re.compile(
    r"(?:hear|know|compare|find out|get an idea|get a short|understand|catch up|have something to say|be prepared|have the new season)\b"
)


class Progress:
    """The state of the task after the last reply of a transcript."""

    def __init__(self, reading: Replies, bearing: Bearing) -> None:
        self.reading, self.bearing, self.scenario = reading, bearing, reading.scenario
        self.now = len(reading.messages) - 1
        self.last = reading.messages[-1].content

    @cached_property
    def against(self) -> dict[int, tuple[Objection, ...]]:
        """Return the objections to each reply, by its turn."""
        return {
            turn: objections(self.reading, turn)
            for turn, m in enumerate(self.reading.messages)
            if m.role == "assistant"
        }

    @cached_property
    def done(self) -> tuple[int, ...]:
        """Return the turns of the replies in which something was done or given."""
        return tuple(
            turn
            for turn, m in enumerate(self.reading.messages)
            if m.role == "assistant" and self.reading.delivers(turn)
        )

    def served(self) -> bool:
        """True if something was done that has nothing in it against the user.

        A later refusal or a new promise undoes this.
        """
        if self._mended():
            return True
        done = self.done
        if not done or any(turn >= done[-1] for turn, _ in self.reading.refusals):
            return False
        return not self.against[done[-1]] and not (is_promise(self.last) and done[-1] < self.now)

    def _mended(self) -> bool:
        """True if the last reply names what the user just corrected and leaves nothing open.

        An example is "It's now 14:30.".
        """
        wrong = self.against.get(self.now - 2, ())
        here = self.reading.in_turn(self.now)
        if (
            not wrong
            or self.against[self.now]
            or any(s.act in ("question", "refusal", "promise", "proposal", "echo", "boast") for s in here)
        ):
            return False
        types = [t for t in self.reading.types for o in wrong if t[:2] == (o.domain, o.type)]
        return all(any(fits(t, s.text) for s in here) for t in types)

    def was_informed(self) -> bool:
        """True if the user wanted to know something and a reply with facts told it."""
        statements = self.reading.in_turn(self.now)
        if not _TO_KNOW.match(task_text(self.scenario)) or self.bearing.foreign(self.now):
            return False
        return any(s.act != "echo" and brings_facts(s.text) for s in statements) and not any(
            s.act == "boast" for s in statements
        )

    def serving(self) -> bool:
        """True if a reply did something for the task and said what."""
        return any(self.bearing.serves(turn) for turn in self.done)

    def proposed(self) -> bool:
        """True if the last reply proposes something or lists options."""
        return any(s.act == "proposal" for s in self.reading.in_turn(self.now)) or bool(
            options(self.last)[1:]
        )

    def beside_the_point(self) -> bool:
        """True if the reply says nothing about the task."""
        earlier_words = content(
            f"{self.scenario.task.intent} {' '.join(m.content for m in self.reading.messages[:-1])}"
        )
        return not earlier_words & content(self.last) and not any(
            in_domain(d, self.last, self.scenario) for d in self.scenario.domains
        )

    def refusals(self) -> int:
        """Return the number of replies with a refusal."""
        return len({turn for turn, _ in self.reading.refusals})

    def fed_up(self) -> bool:
        """True after `PATIENCE` useless replies in a row, or after too many replies in all.

        A useless reply repeats a question, contradicts again or brings nothing.
        """
        wasted, heard, replies = 0, set[str](), 0
        for turn, message in enumerate(self.reading.messages):
            if message.role != "assistant":
                continue
            replies += 1
            of_reply = self.reading.in_turn(turn)
            said = {s.plain for s in of_reply} | {plain(q.text) for q in questions(message.content)}
            moves = {s.plain for s in of_reply if s.act in ("deed", "proposal", "card")}
            moves |= {plain(q.text) for q in questions(message.content) if q.kind not in ("more", "open")}
            again = any(a.turn == turn and a.again for a in self.reading.asks)
            wasted = wasted + 1 if again or self.against[turn] or not moves - heard else 0
            heard |= said
        return wasted >= PATIENCE or replies > _LONGEST + _PER_DOMAIN * len(self.scenario.domains)
