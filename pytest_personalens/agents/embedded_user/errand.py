"""Decides the next turn of a user who checks the work against the facts of the task."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.agenda import Agenda
from pytest_personalens.agents.embedded_user.fact_answers import FactAnswer, FactAnswers, required, said
from pytest_personalens.agents.embedded_user.listening.questions import (
    Question,
    is_courtesy,
    options,
    questions,
)
from pytest_personalens.agents.embedded_user.voice.heard import heard
from pytest_personalens.agents.embedded_user.voice.openings import task_text
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content
from pytest_personalens.agents.reading.acts import act
from pytest_personalens.agents.reading.goal import classes, deed_classes
from pytest_personalens.agents.reading.limits import broken_limits
from pytest_personalens.agents.reading.part_numbers import FIRM
from pytest_personalens.agents.reading.work import UNDOES, Work
from pytest_personalens.core.dialogue.dialogue import UserTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.reading.statements import Statement
    from pytest_personalens.agents.reading.work import Stand
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Scenario

#: Sentences by which the user pushes on, and how often in all before it leaves.
_PUSHES: Final = ("chase", "insist", "other_way", "fact_wrong", "fact_short", "limit", "still_wrong", "ask_part", "ask_deed", "ask_to", "ask_wh", "nudge", "puzzled", "rest", "restate")  # fmt: skip
_MOST_PUSHES: Final = 4
#: How often the user accepts proposals.
_MOST_ACCEPTED: Final = 3
#: The most sentences in one message.
_MOST: Final = 3
#: The user leaves after this many replies in any case, plus two for each domain.
_LONGEST: Final = 6
_CLAUSE: Final = re.compile(
    r"\b(?:is|are|has|have|was|were|will|can|stands|runs|repeats|rings|sits|comes|agree|lie|agrees)\b"
)
_WH: Final = re.compile(
    r"(?:(?:at|on|in|for|under) )?(?:who|whom|whose|where|why|what|which|how|when|whether)\b"
)
#: A goal speaks of the user, who speaks of itself.
_OF_USER: Final = (
    (re.compile(r"\bthe user's\b"), "my"),
    (re.compile(r"\bthe user has\b"), "I have"),
    (re.compile(r"\bthe user is\b"), "I am"),
    (re.compile(r"\b(for|to|suits|fits|with) the user\b"), r"\1 me"),
    (re.compile(r"\bthe user (\w+?)(?:(?<=[hso])es|s)\b"), r"I \1"),
    (re.compile(r"\bthe user\b"), "I"),
)


class Errand(Agenda):
    """The next turn of a user who holds each reply against facts, limits and preferences."""

    def __init__(self, scenario: Scenario, transcript: Sequence[Message]) -> None:
        super().__init__(scenario, transcript)
        self.work = Work(scenario, transcript)
        self._facts = FactAnswers(scenario, self.work.facts)

    @cached_property
    def _pushed(self) -> list[tuple[str, dict[str, str]]]:
        """Return what the user has said so far, by its phrases."""
        return [found for m in self.transcript[2:] if m.role == "user" for found in heard(m.content)]

    @cached_property
    def _now(self) -> list[Statement]:
        """Return the statements of the last reply."""
        return [s for s in self.work.statements if s.turn == self.now]

    def _reports(self) -> bool:
        """True if the last reply says that something is done, or tells something."""
        return any(s.act in FIRM and s.words for s in self._now)

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
        if not lines:
            lines += of_taste
        asked = [
            q for q in questions(self._heard()) if q.kind not in ("more", "open") and _wants_answer(q.text)
        ]
        open_parts = [
            s for i, s in enumerate(self.work.stands) if s.state != "done" and not self._replied(i, s)
        ]
        settled = not open_parts and not lines
        if settled and self._ignored():
            return self._once("still_open", 1)
        lines += self._answers([q for q in asked if self._is_needed(q)] if settled else asked, corrected)
        if lines:
            return UserTurn(" ".join(lines[:_MOST]))
        if settled:
            more = any(s.act == "asked" or is_courtesy(plain(s.text)) for s in self._now)
            return self._leave("thanks_more" if more else "thanks")
        if self._count(*_PUSHES) >= _MOST_PUSHES + len(self.work.goal) // 3:
            return self._leave("give_up")
        return self._push(open_parts, replies)

    def _replied(self, i: int, stand: Stand) -> bool:
        """True if the user has asked for a part, and the assistant said that it is done, or told it."""
        words = plain(part_words(stand, self.scenario))
        turns = {
            at + 1
            for at, message in enumerate(self.transcript)
            if at and message.role == "user" and any(v.get("p") == words for _, v in heard(message.content))
        }
        before = {s.text for s in self.work.statements if s.turn < min(turns, default=0)}
        acts = {s.act for s in self.work.about(i) if s.turn in turns and s.text not in before}
        return stand.state != "wrong" and bool(FIRM & acts) and not UNDOES & acts

    def _ignored(self) -> bool:
        """True if the user has just objected, and the reply says nothing."""
        objected = any(bank.startswith("correction") for bank, _ in heard(self.transcript[-2].content))
        return objected and not self._reports()

    def _is_needed(self, question: Question) -> bool:
        """True if a question must be answered, although the work looks done: it asks for more than a wish."""
        text = plain(question.text)
        if is_courtesy(text):
            return False
        if question.kind in ("confirm", "yes_no", "known"):
            deeds = frozenset[str]().union(*(deed_classes(part.words) for part in self.work.words))
            return act(question.text) == "confirming" and bool(deeds & classes(content(text)))
        return True

    def _objections(self) -> list[str] | None:
        """Return objections to what is wrong; None if it was said before and is still wrong."""
        lines: list[str] = []
        for finding, statement in self.work.wrong:
            wanted = required(finding.fact)
            times = self._raised_before(wanted)
            if self._left_free(finding.fact) or (times and statement.turn != self.now):
                continue
            if times > 1:
                return None
            bank = "still_wrong" if times else "fact_wrong"
            lines.append(self.speaker.say(bank, v=wanted, o=said(finding, statement.text)))
        for _, missing in self.work.short:
            names = " and ".join(missing)
            if self._raised_before(names) > 1:
                return None
            lines.append(self.speaker.say("fact_short", v=names))
        for broken in broken_limits(self.scenario.limits, self._now):
            name = plain(broken.limit.name)
            if sum(bank == "limit" and values.get("n") == name for bank, values in self._pushed) > 1:
                return None
            lines.append(self.speaker.say("limit", o=broken.said, n=broken.limit.name))
        return lines[:2]

    def _left_free(self, fact: Fact) -> bool:
        """True if the user has left it to the assistant, and never said what it wants."""
        said = plain(" ".join(m.content for m in self.transcript if m.role == "user"))
        free = any(bank.startswith("free_") for bank, _ in self._pushed)
        return fact.known == "told" and free and plain(fact.says) not in said

    def _raised_before(self, wanted: str) -> int:
        return sum(
            bank in ("fact_wrong", "still_wrong", "fact_short", "fact_no")
            and values.get("v") == plain(wanted)
            for bank, values in self._pushed
        )

    def _answers(self, asked: Sequence[Question], corrected: set[tuple[str, str] | None]) -> list[str]:
        found: dict[str, FactAnswer] = {}
        rest = []
        for question in asked:
            of_type = self.answers.to(question).pair is not None
            answer = self._facts.to(question, of_type=of_type)
            if answer is None:
                rest.append(question)
            else:
                found.setdefault(answer.fact, answer)
        lines = self._told(tuple(found.values()))
        pairs = [(q, self.answers.to(q)) for q in rest if not self._rhetorical(q)]
        kept = [
            a
            for q, a in pairs
            if (a.pair is None or a.pair not in corrected)
            and not (lines and a.extra and is_courtesy(plain(q.text)))
        ]
        if lines:
            kept = [a for a in kept if not a.bank.startswith("free_")]
        return [*lines, *self._lines(kept)]

    def _rhetorical(self, question: Question) -> bool:
        """True for a question about another wish while the work is open: the user comes back to the work."""
        return is_courtesy(plain(question.text)) and not any(
            s.act in ("proposed", "confirming") for s in self._now
        )

    def _told(self, found: Sequence[FactAnswer]) -> list[str]:
        told = [a for a in found if a.bank.startswith("tell") and a.bank != "tell_thing"]
        lines = []
        if len(told) == 1:
            lines.append(self.speaker.say(told[0].bank, v=told[0].value))
        elif told:
            joined = ({"tell_date": "on ", "tell_time": "at "}.get(a.bank, "") + a.value for a in told[1:3])
            lines.append(self._together([told[0].value, *joined]))
        lines += [self.speaker.say(a.bank, v=a.value, o=a.other) for a in found if a not in told]
        return lines

    def _push(self, open_parts: Sequence[Stand], replies: int) -> UserTurn:
        states = {stand.state for stand in open_parts}
        acts = {s.act for s in self._now}
        offers = bool({"proposed", "confirming"} & acts) or bool(options(self.last)[1:])
        accepted = self._count("accept_proposal", "accept", "option", "option_first")
        if offers and "done" not in acts and accepted < _MOST_ACCEPTED:
            return self._accept()
        if "promised" in acts and "promised" in states:
            return self._once("chase", 2)
        if "handed-back" in acts and "handed-back" in states:
            return self._once("insist", 2)
        if "refused" in acts and "refused" in states:
            return self._once("other_way", 1)
        task = task_text(self.scenario)
        if not any(stand.state == "done" for stand in self.work.stands) and not self._reports():
            return UserTurn(
                self.speaker.say("restate", x=task) if task and replies < 3 else self.speaker.say("nudge")
            )
        stand = self._next(open_parts)
        if stand is None:
            return self._leave("give_up")
        return UserTurn(self._request(stand))

    def _once(self, bank: str, most: int) -> UserTurn:
        return UserTurn(self.speaker.say(bank)) if self._count(bank) < most else self._leave("give_up")

    def _next(self, open_parts: Sequence[Stand]) -> Stand | None:
        """Return the part to ask for: one that the user has not asked for, or only once."""
        asked = [values.get("p", "") for _, values in self._pushed]
        by_count = sorted(open_parts, key=lambda stand: asked.count(plain(part_words(stand, self.scenario))))
        first = by_count[0]
        return None if asked.count(plain(part_words(first, self.scenario))) > 1 else first

    def _request(self, stand: Stand) -> str:
        words = part_words(stand, self.scenario)
        if _WH.match(words):
            bank = "ask_wh"
        elif stand.part.kind == "done":
            bank = "ask_to" if stand.part.ask else "ask_deed"
        else:
            bank = "ask_deed" if _CLAUSE.search(words) else "ask_part"
        return self.speaker.say(bank, p=words)


def _wants_answer(text: str) -> bool:
    return text.rstrip().endswith("?") or act(text) in ("asked", "confirming")


def part_words(stand: Stand, scenario: Scenario) -> str:
    """Return how a person asks for a part of the goal: ``when it leaves``, ``book the table``.

    Without the words of the dataset it is the text of the part: ``the hour``, ``the table is reserved``.
    """
    if stand.part.ask:
        return stand.part.ask
    text = stand.part.text
    facts = [f for f in scenario.task.facts if f.name in stand.part.facts]
    if stand.part.kind == "told" and _CLAUSE.search(text) and facts and facts[0].what[:1].islower():
        return facts[0].what
    for pattern, mine in _OF_USER:
        text = pattern.sub(mine, text)
    return text.split(", ")[0] if stand.part.kind == "told" else text
