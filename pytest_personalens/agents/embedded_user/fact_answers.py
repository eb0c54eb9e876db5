"""Answers a question of the assistant from the facts of the task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_user.voice.style import lower_first
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content

if TYPE_CHECKING:
    from pytest_personalens.agents.embedded_user.listening.questions import Question
    from pytest_personalens.agents.reading.findings import FactReader, Finding
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
_TIME: Final = re.compile(r"\b(?:time|hour|o'clock|clock|how early|how late)\b")
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
_REFERENCE: Final = re.compile(
    r"\b(?:reference|booking|confirmation|order|ticket)\b.*\b(?:number|code|reference)\b|\breference\b"
)
#: A question is about a fact from this score on.
_LEAST: Final = 1.5


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

    def to(self, question: Question, *, of_type: bool) -> FactAnswer | None:
        """Return the answer to a question, or None if no fact answers it.

        `of_type` is true if a preference of the user answers the question. Then only a fact that the user
        would say of itself answers it better: the day of this trip, and not the day on which one likes to go.
        """
        text = plain(question.text)
        if not of_type and question.kind in ("confirm", "yes_no", "known", "either"):
            answer = self._confirmed(question, text)
            if answer:
                return answer
        if question.kind in ("confirm", "more", "open", "wording", "why", "either", "yes_no", "known"):
            return None
        if _REFERENCE.search(text) and (code := self._named("reference")):
            return FactAnswer("tell", code.says, code.name)
        scored = sorted(
            ((self._score(f, question, text), f) for f in self.scenario.task.facts), key=lambda pair: -pair[0]
        )
        if of_type:
            kinds = _WANTS.get(question.kind, ())
            day = bool(_DAY.search(text)) and not _TIME.search(text)
            scored = [
                (x, f) for x, f in scored
                if f.right and f.kind in kinds and (f.known == "told" or (f.known == "said" and day and f.kind == "date"))
            ]  # fmt: skip
        if not scored or scored[0][0] < _LEAST:
            return None if of_type else self._thing(text)
        fact = scored[0][1]
        if not fact.right:
            return FactAnswer(
                f"free_{question.kind}" if question.kind in _FREE else "free_what", "", fact.name
            )
        return FactAnswer(_bank(fact), spoken(fact), fact.name)

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
        right = [f for f in findings if f.right and f.fact.right]
        wrong = [f for f in findings if not f.right]
        if wrong and not (question.kind == "either" and right):
            return FactAnswer(
                "fact_no", spoken(wrong[0].fact), wrong[0].fact.name, said(wrong[0], question.text)
            )
        if right and question.kind == "either":
            exact = [f for f in right if len(f.fact.right) == 1]
            return FactAnswer(
                _bank(right[0].fact), spoken(exact[0].fact) if exact else right[0].said, right[0].fact.name
            )
        if right and question.kind in ("known", "yes_no") and len(question.text.split()) < _SHORT:
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
        if fact.kind in kinds:
            score += 1.6
        elif kinds and fact.kind not in ("text", "item", "provider"):
            score -= 2.0
        # What the user asked to change is known; a question is about what is new.
        score -= 0.6 * ("." in fact.name)
        score += {"told": 0.3, "said": 0.2, "history": 0.1, "open": 0.0}[fact.known]
        return score


_SHORT: Final = 14
_FREE: Final = frozenset(
    {"when", "how_many", "how_long", "how_often", "who", "where", "budget", "why", "wording", "from"}
)
_HOW_MANY: Final = re.compile(
    r"(?:for )?how many (?P<noun>people|guests|tickets|places|seats|nights|rooms|books|titles|copies|hours|years|weeks|days|rides|members)\b"
)


def spoken(fact: Fact) -> str:
    """Return what a person says of a fact: ``three people``, ``Friday 10 April``."""
    text = fact.says or fact.example
    unit = _HOW_MANY.match(fact.what)
    if fact.kind == "count" and unit and " " not in text:
        noun = unit["noun"]
        return f"{text} {noun if text not in ('one', '1') else 'person' if noun == 'people' else noun.removesuffix('s')}"
    if fact.kind == "count" and "percent" in fact.what:
        return f"{text} percent"
    return text if fact.kind in ("person", "place", "provider", "text", "item", "date") else lower_first(text)


def required(fact: Fact) -> str:
    """Return what a person insists on: as `spoken`, and ``a day between Friday and Sunday`` for a range."""
    text = spoken(fact)
    return f"{_ONE_OF.get(fact.kind, 'one')} {text}" if text.startswith("between ") else text


_ONE_OF: Final[dict[FactKind, str]] = {
    "date": "a day", "time": "a time", "money": "a price", "count": "a number", "duration": "a length",
}  # fmt: skip


def _bank(fact: Fact) -> str:
    if spoken(fact).startswith("between "):
        return "tell_range"
    return {"date": "tell_date", "time": "tell_time"}.get(fact.kind, "tell")


def said(finding: Finding, text: str) -> str:
    """Return the words of a finding as the text has them, with their capitals."""
    match = re.search(re.escape(finding.said), text, re.IGNORECASE)
    if match is None and _DAYS.search(finding.said):
        match = _DAYS.search(text)
    return match[0] if match else finding.said


#: Days of the week in a row. Those of a wrong value may not be all those of the text.
_DAYS: Final = re.compile(r"\w+day(?:, \w+day)*,? and \w+day")
