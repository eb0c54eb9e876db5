"""Dialogues of the embedded user: it objects and asks once, takes no promise, leaves, and says how it ended."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pytest_personalens.agents import EmbeddedUserAgent
from pytest_personalens.agents.embedded.reader.text import fold, sentences
from pytest_personalens.core.dialogue.dialogue import AssistantMessages, Dialogue, converse
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets.world.written import say
from tests.support.datasets.embedded import any_with, drawn, of_task
from tests.support.datasets.embedded import next_turn as turn

SCENARIOS = drawn(60, "dialogues")
QUESTIONS = [
    "Which day should it be?", "How many people?", "What time?", "What do you like?", "Window or aisle?", "What is your budget?",
    "Where to?", "Any allergies?", "Who comes along?", "Which app?", "Is Friday fine?", "What kind of food?", "How long?",
]  # fmt: skip
PROMISES = ["I'll book it right away.", "I'm on it, it will be done shortly.", "We'll have it arranged soon."]

Bot = Callable[[AssistantMessages], str]


def counted(form: str) -> Bot:
    numbers = itertools.count(1)
    return lambda _: form.format(next(numbers))


def asks_everything() -> Bot:
    chosen = random.Random(1)
    return lambda _: f"{chosen.choice(QUESTIONS)} {chosen.choice(QUESTIONS)}"


def only_promises() -> Bot:
    numbers = itertools.count(1)
    return lambda _: f"{PROMISES[next(numbers) % 3]} Number {next(numbers)}."


#: Bots that never get anywhere, each in its way.
HOPELESS: dict[str, Callable[[], Bot]] = {
    "answers nothing": lambda: lambda _: "Thank you for your message.",
    "speaks nonsense": lambda: lambda _: "Purple elephants dance.",
    "asks everything": asks_everything,
    "only promises": only_promises,
    "goes in a loop": lambda: lambda _: "Let me see what I can do about that for you.",
    "asks for consent for ever": lambda: counted("Step {0}: shall I go ahead?"),
    "refuses": lambda: lambda _: "I'm afraid I can't do that.",
    "hands back": lambda: lambda _: "You can do that yourself on their website.",
    "greets": lambda: lambda _: "Hello! How can I help you?",
}


def played(scenario: Scenario, bot: Bot) -> Dialogue:
    outcome = converse(scenario, bot, EmbeddedUserAgent())
    assert outcome.fault is None
    return outcome.dialogue


def repeated(dialogue: Dialogue) -> list[str]:
    said = [
        fold(s).strip(" .!?") for m in dialogue.messages if m.role == "user" for s in sentences(m.content)
    ]
    return [s for s in said if said.count(s) > 1]


@pytest.mark.parametrize("name", HOPELESS)
def test_a_bot_that_gets_nowhere_is_left_unserved_within_the_limit(name: str) -> None:
    for scenario in SCENARIOS[:20]:
        dialogue = played(scenario, HOPELESS[name]())
        assert dialogue.end == "unserved", (name, scenario.id)
        assert dialogue.user_turns <= scenario.rounds, (name, scenario.id)
        assert not repeated(dialogue), (name, scenario.id, repeated(dialogue))


def test_the_example_bots_hear_no_sentence_twice_and_the_one_that_remembers_serves(bots: Any) -> None:
    ends = Counter[str]()
    for number, (name, bot) in enumerate(bots.BOTS.items()):
        for scenario in SCENARIOS if name == "remembers" else SCENARIOS[number::4]:
            memory = bots.Memory()
            for topic, summary in scenario.summaries.items():
                memory.remember(scenario.user, topic, summary)
            dialogue = played(scenario, bot(scenario.user, memory))
            assert dialogue.end in ("user", "unserved"), (name, scenario.id)
            assert not repeated(dialogue), (name, scenario.id, repeated(dialogue))
            ends[name] += dialogue.end == "user"
    assert ends["remembers"] >= 0.85 * len(SCENARIOS)


def flight() -> tuple[Scenario, dict[str, str]]:
    scenario = any_with("flights-1")
    facts = {fact.name: fact.says for fact in scenario.task.facts}
    out = next(fact for fact in scenario.task.facts if fact.name == "out")
    airline = scenario.preferences["Flights"]["Preferred Airline"][0]
    return scenario, facts | {"wrong": say("date", out.wrong[0]), "airline": airline}


def booked(facts: dict[str, str], out: str) -> str:
    return (
        f"I've booked your return flight to {facts['to']} for one person: out on {out} at 12:10, back on"
        f" {facts['back']} at 14:10. The airline is {facts['airline']}, your seat is {facts['seat']}."
    )


def test_a_user_who_got_all_gives_thanks_and_is_served() -> None:
    scenario, facts = flight()
    last = turn(scenario, booked(facts, facts["out"]))
    assert last.done and last.served
    assert "than" in last.content.lower() or "great" in last.content.lower()


def test_a_wrong_value_is_objected_to_once_with_both_values() -> None:
    scenario, facts = flight()
    wrong = booked(facts, facts["wrong"])
    first, again = turn(scenario, wrong), turn(scenario, wrong, wrong)
    assert not first.done
    assert facts["out"] in first.content and facts["wrong"] in first.content
    assert facts["wrong"] not in again.content


def test_a_wrong_value_is_also_objected_to_in_a_question_for_consent() -> None:
    scenario, facts = flight()
    text = turn(scenario, f"Shall I book the flight to {facts['to']} out on {facts['wrong']}?").content
    assert facts["out"] in text
    assert not text.startswith("Yes")


def test_a_part_that_was_left_out_is_asked_for_once() -> None:
    scenario, facts = flight()
    reply = f"I've booked your return flight to {facts['to']} for one person: out on {facts['out']}, back on {facts['back']}."
    first = turn(scenario, reply)
    assert not first.done
    assert first.content.endswith(("?", "."))
    second = turn(
        scenario, reply, f"It is {facts['airline']}, out at 12:10 and back at 14:10, seat 12C on the aisle."
    )
    assert second.content != first.content


def test_a_promise_is_no_deed() -> None:
    scenario, facts = flight()
    promise = booked(facts, facts["out"]).replace("I've booked", "I'll book")
    first = turn(scenario, promise)
    assert not first.done
    last = turn(scenario, promise, promise)
    assert not (last.done and last.served)


def test_a_broken_limit_is_objected_to() -> None:
    people = ((s, x) for s in of_task("restaurants-2") for x in s.limits)
    scenario, limit = next((s, x) for s, x in people if x.kind == "allergy" and x.name.startswith("no "))
    text = turn(scenario, f"I've ordered a big {limit.words[0]} dish for you, it comes at 19:00.").content
    assert limit.name.lower() in text.lower()


def test_the_same_scenario_and_transcript_give_the_same_turn() -> None:
    for scenario in SCENARIOS[:5]:
        replies = ("How many people?", "Shall I go ahead?")
        assert turn(scenario, *replies) == turn(scenario, *replies)
