"""Task completion and limits by the facts of a scenario, through a whole evaluation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_personalens import Dimension, Evaluation, Scenario, evaluate
from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.core.judging.verdict import Reason, Verdict
from pytest_personalens.datasets import EmbeddedDataset

DATASET = EmbeddedDataset()


def dinner() -> Scenario:
    """A table for three on the coming Friday; the user is Adeola."""
    return DATASET.load(next(r for r in DATASET.refs("agnieszka") if r.task == "restaurants-1"))


def played(scenario: Scenario, *replies: Any) -> Evaluation:
    """The evaluation of an assistant that gives these replies, the last one to all further messages."""

    def assistant(messages: Sequence[Mapping[str, str]]) -> Any:
        turn = sum(m["role"] == "assistant" for m in messages)
        return replies[min(turn, len(replies) - 1)]

    return evaluate(scenario, assistant, EmbeddedUserAgent(), EmbeddedJudge())


def verdict(evaluation: Evaluation, dimension: Dimension) -> Verdict:
    return next(v for v in evaluation.verdicts if v.dimension is dimension)


def fact(scenario: Scenario, name: str) -> Any:
    return next(f for f in scenario.task.facts if f.name == name)


def right(scenario: Scenario, **changed: str) -> str:
    said = {"party": "three", "day": fact(scenario, "day").says, "hour": "19:30", **changed}
    kitchen = scenario.preferences["Restaurants"]["Cuisine Preference"][0]
    return f"I've booked a table for {said['party']} on {said['day']} at {said['hour']} at Casa Verde. The kitchen is {kitchen}, as you like it."


def test_work_that_is_right_is_completed() -> None:
    scenario = dinner()
    evaluation = played(scenario, right(scenario), "You're welcome!")
    assert evaluation.task_completed
    assert all(r.code == "done" for r in verdict(evaluation, Dimension.TASK_COMPLETION).reasons)


@pytest.mark.parametrize(
    ("name", "value"), [("party", "two"), ("day", "Saturday 1 August"), ("hour", "03:15")]
)
def test_a_wrong_value_is_named_with_what_was_wanted(name: str, value: str) -> None:
    scenario = dinner()
    evaluation = played(scenario, right(scenario, **{name: value}))
    assert evaluation.task_completed is False
    details = [r.detail for r in verdict(evaluation, Dimension.TASK_COMPLETION).reasons if r.code == "wrong"]
    assert any("wanted" in detail and fact(scenario, name).what in detail for detail in details)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("I'll book the table for three on Friday in a moment.", "promised"),
        ("You can book a table for three on Friday on the website of Casa Verde.", "handed-back"),
        ("I'm afraid I couldn't book a table for three on Friday, they are full.", "refused"),
    ],
)
def test_what_is_not_done_is_no_completion_however_often_it_is_said(reply: str, code: str) -> None:
    evaluation = played(dinner(), reply)
    assert evaluation.task_completed is False
    table = verdict(evaluation, Dimension.TASK_COMPLETION).reasons[0]
    assert table.code == code


def test_a_mistake_that_is_repaired_is_none() -> None:
    scenario = dinner()
    evaluation = played(scenario, right(scenario, party="two"), right(scenario), "You're welcome!")
    assert evaluation.task_completed
    said = [m.content for m in evaluation.dialogue.messages if m.role == "user"]
    assert "three" in said[1]


def test_what_is_taken_back_does_not_stand() -> None:
    scenario = dinner()
    taken_back = "I've cancelled the reservation of the table again, so no table is booked."
    evaluation = played(scenario, f"{right(scenario)} {taken_back}", taken_back)
    assert evaluation.task_completed is False


def test_a_broken_limit_is_the_lowest_personalization_with_its_reason() -> None:
    users = [u for u in DATASET.users() if any(r.task == "restaurants-1" for r in DATASET.refs(u))]
    scenarios = (DATASET.load(next(r for r in DATASET.refs(u) if r.task == "restaurants-1")) for u in users)
    scenario = next(s for s in scenarios if any(limit.name == "no shellfish" for limit in s.limits))
    reply = f"{right(scenario)} They also serve you grilled prawns as a starter."
    reading = verdict(played(scenario, reply), Dimension.PERSONALIZATION)
    assert reading.score == 1
    assert reading.reasons[0].code == "limit-broken"
    assert reading.reasons[0].type == "no shellfish"
    kept = verdict(
        played(scenario, f"{right(scenario)} I told them: no prawns and no other shellfish."),
        Dimension.PERSONALIZATION,
    )
    assert kept.score >= 3


@pytest.mark.parametrize(("count", "completed"), [(3, True), (2, False)])
def test_the_arguments_of_a_call_are_held_against_the_facts(count: int, *, completed: bool) -> None:
    scenario = dinner()
    arguments = {
        "restaurant": "Casa Verde",
        "people": count,
        "date": fact(scenario, "day").right[0],
        "time": "19:30",
    }
    called = {"name": "book_table", "arguments": json.dumps(arguments)}
    reply = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "type": "function", "function": called}],
        },
        {"role": "tool", "tool_call_id": "1", "content": '{"ok": true}'},
        {"role": "assistant", "content": right(scenario)},
    ]
    evaluation = played(scenario, reply, "You're welcome!")
    assert evaluation.task_completed is completed


def test_a_detail_is_stored_only_where_there_is_one() -> None:
    assert "detail" not in Reason(code="done", part="x").model_dump()
    assert Reason(code="wrong", part="x", detail="y").model_dump()["detail"] == "y"


def test_what_is_told_with_another_value_is_wrong_and_not_unseen() -> None:
    scenario = DATASET.load(next(r for r in DATASET.refs("gustavo") if r.task == "alarm-1"))
    reply = "Your alarm is set again on the new phone: 7:00 AM, shift days, with temple bell."
    evaluation = played(scenario, reply)
    reasons = {r.part: r for r in verdict(evaluation, Dimension.TASK_COMPLETION).reasons}
    hour = reasons["the hour"]
    assert hour.code == "wrong"
    assert hour.turn is not None
    assert evaluation.dialogue.messages[hour.turn].content == reply
    assert hour.detail == f"{fact(scenario, 'hour').what}: 7:00 am, wanted {fact(scenario, 'hour').says}"
    assert reasons["the sound"].code == "missing"  # a sound may have another name
