"""The embedded user agent and judge: what they promise, over every embedded scenario."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.agents.embedded_user import first_person, opening
from pytest_personalens.agents.text import fold, mentions, sentences
from pytest_personalens.datasets import EmbeddedDataset, draw
from pytest_personalens.dialogue import Dialogue, Message
from pytest_personalens.errors import JudgeFault
from pytest_personalens.evaluation import Evaluation, evaluate
from pytest_personalens.scenario import Scenario
from pytest_personalens.verdict import Dimension

EMBEDDED = EmbeddedDataset()
SCENARIOS = [EMBEDDED.load(ref) for ref in draw(EMBEDDED, 300, seed="agents").refs]


@pytest.fixture
def bots(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The bots of the example project."""
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "example_project")
    import helpbot.bot

    yield helpbot.bot
    for name in [n for n in sys.modules if n.split(".")[0] == "helpbot"]:
        del sys.modules[name]


def run(bots: Any, name: str, size: int = 40) -> list[Evaluation]:
    found = []
    for ref in draw(EMBEDDED, size, seed="bots").refs:
        scenario = EMBEDDED.load(ref)
        memory = bots.Memory()
        for topic, summary in scenario.summaries.items():
            memory.remember(scenario.user, topic, summary)
        found.append(
            evaluate(scenario, bots.BOTS[name](scenario.user, memory), EmbeddedUserAgent(), EmbeddedJudge(), dimensions=list(Dimension))
        )
    return found


def test_good_and_bad_bots_come_out_in_order(bots: Any) -> None:
    results = {name: run(bots, name) for name in bots.BOTS}
    assert all(e.scored for es in results.values() for e in es)
    p = {name: mean(e.personalization or 0 for e in es) for name, es in results.items()}
    tcr = {name: mean(bool(e.task_completed) for e in es) for name, es in results.items()}
    assert p["remembers"] > p["forgets"] + 0.5, p
    assert p["forgets"] > p["contradicts"] + 0.3, p
    assert p["forgets"] > p["name-drops"] + 0.3, p
    assert tcr["remembers"] >= tcr["forgets"] > tcr["contradicts"] + 0.3, tcr
    assert tcr["name-drops"] < 0.2, tcr


def test_a_dialogue_is_the_same_every_time(bots: Any) -> None:
    assert run(bots, "forgets", 10) == run(bots, "forgets", 10)


def test_dialogues_end_by_decision_and_no_sentence_is_said_twice(bots: Any) -> None:
    for name in bots.BOTS:
        for evaluation in run(bots, name):
            assert not evaluation.dialogue.truncated
            said = [fold(s) for m in evaluation.dialogue.messages if m.role == "user" for s in sentences(m.content)]
            assert len(said) == len(set(said)), (name, evaluation.scenario, said)


def test_no_opening_names_a_preference() -> None:
    for user in EMBEDDED.users():
        for ref in EMBEDDED.refs(user):
            scenario = EMBEDDED.load(ref)
            text = opening(scenario)
            values = [v for types in scenario.preferences.values() for vs in types.values() for v in vs]
            assert not [v for v in values if mentions(v, text)], (scenario.id, text)
            assert not re.search(r"\byou (?:want|need)\b", text.lower()), (scenario.id, text)


@pytest.mark.parametrize(
    ("second", "first"),
    [
        ("You want your alarm back, so that it wakes you on time.", "I want my alarm back, so that it wakes me on time."),
        ("You're late and want to tell the people who wait for you.", "I'm late and want to tell the people who wait for me."),
        ("Compare places before you decide.", "Compare places before I decide."),
        ("You have a car waiting for you there.", "I have a car waiting for me there."),
    ],
)
def test_first_person(second: str, first: str) -> None:
    assert first_person(second) == first


def dialogue(*turns: str) -> Dialogue:
    return Dialogue(messages=tuple(Message(role="assistant" if i % 2 else "user", content=t) for i, t in enumerate(turns)))


def scores(scenario: Scenario, *turns: str) -> tuple[int, int]:
    judge, d = EmbeddedJudge(), dialogue(*turns)
    return tuple(judge.verdict(scenario, d, dim).score for dim in (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION))  # type: ignore[return-value]


