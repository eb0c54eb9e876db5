"""The types of preference that a question of the assistant is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.listening.questions import kind_of, the_one, things
from pytest_personalens.agents.embedded_user.preferences.alternatives import BESIDE, EVERYDAY
from pytest_personalens.agents.embedded_user.preferences.constraints import constraint
from pytest_personalens.agents.embedded_user.preferences.measures import counted_things, sums
from pytest_personalens.agents.embedded_user.preferences.objections import needed
from pytest_personalens.agents.language.lexicon import asks_for, in_domain
from pytest_personalens.agents.language.slots import days, near
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, fold, mentions, stem, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_user.preferences.breaches import AskedType
    from pytest_personalens.agents.language.reading import DialogueReading

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
_SPANS: Final = frozenset(map(stem, ("minutes", "hours", "days", "nights", "weeks", "months")))
_PREFERENCE: Final = re.compile(r"\b(?:preferred|preferences?|favou?rites?|frequent)\b")
#: A question about a fact and not about taste: when the wedding is, which city it is in.
OF_FACT: Final = re.compile(
    r"\bwh(?:en|ere)(?: exactly)? (?:is|are|was|does)\b|\b(?:which|what) (?:city|town|country|part)\b",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"\b(?:Prefer\w+|Favou?rite|Types?|Time|Frequent|Range|Size)\b")
#: Questions about a type in words that are not its own.
_OTHERWISE: Final = (
    (r"Seat(?!.*Class)", r"\b(?:sit|seated)\b"),
    (r"Cuisine", r"\b(?:eat|food|dish|craving)\b"),
    (r"Messaging Apps", r"\bhow (?:should|shall) i (?:send|reach)\b"),
    (r"Genre", r"\b(?:in the mood for|taste)\b"),
)


def _otherwise(t: AskedType, text: str) -> bool:
    return any(re.search(name, t[1]) and re.search(words, text, re.IGNORECASE) for name, words in _OTHERWISE)


class QuestionTypes:
    """Finds the types of preference that questions are about, among those of the scenario."""

    def __init__(self, reading: DialogueReading) -> None:
        self._reading = reading

    def asked(self, text: str) -> list[AskedType]:
        """Return the types that the question asks for, the likeliest first."""
        types = [t for t in self._reading.types if asks_for(t[2], text) or mentions(_bare(t[1]), text)]
        here = [t for t in types if in_domain(t[0], text, self._reading.scenario)]
        types = here or types
        kinds = (
            [] if types else [t for t in self._reading.types if self._by_kind(t, text) or _otherwise(t, text)]
        )
        kinds = kinds or ([] if types else [t for t in self._reading.types if self._by_value(t, text)])
        if not types and not kinds and re.search(r"\b(?:what|which)\b", text, re.IGNORECASE):
            kinds = [
                t
                for t in self._reading.types
                if content(_PLAIN.sub("", t[1])) & content(text) - content(t[0])
            ]

        def weight(t: AskedType) -> tuple[bool, int, bool]:
            longest = max((len(w) for w in t[2].ask if mentions(w, text)), default=0)
            return _bare(t[1]) in plain(text), longest, self._reading.relevant(t[0], t[1])

        return sorted(types or kinds, key=weight, reverse=True)

    def _by_kind(self, t: AskedType, text: str) -> bool:
        pattern = _BY_KIND.get(kind_of(fold(text)))
        if OF_FACT.search(text):
            return False
        # A task of several domains has several times and places. Only the one that the question names is
        # meant.
        return bool(pattern and re.search(pattern, t[1])) and (
            len(self._reading.scenario.domains) == 1 or in_domain(t[0], text, self._reading.scenario)
        )

    def _by_value(self, t: AskedType, text: str) -> bool:
        """True if the question wants values of this kind.

        A question "how many days" wants a number of days, and "what budget" wants a sum.
        """
        kind, folded = kind_of(plain(text)), plain(text)
        if OF_FACT.search(text) or not (
            len(self._reading.scenario.domains) == 1 or in_domain(t[0], text, self._reading.scenario)
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

    def named(
        self, text: str, types: Sequence[AskedType]
    ) -> tuple[tuple[AskedType, tuple[str, ...]] | None, AskedType | None]:
        """Return the type whose values of the user the question names, with these values.

        Return also a type of which the question names only other values. Both may be None.
        """
        other_type = None
        for t in self._reading.types:
            own_values = tuple(v for v in t[3] if self._means(v, text, t in types))
            if own_values:
                return (t, own_values), other_type
            if not other_type and any(
                v not in t[3] and self._means(v, text, t in types) for v in t[2].values
            ):
                other_type = t
        # The question may name a number or an hour other than the person's: "Shall I make it 90 days?"
        measured = (
            t for t in self._reading.types if constraint(t[1], t[3]).breach(plain(text), in_question=True)
        )
        return None, other_type or next(measured, None)

    def _means(self, value: str, text: str, is_meant: bool) -> bool:
        # An everyday word means the value if the question names the type. It also does if the question
        # proposes nothing else: "So weekly, right?"
        return mentions(value, text) and (
            is_meant
            or value.lower() not in EVERYDAY
            or any(stems(thing) == stems(value) for thing in things(text))
        )

    def another(self, text: str) -> AskedType | None:
        """Return the type of which a question names another value, or None.

        An example is "Is Ecolines fine?" to a user who rides with STM. The rule applies only if the task
        needs exactly one type without a list, whose values are names. Otherwise nothing is known about a
        name.
        """
        name = the_one(text)
        open_ones = [t for t in needed(self._reading) if not t[2].values and not BESIDE.search(t[1])]
        if (
            len(open_ones) != 1
            or not re.fullmatch(r"[A-Z][\w'’&-]+(?: [\w'’&-]+){0,3}", name)
            or days(plain(name))
            or near(plain(name))
        ):
            return None
        held = open_ones[0][3]
        seen_words = content(
            " ".join(
                (self._reading.scenario.task.intent, *held, *(m.content for m in self._reading.messages[:-1]))
            )
        )
        return open_ones[0] if all(v[:1].isupper() for v in held) and not content(name) & seen_words else None


def _bare(name: str) -> str:
    """Return the name of a type as a question uses it: "service provider types"."""
    return " ".join(_PREFERENCE.sub(" ", name.lower()).split()) or name.lower()
