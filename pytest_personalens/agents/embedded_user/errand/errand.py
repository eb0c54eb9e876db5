"""Decides the next turn of a user who checks the work against the facts of the task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.errand.open_parts import OpenParts
from pytest_personalens.agents.embedded_user.errand.part_words import bank_of_part, part_words
from pytest_personalens.agents.embedded_user.listening.questions import (
    Question,
    is_courtesy,
    options,
    questions,
)
from pytest_personalens.agents.embedded_user.voice.heard import heard
from pytest_personalens.agents.embedded_user.voice.openings import task_text
from pytest_personalens.agents.language.sentence_types import is_deed
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content
from pytest_personalens.agents.reading.acts import act
from pytest_personalens.agents.reading.goal import classes, deed_classes
from pytest_personalens.agents.reading.part_numbers import FIRM
from pytest_personalens.core.dialogue.dialogue import UserTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.reading.work import Stand

#: Sentences by which the user pushes on, and how often in all before it leaves.
_PUSHES: Final = ("chase", "insist", "other_way", "fact_wrong", "fact_told", "fact_open", "fact_short", "limit", "still_wrong", "ask_part", "ask_deed", "ask_to", "ask_wh", "ask_never", "nudge", "restate", "what_exactly")  # fmt: skip
_MOST_PUSHES: Final = 4
#: How often the user accepts proposals.
_MOST_ACCEPTED: Final = 3
#: The most sentences in one message.
_MOST: Final = 3
#: The user leaves after this many replies in any case, plus two for each domain.
_LONGEST: Final = 6
#: A request to tell something.
_TELL: Final = re.compile(
    r"\b(?:tell me|let me know) (?:which|what|when|where|who|how)\b|\b(?:i|we) (?:do |will |would |just |also |only )*need (?:your|the)\b"
)
#: The end of a sentence that only looks like a question.
_TAG: Final = re.compile(
    r"\b(?:is|are|do|does|was|will|have|has)(?:n't| not) (?:it|they|you|we|that)\W*$|\beh\W*$"
)
#: Kinds of facts that the user adds to a request: "It's at the fountain."
_NAMED: Final = ("place", "text")


class Errand(OpenParts):
    """The next turn of a user who holds each reply against facts, limits and preferences."""

    def _reports(self) -> bool:
        """True if the last reply says that something is done, or tells something."""
        return any(s.act in FIRM and s.words for s in self._now)

    def _repeats(self) -> bool:
        """True if the last reply is word for word an earlier one."""
        return any(m.role == "assistant" and m.content == self.last for m in self.transcript[:-1])

    def _count(self, *banks: str) -> int:
        return sum(bank in banks for bank, _ in self._pushed)

    def _decide(self) -> UserTurn:
        replies = sum(m.role == "assistant" for m in self.transcript)
        if replies > _LONGEST + 2 * len(self.scenario.domains):
            return self._leave("give_up")
        lines = self._objections()
        if lines is None:
            return self._leave("give_up")
        corrected, of_taste = self._corrections()
        objects = bool(lines)
        if not lines:
            lines += of_taste
        asked = [
            q for q in questions(self._heard()) if q.kind not in ("more", "open") and _wants_answer(q.text)
        ]
        open_parts = [s for i, s in enumerate(self.work.stands) if not self._is_settled(i, s)]
        settled = not open_parts and not lines
        if settled and self._ignored():
            return self._once("still_open", 1)
        if objects:  # "Shall I book it?" is answered by what is wrong
            asked = [q for q in asked if q.kind not in ("confirm", "yes_no", "known", "either")]
        lines += self._answers([q for q in asked if self._is_needed(q)] if settled else asked, corrected)
        if lines:
            return UserTurn(" ".join(lines[:_MOST]))
        if settled:
            if self._against[1]:  # the user has said it once, and it is still wrong
                return self._leave("thanks_flat")
            more = any(s.act == "asked" or is_courtesy(plain(s.text)) for s in self._now)
            return self._leave("thanks_more" if more else "thanks")
        if self._count(*_PUSHES) >= _MOST_PUSHES + len(self.work.goal) // 3:
            return self._leave("give_up")
        return self._push(open_parts, replies)

    def _ignored(self) -> bool:
        """True if the user has just objected, and the reply says nothing."""
        objected = any(bank.startswith("correction") for bank, _ in heard(self.transcript[-2].content))
        return objected and not self._reports()

    def _is_needed(self, question: Question) -> bool:
        """True if a question must be answered, although the work looks done: it asks for more than a wish."""
        text = plain(question.text)
        asked_at = self.last.find(question.text)
        answered = any(s.act in FIRM and self.last.find(s.quote) > asked_at >= 0 for s in self._now)
        if is_courtesy(text) or answered:  # "Did it go through? It did! You're on the 9:12."
            return False
        if question.kind in ("confirm", "yes_no", "known"):
            deeds = frozenset[str]().union(*(deed_classes(part.words) for part in self.work.words))
            return act(question.text) == "confirming" and bool(deeds & classes(content(text)))
        return True

    def _push(self, open_parts: Sequence[Stand], replies: int) -> UserTurn:
        if self._repeats():
            return self._leave("give_up")
        states = {stand.state for stand in open_parts}
        acts = {s.act for s in self._now}
        offers = bool({"proposed", "confirming"} & acts) or bool(options(self.last)[1:])
        asks = "?" in self.last or bool(options(self.last)[1:])
        accepted = self._count("accept_proposal", "accept", "option", "option_first")
        if "done" not in acts:
            only = acts <= {"promised", "other"} and not self._reports()
            if "promised" in acts and (only or states & {"promised", "done"}) and "confirming" not in acts:
                return self._once("chase", 2)
            if "handed-back" in acts and "handed-back" in states and "confirming" not in acts:
                return self._once("insist", 2)
            undone = any(stand.part.kind == "done" for stand in open_parts)
            if offers and undone and not asks and self._count("insist") < 2:  # "The Ritz would suit you."
                return self._once("insist", 2)
            if offers and (asks or undone) and accepted < _MOST_ACCEPTED:
                return self._accept()
            if "refused" in acts and "refused" in states:
                return self._once("other_way", 1)
        task = task_text(self.scenario)
        if not any(stand.state == "done" for stand in self.work.stands) and not self._reports():
            if any(is_deed(s.text) for s in self._now):  # "Done!"
                return self._once("what_exactly", 1)
            return UserTurn(
                self.speaker.say("restate", x=task) if task and replies < 3 else self.speaker.say("nudge")
            )
        stands = self._next(open_parts)
        return UserTurn(self._request(stands)) if stands else self._leave("give_up")

    def _once(self, bank: str, most: int) -> UserTurn:
        return UserTurn(self.speaker.say(bank)) if self._count(bank) < most else self._leave("give_up")

    def _next(self, open_parts: Sequence[Stand]) -> list[Stand]:
        """Return the parts to ask for: up to two of a kind that the user has not asked for, or only once."""
        times = {stand.part.text: self._asked_for(stand) for stand in open_parts}
        # What is to be done comes before what is to be told.
        by_count = sorted(open_parts, key=lambda stand: (times[stand.part.text], stand.part.kind != "done"))
        first = by_count[0]
        alike = [
            s
            for s in by_count
            if bank_of_part(s, self.scenario) == bank_of_part(first, self.scenario)
            and times[s.part.text] == times[first.part.text]
        ]
        return [] if times[first.part.text] > 1 else alike[:2]

    def _asked_for(self, stand: Stand) -> int:
        words = plain(part_words(stand, self.scenario))
        return sum(words in values.get("p", "") for _, values in self._pushed)

    def _request(self, stands: Sequence[Stand]) -> str:
        bank = "ask_never" if stands[0].part.never else bank_of_part(stands[0], self.scenario)
        told = [
            f.says
            for s in stands[:1]
            if s.part.kind == "done"
            for f in self.scenario.task.facts
            if f.name in s.part.facts and f.known == "told" and f.kind in _NAMED and not self._has_told(f)
        ]
        words = " and ".join(part_words(s, self.scenario) for s in (stands[:1] if told else stands))
        request = self.speaker.say(bank, p=words)
        return f"{request} {self.speaker.say('tell', v=told[0])}" if told else request


def _wants_answer(text: str) -> bool:
    if _TAG.search(text):
        return False
    return (
        text.rstrip().endswith("?") or bool(_TELL.search(plain(text))) or act(text) in ("asked", "confirming")
    )
