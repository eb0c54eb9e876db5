"""Decides what the user says next: objects, answers, asks for what is open, or leaves."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.judge.limits import broken_limits
from pytest_personalens.agents.embedded.judge.parts import PartReading, read_parts
from pytest_personalens.agents.embedded.reader.facts import read_facts
from pytest_personalens.agents.embedded.reader.findings import MOST, is_taste
from pytest_personalens.agents.embedded.reader.statements import FIRM, Statement, statements
from pytest_personalens.agents.embedded.reader.text import fold, mentions, plain
from pytest_personalens.agents.embedded.user import words
from pytest_personalens.agents.embedded.user.answers import Answer, Answers
from pytest_personalens.agents.embedded.user.openings import opening
from pytest_personalens.agents.embedded.user.questions import questions
from pytest_personalens.agents.embedded.user.voice import Speaker, SpeechlessError, first_person, manner
from pytest_personalens.core.dialogue.dialogue import UserTurn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import GoalPart, Scenario

#: The replies that a user waits for: in all, with the same words, and in a row that only want a yes.
_PATIENCE: Final = {"single": 10, "multi": 15}
_SAME_REPLIES, _MOST_YES = 2, 4
#: The most answers, objections and requests in one message.
_MOST_ANSWERS, _MOST_OBJECTIONS, _MOST_ASKED = 4, 2, 2
_WH: Final = re.compile(r"(?:what|which|who|whom|whose|when|where|how|if|whether|why)\b")
_TURNS_DOWN: Final = re.compile(r"\b(?:not|no|wrong|mistake|change|instead|isn't|doesn't|rather)\b|\?")
#: A question that still wants something, and not only to hear that all is well.
_OFFERS: Final = re.compile(
    r"\b(?:shall|should|can|may|could|want me|like me|confirm\w*|proceed|go ahead|yes)\b"
)
#: Wordings of a wish to try when it is said again.
_TRIES: Final = 8
_MEASURED: Final = re.compile(r"days|time|season|duration|group size|price", re.IGNORECASE)
_BEFORE_KIND: Final = {"tell_date": "on ", "tell_time": "at "}


class NextTurn:
    """The next turn of a user, by what the assistant said so far."""

    def __init__(self, scenario: Scenario, transcript: Sequence[Message]) -> None:
        self.scenario, self.messages = scenario, transcript
        self.mine = [m.content for m in transcript if m.role == "user"]
        self.theirs = [m.content for m in transcript if m.role == "assistant"]
        self.last = self.theirs[-1] if self.theirs else ""
        key = f"{scenario.id}\x1f{len(transcript)}\x1f{self.last}"
        self.speaker = Speaker(key, manner(scenario), self.mine)
        self.answers = Answers(scenario, key)

    def turn(self) -> UserTurn:
        """Return the turn; a user who has nothing new to say leaves."""
        try:
            if not self._is_tired:
                objections = self._objections()
                answers = self._answered(corrected=bool(objections))
                if text := " ".join([*objections, *answers]) or self._request():
                    return UserTurn(text)
        except SpeechlessError:
            pass
        served = self._is_served and not self._is_tired
        try:
            return UserTurn(self.speaker.say("thanks" if served else "leave"), done=True, served=served)
        except SpeechlessError:
            return UserTurn("", done=True, served=served)

    @cached_property
    def _now(self) -> list[Statement]:
        """The statements of the last reply."""
        said = statements(self.messages, self.scenario.now)
        return [s for s in said if s.turn == len(self.messages) - 1]

    @cached_property
    def _parts(self) -> tuple[PartReading, ...]:
        return read_parts(self.scenario, self.messages)

    @property
    def _open(self) -> list[PartReading]:
        """The parts of the task that do not stand."""
        return [p for p in self._parts if p.state != "done"]

    @property
    def _tells(self) -> bool:
        return any(s.act in FIRM for s in self._now)

    @cached_property
    def _is_served(self) -> bool:
        """True if every part stands; one that words cannot show stands once it was asked for and answered."""
        if broken_limits(self.scenario.limits, self._now):
            return False
        if not self._parts:
            return self._tells
        unclear = [p for p in self._open if not p.known and self._was_asked(p.part) and self._tells]
        shown = any(p.turn is not None for p in self._parts if p.state == "done")
        return len(unclear) == len(self._open) and (shown or not unclear)

    @cached_property
    def _is_tired(self) -> bool:
        """True if the assistant goes round in circles, or has had turns enough."""
        run = 0
        for text in reversed(self.theirs):
            if not (asked := questions(text)) or any(q.wants != "consent" for q in asked):
                break
            run += 1
        same = sum(fold(text) == fold(self.last) for text in self.theirs)
        return len(self.theirs) > _PATIENCE[self.scenario.kind] or same > _SAME_REPLIES or run > _MOST_YES

    def _objections(self) -> list[str]:
        """Return what is wrong in the last reply, each matter once: limits, facts, then preferences."""
        lines = [
            self.speaker.say("limit", o=_as_written(broken.said, self.last), v=broken.limit.name)
            for broken in broken_limits(self.scenario.limits, self._now)
            if not self._has_said(broken.said)
        ]
        for fact, was in self._wrong():
            value = first_person(words.spoken(fact))
            said = _as_written(re.sub(r"^(?:at|by|from|until|on) ", "", was), self.last)
            untold = fact.known == "told" and not any(mentions(value, text) for text in self.mine)
            bank = "wrong_open" if fact.known == "open" else "wrong_untold" if untold else "wrong"
            bank = bank if said.lower() in self.last.lower() else "wrong_unnamed"
            lines.append(self.speaker.say(bank, v=value, o=said))
        lines += [self.speaker.say("against", v=own, o=other) for own, other in self._against()]
        return lines[:_MOST_OBJECTIONS]

    def _wrong(self) -> list[tuple[Fact, str]]:
        """Return the facts that the last reply has wrong, in what it reports, tells, offers or would confirm."""
        readings = [
            r for r in read_facts(self.scenario, self.messages).values() if r.turn == len(self.messages) - 1
        ]
        right = {r.fact.name for r in readings if r.state == "affirmed"}
        found = {r.fact.name: (r.fact, r.said) for r in readings if r.state == "contradicted"}
        asked = {q.text for q in questions(self.last) if q.wants != "consent"}
        for statement in self._now:
            if statement.act in ("offered", "promised", "asked") and statement.text not in asked:
                for fact, was in self.answers.corrections(statement.text):
                    if fact.name in self.answers.facts.named:
                        found.setdefault(fact.name, (fact, was))
        return [row for name, row in found.items() if name not in right and not self._objected(row[0])]

    def _objected(self, fact: Fact) -> bool:
        """True if a message after the opening says the fact and turns something down."""
        value = first_person(words.spoken(fact))
        return any(_TURNS_DOWN.search(text) and mentions(value, text) for text in self.mine[1:])

    def _against(self) -> Iterator[tuple[str, str]]:
        """Yield the user's value and the other one, where a reply goes against a preference of the task."""
        by_facts = {v for f in self.scenario.task.facts for v in f.right}
        for domain, name in self.scenario.task.relevant:
            held = self.scenario.preferences.get(domain, {}).get(name, ())
            row = domain, name, held
            if (
                not held
                or "no preference" in held
                or by_facts & set(held)
                or self.answers.holds(row, self.last)
            ):
                continue
            value = words.preferred(name, held)
            kept = [s for s in self._now if s.act not in ("asked", "refused", "undone")]
            other = next((o for s in kept if (o := self.answers.other(row, s.text))), "")
            if other and f"{other}:" not in fold(self.last) and not self._has_said(value):
                yield value, _as_written(other, self.last)

    def _has_said(self, phrase: str) -> bool:
        return any(mentions(phrase, text) for text in self.mine[1:])

    def _answered(self, *, corrected: bool) -> list[str]:
        """Return the answers to the questions of the last reply, what the user knows before the rest."""
        asked = questions(self.last)
        found = [
            a
            for q in asked
            if q.wants not in ("consent", "start", "more")
            for a in self.answers.to(q, self.last)
        ]
        told = [a for a in dict.fromkeys(found) if a.of][:_MOST_ANSWERS]
        rest = [a for a in dict.fromkeys(found) if not a.of]
        lines = [self._told(told)] if told else []
        lines += [
            self.speaker.say(a.bank, v=a.value, o=a.value) for a in rest if not lines or a.bank == "option"
        ][:1]
        wants = {
            q.wants
            for q in asked
            if q.wants != "consent" or not self._is_served or _OFFERS.search(plain(q.text))
        }
        if lines or corrected:
            return lines
        if "consent" in wants or (not asked and self._proposes):
            return [self.speaker.say("yes")]
        if "start" in wants:
            texts = (opening(self.scenario, len(self.mine) + n) for n in range(_TRIES))
            return [next((t for t in texts if self.speaker.is_new(t)), "") or self.speaker.say("nudge")]
        return []

    def _told(self, told: Sequence[Answer]) -> str:
        """Return one sentence that tells facts and preferences."""
        if len(told) > 1:
            said = [
                "just me" if a.bank == "tell_alone" else _BEFORE_KIND.get(a.bank, "") + a.value for a in told
            ]
            return self.speaker.say("several", v=f"{', '.join(said[:-1])} and {said[-1]}")
        answer = told[0]
        again = answer.bank not in ("option", "instead") and any(mentions(answer.value, t) for t in self.mine)
        return self.speaker.say("again" if again else answer.bank, v=answer.value, o=answer.value)

    @property
    def _proposes(self) -> bool:
        """True if the last reply has proposals and reports nothing."""
        acts = {s.act for s in self._now}
        return "offered" in acts and not acts & {"done", "refused", "undone"} and not self._is_served

    def _request(self) -> str:
        """Return a request for what was not affirmed; empty if all of it stands or was asked for."""
        parts = self.scenario.task.parts
        states = {p.state for p in self._open} if parts else {_STATES.get(s.act, "") for s in self._now}
        if "promised" in states and not states & {"missing", "wrong"} and (text := self._once("chase")):
            return text
        if "handed-back" in states and (text := self._once("insist")):
            return text
        if "refused" in states and (text := self._once("other_way")):
            return text
        if not parts:
            return "" if self._tells else self._once("nudge")
        for reading in self._open:
            if (unsaid := self._unsaid(reading)) and not self._has_said(unsaid):
                return self.speaker.say("check", v=unsaid)
            if not (self._was_asked(reading.part) or unsaid or reading.state == "wrong"):
                return self._asks(reading.part)
        return ""

    def _unsaid(self, reading: PartReading) -> str:
        """Return the facts of a part that were not said, where the rest of it was; at most two, as the user says them."""
        told = reading.turn is not None or (reading.part.kind == "told" and self._tells)
        if reading.state != "missing" or not (told or self._was_asked(reading.part)):
            return ""
        facts = read_facts(self.scenario, self.messages)
        unsaid = [r.fact for name in reading.part.facts if (r := facts.get(name)) and r.state == "not said"]
        closed = [f for f in unsaid if f.known != "open" and not (is_taste(f) or MOST.search(f.what))][
            :_MOST_ASKED
        ]
        return " and ".join(
            _BEFORE_KIND.get(words.bank_of(f), "") + first_person(words.spoken(f)) for f in closed
        )

    def _asks(self, part: GoalPart) -> str:
        """Return a request for a part, and for a second one if both are only to be told."""
        asked = _asked_for(part)
        if part.never:
            return self.speaker.say("never", p=asked)
        if part.kind == "done":
            return self.speaker.say("ask_to" if part.ask and not _WH.match(asked) else "ask_that", p=asked)
        if asked.startswith("that "):
            return self.speaker.say("ask_that", p=asked.removeprefix("that "))
        if not _WH.match(asked):
            return self.speaker.say("ask_about", p=asked)
        others = [
            p.part
            for p in self._open
            if p.part.kind == "told" and p.part != part and not self._was_asked(p.part)
        ]
        told = [asked, *(t for p in others if _WH.match(t := _asked_for(p)))]
        return self.speaker.say("ask_wh", p=" and ".join(told[:_MOST_ASKED]))

    def _once(self, bank: str) -> str:
        """Return a phrase of a bank; empty if one of its phrases was said before."""
        return "" if self.speaker.has_said(bank) else self.speaker.say(bank)

    def _was_asked(self, part: GoalPart) -> bool:
        return any(fold(_asked_for(part)) in fold(text) for text in self.mine[1:])


#: The states of a task without parts, by what a statement does.
_STATES: Final = {"promised": "promised", "handed": "handed-back", "refused": "refused", "undone": "refused"}


def _asked_for(part: GoalPart) -> str:
    """Return how the user asks for a part."""
    return part.ask or first_person(part.text)


def _as_written(said: str, text: str) -> str:
    """Return folded words as a text has them, with their capitals."""
    match = re.search(rf"(?<![\w'’]){re.escape(said)}(?![\w'’])", text, re.IGNORECASE)
    return match[0] if match else said
