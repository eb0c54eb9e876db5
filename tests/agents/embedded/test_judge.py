"""The embedded pair by words: values, acts and facts that are read, what is judged of them, and an oracle."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pytest_personalens import Clock, Dimension, Fact, GoalPart, JudgeFault, Limit, Scenario
from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge
from pytest_personalens.agents.embedded.judge.personalization import POINTS, score
from pytest_personalens.agents.embedded.judge.read_dialogue import Reading
from pytest_personalens.agents.embedded.reader.statements import Act, act_of
from pytest_personalens.agents.embedded.reader.typed_values import agrees, values
from pytest_personalens.core.errors import NotJudged
from pytest_personalens.core.facts import FactKind
from pytest_personalens.datasets import draw
from tests.support.datasets.dinner import DINNER, dialogue
from tests.support.oracle import DATASET, FAULTS, cases_of, play, read_wordings

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
        ("time", "06:55", "from 5 to 7 June"), ("time", "18:55", "5 to 7 people"), ("date", "2026-06-05", "4.50 stars and room 5"),
        ("money", "45", "€45"), ("count", "1", "7:01"), ("date", "2026-06-06", "Friday"), ("time", "19:30", "7:30 am"),
    ],
)  # fmt: skip
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
    parts = (GoalPart(text="a table is booked", kind="done", words=("table", "booked"), facts=("day",)),)
    task = DINNER.task.model_copy(update={"facts": FACTS_OF_TASK[:1], "parts": parts, "things": ()})
    scenario = DINNER.model_copy(update={"task": task, "now": NOW})
    turns = [text for reply in replies for text in ("Is it booked for Friday 5 June?", reply)]
    assert Reading(scenario, dialogue(*turns)).readings["day"].state == state


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
SCENARIO = DINNER.model_copy(update={"task": TASK, "now": NOW, "limits": (NUTS,)})
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
    asked, ask = (
        "Please get a table for two booked on Friday 5 June.",
        "Could you book a table for two on Friday 5 June?",
    )
    for wish, reply, done in (
        (asked, f"Got it: {asked}", 0),
        (ask, "I've booked a table for two on Friday 5 June. It costs $40.", 1),
    ):
        found = EmbeddedJudge().verdict(SCENARIO, dialogue(wish, reply), TC)
        assert found.score == done, found.justification


@pytest.mark.parametrize("how", [{"end": "unserved"}, {"end": "limit"}])
def test_who_leaves_unserved_is_not_served(how: dict[str, Any]) -> None:
    assert verdict(BOOKED, **how).score == 0


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


def test_facts_are_the_share_that_stands_and_without_any_they_are_not_judged() -> None:
    assert verdict(BOOKED, dimension=FACTS).score == 1
    assert verdict("I've booked a table for two.", dimension=FACTS).score == 0.5
    for dimension in (TC, FACTS):
        with pytest.raises(NotJudged):
            verdict(BOOKED, dimension=dimension, scenario=DINNER)
    assert verdict(BOOKED, dimension=P, scenario=DINNER).score in (1, 2, 3, 4)
    with pytest.raises(JudgeFault, match="a model as the judge does"):
        verdict(BOOKED, dimension=Dimension.NATURALNESS_ASSISTANT)


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
    ends = [
        {name: float(wanted(points)) for name, points in POINTS.items()}
        for wanted in ((0.0).__gt__, (0.0).__lt__)
    ]
    assert [score(dict.fromkeys(POINTS, 0.0)), *map(score, ends)] == [2, 1, 4]


@pytest.mark.parametrize(
    ("more", "lacking"),
    [("", "more: details of the past in what is done or told, 3 of 8"), (", moderate. I wish you luck with your divorce", "less: words that the task does not need")],
)  # fmt: skip
def test_a_3_says_what_it_lacks(more: str, lacking: str) -> None:
    found = verdict(f"I've booked Lebanese vegetarian food on an outdoor terrace{more}.", dimension=P)
    assert found.score == 3 and found.justification.endswith(f"; a 4 takes {lacking}"), found.justification


def test_each_mutant_differs_from_the_oracle_in_its_fault() -> None:
    wordings, made = read_wordings(), Counter[str]()
    tasks = {ref.task: ref for user in DATASET.users() for ref in DATASET.refs(user)}
    assert set(wordings) == set(tasks)
    for scenario in map(DATASET.load, tasks.values()):
        for case in (*cases_of(scenario, wordings, held=False), *cases_of(scenario, wordings, held=True)):
            oracle = case.reply()
            assert "{" not in oracle.text
            for name, make in FAULTS.items():
                if (reply := make(case)) is not None:
                    changed = sum(a != b for a, b in zip(oracle.texts, reply.texts, strict=False))
                    made[name] += bool(changed) or len(reply.texts) > len(oracle.texts)
    assert set(made) == set(FAULTS)
    assert not made["oracle"]
    assert min(n for name, n in made.items() if name not in ("oracle", "everything asked")) >= 12, made


def test_the_pair_completes_the_oracles_tasks_and_no_mutants() -> None:
    tallies = play([DATASET.load(ref) for ref in draw(DATASET, 15, seed="oracle").refs], held=False)
    assert tallies["oracle"]["completed"] >= 0.9 * tallies["oracle"]["dialogues"]
    assert tallies["refused"]["completed"] <= 0.2 * tallies["refused"]["dialogues"]
    assert tallies["wrong date"]["completed"] <= 0.35 * tallies["wrong date"]["dialogues"]
    assert tallies["a preference ignored"]["personal"] < tallies["oracle"]["personal"]
