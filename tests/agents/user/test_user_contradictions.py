"""Over every domain, preference type and value: whatever is asked, in whatever words, the user never
contradicts the profile.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from pytest_personalens import Message, Scenario
from pytest_personalens.agents import EmbeddedUserAgent
from pytest_personalens.agents.language.text import mentions
from pytest_personalens.datasets import EmbeddedDataset
from tests.support.datasets.folders import write_own_domains

#: {a} is the person's value, {b} another one.
EITHER: Final = (
    "Would you like {a} or {b}?",
    "{A} or {b}?",
    "{B} or {a}?",
    "For the {noun}, {a} or {b}?",
    "Which {noun} do you prefer, {b} or {a}?",
    "Should it be {b}, or rather {a}?",
)
OTHER: Final = ("Shall I make it {b}?", "Would {b} be okay for the {noun}?", "So {b}, right?", "Is {b} fine?")
OWN: Final = ("Shall I make it {a}?", "Would {a} be okay for the {noun}?", "So {a}, right?")
OPEN: Final = (
    "Which {noun} would you like?",
    "What is your preference for the {noun}?",
    "And the {ask}?",
    "Any preference on {ask}?",
)
#: Of a type without a list nobody knows what is one of it, unless the question says so.
NAMED: Final = ("Would {b} be okay for the {noun}?", "For the {noun}, is {b} fine?")

_YES: Final = re.compile(
    r"(?:yes|yep|yeah|sure|okay|ok\b|sounds good|perfect|certainly|that's (?:fine|good)|fine|that (?:works|suits)|right)",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"(?:no\b|nah|neither|i don't need|that won't|i can do without|i'll pass)", re.IGNORECASE
)
_OPEN_VALUE: Final = re.compile(r"no (?:\w+ )?preference|any\b", re.IGNORECASE)


class Pair(NamedTuple):
    """A scenario whose person holds one value of a type, and another value that the type has."""

    scenario: Scenario
    own: str
    other: str
    noun: str
    ask: str
    listed: bool


def pairs(dataset: EmbeddedDataset, domain: str) -> Iterator[Pair]:
    """Each value of each type of a domain, with another one; of types without a list, what people hold."""
    ref = next(r for u in dataset.users() for r in dataset.refs(u) if r.domains == (domain,))
    base = dataset.load(ref)
    held = [dataset.profile(u).domains.get(domain, {}) for u in dataset.users()]
    for name, spec in dataset.domain(domain).preferences.items():
        chance = random.Random(f"{domain}, {name}")
        found = spec.values or tuple(dict.fromkeys(v for entry in held for v in _values(entry.get(name, ()))))
        chosen = found if spec.values else chance.sample(found, min(6, len(found)))
        for number, own in enumerate(chosen):
            others = [v for v in found if v != own and not mentions(own, v) and not mentions(v, own)]
            if not others:
                continue
            other = chance.choice(others)
            # What else the person holds must not be named by accident.
            beside = {
                k: vs for k, vs in base.preferences[domain].items()
                if k != name and not any(mentions(x, y) or mentions(y, x) for x in vs for y in (own, other))
            }  # fmt: skip
            # Facts that the user tells when asked answer the question better than a preference does.
            facts = tuple(fact for fact in base.task.facts if fact.known not in ("told", "said"))
            task = base.task.model_copy(update={"relevant": ((domain, name),), "facts": facts})
            scenario = base.model_copy(
                update={"preferences": {domain: {**beside, name: (own,)}}, "task": task}
            )
            noun = (
                re.sub(r"\b(?:preferred|preferences?|favou?rites?|frequent)\b", "", name.lower()).strip()
                or name.lower()
            )
            yield Pair(
                scenario,
                own,
                other,
                " ".join(noun.split()),
                spec.ask[number % len(spec.ask)],
                bool(spec.values),
            )


def _values(entry: str | Sequence[str]) -> Sequence[str]:
    return (entry,) if isinstance(entry, str) else entry


def said(pair: Pair, form: str) -> tuple[str, str]:
    """The question, and the user's answer to it."""
    a, b = pair.own, pair.other
    question = form.format(
        a=a, b=b, A=a[:1].upper() + a[1:], B=b[:1].upper() + b[1:], noun=pair.noun, ask=pair.ask
    )
    user = EmbeddedUserAgent()
    opening = Message(role="user", content=user.turn(pair.scenario, ()).content)
    asked = Message(role="assistant", content=question[0].upper() + question[1:])
    return asked.content, user.turn(pair.scenario, (opening, asked)).content


