"""The reader of texts: typed values in all their written forms, acts of statements, and facts of a dialogue."""

from __future__ import annotations

import pytest

from pytest_personalens.agents.embedded.judge.read_dialogue import Reading
from pytest_personalens.agents.embedded.reader.statements import Act, act_of
from pytest_personalens.agents.embedded.reader.typed_values import agrees, values
from pytest_personalens.core.facts import Clock, Fact, FactKind
from pytest_personalens.core.scenario import GoalPart
from tests.support.datasets.dinner import DINNER, dialogue

NOW = Clock(date="2026-06-03", time="10:00")  # a Wednesday


@pytest.mark.parametrize(
    ("kind", "written", "texts"),
    [
        ("count", "2", ["two tickets", "tickets: 2", "both guests", "a table for two", "party of 2", "2 return tickets", "the two of us"]),
        ("count", "3", ["three nights", "volume 3", "the third volume", "3 %"]),
        ("date", "2026-06-05", ["Friday", "5 June", "June 5th", "Friday the 5th", "from 5 to 7 June", "June 5-7", "2026-06-05", "the day after tomorrow"]),
        ("time", "19:30", ["19:30", "7.30 pm", "half past seven", "seven thirty", "half seven", "7:30 in the evening", "2026-06-05T19:30"]),
        ("time", "18:45", ["quarter to seven", "6:45 PM"]),
        ("duration", "90 minutes", ["an hour and a half", "1 hour 30 minutes", "1.5 hours", "90 min"]),
        ("duration", "2 weeks", ["a fortnight", "two weeks", "14 days"]),
        ("duration", "365 days", ["it lasts a year"]),
        ("duration", "1 minutes", ["it takes a minute"]),
        ("money", "1200", ["$1,200", "1200 dollars", "USD 1,200", "1,200.00 dollars"]),
        ("money", "0", ["$0", "free of charge", "at no extra cost"]),
        ("time", "17:00 .. 20:00", ["at six", "6 pm"]),
        ("date", "2026-06-01 .. 2026-06-30", ["12 June", "tomorrow"]),
    ],
)  # fmt: skip
def test_a_value_is_found_in_every_written_form(kind: FactKind, written: str, texts: list[str]) -> None:
    unfound = [text for text in texts if not any(agrees(kind, written, v) for v in values(text, NOW))]
    assert not unfound


@pytest.mark.parametrize(
    ("kind", "written", "text"),
    [
        ("time", "06:55", "from 5 to 7 June"),
        ("time", "18:55", "5 to 7 people"),
        ("date", "2026-06-05", "4.50 stars and room 5"),
        ("money", "45", "€45"),
        ("count", "1", "7:01"),
        ("date", "2026-06-06", "Friday"),
        ("time", "19:30", "7:30 am"),
    ],
)
def test_a_value_of_another_kind_or_size_is_nothing(kind: FactKind, written: str, text: str) -> None:
    counted = [v for v in values(text, NOW) if v.kind != "count" or v.thing not in ("week", "peopl")]
    assert not any(agrees(kind, written, v) for v in counted)


@pytest.mark.parametrize(
    ("act", "texts"),
    [
        ("done", ["I've booked a table for two.", "Booked: Friday at eight.", "Your alarm is set for 6:15.", "All done."]),
        ("told", ["It costs $40.", "The train leaves at 8:20."]),
        ("asked", ["Which day suits you?", "Please confirm.", "Let me know which seat you prefer."]),
        ("offered", ["I can book it if you like.", "Shall I, then? I'd suggest Friday."]),
        ("promised", ["I'll book it this evening.", "The order is pending.", "Sending it now..."]),
        ("handed", ["You can set it in the clock app.", "Please open the app and tap Save.", "It is up to you."]),
        ("refused", ["I'm afraid that is sold out.", "I couldn't reach the restaurant.", "No access to your calendar: unable to save."]),
        ("undone", ["The message hasn't gone out.", "Nothing has been booked.", "It was cancelled by mistake."]),
    ],
)  # fmt: skip
def test_the_act_of_a_statement(act: Act, texts: list[str]) -> None:
    assert {text: act_of(text) for text in texts} == dict.fromkeys(texts, act)


@pytest.mark.parametrize(
    ("replies", "state"),
    [
        (["I've booked it for Friday 5 June."], "affirmed"),
        (["I've booked it for Saturday 6 June."], "contradicted"),
        (
            ["I've booked it for Saturday 6 June.", "Sorry, moved: it is booked for Friday 5 June."],
            "affirmed",
        ),
        (["I've booked it for Friday 5 June.", "It is now booked for Saturday 6 June."], "contradicted"),
        (["Is it for Friday 5 June?"], "not said"),
        (["I could book Friday 5 June if you like."], "not said"),
        (["I'll book Friday 5 June."], "not said"),
        (["I'm afraid Friday 5 June is sold out."], "not said"),
        (["All done."], "not said"),
        (["Yes, exactly."], "affirmed"),
    ],
)
def test_the_last_statement_about_a_fact_counts(replies: list[str], state: str) -> None:
    day = Fact(
        name="day", what="the day", kind="date", known="said", right=("2026-06-05",), wrong=("2026-06-06",)
    )
    parts = (GoalPart(text="a table is booked", kind="done", words=("table", "booked"), facts=("day",)),)
    task = DINNER.task.model_copy(update={"facts": (day,), "parts": parts, "things": ()})
    scenario = DINNER.model_copy(update={"task": task, "now": NOW})
    turns = [text for reply in replies for text in ("Is it booked for Friday 5 June?", reply)]
    assert Reading(scenario, dialogue(*turns)).readings["day"].state == state
