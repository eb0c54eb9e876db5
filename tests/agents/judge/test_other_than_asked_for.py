"""The embedded judge sees a deed with another value than was asked for, one that is only promised, one that is taken
back or failed, and a user who says at the end that it is not done.
"""

from __future__ import annotations

import pytest

from pytest_personalens.agents import EmbeddedJudge
from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.judging.verdict import Dimension, Verdict
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.judge_quality import read_labels
from pytest_personalens.judge_quality.robustness.meaning_changes import meaning_changes
from pytest_personalens.judge_quality.robustness.robustness import sensitivity_to_faults
from tests.support.datasets.dinner import DINNER, dialogue

TC = Dimension.TASK_COMPLETION


def asked(goal: str, *messages: str) -> tuple[Scenario, Dialogue]:
    """A task with this goal, and a dialogue about it on a Tuesday."""
    task = DINNER.task.model_copy(update={"goal": goal, "intent": "You want something done."})
    tuesday = DINNER.situation.model_copy(update={"day_of_week": "Tuesday"})
    return DINNER.model_copy(update={"task": task, "situation": tuesday}), dialogue(*messages)


def verdict(goal: str, *messages: str) -> Verdict:
    return EmbeddedJudge().verdict(*asked(goal, *messages), TC)


TABLE = "A table for two on Friday at 19:30 is reserved."
WISH = "Please reserve a table for two on Friday at 19:30."
DEED = "I've reserved a table for two at Casa Verde on Friday at 19:30, the reference is CV-12."
OTHER = {"day": ("Friday", "Saturday"), "time": ("19:30", "20:30"), "count": ("for two", "for three")}


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (WISH, (DEED, "Great, thank you!")),
        (f"{WISH[:-1]}, not on Saturday.", (DEED, "Thanks!")),
        (WISH, ("Casa Roja declined, so I have reserved a table for two at Casa Verde on Friday at 19:30.", "Great, thank you!")),
        (WISH, (f"Sorry, the first booking did not go through. {DEED}", "Thanks.")),
        (WISH, (DEED, "That's all I asked for, thank you!", "You're welcome!")),
        (WISH, (DEED, "Perfect, that's what I asked for, thanks.", "You're welcome!")),
        (WISH, (DEED, "Where is it?", "Casa Verde is in Mill Lane 4, and your table is reserved there.")),
        (WISH, (DEED, "You forgot the window.", "Done, I've moved you to a table by the window, Friday at 19:30.")),
    ],
    ids=["as asked", "turned down", "another way", "after a failure", "all asked for", "what I asked for", "answered", "mended"],
)  # fmt: skip
def test_what_was_asked_for_completes_the_task(wish: str, said: tuple[str, ...]) -> None:
    assert verdict(TABLE, wish, *said).score == 1


@pytest.mark.parametrize("kind", OTHER)
def test_another_value_does_not(kind: str) -> None:
    was, now = OTHER[kind]
    found = verdict(TABLE, WISH, DEED.replace(was, now), "Great, thank you!")
    assert found.score == 0
    assert found.justification.startswith("asked for ")
    assert now.lower().split()[-1] in found.justification
    assert [(r.code, r.turn) for r in found.reasons] == [("wrong", 1)]
    assert found.evidence[0].turn == 1


@pytest.mark.parametrize(
    ("goal", "wish", "deed"),
    [
        (
            "A room in Bremen from 14 May is booked.",
            "Please book me a room in Bremen from 14 May.",
            "I've booked you a room at the Hansa Hotel in Bremen from 16 May, number 40772.",
        ),
        (
            "A room in Bremen on 14 May is booked.",
            "Please book me a room in Bremen on 14 May.",
            "I've booked you a room at the Hansa Hotel in Bremen on 14 June, number 40772.",
        ),
        (
            "A ticket to Melbourne on Tuesday the 12th is bought.",
            "Get me a ticket to Melbourne on Tuesday the 12th.",
            "I've bought your ticket to Melbourne for Wednesday 12th, the reference is XP6612.",
        ),
        (
            "Four folding chairs are ordered.",
            "Please order four folding chairs.",
            "I've ordered six folding chairs for you, the order number is EZ-77.",
        ),
        (
            "A limit of seven hours a week is switched on for games.",
            "Please set a limit of seven hours a week for my games.",
            "The limit for your games is now switched on at nine hours a week.",
        ),
        (
            "A white shirt is ordered that comes before Friday.",
            "Please order me a white shirt, it must be here before Friday.",
            "I've ordered a white shirt for you, and it arrives on Saturday.",
        ),
        (
            "A seat on a named train to Lyon is booked.",
            "Please book me a seat on the 7:05 to Lyon.",
            "I've booked you a seat on the 8:05 to Lyon, coach 4, seat 61.",
        ),
        (
            "A room in Bremen for two nights is booked.",
            "Please book me a room in Bremen for two nights.",
            "I've booked you a room at the Hansa Hotel in Bremen for three nights, number 40772.",
        ),
        (
            "Two tickets for the concert are bought.",
            "Please buy two tickets for the concert.",
            "The concert is booked for you.\n- **Tickets:** 3\n- **Reference:** KX-40772",
        ),
        (
            "Four folding chairs are ordered.",
            "Please order four folding chairs.",
            "I've ordered five eucalyptus folding chairs for you, the order number is EZ-77.",
        ),
    ],
    ids=[
        "date", "month", "day of a date", "things", "length", "deadline", "time picked", "nights", "listed", "before a word",
    ],
)  # fmt: skip
def test_every_kind_of_value_is_compared(goal: str, wish: str, deed: str) -> None:
    found = verdict(goal, wish, deed, "Thanks.")
    assert found.score == 0
    assert found.justification.startswith("asked for ")