def test_applied_unasked_is_three(scenario: Scenario) -> None:
    told = scores(scenario, "I need a ticket to York.", "Booked: York, 9:12, second class, window seat, £18.", "Thanks!", "Safe travels.")
    assert told == (1, 3)


def test_asked_and_then_applied_is_two(scenario: Scenario) -> None:
    told = scores(
        scenario,
        "I need a ticket to York.",
        "Which seat would you like?",
        "Window.",
        "Booked: York, 9:12, window seat, £18.",
        "Thanks!",
        "Bye.",
    )
    assert told == (1, 2)


def test_contradicted_is_one(scenario: Scenario) -> None:
    told = scores(
        scenario, "I need a ticket to York.", "I've booked York, 9:12, in first class on the aisle.",
        "No, that's not me: second class and window.", "I've booked York, 9:12, first class, aisle.", "Forget it.", "Bye.",
    )  # fmt: skip
    assert told == (0, 1)


def test_name_dropping_is_one_and_does_nothing(scenario: Scenario) -> None:
    told = scores(
        scenario,
        "I need a ticket to York.",
        "I know you love a window seat! Trains are great fun.",
        "And? Is it done?",
        "What a great idea!",
    )
    assert told == (0, 1)


def test_habits_foreseen_are_four(scenario: Scenario) -> None:
    told = scores(
        scenario,
        "I need a ticket to York.",
        "Booked: York, 9:12, second class, window seat, £18. There is a rack for the bicycle you take along, and since maps are what you read "
        "on the way, a table. The platform is 8; you wanted it beforehand. Leeds is quiet on Monday.",
        "Thanks!",
        "Bye.",
    )  # fmt: skip
    assert told[0] == 1
    assert told[1] >= 3


def test_handing_back_the_whole_summary_is_not_using_it() -> None:
    scenario = EMBEDDED.load(next(r for r in EMBEDDED.refs("henrik") if r.id == "train-1-henrik"))
    done = "I've booked the train to Bergen, 7:12, NOK 890."
    whole = scores(scenario, "I need a train.", f"{done} On file: {scenario.summaries['Train']}", "Thanks!", "Bye.")
    quoted = scores(scenario, "I need a train.", f'{done} My note says: "{sentences(scenario.summaries["Train"])[1]}"', "Thanks!", "Bye.")
    assert whole == (1, 2)
    assert quoted == (1, 3)


def test_a_promise_is_no_deed(scenario: Scenario) -> None:
    assert scores(scenario, "I need a ticket to York.", "I will book it for you soon.", "Thanks!", "Bye.")[0] == 0


def test_verdicts_carry_their_evidence(scenario: Scenario) -> None:
    d = dialogue("I need a ticket to York.", "Booked: York, 9:12, second class, window seat.", "Thanks!", "Bye.")
    for dim in Dimension:
        verdict = EmbeddedJudge().verdict(scenario, d, dim)
        assert verdict.justification
        for evidence in verdict.evidence:
            assert " ".join(d.messages[evidence.turn].content.split())[:50].find(evidence.quote[:20]) >= 0 or evidence.quote.rstrip(
                "."
            ) in " ".join(d.messages[evidence.turn].content.split())
        assert dim.scale.low <= verdict.score <= dim.scale.high


def test_without_a_reply_there_is_no_verdict(scenario: Scenario) -> None:
    with pytest.raises(JudgeFault):
        EmbeddedJudge().verdict(scenario, dialogue("Hello?"), Dimension.PERSONALIZATION)


def test_repetition_costs_naturalness_and_coherence(scenario: Scenario) -> None:
    good = dialogue("I need a ticket to York.", "To York tomorrow at 9:12?", "Yes please, to York.", "Done, here is your ticket to York.")
    bad = dialogue("I need a ticket to York.", "Please specify the required field.", "York!", "Please specify the required field.")
    for dim in (Dimension.NATURALNESS_ASSISTANT, Dimension.COHERENCE_ASSISTANT):
        assert EmbeddedJudge().verdict(scenario, good, dim).score > EmbeddedJudge().verdict(scenario, bad, dim).score
