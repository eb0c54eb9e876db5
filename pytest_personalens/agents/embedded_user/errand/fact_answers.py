"""Answers a question of the assistant from the facts of the task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_user.answers import FREE
from pytest_personalens.agents.embedded_user.errand.doubts import OF_PEOPLE, PERSONS, doubtful
from pytest_personalens.agents.embedded_user.listening.questions import alternatives, kind_of, options
from pytest_personalens.agents.embedded_user.voice.fact_words import (
    MEASURED,
    as_written,
    bank_of_fact,
    one_of,
    required,
    said,
    spoken,
)
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, mentions
from pytest_personalens.agents.reading.typed_values import typed_values
from pytest_personalens.core.facts import RANGE

if TYPE_CHECKING:
    from pytest_personalens.agents.embedded_user.listening.questions import Question
    from pytest_personalens.agents.reading.findings import FactReader
    from pytest_personalens.core.facts import Fact, FactKind
    from pytest_personalens.core.scenario import Scenario

#: The kinds of facts that each kind of question asks for.
_WANTS: Final[dict[str, tuple[FactKind, ...]]] = {
    "when": ("date", "time"),
    "how_many": ("count",),
    "how_long": ("duration", "count"),
    "budget": ("money",),
    "who": ("person",),
    "where": ("place",),
    "here": ("place",),
}
#: A question about where something starts, and facts about this.
_START: Final = re.compile(
    r"\b(?:(?:from|near) (?:which|what|where)|where\b.*\bfrom|boarding|you board|depart(?:ing|ure) (?:city|town|station|airport|point|place)|leav\w+ from|set(?:ting)? (?:off|out)|start(?:ing)? (?:from|point)|pick(?:ed)? you up|home (?:town|city|station)|your (?:town|city|address|location)|you (?:based|live|located)|where (?:are you|do you (?:start|leave)))\b"
)
_IS_START: Final = re.compile(
    r"\bwhere\b.*\b(?:starts?|leaves?|picked up|from)\b|\bpick-up place\b|\bstart\b"
)
#: The town in the words of a place: "duplex in Houston's Third Ward", "the audit floor on Long Street, Cape Town".
_TOWN: Final = re.compile(
    r"(?:, |\bin )((?:[A-Z][\w'’.-]+)(?: (?:de|del|la|las|el|the|of|am|[A-Z][\w'’.-]+))*(?:, [A-Z][\w'’ .-]+)?)$"
)
_TIME: Final = re.compile(r"\b(?:times?|hours?|o'clock|clock|how early|how late)\b")
_DAY: Final = re.compile(r"\b(?:day|date|dates|days|week|weekend|evening)\b")
#: Words of many facts and questions that show no topic.
_GENERAL: Final = content("kind people number user task exact details called comes goes stands") | {
    "name",
    "date",
    "day",
    "time",
    "hour",
}
_WHICH_ONE: Final = re.compile(
    r"\b(?:which|what)\b.*\b(?:one|booking|reservation|appointment|order|ticket|flight|alarm|entry)\b"
)
_OLD: Final = re.compile(
    r"\b(?:booked on|booked now|current(?:ly)?|existing|present|original)\b.*\b(?:ticket|booking|departure|train|coach|bus|flight|reservation|appointment|car|order|seat|date|dates)\b|\bbooked on\b|\b(?:ticket|booking|departure|train|coach|flight|reservation|appointment) (?:is|are) (?:it|that|your|you)\b.*\b(?:now|for|at present)\b"
)
_REFERENCE: Final = re.compile(
    r"\b(?:reference|booking|confirmation|order|ticket)\b.*\b(?:number|code|reference)\b|\breference\b"
)
#: A question whether the user is alone, and facts that say it.
_ALONE: Final = re.compile(
    r"\b(?:alone|by yourself|on your own|just (?:for )?you|anyone (?:else )?(?:coming|joining|along)|someone (?:coming|joining|along)|how many of you|company)\b(?! (?:is|it))"
)
_OF_COMPANY: Final = re.compile(r"\bhow many (?:people|tickets|seats|bus tickets|places|guests)\b")
_BARE: Final = re.compile(
    r"\W*(?:and |so )?(?:which|who)(?: one| of (?:these|those|them|the \w+))?(?: (?:would|do|should|shall|feels?|sounds?|suits?|pulls?|appeals?|(?<=which )(?:is|it))\b[^,]*)?\W*"
)
_WH: Final = re.compile(r"\b(?:which|what|when|where|who|whom|how|why)\b")
_CHOICES: Final = re.compile(r"(?: [-–—] |: |, ).*$")
_MEANT: Final = re.compile(
    r"\b(?:which|what) \w+ (?:is (?:it|that|this)|was it|did you|do you mean|are you|have you)\b"
)
#: What only asks for more of what the user knows.
_ANYTHING: Final = re.compile(
    r"\b(?:what|which)\b.*\b(?:asked|wrote|write|said|about|stuck|seen|mean|finished|is it|was)\b"
)
_COUNTED: Final = re.compile(r"\b(?:how many|number of) (?P<thing>\w+)")
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+|\n+")
#: A question is about a fact from this score on.
_LEAST: Final = 1.5
_SHORT: Final = 14


class FactAnswer(NamedTuple):
    """An answer: the bank of phrases, its value, and the name of the fact."""

    bank: str
    value: str
    fact: str
    other: str = ""


class FactAnswers:
    """The facts of a scenario as answers."""

    def __init__(self, scenario: Scenario, reader: FactReader) -> None:
        self.scenario, self._reader = scenario, reader
        self._domain_words = content(" ".join((scenario.task.description, *scenario.domains)))

    def to(self, question: Question, reply: str, *, of_type: bool) -> tuple[FactAnswer, ...]:
        """Return the answers to a question of a reply; empty if no fact answers it.

        `of_type` is true if a preference of the user answers the question. Then only a fact that the user
        would say of itself answers it better: the day of this trip, and not the day on which one likes to go.
        """
        text = plain(question.text)
        if _ALONE.search(text) and (company := self._company()):
            return (company,)
        asks = bool(_WH.search(text))
        if not of_type and (question.kind in ("confirm", "yes_no", "known", "either") or not asks):
            answer = self._confirmed(question, text)
            if answer:
                return (answer,)
        if question.kind == "either" and asks and not of_type:  # "How should I tell you: by email or text?"
            question = question._replace(kind=kind_of(_CHOICES.sub("", text)))
        if question.kind == "either" and not of_type:  # "Should it come by email or text?"
            best = self._best(question, text, reply)
            told = {f.name for f in self.scenario.task.facts if f.known == "told" and f.kind not in MEASURED}
            return (best,) if best and best.fact in told else ()
        if question.kind in ("confirm", "more", "open", "wording", "why", "either", "yes_no", "known"):
            return ()
        if _REFERENCE.search(text) and (code := self._named("reference")):
            return (FactAnswer("tell", code.says, code.name),)
        if _START.search(text) and question.kind != "when":
            return self._start()
        if _OLD.search(text) and self.scenario.task.things:
            old = self.scenario.task.things[0]
            return (FactAnswer("tell_thing", old.record, old.name),)
        if _BARE.fullmatch(text) and not options(reply):
            facts = [f for f in self.scenario.task.facts if f.kind == "date" and f.known == "open"]
            picks = [
                FactAnswer("option", picked, f.name)
                for f in facts
                if f.right and (picked := self._picked(f, reply))
            ]
            return (*picks[:1],) or (FactAnswer("option_first", "", "the first"),)
        if asks and _DAY.search(text) and _TIME.search(text):  # "On which day and at what time?"
            both = [
                self._best(question, _TIME.sub("", text), reply),
                self._best(question, _DAY.sub("", text), reply),
            ]
            opening = {f.name for f in self.scenario.task.facts if f.known == "said"}
            new = [a for a in both if a and a.fact not in opening]
            return tuple({a.fact: a for a in new or both if a}.values())
        best = self._best(question, text, reply, of_type=of_type)
        thing = None if best or of_type else self._thing(text)
        return tuple(a for a in (best or thing,) if a)

    def _best(self, question: Question, text: str, reply: str, *, of_type: bool = False) -> FactAnswer | None:
        scored = sorted(
            (
                (self._score(f, question, text), f)
                for f in self.scenario.task.facts
                if not (f.says and mentions(f.says, text))
            ),
            key=lambda pair: -pair[0],
        )
        if of_type:
            kinds = _WANTS.get(question.kind, ())
            day = bool(_DAY.search(text)) and not _TIME.search(text)
            scored = [
                (x, f) for x, f in scored
                if f.right and (
                    (f.kind in kinds and (f.known == "told" or (f.known == "said" and day and f.kind == "date")))
                    or (f.known == "told" and f.kind not in MEASURED and x > _LEAST)
                )
            ]  # fmt: skip
        if not scored or scored[0][0] < _LEAST:
            return None if of_type or not _ANYTHING.search(text) else self._only_told()
        fact = scored[0][1]
        if not fact.right:
            return FactAnswer(
                f"free_{question.kind}" if question.kind in FREE else "free_what", "", fact.name
            )
        if picked := self._picked(fact, reply):
            return FactAnswer("option", picked, fact.name)
        return FactAnswer(bank_of_fact(fact), one_of(fact, text), fact.name)

    def _company(self) -> FactAnswer | None:
        """Return how many come, to a question whether the user is alone."""
        for fact in self.scenario.task.facts:
            if (
                fact.kind == "count"
                and fact.right
                and "." not in fact.name
                and fact.known != "open"
                and _OF_COMPANY.search(fact.what)
            ):
                alone = fact.right == ("1",)
                return FactAnswer("just_me" if alone else "of_us", fact.says, fact.name)
        return next(
            (
                FactAnswer("company", f.says, f.name)
                for f in self.scenario.task.facts
                if f.kind == "person" and f.known == "said" and f.right
            ),
            None,
        )

    def _start(self) -> tuple[FactAnswer, ...]:
        for fact in self.scenario.task.facts:
            if fact.right and fact.kind == "place" and _IS_START.search(fact.what):
                return (FactAnswer("tell", spoken(fact), fact.name),)
        home = _TOWN.search(self.scenario.situation.known.get("location", ""))
        return (FactAnswer("from_here" if home else "free_from", home[1] if home else "", "here"),)

    def _only_told(self) -> FactAnswer | None:
        """Return the one thing that only the user can know, to a question that no fact answers."""
        told = [f for f in self.scenario.task.facts if f.known == "told" and f.kind in ("item", "text")]
        return FactAnswer("tell", told[0].says, told[0].name) if len(told) == 1 else None

    def _picked(self, fact: Fact, reply: str) -> str:
        """Return the first day or hour of a reply that an open fact allows; empty if there is none."""
        if fact.kind not in ("date", "time") or RANGE not in fact.right[0]:
            return ""
        text = " ".join(part for part in _SENTENCE.split(reply) if not part.endswith("?")) or reply
        values = [v for v in typed_values(plain(text), self._reader.today) if v.kind == fact.kind]
        fitting = [v.said for v in values if self._reader.fits(v, fact) and self._reader.alike(v)[0] is fact]
        return as_written(fitting[0], text) if len(set(fitting)) > 1 else ""

    def _named(self, field: str) -> Fact | None:
        return next((f for f in self.scenario.task.facts if f.name.endswith(f".{field}") and f.right), None)

    def _thing(self, text: str) -> FactAnswer | None:
        for thing in self.scenario.task.things:
            if _WHICH_ONE.search(text) and content(thing.what) & content(text):
                return FactAnswer("tell_thing", thing.record, thing.name)
        return None

    def _confirmed(self, question: Question, text: str) -> FactAnswer | None:
        """Return yes or no to a question that names values of facts."""
        findings = [f for f in self._reader.findings(question.text) if not f.of_taste]
        choices = " ".join(map(plain, alternatives(question.text))) if question.kind == "either" else ""
        right = [
            f for f in findings if f.right and f.fact.right and (not choices or plain(f.said) in choices)
        ]
        wrong = [f for f in findings if not (f.right or doubtful(f, self.scenario, question.text))]
        if wrong and question.kind != "either":
            was = said(wrong[0], question.text)
            return FactAnswer(
                "fact_no", required(wrong[0].fact, was, self._reader.today), wrong[0].fact.name, was
            )
        if right and question.kind == "either":
            exact = [f for f in right if len(f.fact.right) == 1]
            return FactAnswer(
                bank_of_fact(right[0].fact),
                spoken(exact[0].fact) if exact else right[0].said,
                right[0].fact.name,
            )
        if right and question.kind in ("known", "yes_no", "what") and len(question.text.split()) < _SHORT:
            return FactAnswer("fact_yes", spoken(right[0].fact), right[0].fact.name)
        return None

    def _score(self, fact: Fact, question: Question, text: str) -> float:
        words = content(text) - _GENERAL
        about = content(f"{fact.what} {fact.name.replace('.', ' ').replace('_', ' ')}") - _GENERAL
        own = about - self._domain_words
        score = 1.5 * len(words & own) + 0.5 * len(words & (about - own))
        kinds = _WANTS.get(question.kind, ())
        if question.kind in ("which", "what") and (_DAY.search(text) or _TIME.search(text)):
            question = question._replace(kind="when")
        if question.kind == "when" and _TIME.search(text) and not _DAY.search(text):
            kinds = ("time",)
        elif question.kind == "when" and _DAY.search(text) and not _TIME.search(text):
            kinds = ("date",)
        if fact.kind == "count" and fact.known == "open" and not _COUNTED.search(text):
            return 0.0
        if fact.kind in kinds or (
            fact.kind == "text" and re.search(r"\b(?:day|days|month)\b", fact.what) and "date" in kinds
        ):
            score += 1.6
        elif (
            fact.known == "told"
            and fact.kind not in MEASURED
            and (words & about or (fact.kind == "item" and _MEANT.search(text)))
        ):
            score += 1.6  # only the user can know it
        elif (
            kinds
            and fact.kind not in ("text", "item", "provider")
            and not (fact.known == "told" and words & own)
        ):
            score -= 2.0
        elif not kinds and fact.kind in MEASURED and (fact.known == "open" or len(words & about) < 2):
            score -= 2.0 if fact.known == "open" else 1.0
        if counted := _COUNTED.search(text):
            things = content(counted["thing"])
            people = bool(things & PERSONS and OF_PEOPLE.search(fact.what))
            if things and not (people or things & (about | content(fact.what))):
                score -= 2.0
        # What the user asked to change is known; a question is about what is new.
        score -= 0.6 * ("." in fact.name)
        score += {"told": 0.3, "said": 0.2, "history": 0.1, "open": 0.0}[fact.known]
        return score
