"""Finds what the simulated user says against the facts of its scenario."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.user_fault import UserFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.reading.findings import FactReader, Finding
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Scenario

WORD: Final = re.compile(r"[\w'’]+")
#: A text that may hold a typed value; a quick test.
_VALUE: Final = re.compile(
    r"\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|tonight|noon|midnight|january|february|march|april|june|july|august|september|october|november|december"
    r"|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|half|fortnight|twice)\b"
)
#: A sentence that turns a value down or repeats what it was told, and one that speaks of something beside.
_NO_CLAIM: Final = re.compile(
    r"\b(?:no|not|nor|never|none|nobody|wrong|mistake|instead|still|rather|other than|except|says?|said|thought|you have|unless|already|at (?:an|one) hour)\b"
)
_BESIDE: Final = re.compile(
    r"\b(?:but|before|after|until|by|within|since|last|usual|usually|every|each|ago|old|from|back|also|maybe|or)\b"
)
_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_DAYS: Final = re.compile(rf"\b{_DAY}(?:,? (?:to|and|or|through|until) |, ?| ?- ?){_DAY}\b|\b{_DAY[:-1]}\b")
#: The kinds of facts whose values are told apart safely, and those of them that are names.
_NAMES: Final = frozenset({"person", "place", "provider"})
_READ: Final = _NAMES | {"count", "date", "time", "duration", "money"}


def contradictions(scenario: Scenario, messages: Sequence[Message]) -> Iterator[UserFault]:
    """Yield what the user says against the facts, each fact once. Without facts, there is nothing to yield."""
    facts = scenario.task.facts
    own = _known_words(scenario)
    turns = [t for t, m in enumerate(messages) if m.role == "user" and _may_contradict(m.content, own, facts)]
    if not turns:
        return
    # A replay rarely gets here, and these imports would slow it down.
    from pytest_personalens.agents.language.statements import of_message, plain
    from pytest_personalens.agents.reading.findings import FactReader

    reader, told, intent = FactReader(scenario), set[str](), plain(scenario.task.intent)
    for turn in turns:
        heard = " ".join(plain(m.content) for m in messages[:turn] if m.role == "assistant")
        right = {f.fact.name for f in reader.findings(messages[turn].content) if f.right}
        for text, quote in of_message(messages[turn].content):
            for finding in _claims(reader, text, plain(text)):
                # One wrong value is one fault, also where two facts have it as a wrong one.
                known = {finding.fact.name, finding.said} & (right | told) or _is_said(finding.said, intent)
                problem = "" if known else _against(finding, text, heard, reader)
                if problem:
                    told |= {finding.fact.name, finding.said}
                    said = _as_written(finding.said, text)
                    yield UserFault(
                        code="contradicted", turn=turn, quote=quote, text=f"says {said}, {problem}"
                    )


def _claims(reader: FactReader, text: str, folded: str) -> Iterator[Finding]:
    """Yield what a statement of the user says of the facts and is not right."""
    from pytest_personalens.agents.reading.findings import Finding
    from pytest_personalens.agents.reading.typed_values import agrees, typed_values

    if _NO_CLAIM.search(folded) or _DAYS.search(folded):
        return
    for value in typed_values(folded, reader.today):
        alike = reader.alike(value)
        if not any(reader.fits(value, fact) for fact in alike):
            # A value that looks right and is not says more than one that is merely different.
            yield from (
                Finding(fact, value.said, right=False)
                for fact in alike
                if any(agrees(value, wrong, reader.today) for wrong in fact.wrong)
            )
    beside = _BESIDE.search(folded)
    for finding in reader.findings(text):
        if not (finding.right or finding.beside) and (finding.fact.kind in _NAMES or not beside):
            yield finding


def _known_words(scenario: Scenario) -> frozenset[str]:
    """Return the words of what the user wants, and of the values that are right wherever they are said."""
    facts = scenario.task.facts
    ruled_out = {value for f in facts if f.known == "open" for value in f.wrong}
    said = [v for f in facts if ruled_out.isdisjoint(f.right) for v in (f.says, *f.right)]
    return frozenset(WORD.findall(" ".join((scenario.task.intent, *said)).lower()))


def _may_contradict(text: str, known: frozenset[str], facts: Sequence[Fact]) -> bool:
    """True if a text holds other values than those that are known, or a wrong name."""
    if not facts:
        return False
    rest = " ".join(word for word in WORD.findall(text.lower()) if word not in known)
    return bool(_VALUE.search(rest)) or any(
        wrong in text for fact in facts if fact.kind in _NAMES for wrong in fact.wrong
    )


def _against(finding: Finding, text: str, heard: str, reader: FactReader) -> str:
    """Return what the scenario says against a finding; empty where it says nothing.

    What the assistant said first, in `heard`, may be about something else.
    """
    fact = finding.fact
    if finding.of_taste or fact.kind not in _READ:
        return ""
    if fact.known != "open":
        said_first = _is_said(finding.said, heard)
        return "" if said_first else f"the scenario says {fact.says or ' or '.join(fact.right)} ({fact.what})"
    others = (f.fact for f in reader.findings(text) if f.right and f.fact.known == "said")
    other = next((one for one in others if not {*one.right}.isdisjoint(fact.wrong)), None)
    return f"the scenario rules that out ({other.what}: {other.says})" if other is not None else ""


def _is_said(value: str, folded: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value.lower())}(?!\w)", folded) is not None


def _as_written(said: str, text: str) -> str:
    match = re.search(re.escape(said), text, re.IGNORECASE)
    return match[0] if match else said