def contradictions(pair: Pair) -> Iterator[tuple[str, str, str]]:
    """Own value, question and answer, where the answer goes against the profile or keeps from what it was
    asked for.
    """

    def own(answer: str) -> bool:
        return mentions(re.sub(r"\s*\([^)]*\)", "", pair.own) or pair.own, answer)

    def other(answer: str) -> bool:
        return mentions(pair.other, answer) and not re.search(r"\bnot\b", answer)

    def none(answer: str) -> bool:
        return bool(_OPEN_VALUE.match(pair.own)) and not other(answer)

    checks = (
        (EITHER, lambda t: (own(t) and not other(t)) or none(t)),
        (OTHER if pair.listed else NAMED, lambda t: own(t) or not (_YES.match(t) or other(t))),
        (OWN, lambda t: (own(t) or bool(_YES.match(t))) and not _NO.match(t)),
        (OPEN, lambda t: own(t) or none(t)),
    )
    for forms, good in checks:
        for form in forms:
            question, answer = said(pair, form)
            if not good(answer):  # type: ignore[no-untyped-call]
                yield pair.own, question, answer


@pytest.mark.parametrize("domain", EmbeddedDataset().domains())
def test_no_answer_contradicts_the_profile(domain: str) -> None:
    found = [each for pair in pairs(EmbeddedDataset(), domain) for each in contradictions(pair)]
    assert found == []


@pytest.mark.parametrize("domain", ["Pharmacy", "Tool Library"])
def test_no_answer_contradicts_the_profile_in_a_domain_of_ones_own(tmp_path: Path, domain: str) -> None:
    dataset = EmbeddedDataset(write_own_domains(tmp_path / "own"))
    found = [each for pair in pairs(dataset, domain) for each in contradictions(pair)]
    assert found == []


@pytest.mark.parametrize(
    ("question", "wanted", "unwanted"),
    [
        ("Is it 30 or 90 days?", "one week", "30|90"),
        ("Two days or one week?", "one week", "two days"),
        ("For 7 days or for 14 days?", "7 days|one week", "14"),
        ("Two weeks or a month?", "one week", "two weeks|month"),
    ],
)
def test_a_length_is_the_same_in_other_units(
    tmp_path: Path, question: str, wanted: str, unwanted: str
) -> None:
    dataset = EmbeddedDataset(write_own_domains(tmp_path / "own"))
    ref = next(ref for ref in dataset.refs("bríd") if ref.task == "tool-library-1")
    (answer,) = {said(Pair(dataset.load(ref), "one week", "", "", "", listed=False), question)[1]}
    assert re.search(wanted, answer.lower()), answer
    assert not re.search(unwanted, answer.lower()), answer


def test_a_name_that_can_only_be_another_one_is_turned_down(tmp_path: Path) -> None:
    dataset = EmbeddedDataset(write_own_domains(tmp_path / "own"))
    scenario = dataset.load(next(ref for ref in dataset.refs("orla") if ref.task == "pharmacy-1"))
    for form in ("Is Corvex fine?", "Shall I make it Corvex?", "So Corvex, right?"):
        question, answer = said(Pair(scenario, "Belmora", "Corvex", "", "", listed=False), form)
        assert "Belmora" in answer, (question, answer)
    for form in ("Is Friday fine?", "Is Belmora fine?", "Is that fine?"):
        question, answer = said(Pair(scenario, "Belmora", "Friday", "", "", listed=False), form)
        assert not _NO.match(answer), (question, answer)
