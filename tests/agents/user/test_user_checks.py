"""The user that checks the work: it answers with facts, objects to what is wrong, insists, and leaves."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_personalens import Message, Scenario
from pytest_personalens.agents import EmbeddedUserAgent
from pytest_personalens.agents.embedded_user.voice.heard import heard
from pytest_personalens.agents.embedded_user.voice.phrases import banks
from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.datasets import EmbeddedDataset
from tests.agents.reading.test_work import dinner, fact, right

DATASET = EmbeddedDataset()


def scenario_of(task: str, number: int = 0) -> Scenario:
    refs = [r for u in DATASET.users() for r in DATASET.refs(u) if r.task == task]
    return DATASET.load(refs[number])


def talk(scenario: Scenario, *replies: str) -> list[UserTurn]:
    """The user's turns to an assistant with these replies, until the user is done."""
    user = EmbeddedUserAgent()
    messages: list[Message] = []
    turns: list[UserTurn] = []
    for reply in (*replies, ""):
        turns.append(user.turn(scenario, tuple(messages)))
        if turns[-1].done or not reply:
            break
        messages += [
            Message(role="user", content=turns[-1].content),
            Message(role="assistant", content=reply),
        ]
    return turns


@pytest.mark.parametrize(
    ("question", "name"),
    [("For how many people?", "party"), ("Which day should it be?", "day"), ("What day is it for?", "day")],
)
def test_a_question_about_a_fact_gets_the_fact(question: str, name: str) -> None:
    scenario = dinner()
    answer = talk(scenario, question)[1].content
    assert fact(scenario, name).says in answer or fact(scenario, name).says in answer.lower()


def test_several_questions_get_their_answers_in_one_message() -> None:
    scenario = dinner()
    answer = talk(scenario, "For how many people, and on which day? Is there a time you prefer?")[1].content
    assert "three" in answer
    assert fact(scenario, "day").says in answer


def test_a_wrong_value_is_objected_to_with_both_values_and_then_the_user_leaves() -> None:
    scenario = dinner()
    turns = talk(scenario, *[right(scenario, party="two")] * 6)
    assert "three" in turns[1].content
    assert "two" in turns[1].content
    assert turns[-1].done
    assert "thank" not in turns[-1].content.lower()
    assert len(turns) <= 5
    assert len({t.content for t in turns}) == len(turns)


@pytest.mark.parametrize(
    "reply",
    [
        "I'll book the table for three on Friday in a moment.",
        "You can book a table for three on Friday on their website.",
        "There are many good restaurants. It is wise to book early.",
    ],
)
def test_the_user_does_not_take_a_promise_or_advice_for_work(reply: str) -> None:
    turns = talk(dinner(), *[reply] * 8)
    assert not turns[1].done
    assert turns[-1].done
    assert [bank for bank, _ in heard(turns[-1].content)] == ["give_up"]


def test_what_is_right_is_not_objected_to() -> None:
    scenario = dinner()
    turns = talk(scenario, right(scenario))
    assert turns[1].done
    assert next(bank for bank, _ in heard(turns[1].content)).startswith("thanks")


@pytest.mark.parametrize(
    "question",
    [
        "Which town or stop do you start from, or shall I take the nearest?",
        "Which station are you leaving from, and when would you like to head back or be home?",
        "Is your mother coming too, or just you?",
    ],
)
def test_an_answer_is_never_the_question(question: str) -> None:
    answer = talk(scenario_of("train-1"), question)[1].content.lower()
    for words in ("which town", "which station", "is your mother", "head back sounds", "from which"):
        assert words not in answer


def test_phrases_are_understood_as_they_are_said() -> None:
    for bank in ("thanks", "give_up", "fact_wrong", "insist", "chase"):
        for phrases in banks()[bank].values():
            for phrase in phrases:
                said = phrase.format(
                    v="Friday 10 April",
                    V="Friday 10 April",
                    o="Saturday",
                    O="Saturday",
                    p="the hour",
                    P="The hour",
                    time="evening",
                )
                assert [found for found, _ in heard(said)][:1] in ([bank], ["thanks_more"]), said


def test_who_gives_up_does_not_ask_a_memory_to_forget() -> None:
    assert not any("forget" in p.lower() for phrases in banks()["give_up"].values() for p in phrases)


def test_closings_differ() -> None:
    said: Sequence[str] = banks()["thanks"]["any"]
    assert len(set(said)) >= 60
