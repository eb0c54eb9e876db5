"""What the embedded user says next, decided by rules, the same on every machine."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.judge.read_dialogue import Reading, broken_limits, read_parts
from pytest_personalens.agents.embedded.reader.statements import FIRM, MOST, Statement, is_taste
from pytest_personalens.agents.embedded.reader.text import fold, mentions, plain
from pytest_personalens.agents.embedded.user import voice
from pytest_personalens.agents.embedded.user.answers import Answer, Answers, options, questions
from pytest_personalens.agents.embedded.user.voice import (
    Speaker,
    SpeechlessError,
    first_message,
    first_person,
    is_short,
    manner,
    opening,
    phrases_for,
)
from pytest_personalens.core.dialogue.dialogue import Dialogue, UserTurn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.embedded.judge.read_dialogue import PartReading
    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import GoalPart, Scenario


#: The replies that a user waits for: in all, with the same words, and in a row that only want a yes.
_PATIENCE: Final = {"single": 10, "multi": 15}
_SAME_REPLIES, _MOST_YES = 2, 4
#: The most answers, objections and requests in one message, and wordings of a wish to try.
_MOST_ANSWERS, _MOST_OBJECTIONS, _MOST_ASKED, _TRIES = 4, 2, 2, 8
_WH: Final = re.compile(r"(?:what|which|who|whom|whose|when|where|how|if|whether|why)\b")
_TURNS_DOWN: Final = re.compile(r"\b(?:not|no|wrong|mistake|change|instead|isn't|doesn't|rather)\b|\?")
#: A question that still wants something, and not only to hear that all is well.
_OFFERS: Final = re.compile(r"\b(?:shall|should|can|may|could|(?:want|like) me|confirm\w*|proceed|ahead|yes)\b")  # fmt: skip
_BEFORE_KIND: Final = {"tell_date": "on ", "tell_time": "at "}
#: What the user says to a state of the task, once.
_TO_STATE: Final = {"handed-back": "insist", "refused": "other_way"}
_STATES: Final = {"promised": "promised", "handed": "handed-back", "refused": "refused", "undone": "refused"}


class NextTurn:
    """The next turn of a user, by what the assistant said so far."""

    def __init__(self, scenario: Scenario, transcript: Sequence[Message]) -> None:
        self.scenario, self.messages = scenario, transcript
        self.reading = Reading(scenario, Dialogue(messages=tuple(transcript)))
        self.mine = [m.content for m in transcript if m.role == "user"]
        self.theirs = [m.content for m in transcript if m.role == "assistant"]
        first, rest = first_message(scenario) if any(map(is_short, self.mine[:1])) else ("", "")
        parted = bool(rest) and self.mine[0] == first
        #: What is left of an opening in two messages, and what the user said after it.
        self.rest = rest if parted and len(self.mine) == 1 else ""
        self.later = self.mine[2 if parted else 1 :]
        self.last = self.theirs[-1] if self.theirs else ""
        key = f"{scenario.id}\x1f{len(transcript)}\x1f{self.last}"
        self.speaker = Speaker(key, manner(scenario), self.mine)
        self.answers = Answers(self.reading.facts, scenario, key)

    def turn(self) -> UserTurn:
        """Return the turn; a user who has nothing new to say leaves."""
        served = self._is_served and not self._is_tired
        try:
            if self.rest:
                return UserTurn(" ".join([*self._answered(corrected=True), self.rest]))
            objections = [] if self._is_tired else self._objections()
            answers = [] if self._is_tired else self._answered(corrected=bool(objections))
            if text := " ".join([*objections, *answers]) or ("" if self._is_tired else self._request()):
                return UserTurn(text)
            return UserTurn(self.speaker.say("thanks" if served else "leave"), done=True, served=served)
        except SpeechlessError:
            left = [phrase for phrase in phrases_for("leave", "plain") if self.speaker.is_new(phrase)]
            return UserTurn(left[0] if left else "", done=True, served=False)

    @cached_property
    def _now(self) -> list[Statement]:
        """The statements of the last reply."""
        return [s for s in self.reading.said if s.turn == len(self.messages) - 1]

    @cached_property
    def _listing(self) -> str:
        """The last reply that lists something to choose from, or the last one."""
        return next((t for t in reversed(self.theirs) if options(t)), self.last)

    @cached_property
    def _tells(self) -> bool:
        return any(s.act in FIRM for s in self._now)

    @cached_property
    def _parts(self) -> tuple[PartReading, ...]:
        return read_parts(self.reading)

    @cached_property
    def _open(self) -> list[PartReading]:
        """The parts of the task that do not stand."""
        return [p for p in self._parts if p.state != "done"] if self.scenario.task.parts else []

    @cached_property
    def _is_served(self) -> bool:
        """True if every part stands; one that words cannot show stands once it was asked for and answered."""
        if broken_limits(self.scenario.limits, self._now):
            return False
        if not self.scenario.task.parts:
            return self._tells
        unclear = [p for p in self._open if not p.known and self._was_asked(p.part) and self._tells]
        shown = any(p.turn is not None for p in self._parts if p.state == "done")
        return len(unclear) == len(self._open) and (shown or not unclear)

    @cached_property
    def _is_tired(self) -> bool:
        """True if the assistant goes round in circles, or has had turns enough."""
        wants = [{q.wants for q in questions(text)} for text in self.theirs[-_MOST_YES - 1 :]]
        consents = len(wants) > _MOST_YES and all(w == {"consent"} for w in wants)
        same = sum(fold(text) == fold(self.last) for text in self.theirs)
        return len(self.theirs) > _PATIENCE[self.scenario.kind] or same > _SAME_REPLIES or consents

    def _objections(self) -> list[str]:
        """Return what is wrong in the last reply, each matter once: limits, facts, then preferences."""
        broken = [b for b in broken_limits(self.scenario.limits, self._now) if not self._has_said(b.said)]
        lines = [self.speaker.say("limit", o=self._as_said(b.said), v=b.limit.name) for b in broken]
        for fact, was in self._wrong():
            value = first_person(voice.spoken(fact))
            said = self._as_said(re.sub(r"^(?:at|by|from|until|on) ", "", was))
            untold = fact.known == "told" and not any(mentions(value, text) for text in self.mine)
            bank = "wrong_open" if fact.known == "open" else "wrong_untold" if untold else "wrong"
            lines.append(self.speaker.say(bank if said in self.last else "wrong_unnamed", v=value, o=said))
        lines += [self.speaker.say("against", v=v, o=self._as_said(o)) for v, o in self._against()]
        return lines[:_MOST_OBJECTIONS]

    def _wrong(self) -> list[tuple[Fact, str]]:
        """Return the facts that the last reply has wrong, in what it reports, tells, offers or would confirm."""
        now = [r for r in self.reading.readings.values() if r.turn == len(self.messages) - 1]
        right = {r.fact.name for r in now if r.state == "affirmed"}
        found = {r.fact.name: (r.fact, r.said) for r in now if r.state == "contradicted"}
        asked = {q.text for q in questions(self.last) if q.wants != "consent"}
        open_ = [s for s in self._now if s.act in ("offered", "promised", "asked") and s.text not in asked]
        for fact, was in (row for s in open_ for row in self.answers.corrections(s.text)):
            if fact.name in self.reading.facts.named:
                found.setdefault(fact.name, (fact, was))
        return [row for name, row in found.items() if name not in right and not self._objected(row[0])]

    def _objected(self, fact: Fact) -> bool:
        """True if a message after the opening says the fact and turns something down."""
        value = first_person(voice.spoken(fact))
        return any(_TURNS_DOWN.search(text) and mentions(value, text) for text in self.later)

    def _against(self) -> Iterator[tuple[str, str]]:
        """Yield the user's value and the other one, where a reply goes against a preference of the task.

        Where a task has facts, they say what the user insists on.
        """
        kept = [s for s in self._now if s.act not in ("asked", "refused", "undone")]
        for domain, name in () if self.scenario.task.facts else self.scenario.task.relevant:
            held = self.scenario.preferences.get(domain, {}).get(name, ())
            row, value = (domain, name, held), voice.preferred(name, held)
            if not held or "no preference" in held:
                continue
            other = next((o for s in kept if (o := self.answers.other(row, s.text))), "")
            known = self.answers.holds(row, self.last) or self._has_said(value)
            if other and not known and f"{other}:" not in fold(self.last):
                yield value, other

    def _has_said(self, phrase: str) -> bool:
        return any(mentions(phrase, text) for text in self.later)

    def _as_said(self, said: str) -> str:
        """Return folded words as the last reply has them, with their capitals."""
        match = re.search(rf"(?<![\w'’]){re.escape(said)}(?![\w'’])", self.last, re.IGNORECASE)
        return match[0] if match else said

    def _answered(self, *, corrected: bool) -> list[str]:
        """Return the answers to the questions of the last reply, what the user knows before the rest."""
        asked = questions(self.last, self._listing)
        about = [q for q in asked if q.wants not in ("consent", "start", "more")]
        answers = dict.fromkeys(a for q in about for a in self.answers.to(q, self._listing))
        found = [a for a in answers if not (a.value and mentions(a.value, self.rest))]
        lines = [self._told(told)] if (told := [a for a in found if a.of][:_MOST_ANSWERS]) else []
        rest = [a for a in found if not a.of and (not lines or a.bank == "option")][:1]
        lines += [self.speaker.say(a.bank, v=a.value, o=a.value) for a in rest]
        if lines or corrected:
            return lines
        consents = [q for q in asked if q.wants == "consent"]
        if any(not self._is_served or _OFFERS.search(plain(q.text)) for q in consents):
            return [self.speaker.say("yes")]
        if any(q.wants == "start" for q in asked):
            texts = (opening(self.scenario, len(self.mine) + n) for n in range(_TRIES))
            return [next((t for t in texts if self.speaker.is_new(t)), "") or self.speaker.say("nudge")]
        return []

    def _told(self, told: Sequence[Answer]) -> str:
        """Return one sentence that tells facts and preferences."""
        once = {a.value: a for a in reversed(told)}  # two facts may have the same value
        told = [a for v, a in reversed(once.items()) if not any(v != other and v in other for other in once)]
        said = ["just me" if a.bank == "tell_alone" else _BEFORE_KIND.get(a.bank, "") + a.value for a in told]
        if len(told) > 1:
            return self.speaker.say("several", v=f"{', '.join(said[:-1])} and {said[-1]}")
        bank, value, _ = told[0]
        again = bank not in ("option", "instead") and any(mentions(value, text) for text in self.mine)
        return self.speaker.say("again" if again else bank, v=value, o=value)

    def _request(self) -> str:
        """Return a request for what was not affirmed; empty if all of it stands or was asked for."""
        parts = self.scenario.task.parts
        states = {p.state for p in self._open} if parts else {_STATES.get(s.act, "") for s in self._now}
        if "promised" in states and not states & {"missing", "wrong"} and (text := self._once("chase")):
            return text
        for state, bank in _TO_STATE.items():
            if state in states and (text := self._once(bank)):
                return text
        if not (parts or self._tells):
            return self._once("nudge")
        for reading in self._open:
            if (unsaid := self._unsaid(reading)) and not self._has_said(unsaid):
                return self.speaker.say("check", v=unsaid)
            if not (self._was_asked(reading.part) or unsaid or reading.state == "wrong"):
                return self._asks(reading.part)
        return ""

    def _unsaid(self, reading: PartReading) -> str:
        """Return what a part leaves out of the facts, where the rest of it was said; at most two of them."""
        told = reading.turn is not None or (reading.part.kind == "told" and self._tells)
        if reading.state != "missing" or not (told or self._was_asked(reading.part)):
            return ""
        said = (self.reading.readings.get(name) for name in reading.part.facts)
        open_ = [r.fact for r in said if r and r.state == "not said"]
        closed = [f for f in open_ if f.known != "open" and not (is_taste(f) or MOST.search(f.what))]
        return " and ".join(map(self._named, closed[:_MOST_ASKED]))

    def _named(self, fact: Fact) -> str:
        """Return a fact as the user asks whether it is right: one of several days with what it is."""
        text = first_person(voice.spoken(fact))
        several = sum(f.kind == "date" for f in self.scenario.task.facts) > 1
        if fact.kind == "date" and several and re.match(r"the (?!day\b|user)", fact.what):
            return f"{text} for {fact.what}"
        return _BEFORE_KIND.get(voice.bank_of(fact), "") + text

    def _asks(self, part: GoalPart) -> str:
        """Return a request for a part, and for a second one if both are only to be told."""
        asked = _asked_for(part)
        if part.never or part.kind == "done":
            plainly = bool(part.ask) and not _WH.match(asked)
            return self.speaker.say("never" if part.never else "ask_to" if plainly else "ask_that", p=asked)
        if not _WH.match(asked):
            bank = "ask_that" if asked.startswith("that ") else "ask_about"
            return self.speaker.say(bank, p=asked.removeprefix("that "))
        others = [p.part for p in self._open if p.part != part and p.part.kind == "told"]
        more = [t for p in others if _WH.match(t := _asked_for(p)) and not self._was_asked(p)]
        return self.speaker.say("ask_wh", p=" and ".join([asked, *more][:_MOST_ASKED]))

    def _once(self, bank: str) -> str:
        """Return a phrase of a bank; empty if one of its phrases was said before."""
        return "" if self.speaker.has_said(bank) else self.speaker.say(bank)

    def _was_asked(self, part: GoalPart) -> bool:
        return any(fold(_asked_for(part)) in fold(text) for text in self.later)


def _asked_for(part: GoalPart) -> str:
    """Return how the user asks for a part."""
    asked = part.ask or first_person(part.text)
    return re.sub(r"^(?:know|learn) ", "", asked) if part.kind == "told" else asked
