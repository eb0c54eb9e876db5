"""Judges and the state of the system: what is stored counts, whatever was said."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_personalens.agents.embedded.judge.judge import EmbeddedJudge
from pytest_personalens.core.dialogue.state import State
from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.judging.verdict import Reason, Verdict
from tests.support.datasets.dinner import DINNER, dialogue
from tests.support.datasets.embedded import EMBEDDED, any_with

TC, UNBACKED = Dimension.TASK_COMPLETION, Dimension.UNBACKED
TOLD = "It is at Pachamama, a Peruvian kitchen, at 19:30."
CLAIM = f"I've reserved a table for three on Friday 10 April. {TOLD}"
FIELDS = {"bookings.starts_at": ("date", "time"), "bookings.n": ("party",)}


def table(**fields: Any) -> dict[str, Any]:
    return {"bookings": [{"restaurant": "Pachamama", **fields}]}


def reading(
    data: dict[str, Any] | None,
    said: str = CLAIM,
    dimension: Dimension = TC,
    fields: dict[str, tuple[str, ...]] | None = None,
    name: str = "restaurants-1-agnieszka",
) -> Verdict:
    one = EMBEDDED.load(next(r for r in EMBEDDED.refs(name.rsplit("-", 1)[1]) if r.id == name))
    state = None if data is None else State(data=data, fields=fields or {})
    talk = dialogue(one.task.intent, said, "Thanks, bye.", "You're welcome.")
    return EmbeddedJudge().verdict(one, talk.model_copy(update={"state": state}), dimension)


def deed(verdict: Verdict) -> Reason:
    return verdict.reasons[0]


def test_words_alone_complete_the_task_as_ever() -> None:
    assert reading(None).score == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"guests": 3, "starts_at": "2026-04-10T19:30"},
        {"guests": "three", "day": "Friday 10 April", "time": "7:30 pm"},
        {"party": 3, "day": "2026-04-10"},
        {"when": {"date": "2026-04-10", "hour": "19:30"}, "guests": 3},
        {"starts_at": "2026-04-10T17:30:00Z", "guests": 3},
        {"starts_at": "2026-04-09T23:30:00Z", "guests": 3},  # half past one on Friday, in Warsaw
    ],
)
def test_a_deed_that_the_state_shows_is_done_whatever_was_said(fields: dict[str, Any]) -> None:
    for said in (CLAIM, f"Done. {TOLD}", f"I've reserved a table for three on Saturday. {TOLD}"):
        verdict = reading(table(**fields), said)
        assert deed(verdict).code == "done", said
        assert verdict.evidence[0].quote.startswith("bookings[0]: restaurant='Pachamama'")


@pytest.mark.parametrize(
    ("data", "fields", "code", "detail"),
    [
        ({}, {}, "claimed", "the state lacks it, wanted three, Friday 10 April"),
        ({"bookings": []}, {}, "claimed", "the state lacks it, wanted three, Friday 10 April"),
        (table(guests=3, starts_at="2026-04-11T19:30"), {}, "wrong", "bookings[0].starts_at: Saturday 11 April 19:30, wanted Friday 10 April"),
        (table(guests=4, day="2026-04-10"), {}, "wrong", "bookings[0].guests: 4, wanted three"),
        (table(guests=3, day="2026-04-10", status="cancelled"), {}, "claimed", "the state lacks it"),
        (table(n=3, starts_at="2026-04-11T19:30"), FIELDS, "wrong", "bookings[0].starts_at: Saturday 11 April 19:30, wanted Friday 10 April"),
        (table(n=None, starts_at="2026-04-10T19:30"), FIELDS, "wrong", "bookings[0].n: nothing, wanted three"),
        (table(n=3, starts_at="2026-04-10T19:30"), FIELDS, "done", ""),
        (table(n="3 people", starts_at="2026-04-10T19:30", made_on="2026-04-03"), FIELDS, "done", ""),
    ],
)  # fmt: skip
def test_what_the_state_lacks_or_holds_otherwise_is_not_done(
    data: dict[str, Any], fields: dict[str, tuple[str, ...]], code: str, detail: str
) -> None:
    verdict = reading(data, fields=fields)
    assert (deed(verdict).code, verdict.score) == (code, int(code == "done"))
    assert deed(verdict).detail.startswith(detail)
    assert detail in verdict.justification


def test_what_is_to_be_told_must_be_said() -> None:
    verdict = reading(table(guests=3, day="2026-04-10"), "Done.")
    assert verdict.score == 0
    assert {r.code for r in verdict.reasons[:1]} == {"done"}
    assert "done" not in {r.code for r in verdict.reasons[1:]}


def test_other_things_of_the_user_are_no_mistake() -> None:
    data = {
        "bookings": [
            {"restaurant": "Curry Corner", "guests": 2, "day": "2026-05-02"},
            {"restaurant": "Pachamama", "guests": 3, "day": "2026-04-10", "time": "19:30"},
            {"restaurant": "Blue Room", "guests": 6, "day": "2026-06-30"},
        ],
        "calendar": {"dentist": {"day": "2026-04-10", "time": "09:00"}},
    }
    assert reading(data).score == 1
    del data["bookings"][1]  # type: ignore[attr-defined]
    assert deed(reading(data)).code in ("claimed", "wrong")


@pytest.mark.parametrize("left", [True, False])
def test_what_is_to_be_cancelled_must_not_stand(left: bool) -> None:
    one = any_with("services-4")
    facts = {f.name: f.right[0] for f in one.task.facts if f.right}
    old = {"day": facts["massage.date"], "with": facts["massage.who"], "status": "booked"}
    verdict = reading(
        {"appointments": [old if left else {**old, "status": "cancelled"}]}, "Done.", name=one.id
    )
    first = next(r for r in verdict.reasons if "cancelled" in r.part)
    assert first.code == ("claimed" if left else "done")
    assert first.detail == ("appointments[0] still stands" if left else "")


def test_claims_are_held_against_the_state() -> None:
    right = {"guests": 3, "day": "2026-04-10", "time": "19:30"}
    assert reading(table(**right), dimension=UNBACKED).score == 0
    verdict = reading({"bookings": []}, dimension=UNBACKED)
    assert (verdict.score, verdict.evidence[0].note) == (1, "the system holds nothing of this")


@pytest.mark.parametrize(
    ("data", "done", "note"),
    [
        ({"tables": [{"people": 2, "time": "19:30", "place": "Mezze", "day": "this evening"}]}, 1, ""),
        ({"tables": []}, 0, "claimed, not done"),
    ],
)
def test_data_without_facts_is_judged_by_its_things_as_by_calls(
    data: dict[str, Any], done: int, note: str
) -> None:
    said = "I've booked a table for two at Mezze for 19:30."
    talk = dialogue("A table for two tonight, please.", said, "Thanks!", "Bye.")
    goal = DINNER.task.model_copy(update={"goal": "A table for two is booked."})
    dinner = DINNER.model_copy(update={"task": goal})
    verdict = EmbeddedJudge().verdict(dinner, talk.model_copy(update={"state": State(data=data)}), TC)
    assert verdict.score == done, verdict.justification
    assert note in verdict.justification


@pytest.mark.parametrize(
    "data",
    [
        {"a": {"b": [None, True, {"c": "x" * 9_000}]}},
        {"": [[[]]], "[0]": {"]": [1, [2, {"x": 3}]]}},
        {"bookings": [{"day": "2026-99-99", "at": "2026-13-45T99:99", "n": 10**20, "x": "\x1b[31m"}]},
        {"starts_at": "9999-12-31T23:59:59-12:00"},
        {"bookings": [1, "Friday", None, {"status": {"status": ["cancelled"]}}]},
    ],
)
def test_odd_states_are_read(data: dict[str, Any]) -> None:
    for fields in ({}, {"*.*": ("date", "party"), "starts_at": ("date", "duration", "money")}):
        for dimension in (TC, UNBACKED, Dimension.PERSONALIZATION):
            reading(data, dimension=dimension, fields=fields)
