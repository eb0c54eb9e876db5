"""Answers the questions of a reply: from the facts, from the preferences, or with no wish."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.answers import Answer
from pytest_personalens.agents.embedded_user.errand.fact_answers import FactAnswer, FactAnswers
from pytest_personalens.agents.embedded_user.errand.speaking import Speaking
from pytest_personalens.agents.embedded_user.listening.questions import (
    Question,
    is_courtesy,
    kind_of,
    options,
    questions,
)
from pytest_personalens.agents.embedded_user.voice.values import said_aloud
from pytest_personalens.agents.language.lexicon import domain_words
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.scenario import Scenario

#: An offer to do something.
_OFFER: Final = re.compile(
    r"\b(?:shall|should|can|could|may) (?:i|we)\b(?! (?:also |then |just |please )?(?:ask|enquire|verify|know|trouble)\b)|\b(?:want|like|need) me to\b|\b(?:would you like|do you want|^\W*want)\b(?! to (?:say|tell))(?!.*\b(?:which|what|when|where|who|how)\b)"
)
_HOW_ABOUT: Final = re.compile(r"^\W*(?:[^?:]*[:,] )?(?:so |then |and )*(?:how|what) about (?!the\b|your\b)")
#: A word that asks; one for whatever there is; one for a wish, for a price paid, for something owned, for a way.
#: An offer, a question with a word that asks, one for whatever there is, and one for wishes.
_ASKS: Final = re.compile(r"\b(?:which|what|when|where|who|whom|how)\b")
_ANY: Final = re.compile(r"\b(?:anything|anyone|anybody|any)\b")
_WISH: Final = re.compile(
    r"\b(?:use|prefer\w*|wish\w*|like|enjoy|love|favou?rites?|tastes?|style|kinds?|types?|sorts?|special|particular)\b"
)
_COSTS: Final = re.compile(r"\b(?:costs? you|do you pay|you paid)\b")
_HAVE: Final = re.compile(r"\b(?:have|had|been|ever|else)\b")
_REACH: Final = re.compile(r"\bhow (?:should|shall|do|can|would|may)\b")
_CLAUSE_OF: Final = re.compile(r"\b(?:does|do|did|is|are|will)\b")
#: The assistant does not know something, and asks to be told.
_UNKNOWN: Final = re.compile(
    r"\b(?:(?:do|did|am|can|could|have) not|no|nothing|never)\b[^?]*\b(?:know|recall|remember|sure|told|said|mentioned|shared|given|find|records?|file|notes?|memory|information|details?|idea|stored|saved)\b"
)
#: What a question names, and words that name nothing.
_THING: Final = re.compile(
    r"\b(?:which|what|your|the)\b(?P<thing>(?: (?!(?:is|are|was|do|does|did|would|will|should|shall|can|could|may|you|i|it|for|to|in|on|of|yet|what|your|the)\b)[\w-]+)+)"
)
_UNNAMED: Final = content("answer choice choose detail enjoy favourite favorite fill information love mind mood note option particular preference record remember remind share sort special specific style taste type wish")  # fmt: skip
#: Questions with fewer words only ask for a yes, and those with more may name a value by the way.
_FEW, _LONG = 6, 14


class Answering(Speaking):
    """A user who knows the facts of its task and answers with them."""

    def __init__(self, scenario: Scenario, transcript: Sequence[Message]) -> None:
        super().__init__(scenario, transcript)
        self._facts = FactAnswers(scenario, self.work.facts)

    def _asked(self) -> list[Question]:
        """Return the questions of the last reply.

        One that names nothing asks for what the reply does not know: "I do not know your size. What is it?"
        """
        found = [q for q in questions(self._heard()) if q.kind != "more"]
        unknown = next((s.quote for s in self._now if _UNKNOWN.search(plain(s.quote))), "")
        named = any(q.kind == "confirm" or content(q.text) - _UNNAMED for q in found) or options(self.last)
        told = found or plain(self.last).rstrip(" .!").endswith("let me know")
        if named or not (unknown and told):
            return [q for q in found if q.kind != "open"]
        asks = _ASKS.search(plain(unknown))
        return [Question(f"{unknown} What is it?", kind_of(plain(unknown)[asks.start() if asks else 0 :]))]

    def _answers(self, asked: Sequence[Question], corrected: set[tuple[str, str] | None]) -> list[str]:
        found: dict[str, FactAnswer] = {}
        rest = []
        for question in asked:
            of_type = self.answers.to(question).pair is not None
            of_facts = self._facts.to(question, self.last, of_type=of_type)
            if not of_facts:
                rest.append(question)
            for of_fact in of_facts:
                found.setdefault(of_fact.fact, of_fact)
        lines = self._told(tuple(found.values()))
        own: list[Answer] = []
        for question in rest:
            answer = None if self._rhetorical(question) else self._own(question, own)
            if answer and (answer.pair is None or answer.pair not in corrected | {a.pair for a in own}):
                own.append(answer)
        given = bool(lines) or any(a.pair or a.bank.startswith("option") for a in own)
        kept = [
            a._replace(bank="accept_too") if a.bank == "accept" and given else a
            for a in own
            if not (given and (a.bank.startswith("free_") or a.bank in ("none_known", "fits", "either_way")))
        ]
        said = plain(" ".join(lines))
        kept = [
            a
            for a in dict.fromkeys(kept)
            if not (a.pair and any(plain(v) in said for v in _parts_of(a.value)))
        ]
        agreed = [a for a in kept if a.bank in ("accept", "accept_too", "fits")]
        kept = [a for a in kept if a not in agreed[1:]]
        if not (lines or kept) and any(not is_courtesy(plain(q.text)) for q in rest):
            kept = [Answer("free_what")]
        empty = [
            a for a in kept if a.bank.startswith("free_") or a.bank in ("none_known", "either_way", "fits")
        ]
        return [*lines, *self._lines([a for a in kept if a not in empty[1:]])]

    def _own(self, question: Question, given: Sequence[Answer]) -> Answer | None:
        """Return the answer to a question that no fact answers: a preference, a choice, yes, or no wish."""
        answer, text, kind = self.answers.to(question), plain(question.text), question.kind
        name = answer.pair[1] if answer.pair else ""
        dated = any(f.kind == "date" and f.known == "said" for f in self.scenario.task.facts)
        # "How should I contact them?" asks for no person, and a day that is set is no matter of taste.
        if ("Contact" in name and _REACH.search(text)) or ("Days" in name and dated):
            answer = Answer("free_what")
        if kind in ("either", "what") and _ANY.search(text) and not _ASKS.search(text):
            kind = "known"
        offer, asks = _OFFER.search(text), _ASKS.search(text)
        offers = kind == "confirm" or bool(
            offer and kind != "either" and not (asks and asks.start() < offer.start())
        )
        if _HOW_ABOUT.search(text) and kind != "either":
            return Answer("accept_proposal")
        if answer.bank == "yes_value" and kind == "either":
            named = _ASKS.search(text) or not _CLAUSE_OF.search(text) or " or " in answer.value
            answer = answer._replace(bank="") if named else Answer("either_way")
        if answer.bank in ("yes_value", "") and offers:
            answer = Answer("accept")
        if answer.bank == "decline":
            return answer
        if answer.bank == "no_value" and not offers and len(text.split()) > _LONG:
            answer = Answer("none_known")
        if not asks and kind == "what":  # "Book it?", "Chips, a bank, something new?"
            offers, kind = "," not in text and len(text.split()) < _FEW, "either"
        if (answer.bank == "instead" and kind == "either") or (answer.bank == "no_value" and asks):
            answer = answer._replace(bank="")
        if answer.pair or (answer.bank in ("option", "option_first", "name_is") and kind == question.kind):
            return answer
        if offers:
            return Answer("fits" if answer.bank == "fits" else "accept")
        unknown = _UNKNOWN.search(text)
        if kind in ("which", "what") and (unknown or _WISH.search(text)) and not self._names_another(text):
            known = [a.pair for a in given] + [
                t[:2] for t in self.reading.types if self.reading.said_by_user(*t[:2], self.now)
            ]
            for pair in sorted(self.scenario.task.relevant, key=known.__contains__):
                said = pair in known
                if (unknown or not said) and pair[1] in self.scenario.preferences.get(pair[0], {}):
                    value = said_aloud(pair[1], self.scenario.preferences[pair[0]][pair[1]])
                    return Answer("again" if said else "", value, pair)
        if kind == "budget" and _COSTS.search(text):
            return Answer("unsure")
        if kind in ("known", "yes_no"):
            return Answer("none_known" if _ANY.search(text) or _HAVE.search(text) else "fits")
        if kind == "either":
            return Answer("either_way")
        fits = answer.bank.startswith(("free_", "intent_", "place_"))
        return answer if fits else Answer("free_what")

    def _names_another(self, text: str) -> bool:
        """True if a question names a thing that is no part of the task and no preference for it."""
        task, words = self.scenario.task, [word for t in self.reading.types for word in (t[1], *t[2].ask)]
        words += [word for domain in self.scenario.domains for word in domain_words(domain, self.scenario)]
        known = content(" ".join((task.intent, task.description, *words))) | _UNNAMED
        return any(content(m["thing"]) - known for m in _THING.finditer(text))

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


def _parts_of(value: str) -> list[str]:
    """Return the values of an answer, and its hours without "at"."""
    return [*re.split(" or | and ", value), *re.findall(r"\d{1,2}:\d\d", value)]
