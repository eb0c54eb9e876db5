"""Decides the next turn of a user who checks the work against the facts of the task."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.agenda import Agenda
from pytest_personalens.agents.embedded_user.answers import Answer
from pytest_personalens.agents.embedded_user.fact_answers import (
    FactAnswer,
    FactAnswers,
    doubtful,
    required,
    said,
)
from pytest_personalens.agents.embedded_user.listening.questions import (
    Question,
    is_courtesy,
    options,
    questions,
)
from pytest_personalens.agents.embedded_user.voice.heard import heard
from pytest_personalens.agents.embedded_user.voice.openings import task_text
from pytest_personalens.agents.embedded_user.voice.values import said_aloud
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
_PUSHES: Final = ("chase", "insist", "other_way", "fact_wrong", "fact_told", "fact_short", "limit", "still_wrong", "ask_part", "ask_deed", "ask_to", "ask_wh", "ask_never", "nudge", "puzzled", "rest", "restate")  # fmt: skip
_MOST_PUSHES: Final = 4
#: How often the user accepts proposals.
_MOST_ACCEPTED: Final = 3
#: The most sentences in one message.
_MOST: Final = 3
#: The user leaves after this many replies in any case, plus two for each domain.
_LONGEST: Final = 6
#: An offer, a question with a word that asks, one for whatever there is, and one for wishes.
_ASKS: Final = re.compile(r"\b(?:which|what|when|where|who|whom|how)\b")
_HOW_ABOUT: Final = re.compile(r"^\W*(?:[^?:]*[:,] )?(?:so |then |and )*(?:how|what) about (?!the\b|your\b)")
_ANY: Final = re.compile(r"\b(?:anything|anyone|anybody|any)\b")
_FEW: Final = 6
_TAG: Final = re.compile(r"\b(?:is|are|do|does|was|will|have|has)(?:n't| not) (?:it|they|you|we|that)\W*$|\beh\W*$")
_OFFER: Final = re.compile(r"\b(?:shall|should|can|could|may) (?:i|we)\b(?! (?:also |then |just |please )?(?:ask|enquire|verify|know|trouble)\b)|\b(?:want|like|need) me to\b|\b(?:would you like|do you want|want)\b(?! to (?:say|tell))(?!.*\b(?:which|what|when|where|who|how)\b)")
_WISH: Final = re.compile(
    r"\b(?:prefer\w*|wish\w*|like|enjoy|love|favou?rites?|tastes?|style|kinds?|types?|sorts?|special|particular|any(?:thing)?)\b"
)
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
            s
            for i, s in enumerate(self.work.stands)
            if s.state != "done" and not self._replied(i, s)
            # A recommendation tells what was asked for.
            and not (s.part.kind == "told" and s.state == "proposed" and "?" not in self.last)
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
            if at and message.role == "user" and any(words in v.get("p", "") for _, v in heard(message.content))
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
        beside = [
            (f, s) for s in self._now for f in s.findings
            if not (f.right or f.beside) and f.fact.kind == "count" and f.fact.known == "said" and s.act in FIRM
            and f.fact.name not in self.work.found
        ]  # fmt: skip
        for finding, statement in (*self.work.wrong, *beside[:1]):
            was = said(finding, statement.text)
            wanted = required(finding.fact, was, self.work.facts.today)
            times = self._raised_before(wanted)
            if doubtful(finding, self.scenario, statement.text) or (times and statement.turn != self.now):
                continue
            if times > 1:
                return None
            # What the user never said is no mistake of the assistant: it is told now.
            untold = finding.fact.known == "told" and not self._has_told(finding.fact)
            bank = "still_wrong" if times else "fact_told" if untold else "fact_wrong"
            lines.append(self.speaker.say(bank, v=wanted, o=was))
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

    def _has_told(self, fact: Fact) -> bool:
        """True if the user has said what is right."""
        return plain(fact.says) in plain(" ".join(m.content for m in self.transcript if m.role == "user"))

    def _raised_before(self, wanted: str) -> int:
        return sum(
            bank in ("fact_wrong", "fact_told", "still_wrong", "fact_short", "fact_no")
            and values.get("v") == plain(wanted)
            for bank, values in self._pushed
        )

    def _answers(self, asked: Sequence[Question], corrected: set[tuple[str, str] | None]) -> list[str]:
        found: dict[str, FactAnswer] = {}
        rest = []
        for question in asked:
            of_type = self.answers.to(question).pair is not None
            answers = self._facts.to(question, self.last, of_type=of_type)
            if not answers:
                rest.append(question)
            for answer in answers:
                found.setdefault(answer.fact, answer)
        lines = self._told(tuple(found.values()))
        own: list[Answer] = []
        for question in rest:
            answer = None if self._rhetorical(question) else self._own(question, own)
            if answer and (answer.pair is None or answer.pair not in corrected):
                own.append(answer)
        given = bool(lines) or any(a.pair or a.bank.startswith("option") for a in own)
        kept = [
            a._replace(bank="accept_too") if a.bank == "accept" and given else a
            for a in own
            if not (given and (a.bank.startswith("free_") or a.bank in ("none_known", "fits", "either_way")))
        ]
        said = plain(" ".join(lines))
        kept = [a for a in kept if not (a.pair and lines and any(plain(v) in said for v in re.split(" or | and ", a.value)))]
        if not (lines or kept) and any(not is_courtesy(plain(q.text)) for q in rest):
            kept = [Answer("free_what")]
        empty = [a for a in kept if a.bank.startswith("free_") or a.bank in ("none_known", "either_way")]
        return [*lines, *self._lines([a for a in kept if a not in empty[1:]])]

    def _own(self, question: Question, given: Sequence[Answer]) -> Answer | None:
        """Return the answer to a question that no fact answers: a preference, a choice, yes, or no wish."""
        answer, text, kind = self.answers.to(question), plain(question.text), question.kind
        if kind in ("either", "what") and _ANY.search(text) and not _ASKS.search(text):
            kind = "known"
        offer, asks = _OFFER.search(text), _ASKS.search(text)
        offers = kind == "confirm" or bool(offer and kind != "either" and not (asks and asks.start() < offer.start()))
        if _HOW_ABOUT.search(text) and kind != "either":
            return Answer("accept_proposal", extra=True)
        if answer.bank == "yes_value" and (offers or kind == "either"):
            answer = Answer("accept" if offers else "either_way", extra=True)
        if answer.bank == "no_value" and not offers:
            answer = Answer("none_known")
        if not asks and kind == "what":  # "Book it?", "Chips, a bank, something new?"
            offers, kind = "," not in text and len(text.split()) < _FEW, "either"
        if answer.bank == "instead" and kind == "either":
            answer = answer._replace(bank="")
        if answer.pair or (answer.bank in ("option", "option_first", "name_is") and kind == question.kind):
            return answer
        if offers:
            return Answer("fits" if answer.bank == "fits" else "accept", extra=True)
        if kind != "either" and _WISH.search(text):
            known = [a.pair for a in given] + [
                t[:2] for t in self.reading.types if self.reading.said_by_user(*t[:2], self.now)
            ]
            for pair in self.scenario.task.relevant:
                if pair not in known and pair[1] in self.scenario.preferences.get(pair[0], {}):
                    value = said_aloud(pair[1], self.scenario.preferences[pair[0]][pair[1]])
                    return Answer("", value, pair)
        if kind in ("known", "yes_no"):
            return Answer("none_known")
        if kind == "either":
            return Answer("either_way")
        return answer if answer.bank.startswith("free_") else Answer("free_what")

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
        lines += [self.speaker.say(a.bank, v=a.value, o=a.other or a.value) for a in found if a not in told]
        return lines

    def _push(self, open_parts: Sequence[Stand], replies: int) -> UserTurn:
        states = {stand.state for stand in open_parts}
        acts = {s.act for s in self._now}
        offers = bool({"proposed", "confirming"} & acts) or bool(options(self.last)[1:])
        asks = "?" in self.last or bool(options(self.last)[1:])
        accepted = self._count("accept_proposal", "accept", "option", "option_first")
        if "done" not in acts:
            if "promised" in acts and "promised" in states and "confirming" not in acts:
                return self._once("chase", 2)
            if "handed-back" in acts and "handed-back" in states and "confirming" not in acts:
                return self._once("insist", 2)
            undone = any(stand.part.kind == "done" for stand in open_parts)
            if offers and undone and not asks and self._count("insist") < 2:  # "The Ritz would suit you."
                return self._once("insist", 2)
            if offers and accepted < _MOST_ACCEPTED:
                return self._accept()
            if "refused" in acts and "refused" in states:
                return self._once("other_way", 1)
        task = task_text(self.scenario)
        if not any(stand.state == "done" for stand in self.work.stands) and not self._reports():
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
        by_count = sorted(open_parts, key=lambda stand: times[stand.part.text])
        first = by_count[0]
        alike = [s for s in by_count if _bank_of(s, self.scenario) == _bank_of(first, self.scenario) and times[s.part.text] == times[first.part.text]]
        return [] if times[first.part.text] > 1 else alike[:2]

    def _asked_for(self, stand: Stand) -> int:
        words = plain(part_words(stand, self.scenario))
        return sum(words in values.get("p", "") for _, values in self._pushed)

    def _request(self, stands: Sequence[Stand]) -> str:
        bank = "ask_never" if stands[0].part.never else _bank_of(stands[0], self.scenario)
        told = [
            f.says
            for s in stands[:1]
            for f in self.scenario.task.facts
            if f.name in s.part.facts and f.known == "told" and f.kind in _NAMED and not self._has_told(f)
        ]
        words = " and ".join(part_words(s, self.scenario) for s in (stands[:1] if told else stands))
        request = self.speaker.say(bank, p=words)
        return f"{request} {self.speaker.say('tell', v=told[0])}" if told else request


#: Kinds of facts that the user adds to a request: "It's at the fountain."
_NAMED: Final = ("place", "text")


def _bank_of(stand: Stand, scenario: Scenario) -> str:
    words = part_words(stand, scenario)
    if _WH.match(words):
        return "ask_wh"
    if stand.part.kind == "done":
        return "ask_to" if stand.part.ask else "ask_deed"
    return "ask_deed" if _CLAUSE.search(words) else "ask_part"


def _wants_answer(text: str) -> bool:
    return not _TAG.search(text) and (text.rstrip().endswith("?") or act(text) in ("asked", "confirming"))


def part_words(stand: Stand, scenario: Scenario) -> str:
    """Return how a person asks for a part of the goal: ``when it leaves``, ``book the table``.

    Without the words of the dataset it is the text of the part: ``the hour``, ``the table is reserved``.
    """
    if stand.part.ask:
        return stand.part.ask.removeprefix("that ")
    text = stand.part.text
    facts = [f for f in scenario.task.facts if f.name in stand.part.facts]
    if stand.part.kind == "told" and _CLAUSE.search(text) and facts and facts[0].what[:1].islower():
        return facts[0].what
    for pattern, mine in _OF_USER:
        text = pattern.sub(mine, text)
    return text.split(", ")[0] if stand.part.kind == "told" else text
