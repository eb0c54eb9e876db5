"""Answers one question of the assistant.

The answer comes from the preferences, the intent and the situation. Without any, the user says that there is
none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_user.listening.questions import alternatives, options, the_one
from pytest_personalens.agents.embedded_user.preferences.breaches import AskedType, breach, fits
from pytest_personalens.agents.embedded_user.preferences.constraints import constraint
from pytest_personalens.agents.embedded_user.preferences.measures import counted_things
from pytest_personalens.agents.embedded_user.preferences.question_types import OF_FACT, QuestionTypes
from pytest_personalens.agents.embedded_user.voice import verbalize
from pytest_personalens.agents.embedded_user.voice.phrases import drawn_number
from pytest_personalens.agents.embedded_user.voice.style import lower_first
from pytest_personalens.agents.embedded_user.voice.values import said_aloud
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, mentions, stem, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_user.listening.questions import Question
    from pytest_personalens.agents.language.reading import DialogueReading

#: The days in a span of time, by its stem.
_DAYS: Final = {
    stem(unit): length
    for unit, length in (
        ("minutes", 1 / 1440),
        ("hours", 1 / 24),
        ("days", 1),
        ("nights", 1),
        ("weeks", 7),
        ("months", 30),
    )
}
#: Kinds of questions that have their own words for "I do not mind".
FREE: Final = frozenset(
    {"when", "how_many", "how_long", "how_often", "who", "where", "budget", "why", "wording", "from"}
)
_ABOUT: Final = re.compile(
    r"\b(?:preferences?|prefer|restrictions?|requirements?|favou?rites?|particular|special|specific)\b",
    re.IGNORECASE,
)
_FITS: Final = re.compile(
    r"^\W*(?:and |so )?(?:is|are|does|do|would|will|was)\b.*\b(?:ok|okay|fine|work|works|suit|suits|alright|good|correct|right|enough)\b",
    re.IGNORECASE,
)
#: A request for an option by its number.
_BY_NUMBER: Final = re.compile(r"\b(?:reply|answer|type|press)\b|\b\d or \d\W*$", re.IGNORECASE)
#: A question that lets the user choose from a list.
_PICKS: Final = re.compile(
    r"\b(?:which|what would you (?:like|prefer)|one of|any of|either of|pick|choose|appeals?|suits?|prefer|your (?:choice|pick)|(?:shall|should|can) i (?:book|take|order|reserve|go))\b|\b(?:reply|answer|type|press)\b",
    re.IGNORECASE,
)
#: An alternative that is the middle of a sentence, and so many words are one.
_UNCLEAR: Final = re.compile(
    r"(?:you|your|i|we|at|on|in|with|for|to|is|are|any|all|both|just|only|leave|keep|have|has|something|other|another|two others|not|too|\w+ing|(?:the )?\w+er(?: one)?$)\b",
    re.IGNORECASE,
)
_LONG: Final = 4
_EXTRA: Final = ("yes_no", "confirm", "known")


class Answer(NamedTuple):
    """What the user says: a bank of phrases and the value to fill in.

    `pair` is the preference that the answer gives.
    """

    bank: str
    value: str = ""
    pair: tuple[str, str] | None = None


class Answers:
    """The answers to the questions in the last message of a transcript."""

    def __init__(self, reading: DialogueReading, key: str) -> None:
        self.reading, self.scenario, self.key = reading, reading.scenario, key
        self._types = QuestionTypes(reading)
        self.now = len(reading.messages) - 1
        self.reply = reading.messages[-1].content

    def to(self, question: Question) -> Answer:
        """Return the answer to `question`, which is about the task."""
        text, kind = question
        types = self._types.asked(text)
        if kind != "either" and (thing := the_one(text)):
            for t in self.reading.types:
                if held := [v for v in t[3] if stems(v) == stems(thing)]:
                    return self._value(t, held, bank="yes_value")
            kind = kind if kind in _EXTRA else "yes_no"  # "Shall I take Budget?" is about a company
            question = question._replace(kind=kind)
        own_named, other_type = self._types.named(text, types)
        whole = (
            kind == "yes_no" and own_named and any(" and " in v for v in own_named[1])
        )  # "between Darra and Oxley" is no list
        if kind in ("which", "what", "either", "yes_no") and not whole:
            choice = self._choice(
                text, listed=bool((_BY_NUMBER if kind == "either" else _PICKS).search(text))
            )
            if choice:
                return choice
        if kind in _EXTRA or (kind == "either" and not alternatives(text)[1:]):
            return self._yes_or_no(question, types, own_named, other_type)
        if kind == "either":
            if own_named:
                return self._value(own_named[0], own_named[1][:1])
            if measured := self._measured(alternatives(text), types):
                return measured
            if other_type or types:
                named = other_type or types[0]
                return self._value(named, named[3], bank="instead")
            parts = [
                part for part in alternatives(text) if not _UNCLEAR.match(part) and len(part.split()) <= _LONG
            ]
            if not parts[1:]:
                return Answer("either_way")
            best = max(
                parts,
                key=lambda p: (
                    len(content(p) & content(self.scenario.task.intent)),
                    drawn_number(self.key, text, p),
                ),
            )
            return Answer("option", lower_first(best))
        if types:
            return self._value(types[0], types[0][3])
        return self._from_intent(question)

    def _measured(self, parts: Sequence[str], types: Sequence[AskedType]) -> Answer | None:
        """Return the hour, day, sum or number among several that a preference allows.

        If the preference allows none of them, return the preference.
        """
        wordings, parts = parts, _same_unit(parts)
        for t in (*types, *(t for t in self.reading.types if t not in types)):
            rule = constraint(t[1], t[3])
            if sum(rule.mentioned(plain(p)) for p in parts) < len(parts):
                if (own_lengths := _lengths(t[3])) and len(lengths := _lengths(parts)) == len(parts):
                    fitting = [
                        word
                        for word, days_long in zip(wordings, lengths, strict=True)
                        if days_long in own_lengths
                    ]
                    return (
                        Answer("option", lower_first(fitting[0]), (t[0], t[1]))
                        if fitting
                        else self._value(t, t[3], bank="instead")
                    )
                continue
            allowed = [word for word, p in zip(wordings, parts, strict=True) if rule.fits(plain(p))]
            if allowed and not rule.counts:
                return Answer("option", lower_first(allowed[0]), (t[0], t[1]))
            return self._value(t, t[3], bank="" if allowed else "instead")
        return None

    def _from_intent(self, question: Question) -> Answer:
        text, kind = question
        bank, fact = self._fact(kind, text)
        # A fact that the question already has is no answer, and neither is "another city" for "which city?".
        if fact and not mentions(fact, text) and not (kind == "where" and OF_FACT.search(text)):
            return Answer(bank, fact)
        if kind in ("name", "details", "here"):
            return Answer("free_name")
        return Answer(f"free_{kind}" if kind in FREE else "free_what")

    def _fact(self, kind: str, text: str) -> tuple[str, str]:
        scenario = self.scenario
        if kind == "how_many":
            return "intent_count", verbalize.how_many(scenario, text)
        if kind == "name":
            return "name_is", scenario.name
        if kind == "here":
            return "place_here", scenario.situation.known.get("location", "")
        verbalized = {
            "when": verbalize.when,
            "how_long": verbalize.how_long,
            "who": verbalize.who,
            "where": verbalize.where,
        }.get(kind)
        bank = {"when": "intent_when", "how_long": "intent_count"}.get(kind, "intent_who")
        return bank, verbalized(scenario) if verbalized else ""

    def _value(self, t: AskedType, values: Sequence[str], bank: str = "") -> Answer:
        pair = (t[0], t[1])
        if any(v.lower() == "no preference" for v in values):
            return Answer("answer_open", "no preference", pair)
        if not bank and self.reading.said_by_user(*pair, self.now):
            bank = "again"
        return Answer(bank, said_aloud(t[1], values), pair)

    def _yes_or_no(
        self,
        question: Question,
        types: Sequence[AskedType],
        own_named: tuple[AskedType, tuple[str, ...]] | None,
        other_type: AskedType | None,
    ) -> Answer:
        text, kind = question
        if own_named:
            return self._value(own_named[0], own_named[1][:1], bank="yes_value")
        if other_type and re.search(r"Amenity|Feature", other_type[1]):
            return Answer("decline")
        other_type = other_type or self._types.another(text)
        if other_type and (not any(mentions(v, self.reply) for v in other_type[3])):
            return self._value(other_type, other_type[3], bank="no_value")
        if types and (kind != "confirm" or _ABOUT.search(text)):
            return self._value(types[0], types[0][3])
        return Answer("fits" if _FITS.search(text) else "accept")

    def _choice(self, text: str, *, listed: bool) -> Answer | None:
        """Return the listed option that fits the preferences best, or else the task.

        Return None if nothing is listed.
        """
        choices = [c for c in options(self.reply) if _NAMES.match(c.name)] if listed else []
        if not choices:
            return (
                Answer("option_first")
                if re.search(r"\b(?:which one|which of|pick one)\b", text, re.IGNORECASE)
                else None
            )

        def fit(i: int) -> tuple[int, int, int]:
            option = choices[i].text
            fitting = sum(fits(t, option) for t in self.reading.types)
            breaching = sum(bool(breach(t, option)) for t in self.reading.types if not fits(t, option))
            return fitting - breaching, len(content(option) & content(self.scenario.task.intent)), -i

        best = max(range(len(choices)), key=fit)
        if fit(best)[0] < 0:
            breached = next((t for t in self.reading.types if breach(t, choices[best].text)), None)
            return (
                self._value(breached, breached[3], bank="instead")
                if breached
                else Answer("option", choices[best].name)
            )
        return Answer("option", choices[best].name)


#: An option that has a name, and not only a number or the middle of a sentence.
_NAMES: Final = re.compile(
    r"(?!(?:which|what|when|where|who|how|do|is|are|would|shall|can|it|you|your|in|on|at|to|for|with|of|by|if|and|or|the)\b)[^\W\d_][\w'’ &.-]+",
    re.IGNORECASE,
)


def _lengths(texts: Sequence[str]) -> list[float]:
    """Return the length in days of each text that names one, such as "one week".

    A text that names several lengths does not count.
    """
    by_text = [
        [n * _DAYS[unit] for n, unit in counted_things(plain(text)) if unit in _DAYS] for text in texts
    ]
    return [lengths[0] for lengths in by_text if len(lengths) == 1]


def _same_unit(parts: Sequence[str]) -> list[str]:
    """Return the parts, each with the unit that only the last one has.

    An example is "30 or 90 days". Hours follow the clock of the other parts: "9:00 or 17:30".
    """
    unit = re.search(r"\d\s?([a-z]+(?:'s?)?|[ap]\.?m\.?)\W*$", parts[-1], re.IGNORECASE) if parts else None
    measured = [f"{p} {unit[1]}" if unit and re.search(r"(?<![:.\d])\d{1,3}$", p) else p for p in parts]
    if any(re.search(r"\b(?:1[3-9]|2[0-3]):\d\d", p) for p in measured):
        measured = [re.sub(r"\b(0?\d|1[01]):(\d\d)(?!\s?[ap]m)", r"\1:\2 am", p) for p in measured]
    return measured
