"""Answers one question of the assistant.

The answer comes from the preferences, the intent and the situation. Without any, the user says that there is
none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_user import verbalize
from pytest_personalens.agents.embedded_user.alternatives import BESIDE, EVERYDAY
from pytest_personalens.agents.embedded_user.breaches import AskedType, breach, fits
from pytest_personalens.agents.embedded_user.constraints import constraint
from pytest_personalens.agents.embedded_user.measures import counted_things, sums
from pytest_personalens.agents.embedded_user.objections import needed
from pytest_personalens.agents.embedded_user.phrases import drawn_number
from pytest_personalens.agents.embedded_user.questions import alternatives, kind_of, options, the_one, things
from pytest_personalens.agents.embedded_user.style import lower_first
from pytest_personalens.agents.embedded_user.values import said_aloud
from pytest_personalens.agents.language.lexicon import asks_for, in_domain
from pytest_personalens.agents.language.slots import days, near
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, fold, mentions, stem, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_user.questions import Question
    from pytest_personalens.agents.embedded_user.replies import Replies

#: The names of the types that answer each kind of question, for a question that does not use the words of the
#: type.
_BY_KIND: Final = {
    "when": r"(?:Travel|Departure|Appointment|Viewing|Alarm) Time|Days of Week|Season",
    "how_many": r"Group Size",
    "how_long": r"Duration",
    "how_often": r"Frequency|Recurring",
    "budget": r"Price",
    "who": r"Frequent Contact",
    "where": r"Location Preference|Destination Types",
}
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
_SPANS: Final = frozenset(map(stem, ("minutes", "hours", "days", "nights", "weeks", "months")))
_FREE: Final = (
    "when",
    "how_many",
    "how_long",
    "how_often",
    "who",
    "where",
    "budget",
    "why",
    "wording",
    "from",
)
_ABOUT: Final = re.compile(
    r"\b(?:preferences?|prefer|restrictions?|requirements?|favou?rites?|particular|special|specific)\b",
    re.IGNORECASE,
)
_PREFERENCE: Final = re.compile(r"\b(?:preferred|preferences?|favou?rites?|frequent)\b")
#: A question about a fact and not about taste: when the wedding is, which city it is in.
_OF_FACT: Final = re.compile(
    r"\bwh(?:en|ere)(?: exactly)? (?:is|are|was|does)\b|\b(?:which|what) (?:city|town|country|part)\b",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"\b(?:Prefer\w+|Favou?rite|Types?|Time|Frequent|Range|Size)\b")
_FITS: Final = re.compile(
    r"^\W*(?:and |so )?(?:is|are|does|do|would|will|was)\b.*\b(?:ok|okay|fine|work|works|suit|suits|alright|good|correct|right|enough)\b",
    re.IGNORECASE,
)
#: A request for an option by its number.
_BY_NUMBER: Final = re.compile(r"\b(?:reply|answer|type|press)\b|\b\d or \d\W*$", re.IGNORECASE)
_EXTRA: Final = ("yes_no", "confirm", "known")

#: Questions about a type in words that are not its own.
_OTHERWISE: Final = (
    (r"Seat(?!.*Class)", r"\b(?:sit|seated)\b"),
    (r"Cuisine", r"\b(?:eat|food|dish|craving)\b"),
    (r"Messaging Apps", r"\bhow (?:should|shall) i (?:send|reach)\b"),
    (r"Genre", r"\b(?:in the mood for|taste)\b"),
)


def _otherwise(t: AskedType, text: str) -> bool:
    return any(re.search(name, t[1]) and re.search(words, text, re.IGNORECASE) for name, words in _OTHERWISE)


class Answer(NamedTuple):
    """What the user says: a bank of phrases and the value to fill in.

    `pair` is the preference that the answer gives. `extra` is true for an offer that the user may decline.
    """

    bank: str
    value: str = ""
    pair: tuple[str, str] | None = None
    extra: bool = False


class Answers:
    """The answers to the questions in the last message of a transcript."""

    def __init__(self, reading: Replies, key: str) -> None:
        self.reading, self.scenario, self.key = reading, reading.scenario, key
        self.now = len(reading.messages) - 1
        self.reply = reading.messages[-1].content

    def to(self, question: Question) -> Answer:
        """Return the answer to `question`, which is about the task."""
        text, kind = question
        types = self._asked(text)
        if kind != "either" and (thing := the_one(text)):
            for t in self.reading.types:
                if held := [v for v in t[3] if stems(v) == stems(thing)]:
                    return self._value(t, held, bank="yes_value")
            kind = kind if kind in _EXTRA else "yes_no"  # "Shall I take Budget?" is about a company
            question = question._replace(kind=kind)
        own, other = self._named(text, types)
        whole = (
            kind == "yes_no" and own and any(" and " in v for v in own[1])
        )  # "between Darra and Oxley" is no list
        if kind in ("which", "what", "either", "yes_no") and not whole:
            choice = self._choice(text, listed=kind != "either" or bool(_BY_NUMBER.search(text)))
            if choice:
                return choice
        if kind in _EXTRA or (kind == "either" and not alternatives(text)[1:]):
            return self._yes_or_no(question, types, own, other)
        if kind == "either":
            if own:
                return self._value(own[0], own[1][:1])
            if measured := self._measured(alternatives(text), types):
                return measured
            if other or types:
                named = other or types[0]
                return self._value(named, named[3], bank="instead")
            parts = alternatives(text)
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
        said, parts = parts, _same_unit(parts)
        for t in (*types, *(t for t in self.reading.types if t not in types)):
            rule = constraint(t[1], t[3])
            if sum(rule.mentioned(plain(p)) for p in parts) < len(parts):
                if (own := _lengths(t[3])) and len(lengths := _lengths(parts)) == len(parts):
                    fitting = [
                        word for word, days_long in zip(said, lengths, strict=True) if days_long in own
                    ]
                    return (
                        Answer("option", lower_first(fitting[0]), (t[0], t[1]))
                        if fitting
                        else self._value(t, t[3], bank="instead")
                    )
                continue
            allowed = [word for word, p in zip(said, parts, strict=True) if rule.fits(plain(p))]
            if allowed and not rule.counts:
                return Answer("option", lower_first(allowed[0]), (t[0], t[1]))
            return self._value(t, t[3], bank="" if allowed else "instead")
        return None

    def _from_intent(self, question: Question) -> Answer:
        text, kind = question
        bank, fact = self._told(kind, text)
        # A fact that the question already has is no answer, and neither is "another city" for "which city?".
        if fact and not mentions(fact, text) and not (kind == "where" and _OF_FACT.search(text)):
            return Answer(bank, fact)
        if kind in ("name", "details", "here"):
            return Answer("free_name")
        return Answer(f"free_{kind}" if kind in _FREE else "free_what")

    def _told(self, kind: str, text: str) -> tuple[str, str]:
        scenario = self.scenario
        if kind == "how_many":
            return "intent_count", verbalize.how_many(scenario, text)
        if kind == "name":
            return "name_is", scenario.name
        if kind == "here":
            return "place_here", scenario.situation.location
        verbalized = {
            "when": verbalize.when,
            "how_long": verbalize.how_long,
            "who": verbalize.who,
            "where": verbalize.where,
        }.get(kind)
        bank = {"when": "intent_when", "how_long": "intent_count"}.get(kind, "intent_who")
        return bank, verbalized(scenario) if verbalized else ""

    def _asked(self, text: str) -> list[AskedType]:
        """Return the types that the question asks for, the likeliest first."""
        types = [t for t in self.reading.types if asks_for(t[2], text) or mentions(_bare(t[1]), text)]
        here = [t for t in types if in_domain(t[0], text, self.scenario)]
        types = here or types
        kinds = (
            [] if types else [t for t in self.reading.types if self._by_kind(t, text) or _otherwise(t, text)]
        )
        kinds = kinds or ([] if types else [t for t in self.reading.types if self._by_value(t, text)])
        if not types and not kinds and re.search(r"\b(?:what|which)\b", text, re.IGNORECASE):
            kinds = [
                t for t in self.reading.types if content(_PLAIN.sub("", t[1])) & content(text) - content(t[0])
            ]

        def weight(t: AskedType) -> tuple[bool, int, bool]:
            longest = max((len(w) for w in t[2].ask if mentions(w, text)), default=0)
            return _bare(t[1]) in plain(text), longest, self.reading.relevant(t[0], t[1])

        return sorted(types or kinds, key=weight, reverse=True)

    def _by_kind(self, t: AskedType, text: str) -> bool:
        pattern = _BY_KIND.get(kind_of(fold(text)))
        if _OF_FACT.search(text):
            return False
        # A task of several domains has several times and places. Only the one that the question names is
        # meant.
        return bool(pattern and re.search(pattern, t[1])) and (
            len(self.scenario.domains) == 1 or in_domain(t[0], text, self.scenario)
        )

    def _by_value(self, t: AskedType, text: str) -> bool:
        """True if the question wants values of this kind.

        A question "how many days" wants a number of days, and "what budget" wants a sum.
        """
        kind, folded = kind_of(plain(text)), plain(text)
        if _OF_FACT.search(text) or not (
            len(self.scenario.domains) == 1 or in_domain(t[0], text, self.scenario)
        ):
            return False
        units = {unit for v in t[3] for _, unit in counted_things(plain(v))}
        if kind in ("how_many", "how_long"):
            return bool(
                units & set(stems(folded)) or (kind == "how_long" and "how long" in folded and units & _SPANS)
            )
        if kind == "budget":
            return any(sums(plain(v)) for v in t[3])
        slots = constraint(t[1], t[3]).slots
        return (
            kind == "when"
            and bool(slots)
            and any(s.days if re.search(r"\bday\b", folded) else s.window for s in slots)
        )

    def _named(
        self, text: str, types: Sequence[AskedType]
    ) -> tuple[tuple[AskedType, tuple[str, ...]] | None, AskedType | None]:
        """Return the type whose values of the user the question names, with these values.

        Return also a type of which the question names only other values. Both may be None.
        """
        other = None
        for t in self.reading.types:
            own = tuple(v for v in t[3] if self._means(v, text, t in types))
            if own:
                return (t, own), other
            if not other and any(v not in t[3] and self._means(v, text, t in types) for v in t[2].values):
                other = t
        # The question may name a number or an hour other than the person's: "Shall I make it 90 days?"
        measured = (
            t for t in self.reading.types if constraint(t[1], t[3]).breach(plain(text), in_question=True)
        )
        return None, other or next(measured, None)

    def _means(self, value: str, text: str, is_meant: bool) -> bool:
        # An everyday word means the value if the question names the type. It also does if the question
        # proposes nothing else: "So weekly, right?"
        return mentions(value, text) and (
            is_meant
            or value.lower() not in EVERYDAY
            or any(stems(thing) == stems(value) for thing in things(text))
        )

    def _another(self, text: str) -> AskedType | None:
        """Return the type of which a question names another value, or None.

        An example is "Is Ecolines fine?" to a user who rides with STM. The rule applies only if the task
        needs exactly one type without a list, whose values are names. Otherwise nothing is known about a
        name.
        """
        name = the_one(text)
        open_ones = [t for t in needed(self.reading) if not t[2].values and not BESIDE.search(t[1])]
        if (
            len(open_ones) != 1
            or not re.fullmatch(r"[A-Z][\w'’&-]+(?: [\w'’&-]+){0,3}", name)
            or days(plain(name))
            or near(plain(name))
        ):
            return None
        held = open_ones[0][3]
        said = content(
            " ".join((self.scenario.task.intent, *held, *(m.content for m in self.reading.messages[:-1])))
        )
        return open_ones[0] if all(v[:1].isupper() for v in held) and not content(name) & said else None

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
        own: tuple[AskedType, tuple[str, ...]] | None,
        other: AskedType | None,
    ) -> Answer:
        text, kind = question
        if own:
            return self._value(own[0], own[1][:1], bank="yes_value")
        if other and re.search(r"Amenity|Feature", other[1]):
            return Answer("decline", extra=True)
        other = other or self._another(text)
        if other and (not any(mentions(v, self.reply) for v in other[3])):
            return self._value(other, other[3], bank="no_value")
        if types and (kind != "confirm" or _ABOUT.search(text)):
            return self._value(types[0], types[0][3])
        if kind == "known" and not _ABOUT.search(text):
            return Answer(
                "unsure_have"
                if re.search(r"\bhave (?:a|an|any|your|the)\b", text, re.IGNORECASE)
                else "unsure",
                extra=True,
            )
        return Answer(
            "free_what" if _ABOUT.search(text) else "fits" if _FITS.search(text) else "accept", extra=True
        )

    def _choice(self, text: str, *, listed: bool) -> Answer | None:
        """Return the listed option that fits the preferences best, or else the task.

        Return None if nothing is listed.
        """
        choices = options(self.reply) if listed else []
        if not choices:
            return (
                Answer("option_first")
                if re.search(r"\b(?:which one|which of|pick one)\b", text, re.IGNORECASE)
                else None
            )

        def fit(i: int) -> tuple[int, int, int]:
            option = choices[i].text
            own = sum(fits(t, option) for t in self.reading.types)
            others = sum(bool(breach(t, option)) for t in self.reading.types if not fits(t, option))
            return own - others, len(content(option) & content(self.scenario.task.intent)), -i

        best = max(range(len(choices)), key=fit)
        if fit(best)[0] < 0:
            other = next((t for t in self.reading.types if breach(t, choices[best].text)), None)
            return (
                self._value(other, other[3], bank="instead")
                if other
                else Answer("option", choices[best].name)
            )
        return Answer("option", choices[best].name)


def _bare(name: str) -> str:
    """Return the name of a type as a question uses it: "service provider types"."""
    return " ".join(_PREFERENCE.sub(" ", name.lower()).split()) or name.lower()


def _lengths(texts: Sequence[str]) -> list[float]:
    """Return the length in days of each text that names one, such as "one week".

    A text that names several lengths does not count.
    """
    found = [[n * _DAYS[unit] for n, unit in counted_things(plain(text)) if unit in _DAYS] for text in texts]
    return [each[0] for each in found if len(each) == 1]


def _same_unit(parts: Sequence[str]) -> list[str]:
    """Return the parts, each with the unit that only the last one has.

    An example is "30 or 90 days". Hours follow the clock of the other parts: "9:00 or 17:30".
    """
    unit = re.search(r"\d\s?([a-z]+(?:'s?)?|[ap]\.?m\.?)\W*$", parts[-1], re.IGNORECASE) if parts else None
    measured = [f"{p} {unit[1]}" if unit and re.search(r"(?<![:.\d])\d{1,3}$", p) else p for p in parts]
    if any(re.search(r"\b(?:1[3-9]|2[0-3]):\d\d", p) for p in measured):
        measured = [re.sub(r"\b(0?\d|1[01]):(\d\d)(?!\s?[ap]m)", r"\1:\2 am", p) for p in measured]
    return measured