@pytest.mark.parametrize(
    "words",
    [
        "I've reserved a table for two at Casa Verde tomorrow at 19:30, the reference is CV-12.",
        "The table for two at Casa Verde is reserved: Fri 19:30, free cancellation until Thursday.",
        "Your table for 2 on Friday at half past seven is reserved, and I'll remind you on Thursday at 18:00.",
    ],
)
def test_the_same_in_other_words_and_values_of_other_things_do_no_harm(words: str) -> None:
    scenario, reply = asked(TABLE, WISH, words, "Great, thank you!")
    thursday = scenario.model_copy(
        update={"situation": scenario.situation.model_copy(update={"day_of_week": "Thursday"})}
    )
    assert EmbeddedJudge().verdict(thursday, reply, TC).score == 1


def test_a_promise_is_no_deed() -> None:
    found = verdict(
        TABLE, WISH, "I will reserve a table for two at Casa Verde on Friday at 19:30.", "Thanks."
    )
    assert found.score == 0
    assert [r.code for r in found.reasons] == ["promised"]


FOUND = "I've found a table for two at Casa Verde on Friday at 19:30."


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (
            DEED,
            "Oh, I have to take that back: the restaurant has no table left, so nothing has been reserved.",
        ),
        (DEED, "Sorry, the booking did not go through."),
        (FOUND, "Friday was full, so the request was rejected."),
        (FOUND, "The table could not be booked, as the system is closed."),
        (FOUND, "The restaurant said no."),
    ],
)
def test_a_deed_that_is_taken_back_or_failed_is_none(before: str, words: str) -> None:
    found = verdict(TABLE, WISH, f"{before} {words}", "Thanks." if before == DEED else "Hm.")
    assert (found.score, found.justification) == (0, "taken back or failed in the end")
    assert [r.code for r in found.reasons] == ["refused"]


@pytest.mark.parametrize(
    "objection",
    [
        "That's Saturday in my mail. Not what I said.",
        "It was for Desmond!",
        "You forgot the calendar.",
        "Useless.",
        "Then I shall manage.",
    ],
)
def test_a_user_who_objects_at_the_end_has_the_last_word(objection: str) -> None:
    found = verdict(TABLE, WISH, DEED, objection, "Sorry about that!")
    assert found.score == 0
    assert found.justification == "the user says at the end that it is not done, and nothing follows"
    assert found.evidence[0].turn == 2
    assert [r.code for r in found.reasons] == ["wrong"]


def test_a_promise_counts_for_a_part_by_its_deed() -> None:
    goal = "The concert on Friday is in the calendar; an invitation has been sent to Ania."
    wish = "Put the concert on Friday in my calendar and send Ania an invitation."
    reply = (
        "The concert is entered in your calendar for Friday at 20:00. Ania's invitation is written and names the hall."
        " The message to her {} sent on Signal."
    )
    assert verdict(goal, wish, reply.format("has been"), "Great, thank you!").score == 1
    found = verdict(goal, wish, reply.format("will be"), "Great, thank you!")
    assert found.score == 0
    assert found.justification == "only promised: an invitation has been sent to Ania"


def test_moves_change_what_the_task_needs_and_nothing_of_the_user() -> None:
    scenario, done = asked(TABLE, WISH, DEED, "Great, thank you!")
    moved = dict(meaning_changes(scenario, done))
    assert set(moved) == {"day", "time", "count", "promise", "taken back"}
    for name, other in moved.items():
        assert [m.content for m in other.messages if m.role == "user"] == [WISH, "Great, thank you!"], name
        assert EmbeddedJudge().verdict(scenario, other, TC).score == 0, name


def test_most_moved_days_dates_and_deeds_taken_back_are_seen_in_held_out_dialogues() -> None:
    labelled = list(read_labels(data_folder() / "agreement" / "heldout.jsonl"))[::2]
    found = sensitivity_to_faults(EmbeddedJudge(), labelled)
    assert found["day"].right >= 0.75
    assert found["taken back"].right >= 0.75
    assert found["promise"].right >= 0.45
