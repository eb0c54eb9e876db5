"""Answers questions by what the user knows: the facts of its task, its preferences and its limits."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded.reader.findings import Facts
from pytest_personalens.agents.embedded.reader.names import said_in
from pytest_personalens.agents.embedded.reader.text import content, mentions, plain, stem, stems
from pytest_personalens.agents.embedded.reader.values import TYPED, values
from pytest_personalens.agents.embedded.user import words
from pytest_personalens.agents.embedded.user.questions import alternatives, options
from pytest_personalens.agents.embedded.user.voice import drawn_number, first_person, lower_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.embedded.user.questions import Question
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Scenario


class Answer(NamedTuple):
    """What the user says: a bank of phrases and a value. `of` names the fact or the preference that it tells."""

    bank: str
    value: str = ""
    of: str = ""


#: How a question asks for a kind of value.
_KINDS: Final = {
    "date": re.compile(r"\bwhen\b|\b(?:what|which|on what|the|your|a) (?:\w+ )?(?:days?|dates?|weekday|evening|night|morning)\b|\bdates?\b|\bby when\b"),
    "time": re.compile(r"\bwhen\b|\b(?:what|which|the|your|a|at what) (?:\w+ )?(?:time|hour)\b|\bhow (?:early|late)\b"),
    "count": re.compile(r"\bhow (?:many|big|large|often)\b|\bnumber of\b|\b(?:party|group) size\b|\bhow long\b|\bhow old\b|\bwhich volume\b"),
    "duration": re.compile(r"\bhow (?:long|late|much time|far)\b|\bduration\b|\blength\b|\bhow many (?:hours|minutes|days|weeks|months|nights)\b"),
    "money": re.compile(r"\bbudget\b|\bhow much\b|\bprice|\bspend\b|\bcost\b|\blimit\b|\bmost\b|\bmaximum\b"),
    "person": re.compile(r"\bwho(?:m|se)?\b|\bnames?\b|\bwhich (?:person|people|friends?|contacts?)\b|\brecipients?\b"),
    "place": re.compile(r"\bwhere\b|\b(?:which|what|the) (?:city|town|place|address|destination|location|station|airport|library|room|venue)\b|\bdestination\b|\baddress\b"),
}  # fmt: skip
#: Words of a question that say nothing of what it asks for.
_EMPTY: Final = frozenset(
    stems("the a an of for to in on at it is are be do does will would should shall can i you your my me we us what which who when where how many much long and or that this there user please like want need have has may by with from any some as so know tell prefer usually best set")
)  # fmt: skip
#: Words for the same thing; each counts as the first of its row.
_SAME: Final = {
    stem(word): stem(row.split()[0])
    for row in (
        "arrive arrival arriving", "leave departure depart departs leaving", "return back returning comes", "first begin begins start starts starting from pick-up", "last end ends until finish",
        "fly flight flights", "people guests persons person travellers passengers party us seats tickets ticket seat diners everyone", "spend budget cost costs price pay paid fare",
        "new instead replacement", "old current original", "book read title novel", "film movie", "car vehicle", "hour time", "eat dinner table restaurant lunch meal", "app channel messenger",
        "service platform provider streaming", "company operator carrier firm", "food cuisine kitchen", "stay sleep", "friends guests", "drips leaks leak", "reference code number",
    )
    for word in row.split()
}  # fmt: skip
_TICKETS: Final = re.compile(r"\b(?:which|what|where)\b")
_GENERAL: Final = re.compile(r"\b(?:preferences?|likes|tastes?|wishes|requirements?|(?:anything|something) (?:i|we|in particular)|particular|in mind|enjoy|prefer|like|love|favou?rites?)\b")
_DIET: Final = re.compile(r"\b(?:allerg\w+|diet\w*|restrictions?|intoleran\w+|avoid|eat|special (?:needs|requirements|requests)|accessib\w+|requirements)\b")
_HERE: Final = re.compile(r"\bwhere are you\b|\byour (?:current )?location\b|\bwhere do you (?:live|stay)\b|\b(?:departure|leav|travel|fly|start|depart|setting off|pick you up)\w*\b.*\bfrom\b|\bfrom (?:where|which (?:city|station|airport|stop))\b|\bnearest (?:station|airport|stop)\b")
_OTHER_PERSON: Final = re.compile(r"\b(?:else|another|other)\b")
_WHY: Final = re.compile(r"^\W*(?:and )?why\b|\bwhat(?:'s| is) the (?:reason|occasion)\b|\bfor what (?:reason|purpose)\b")
_ENOUGH: Final = 1.0


class Answers:
    """What the user of a scenario answers; `key` draws where it has no wish."""

    def __init__(self, scenario: Scenario, key: str) -> None:
        self.scenario, self.key = scenario, key
        self.facts = Facts(scenario)

    @cached_property
    def _types(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """The preferences as (domain, type, values): those that matter to the task first."""
        relevant = self.scenario.task.relevant
        rows = [(d, n, v) for d, types in self.scenario.preferences.items() for n, v in types.items() if v]
        return sorted(rows, key=lambda row: (row[0], row[1]) not in relevant)

    def to(self, question: Question, reply: str) -> list[Answer]:
        """Return the answers to a question; empty where it wants a yes, or nothing."""
        folded = plain(question.text)
        if question.wants == "private":
            known = [f for f in self._ranked(folded) if f.known != "open" and f.kind in ("person", "text", "place", "provider")]
            return [self._of_fact(known[0])] if known else [Answer("private")]
        if question.wants == "list":
            return [self._chosen(options(reply))]
        if question.wants == "either":
            return [self._either(question.text, folded)]
        if question.wants == "any":
            return self._any(folded)
        return self._detail(folded) if question.wants == "detail" else []

    def _detail(self, folded: str) -> list[Answer]:
        found = self._ranked(folded)
        best = self._best_type(folded)
        if found and (best is None or self._score(found[0], folded) >= best[0]):
            first = found[0]
            if not first.right and best is None:
                return [Answer(_free(folded))]
            if first.right:
                # "When?" asks for a day and an hour.
                when = [f for f in found if f.kind in ("date", "time") and f.known in ("told", "said", "history")]
                if re.search(r"\bwhen\b", folded) and not re.search(r"\b(?:day|date|hour|time)\b", folded) and first in when:
                    return [self._of_fact(f) for f in {f.kind: f for f in reversed(when)}.values()][::-1]
                return [self._of_fact(first)]
        if best is not None:
            return [self._of_type(best[1])]
        if _DIET.search(folded) and self.scenario.limits:
            return [Answer("diet", self.scenario.limits[0].name, self.scenario.limits[0].name)]
        if _WHY.search(folded):
            return [Answer("why")]
        if _HERE.search(folded) and (here := self._home()):
            return [Answer("here", here)]
        if not self.scenario.task.facts and (said := self._of_intent(folded)):
            return [said]
        if _GENERAL.search(folded) and (some := self._unasked()):
            return some
        return [Answer(_free(folded))]

    def _any(self, folded: str) -> list[Answer]:
        """Answer whether there is anything to know: with it, or that there is nothing."""
        if _DIET.search(folded):
            limits = [Answer("diet", limit.name, limit.name) for limit in self.scenario.limits[:2]]
            if limits:
                return limits
        if (best := self._best_type(folded)) is not None:
            return [self._of_type(best[1])]
        found = [f for f in self._ranked(folded) if f.right and f.known != "open"]
        if found:
            return [self._of_fact(found[0])]
        if _GENERAL.search(folded) and not _DIET.search(folded) and (some := self._unasked()):
            return some
        return [Answer("none")]

    def _unasked(self) -> list[Answer]:
        """Return the preferences that matter to the task, at most two."""
        relevant = [t for t in self._types if (t[0], t[1]) in self.scenario.task.relevant]
        return [self._of_type(t) for t in relevant[:2]]

    def _home(self) -> str:
        place = next((f.right[0] for f in self.scenario.task.facts if f.name in ("home", "city_from") and f.right), "")
        return place or self.scenario.situation.known.get("location", "")

    def _of_fact(self, fact: Fact) -> Answer:
        return Answer(words.bank_of(fact), first_person(words.spoken(fact)), fact.name)

    def _of_type(self, kind: tuple[str, str, tuple[str, ...]]) -> Answer:
        _, name, held = kind
        return Answer(words.bank_of_preference(name), words.preferred(name, held), name)

    def _of_intent(self, folded: str) -> Answer | None:
        """Return a value of the intent of the kind that a question asks for, where the scenario has no facts."""
        intent = self.scenario.task.intent
        for value in values(intent, self.scenario.now):
            if value.kind in _KINDS and _KINDS[value.kind].search(folded):
                return Answer("tell", intent[value.start : value.end], value.said)
        return None

    def _ranked(self, folded: str) -> list[Fact]:
        """Return the facts that a question may ask for, the likeliest first."""
        # An open fact that has no value answers nothing, unless nothing else fits.
        scored = [(self._score(f, folded), f.known != "open", f) for f in self.scenario.task.facts]
        fitting = [row for row in scored if row[0] >= _ENOUGH]
        return [f for _, _, f in sorted(fitting, key=lambda row: row[:2], reverse=True)]

    def _score(self, fact: Fact, folded: str) -> float:
        asked = _topic(folded)
        about = _topic(plain(f"{fact.what} {fact.name.rpartition('.')[2]}"))
        shared = len(asked & about)
        kind = _KINDS.get(fact.kind)
        if kind is not None:
            fits = kind.search(folded)
            if fact.kind == "count" and re.search(r"\bhow long\b", folded) and not re.search(r"\b(?:nights|days|weeks|hours)\b", fact.what):
                fits = None
            if not fits and not (fact.kind in ("person", "place") and shared):
                return 0.0
            others = {"people"} if fact.kind == "count" else set()
            if fact.kind == "count" and re.search(r"\bhow many\b", folded) and not shared:
                return 0.0
            return (1.0 if fits else 0.0) + shared + 0.1 * bool(others & asked)
        return float(shared)

    def _best_type(self, folded: str) -> tuple[float, tuple[str, str, tuple[str, ...]]] | None:
        asked = _topic(folded)
        best: tuple[float, tuple[str, str, tuple[str, ...]]] | None = None
        for row in self._types:
            domain, name, _ = row
            spec = words.words_of(self.scenario, domain, name)
            score = max((1.5 + 0.25 * len(w.split()) for w in spec.ask if mentions(w, folded)), default=0.0)
            shared = len(asked & frozenset(_SAME.get(w, w) for w in words.topic(name)))
            score = max(score, float(shared)) + (0.25 if (domain, name) in self.scenario.task.relevant else 0)
            if score >= _ENOUGH and (best is None or score > best[0]):
                best = (score, row)
        return best

    def fit(self, text: str) -> tuple[int, Answer | None]:
        """Return how well a choice suits the user, and what of the user's it goes against, if it does."""
        found = self.facts.findings(text, values(text, self.scenario.now))
        good = sum(f.right for f in found)
        against = next((self._of_fact(f.fact) for f in found if not f.right), None)
        bad = sum(not f.right for f in found)
        for row in self._types:
            if self.holds(row, text):
                good += 1
            elif other := self.other(row, text):
                bad, against = bad + 1, against or self._of_type(row)
                assert other
        return good - bad, against

    def holds(self, row: tuple[str, str, tuple[str, ...]], text: str) -> bool:
        """True if a text says one of the user's own values of a preference."""
        return any(said_in(v, text, "item", self.facts.synonyms) for v in row[2])

    def other(self, row: tuple[str, str, tuple[str, ...]], text: str) -> str:
        """Return another value of the preference's list that a text says; empty if there is none."""
        domain, name, held = row
        listed = words.words_of(self.scenario, domain, name).values
        if not set(held) & set(listed):
            return ""
        return next((v for v in listed if v not in held and not any(mentions(v, h) for h in held) and mentions(v, text)), "")

    def _either(self, text: str, folded: str) -> Answer:
        choices = alternatives(folded)
        fits = [self.fit(choice) for choice in choices]
        best = max(range(len(choices)), key=lambda n: (fits[n][0], drawn_number(self.key, choices[n])))
        if fits[best][0] < 0 or (fits[best][0] == 0 and (against := fits[best][1])):
            against = fits[best][1]
            return Answer("no_value", against.value, against.of) if against else Answer("either_way")
        if fits[best][0] == 0 and (known := [a for a in self._detail(folded) if a.of]) and not _of_other_kind(known[0], choices):
            return known[0]
        return Answer("option", _as_written(choices[best], text))

    def _chosen(self, listed: Sequence[str]) -> Answer:
        fits = [self.fit(option)[0] for option in listed]
        best = max(range(len(listed)), key=lambda n: (fits[n], -n))
        name = re.split(r"\s+[-–—|]\s+|\s*[:(;]|,\s", listed[best].replace("*", "").strip())[0].strip(" .\"'")
        if 0 < len(name.split()) <= _SHORT and re.search(r"[^\W\d_]{3}", name):
            return Answer("option", name)
        return Answer("option", f"the {_ORDINALS[best]} one" if best < len(_ORDINALS) else "the last one")

    def corrections(self, text: str) -> Iterator[tuple[Fact, str]]:
        """Yield the facts that a text has wrong, with the words that are wrong, and none that it has right too."""
        found = self.facts.findings(text, values(text, self.scenario.now), deed=True)
        right = {f.fact.name for f in found if f.right}
        for finding in found:
            if not finding.right and finding.sure and finding.fact.name not in right:
                yield finding.fact, finding.said


_SHORT: Final = 5
_ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth")


def _topic(folded: str) -> frozenset[str]:
    return frozenset(_SAME.get(w, w) for w in stems(folded)) - _EMPTY


def _free(folded: str) -> str:
    if _KINDS["money"].search(folded):
        return "free_money"
    return "free_when" if _KINDS["time"].search(folded) else "free"


def _of_other_kind(answer: Answer, choices: Sequence[str]) -> bool:
    """True if an answer says another kind of thing than the choices do, such as a day for "bus or train"."""
    kinds = {v.kind for choice in choices for v in values(choice)}
    return bool(kinds ^ {v.kind for v in values(answer.value)}) or not content(answer.value)


def _as_written(choice: str, text: str) -> str:
    match = re.search(re.escape(choice), text, re.IGNORECASE)
    return lower_first(match[0]) if match else choice
