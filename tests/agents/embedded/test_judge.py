"""The embedded judge by words: facts, deeds, limits, how a dialogue ends, and what it does not judge."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_personalens.agents.embedded.judge import EmbeddedJudge
from pytest_personalens.agents.embedded.judge.personalization import POINTS, score
from pytest_personalens.core.errors import JudgeFault, NotJudged
from pytest_personalens.core.facts import Clock, Fact, Limit
from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.scenario import GoalPart, Scenario
from tests.support.datasets.dinner import DINNER, dialogue

TC, P, FACTS = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION, Dimension.FACTS
FACTS_OF_TASK = (
    Fact(name="day", what="the day", kind="date", right=("2026-06-05",), wrong=("2026-06-06",), known="said"),
    Fact(name="people", what="how many people", kind="count", right=("2",), wrong=("3",), known="said"),
)
PARTS = (
    GoalPart(text="a table is booked", kind="done", words=("table", "booked"), facts=("day", "people")),
    GoalPart(text="what it costs", kind="told", slots=("price",), words=("costs",)),
)
TASK = DINNER.task.model_copy(update={"facts": FACTS_OF_TASK, "parts": PARTS})
NUTS = Limit(
    kind="allergy", name="a nut allergy", text="Nadia must not eat nuts.", words=("walnuts", "almonds")
)
SCENARIO = DINNER.model_copy(
    update={"task": TASK, "now": Clock(date="2026-06-03", time="10:00"), "limits": (NUTS,)}
)
BOOKED = "I've booked a table for two on Friday 5 June; dinner costs about $40."


def verdict(*replies: str, dimension: Dimension = TC, scenario: Scenario = SCENARIO, **how: Any) -> Any:
    turns = [text for reply in replies for text in ("Please book a table.", reply)]
    return EmbeddedJudge().verdict(scenario, dialogue(*turns).model_copy(update=how), dimension)


@pytest.mark.parametrize(
    ("replies", "done", "states", "detail"),
    [
        ([BOOKED], 1, ["done", "done"], ""),
        (["I've booked a table for two on Saturday 6 June; it costs $40."], 0, ["wrong", "done"], "the day: saturday 6 june"),
        (["I've booked a table for three on Friday 5 June; it costs $40."], 0, ["wrong", "done"], "how many people"),
        (["I've booked a table for Friday 5 June; it costs $40."], 0, ["missing", "done"], "how many people: not said"),
        (["I've booked a table for two on Friday 5 June."], 0, ["done", "missing"], "the price: not said"),
        (["I'll book a table for two on Friday 5 June. It costs $40."], 0, ["promised", "done"], ""),
        (["Please book a table for two on Friday 5 June yourself. It costs $40."], 0, ["handed-back", "done"], ""),
        ([BOOKED, "The table for two on Friday 5 June has not been booked after all."], 0, ["refused", "done"], ""),
        ([BOOKED, "You're welcome! Our office is open from nine to five."], 1, ["done", "done"], ""),
    ],
)  # fmt: skip
def test_a_task_by_words(replies: list[str], done: int, states: list[str], detail: str) -> None:
    found = verdict(*replies)
    assert found.score == done, found.justification
    assert [reason.code for reason in found.reasons] == states
    assert any(detail in reason.detail for reason in found.reasons)


def test_the_words_of_the_user_complete_nothing_and_a_report_in_them_does() -> None:
    asked = "Please get a table for two booked on Friday 5 June."
    for wish, reply, done in (
        (asked, f"Got it: {asked}", 0),
        (
            "Could you book a table for two on Friday 5 June?",
            "I've booked a table for two on Friday 5 June.",
            1,
        ),
    ):
        found = EmbeddedJudge().verdict(
            SCENARIO, dialogue(wish, f"{reply} It costs $40." if done else reply), TC
        )
        assert found.score == done, found.justification


@pytest.mark.parametrize("how", [{"end": "unserved"}, {"end": "limit"}])
def test_who_leaves_unserved_is_not_served(how: dict[str, Any]) -> None:
    assert verdict(BOOKED, **how).score == 0


def test_facts_are_the_share_that_stands() -> None:
    assert verdict(BOOKED, dimension=FACTS).score == 1
    assert verdict("I've booked a table for two.", dimension=FACTS).score == 0.5


@pytest.mark.parametrize(
    ("more", "broken"),
    [
        ("It comes with walnuts.", True),
        ("I've ordered the salad with almonds for you.", True),
        ("It comes without walnuts.", False),
        ("I told the kitchen of your nut allergy, so no almonds.", False),
        ("Would you like walnuts with it?", False),
    ],
)
def test_serving_what_is_forbidden_breaks_a_limit(more: str, broken: bool) -> None:
    task, taste = (verdict(f"{BOOKED} {more}", dimension=d) for d in (TC, P))
    assert (task.score == 0, taste.reasons[0].code == "limit-broken") == (broken, broken)
    if broken:
        assert taste.score == 1
        assert task.reasons[0].code == "limit-broken"
        for part in ("Nadia", "a nut allergy"):
            assert part in task.justification


def test_without_facts_task_completion_is_not_judged() -> None:
    for dimension in (TC, FACTS):
        with pytest.raises(NotJudged):
            verdict(BOOKED, dimension=dimension, scenario=DINNER)
    assert verdict(BOOKED, dimension=P, scenario=DINNER).score in (1, 2, 3, 4)


@pytest.mark.parametrize(
    "reply",
    [
        "Ich habe für dich einen Tisch für zwei Personen am Freitag reserviert, und das kostet vierzig Dollar.",
        "He reservado una mesa para dos personas el viernes cinco de junio y cuesta cuarenta dólares.",
        "予約しました。金曜日の夜、二名様です。",
    ],
)
def test_another_language_is_said_in_one_line(reply: str) -> None:
    with pytest.raises(JudgeFault, match="use a model as the judge") as raised:
        verdict(reply)
    assert "\n" not in str(raised.value)


def test_twelve_things_make_the_score() -> None:
    assert len(POINTS) == 12
    nothing = dict.fromkeys(POINTS, 0.0)
    most = {name: float(points > 0) for name, points in POINTS.items()}
    least = {name: float(points < 0) for name, points in POINTS.items()}
    assert score(nothing) == 2
    assert (score(most), score(least)) == (4, 1)


def test_naturalness_is_no_reading_of_it() -> None:
    with pytest.raises(JudgeFault, match="a model as the judge does"):
        verdict(BOOKED, dimension=Dimension.NATURALNESS_ASSISTANT)
