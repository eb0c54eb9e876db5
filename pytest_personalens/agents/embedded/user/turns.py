"""Decides what the user says next: objects, answers, asks for what is open, or leaves."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.judge.limits import broken_limits
from pytest_personalens.agents.embedded.judge.parts import PartReading, read_parts
from pytest_personalens.agents.embedded.reader.facts import read_facts
from pytest_personalens.agents.embedded.reader.findings import is_taste
from pytest_personalens.agents.embedded.reader.statements import FIRM, Statement, statements
from pytest_personalens.agents.embedded.reader.text import fold, mentions, plain
from pytest_personalens.agents.embedded.user import words
from pytest_personalens.agents.embedded.user.answers import Answer, Answers
from pytest_personalens.agents.embedded.user.openings import request
from pytest_personalens.agents.embedded.user.questions import questions
from pytest_personalens.agents.embedded.user.voice import (
    Speaker,
    SpeechlessError,
    first_person,
    manner,
    upper_first,
)
from pytest_personalens.core.dialogue.dialogue import UserTurn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded.user.questions import Question
    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import GoalPart, Scenario

#: The replies that a user waits for: in all, of the same words, that only want a yes, and that only promise.
_PATIENCE: Final = {"single": 10, "multi": 15}
_SAME_REPLIES, _MOST_YES, _MOST_PROMISES = 2, 4, 1
#: The most questions that are answered in one message, objections, and parts that are asked for.
_MOST_ANSWERS, _MOST_OBJECTIONS, _MOST_ASKED = 4, 2, 2
_NOT_FIRM: Final = frozenset(("offered", "promised", "asked"))
_WH: Final = re.compile(r"(?:what|which|who|whom|whose|when|where|how|if|whether|why)\b")


class NextTurn:
    """The next turn of a user, by what the assistant said so far."""

    def __init__(self, scenario: Scenario, transcript: Sequence[Message]) -> None:
        self.scenario, self.messages = scenario, transcript
        self.mine = [m.content for m in transcript if m.role == "user"]
        self.theirs = [m.content for m in transcript if m.role == "assistant"]
        self.last = self.theirs[-1] if self.theirs else ""
        self.key = f"{scenario.id}\x1f{len(transcript)}\x1f{self.last}"
        self.speaker = Speaker(self.key, manner(scenario), self.mine)
        self.answers = Answers(scenario, self.key)
        self.asked = questions(self.last)

    def turn(self) -> UserTurn:
        """Return the turn; a user who has nothing new to say leaves."""
        try:
            return self._next()
        except SpeechlessError:
            return self._leaves()

    def _next(self) -> UserTurn:
        if self._is_tired:
            return self._leaves()
        objections = self._objections()
        answers = self._answered(corrected=bool(objections))
        if objections or answers:
            return UserTurn(" ".join([*objections, *answers]))
        return self._asks() or self._leaves()

    @cached_property
    def _said(self) -> tuple[Statement, ...]:
        return statements(self.messages, self.scenario.now)

    @cached_property
    def _now(self) -> tuple[Statement, ...]:
        return tuple(s for s in self._said if s.turn == len(self.messages) - 1)

    @cached_property
    def _parts(self) -> tuple[PartReading, ...]:
        return read_parts(self.scenario, self.messages)

    @property
    def _is_tired(self) -> bool:
        """True if the assistant goes round in circles, or has had turns enough."""
        if len(self.theirs) > _PATIENCE[self.scenario.kind]:
            return True
        if sum(fold(text) == fold(self.last) for text in self.theirs) > _SAME_REPLIES:
            return True
        run = 0
        for text in reversed(self.theirs):
            if not _only_for_a_yes(text):
                break
            run += 1
        return run > _MOST_YES

    # Objections

    def _objections(self) -> list[str]:
        """Return what is wrong in the last reply, each matter once: facts, limits, preferences."""
        lines = []
        for broken in broken_limits(self.scenario.limits, self._now):
            if not self._has_said(broken.said) and len(lines) < _MOST_OBJECTIONS:
                lines.append(
                    self.speaker.say("limit", o=_as_written(broken.said, self.last), v=broken.limit.name)
                )
        for fact, was in self._wrong():
            if len(lines) < _MOST_OBJECTIONS:
                lines.append(self._objection(fact, was))
        if not lines and (against := self._against()):
            lines.append(self.speaker.say("against", v=against[0], o=against[1]))
        return lines

    def _wrong(self) -> list[tuple[Fact, str]]:
        """Return the facts that the last reply has wrong, in what it reports, tells, offers or asks."""
        found: dict[str, tuple[Fact, str]] = {}
        right: set[str] = set()
        turn = len(self.messages) - 1
        for reading in read_facts(self.scenario, self.messages).values():
            if reading.state == "contradicted" and reading.turn == turn:
                found[reading.fact.name] = reading.fact, reading.said
            elif reading.state == "affirmed" and reading.turn == turn:
                right.add(reading.fact.name)
        for statement in self._now:
            if statement.act in _NOT_FIRM:
                for fact, was in self.answers.corrections(statement.text):
                    if fact.name in self.answers.facts.named:
                        found.setdefault(fact.name, (fact, was))
        return [(f, was) for name, (f, was) in found.items() if name not in right and not self._objected(f)]

    def _objection(self, fact: Fact, was: str) -> str:
        said = _as_written(re.sub(r"^(?:at|by|from|until|on) ", "", was), self.last)
        value = first_person(words.required(fact, was, self.scenario))
        if fact.known == "open":
            bank = "wrong_open"
        elif fact.known == "told" and not any(mentions(value, text) for text in self.mine):
            bank = "wrong_untold"
        else:
            bank = "wrong"
        return self.speaker.say(bank, v=value, o=said)

    def _objected(self, fact: Fact) -> bool:
        """True if an earlier message but the opening says the fact and turns something down."""
        value = first_person(words.spoken(fact))
        return any(
            _TURNS_DOWN.search(text)
            and (mentions(value, text) or fact.known == "open" and mentions(value.split(" and ")[-1], text))
            for text in self.mine[1:]
        )

    def _against(self) -> tuple[str, str] | None:
        """Return the user's value and the other one, where a reply goes against a preference of the task."""
        by_facts = {v for f in self.scenario.task.facts for v in f.right}
        for domain, name in self.scenario.task.relevant:
            held = self.scenario.preferences.get(domain, {}).get(name, ())
            row = domain, name, held
            if not held or by_facts & set(held) or self.answers.holds(row, self.last):
                continue
            for statement in self._now:
                if statement.act in ("asked", "refused", "undone") or not (
                    other := self.answers.other(row, statement.text)
                ):
                    continue
                value = words.preferred(name, held)
                if not self._has_said(value):
                    return value, _as_written(other, self.last)
        return None

    def _has_said(self, words_: str) -> bool:
        return any(mentions(words_, text) for text in self.mine[1:])

    # Answers

    def _answered(self, *, corrected: bool) -> list[str]:
        """Return the answers to the questions of the last reply, the facts among them together."""
        told: list[Answer] = []
        rest: list[Answer] = []
        consents = starts = False
        for question in self.asked[: _MOST_ANSWERS + 2]:
            if question.wants == "consent":
                consents = consents or not (corrected or self._is_needless(question))
            elif question.wants == "start":
                starts = True
            elif question.wants != "more":
                for answer in self.answers.to(question, self.last):
                    (told if answer.of else rest).append(answer)
        told = list(dict.fromkeys(told))[:_MOST_ANSWERS]
        lines = self._told(told)
        if not lines and rest:
            lines = [self.speaker.say(a.bank, v=a.value, o=a.value) for a in dict.fromkeys(rest[:1])]
        elif options := [a for a in rest if a.bank == "option"]:
            lines += [self.speaker.say("option", o=options[0].value)]
        if consents and not lines:
            lines = [self.speaker.say("yes")]
        if starts and not (lines or corrected):
            return [self._wish()]
        if not (lines or corrected or self.asked) and self._proposes():
            lines = [self.speaker.say("yes")]
        return lines

    def _told(self, told: Sequence[Answer]) -> list[str]:
        if len(told) > 1:
            kinds = {"tell_date": "on ", "tell_time": "at "}
            values = [
                kinds.get(a.bank, "") + ("just me" if a.bank == "tell_alone" else a.value) for a in told
            ]
            together = f"{', '.join(values[:-1])} and {values[-1]}"
            return [self.speaker.say("several", v=together)]
        lines = []
        for answer in told:
            again = answer.bank not in ("option", "no_value", "yes_value") and any(
                mentions(answer.value, text) for text in self.mine
            )
            lines.append(self.speaker.say("again" if again else answer.bank, v=answer.value, o=answer.value))
        return lines

    def _is_needless(self, question: Question) -> bool:
        """True for a courtesy behind work that is done: "Does that suit you?" """
        return self._is_served and not _OFFERS.search(plain(question.text))

    def _proposes(self) -> bool:
        """True if the last reply has only proposals, and reports nothing."""
        return (
            any(s.act == "offered" for s in self._now)
            and not any(s.act in ("done", "refused", "undone") for s in self._now)
            and not self._is_served
        )

    def _wish(self) -> str:
        wish = request(self.scenario)
        return self.speaker.say("again_wish", x=wish) if wish else self.speaker.say("nudge")

    # Requests

    @property
    def _open(self) -> list[PartReading]:
        return [p for p in self._parts if p.state != "done"]

    @cached_property
    def _is_served(self) -> bool:
        """True if every part stands; a part that words cannot show stands once it was asked for and answered."""
        if not self._parts:
            return any(s.act in FIRM for s in self._now)
        return (
            all(not p.known and self._was_asked(p.part) and self._tells() for p in self._open)
            and not self._stands_wrong
        )

    @cached_property
    def _stands_wrong(self) -> bool:
        if broken_limits(self.scenario.limits, self._now):
            return True
        readings = read_facts(self.scenario, self.messages).values()
        return any(r.state == "contradicted" and not is_taste(r.fact) for r in readings)

    def _tells(self) -> bool:
        return any(s.act in FIRM for s in self._now)

    def _asks(self) -> UserTurn | None:
        """Return a request for what was not affirmed; None if nothing is open that was not asked for."""
        if not self._parts:
            return self._asks_without_parts()
        new = [p for p in self._open if not self._was_asked(p.part)]
        if not new:
            return None
        if all(p.state == "promised" for p in self._open if p.part.kind == "done") and any(
            p.state == "promised" for p in new
        ):
            return self._once("chase")
        if any(p.state == "handed-back" for p in new) and (turn := self._once("insist")):
            return turn
        if any(p.state == "refused" and p.part.kind == "done" for p in new) and (
            turn := self._once("other_way")
        ):
            return turn
        return UserTurn(self._request(new))

    def _asks_without_parts(self) -> UserTurn | None:
        if any(s.act == "promised" for s in self._now):
            return self._once("chase")
        if any(s.act == "handed" for s in self._now):
            return self._once("insist")
        if any(s.act in ("refused", "undone") for s in self._now):
            return self._once("other_way")
        return None if self._tells() else self._once("nudge")

    def _once(self, bank: str) -> UserTurn | None:
        """Return a phrase of a bank, unless one was said before."""
        before = Speaker(self.key, self.speaker.how, self.mine)
        from pytest_personalens.agents.embedded.user.voice import phrases_for

        said = any(not before.is_new(phrase) for phrase in phrases_for(bank, self.speaker.how))
        return None if said else UserTurn(self.speaker.say(bank))

    def _was_asked(self, part: GoalPart) -> bool:
        asked = fold(_asked_for(part))
        return any(asked in fold(text) for text in self.mine[1:])

    def _request(self, new: Sequence[PartReading]) -> str:
        """Return a request for open parts: a deed alone, or up to two things to be told."""
        first = new[0]
        if first.part.never:
            return self.speaker.say("never", p=_asked_for(first.part))
        if first.part.kind == "done":
            text = _asked_for(first.part)
            return self.speaker.say(
                "ask_to" if first.part.ask and not _WH.match(text) else "ask_that", p=text
            )
        told = [p for p in new if p.part.kind == "told" and not p.part.never][:_MOST_ASKED]
        texts = [_asked_for(p.part) for p in told]
        wh = [t for t in texts if _WH.match(t)]
        if wh:
            return self.speaker.say("ask_wh", p=" and ".join(wh))
        if texts[0].startswith("that "):
            return self.speaker.say("ask_that", p=texts[0].removeprefix("that "))
        return self.speaker.say("ask_about", p=texts[0])

    # The end

    def _leaves(self) -> UserTurn:
        served = self._is_served and not self._is_tired
        try:
            return UserTurn(self.speaker.say("thanks" if served else "leave"), done=True, served=served)
        except SpeechlessError:
            return UserTurn("", done=True, served=served)


_TURNS_DOWN: Final = re.compile(r"\b(?:not|no|wrong|mistake|change|instead|isn't|doesn't|rather)\b|\?")
#: A question that still wants something, and not only to hear that all is well.
_OFFERS: Final = re.compile(r"\b(?:shall|should|can|may|could|want me|like me)\b")


def _only_for_a_yes(reply: str) -> bool:
    asked = questions(reply)
    return bool(asked) and all(q.wants == "consent" for q in asked)


def _asked_for(part: GoalPart) -> str:
    """Return how the user asks for a part."""
    return part.ask or first_person(part.text)


def _as_written(said: str, text: str) -> str:
    """Return folded words as a text has them, with their capitals."""
    match = re.search(rf"(?<![\w'’]){re.escape(said)}(?![\w'’])", text, re.IGNORECASE)
    return match[0] if match else said


__all__ = ["NextTurn", "upper_first"]
