"""Tells a wrong value from one that may be about something else, to which a person would not object."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.voice.fact_words import MEASURED
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, mentions
from pytest_personalens.agents.reading.findings import of_a_size
from pytest_personalens.agents.reading.typed_values import typed_values

if TYPE_CHECKING:
    from pytest_personalens.agents.reading.findings import Finding
    from pytest_personalens.core.scenario import Scenario

#: Words for people, for facts that count people, and for things that people have one of each.
_PEOPLE: Final = re.compile(r"\b(?:people|persons?|guests?|adults?|of (?:you|us))\b")
OF_PEOPLE: Final = re.compile(r"\b(?:people|guests|members|tickets|seats|places|friends)\b")
PERSONS: Final = content(
    "people persons guests adults passengers tickets seats places travellers travelers members players friends table dinner lunch brunch booking reservation party meals"
)
#: Words before a value of something beside: how long it may be cancelled, when a reminder comes.
_BESIDE: Final = re.compile(
    r"\b(?:until|expires?|refund\w*|cancel\w*|deliver\w*|arriv\w*|ends?|before|after|due|check|back|open\w*|clos\w*|ships?|also|extra|as of|usual\w*|by(?= ?$))\b"
)
_NUDGE: Final = re.compile(r"\b(?:nudge|ping|remind\w*|notif\w*|warning|doors|arriv\w*|ends?|until)\b")
_USUAL: Final = re.compile(r"\b(?:usual\w*|than|or|every|each|often|always|tend|days)\b")
_NUMBERS: Final = content("one two three four five six seven eight nine ten eleven twelve")


def doubtful(finding: Finding, scenario: Scenario, text: str) -> bool:
    """True if a wrong value in a text may be about something else, so that a person would not object to it."""
    fact, value = finding.fact, re.escape(plain(finding.said))
    if fact.kind == "date" and not any(c.isdigit() for c in finding.said) and _USUAL.search(plain(text)):
        return True
    beside = rf"\b(?:no|not|nothing|none|never|without|except)\b[^.;,]{{0,20}}\b{value}|\([^)]*\b{value}\b[^)]*\)|\b{value}\b[^.,;]{{0,20}}\b(?:left|free|available|remaining|later|earlier|before)\b|\b{value}\b[^.;]{{0,40}}\b(?:no time|excepted|clear of|set aside)\b"
    lead = re.split(r"[;,.]", plain(text).partition(plain(finding.said))[0])[-1]
    # "It comes back on Friday" is beside nothing, if the fact is the day on which it comes back.
    aside = [m for m in _BESIDE.findall(lead) if m not in plain(fact.what)]
    if (finding.beside and (fact.kind not in MEASURED or aside)) or re.search(beside, plain(text)):
        return True
    if fact.kind not in MEASURED and plain(finding.said) in plain(scenario.task.intent):
        return True
    if fact.known == "open" and len(scenario.domains) > 1 and not content(fact.what) & content(text):
        return True  # the hour of another part
    around = {"time": plain(text), "date": lead}.get(fact.kind, "")
    if _NUDGE.search(around) and not _NUDGE.search(fact.what):
        return True
    if fact.kind == "place":
        start = rf"\b(?:fl(?:y|ying|ights?)|from|via|home|leav\w+|depart\w*)\b[^.;]{{0,24}}\b{value}\b|\b{value} ?(?:to|-|–|→)"
        return mentions(finding.said, scenario.situation.location) or bool(re.search(start, plain(text)))
    if fact.kind == "duration":
        return not any(
            of_a_size(v, fact)
            for v in typed_values(plain(finding.said), "2026-01-01")
            if v.kind == "duration"
        )
    if fact.kind == "count":
        things = content(re.sub(r"^\w+ (?:for|of) ", "", finding.said)) - _NUMBERS
        people = bool(OF_PEOPLE.search(fact.what))
        if _PEOPLE.search(plain(finding.said)):
            return not people
        return bool(things) and not (things & content(fact.what) or (things & PERSONS and people))
    return False
