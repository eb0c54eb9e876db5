"""The embedded user's first message: the wish in the person's words, short, without a preference."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from pytest_personalens.agents import EmbeddedJudge
from pytest_personalens.agents.embedded.reader.text import mentions
from pytest_personalens.agents.embedded.user.voice import first_person
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import draw, open_dataset
from tests.support.datasets.embedded import EMBEDDED, drawn, next_turn

SCENARIOS = drawn(300, "user")


def opening(scenario: Scenario) -> str:
    return next_turn(scenario).content


def leaked(scenario: Scenario, text: str) -> list[str]:
    """The preferences that the text names, but for words that the task makes the user say."""
    return [
        v
        for types in scenario.preferences.values()
        for vs in types.values()
        for v in vs
        if mentions(v, text) and not (scenario.task.facts and mentions(v, scenario.task.intent))
    ]


def test_no_opening_names_a_preference() -> None:
    for number, user in enumerate(EMBEDDED.users()):
        for ref in EMBEDDED.refs(user)[number % 6 :: 6]:  # each task, of other users
            scenario = EMBEDDED.load(ref)
            text = opening(scenario)
            messages = (Message(role="user", content=text), Message(role="assistant", content="Hello."))
            seen = EmbeddedJudge().verdict(scenario, Dialogue(messages=messages), Dimension.OPENING_LEAK)
            assert not leaked(scenario, text) and not seen.score, (scenario.id, text)
            assert not re.search(r"\byou (?:want|need)\b", text.lower()), (scenario.id, text)


def test_no_opening_names_a_preference_of_the_official_data(official: Path) -> None:
    dataset = open_dataset(str(official))
    for ref in draw(dataset, 300, seed="user").refs:
        scenario = dataset.load(ref)
        assert not leaked(scenario, opening(scenario)), (scenario.id, opening(scenario))


def test_an_opening_tells_every_fact_that_the_user_says_at_once() -> None:
    for scenario in SCENARIOS[::3]:
        text = opening(scenario)
        for fact in scenario.task.facts:
            if fact.known == "said" and fact.says and mentions(fact.says, scenario.task.intent):
                assert mentions(fact.says, text), (scenario.id, fact.says, text)


def test_openings_differ_and_are_not_longer_than_the_wish() -> None:
    texts = [opening(s) for s in SCENARIOS]
    assert len(set(texts)) > 0.9 * len(texts)
    assert not [t for t in texts if re.search(r"\bthank|\bbye\b|never mind", t.lower())]
    words = [len(text.split()) - len(s.task.intent.split()) for s, text in zip(SCENARIOS, texts, strict=True)]
    assert median(words) <= 1


def test_openings_keep_the_words_of_the_task(bots: Any) -> None:
    """However a person words the task, the example bot understands the same."""
    from helpbot.assistant import wanted

    understood: dict[str, list[Any]] = {}
    for scenario in SCENARIOS:
        understood.setdefault(scenario.task.id, []).append(wanted([opening(scenario)])[0])
    missed = {
        task: [s and s.name for s in skills]
        for task, skills in understood.items()
        if None in skills or len({s.name for s in skills}) > 1
    }
    assert len(missed) <= 0.03 * len(understood), missed


@pytest.mark.parametrize(
    ("second", "first"),
    [
        ("You want your alarm back, so that it wakes you on time.", "I want my alarm back, so that it wakes me on time."),
        ("You're late and want to tell the people who wait for you.", "I'm late and want to tell the people who wait for me."),
        ("Compare places before you decide.", "Compare places before I decide."),
        ("You have a car waiting for you there.", "I have a car waiting for me there."),
    ],
)  # fmt: skip
def test_first_person(second: str, first: str) -> None:
    assert first_person(second) == first
