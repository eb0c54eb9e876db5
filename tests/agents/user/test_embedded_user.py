"""The embedded user agent: what its openings and its dialogues promise, over many scenarios and many kinds of
bots.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.agents.embedded_user.voice.style import first_person
from pytest_personalens.agents.language.text import fold, mentions, sentences
from pytest_personalens.core.dialogue.dialogue import AssistantMessages, Dialogue, Message, UserTurn, converse
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import EmbeddedDataset, draw, open_dataset

EMBEDDED = EmbeddedDataset()
SCENARIOS = [EMBEDDED.load(ref) for ref in draw(EMBEDDED, 300, seed="user").refs]
OPENING = "I need a ticket to York."

#: Bots that never get anywhere, each in its way.
HOPELESS: dict[str, str] = {
    "nonsense": "Purple elephants dance.",
    "asks": "What would you like?",
    "asks when": "When should I do it? How many people? What's your budget?",
    "greets": "How can I help you?",
    "promises": "I'll look into it right away.",
    "refuses": "I'm afraid I can't do that.",
    "done": "Done.",
    "offers": "I've booked it at Casa Verde for 19:30. Would you like me to add a taxi as well?",
    "wants more": "Is there anything else I can help you with?",
    "suggests": "I'd suggest Casa Verde.",
    "lists": "Which of these would you like?\n1. Blue Door, window\n2. Red Lion, aisle",
}


def opening(scenario: Scenario) -> str:
    return EmbeddedUserAgent().turn(scenario, ()).content


def reply(scenario: Scenario, *turns: str) -> UserTurn:
    messages = tuple(Message(role="assistant" if i % 2 else "user", content=t) for i, t in enumerate(turns))
    return EmbeddedUserAgent().turn(scenario, messages)


def leaked(scenario: Scenario, text: str) -> list[str]:
    """The preferences that the text names, but for words that a fact of the task makes the user say."""
    return [
        v
        for types in scenario.preferences.values()
        for vs in types.values()
        for v in vs
        if mentions(v, text) and not (scenario.task.facts and mentions(v, scenario.task.intent))
    ]


def no_sentence_twice(dialogue: Dialogue) -> bool:
    said = [fold(s) for m in dialogue.messages if m.role == "user" for s in sentences(m.content)]
    return len(said) == len(set(said))


def test_no_opening_names_a_preference() -> None:
    for number, user in enumerate(EMBEDDED.users()):
        for ref in EMBEDDED.refs(user)[number % 6 :: 6]:  # each task, of other users
            scenario = EMBEDDED.load(ref)
            text = opening(scenario)
            assert not leaked(scenario, text), (scenario.id, text)
            assert not re.search(r"\byou (?:want|need)\b", text.lower()), (scenario.id, text)


def test_no_opening_names_a_preference_of_the_official_data(official: Path) -> None:
    dataset = open_dataset(str(official))
    for ref in draw(dataset, 300, seed="user").refs:
        scenario = dataset.load(ref)
        assert not leaked(scenario, opening(scenario)), (scenario.id, opening(scenario))


def test_the_judge_sees_no_leak() -> None:
    for scenario in SCENARIOS[:60]:
        messages = (
            Message(role="user", content=opening(scenario)),
            Message(role="assistant", content="Hello."),
        )
        assert (
            EmbeddedJudge().verdict(scenario, Dialogue(messages=messages), Dimension.OPENING_LEAK).score == 0
        )


def test_openings_differ() -> None:
    texts = [opening(s) for s in SCENARIOS]
    assert len(set(texts)) > 0.9 * len(texts)
    # An assistant that looks for goodbyes must not find one here.
    assert not [t for t in texts if re.search(r"\bthank|\bbye\b|never mind", t.lower())]


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
    assert len(missed) <= 0.02 * len(understood), missed


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


def test_dialogues_with_the_example_bots_end_by_decision_and_repeat_nothing(bots: Any) -> None:
    for number, (name, bot) in enumerate(bots.BOTS.items()):
        for scenario in SCENARIOS[number : 120 + number : 4]:
            memory = bots.Memory()
            for topic, summary in scenario.summaries.items():
                memory.remember(scenario.user, topic, summary)
            dialogue = converse(scenario, bot(scenario.user, memory), EmbeddedUserAgent()).dialogue
            assert dialogue.end == "user", (name, scenario.id)
            assert no_sentence_twice(dialogue), (name, scenario.id)


@pytest.mark.parametrize("name", HOPELESS)
def test_dialogues_with_a_hopeless_bot_end_too(name: str) -> None:
    for scenario in SCENARIOS[::12]:
        dialogue = converse(scenario, lambda _: HOPELESS[name], EmbeddedUserAgent()).dialogue
        assert dialogue.end == "user", (scenario.id, dialogue)
        assert no_sentence_twice(dialogue), (scenario.id, dialogue)
        assert dialogue.user_turns <= 2 + 6 + 2 * len(scenario.domains)


def test_dialogues_with_a_bot_that_says_anything_end_too() -> None:
    lines = [
        *HOPELESS.values(),
        "Window or aisle?",
        "Which app?",
        "Yes.",
        "I've set it.",
        "There you go: X1, 9:30.",
        "What genre do you like?",
    ]

    def bot(rng: random.Random) -> Callable[[AssistantMessages], str]:
        return lambda _: " ".join(rng.sample(lines, rng.randint(1, 3)))

    for seed, scenario in enumerate(SCENARIOS[:60]):
        dialogue = converse(scenario, bot(random.Random(seed)), EmbeddedUserAgent()).dialogue
        assert dialogue.end == "user", (scenario.id, dialogue)
        assert no_sentence_twice(dialogue), (scenario.id, dialogue)


def test_a_turn_follows_from_scenario_and_transcript_alone() -> None:
    for scenario in SCENARIOS[:20]:
        assert opening(scenario) == opening(scenario)
        assert reply(scenario, opening(scenario), "Sure?") == reply(scenario, opening(scenario), "Sure?")


@pytest.mark.parametrize(
    ("question", "wanted", "unwanted"),
    [
        ("Which seat would you like?", "window", ""),
        ("Window or aisle?", "window", "aisle"),
        ("Would you like first class or second class?", "second class", "first class"),
        ("Shall I take the window seat?", "yes|yep|right", "aisle"),
        ("Do you want an aisle seat?", "window", "yes"),
        ("Which seat, and which class?", "window.*second class", ""),
        ("Which class would you like? And where would you like to sit?", "second class.*window", ""),
        ("How many people are travelling?", "number|many", "window|yes"),
        ("When would you like to leave?", "time|whenever", "window|yes"),
        ("What's your budget?", "reasonable|limit", "window|yes"),
        ("Who is travelling?", "nobody|whoever|pick", "window|yes"),
        ("How can I help you?", "ticket to york", "window"),
        ("I'd suggest the 9:12, window seat.", "take|go|good|do it", "aisle"),
        ("I'd suggest the 9:12, aisle seat.", "window", ""),
        ("Which of these suits you?\n1. Morning Star - aisle\n2. Flying Scot - window", "flying scot", "morning star"),
    ],
)  # fmt: skip
def test_an_answer_fits_its_question(scenario: Scenario, question: str, wanted: str, unwanted: str) -> None:
    turn = reply(scenario, OPENING, question)
    assert not turn.done
    assert re.search(wanted, turn.content.lower()), turn
    assert not (unwanted and re.search(rf"\b(?:{unwanted})\b", turn.content.lower())), turn


def test_preferences_are_not_volunteered(scenario: Scenario) -> None:
    for line in (
        "I'll look into it.",
        "Interesting!",
        "Shall I go ahead?",
        "How many people are travelling?",
        "Let me check that.",
        "Hello!",
    ):
        assert not leaked(scenario, reply(scenario, OPENING, line).content), line


def test_a_promise_is_asked_after_and_a_bare_deed_too(scenario: Scenario) -> None:
    assert reply(scenario, OPENING, "I'll look into it right away.").content.endswith("?")
    assert not reply(scenario, OPENING, "Done.").done


def test_what_is_done_is_thanked_for(scenario: Scenario) -> None:
    done = "I've booked York, 9:12, second class, window seat, £18."
    assert reply(scenario, OPENING, done).done
    for more in (
        "Is there anything else I can do?",
        "Would you like a hotel as well?",
        "Does that work for you?",
    ):
        turn = reply(scenario, OPENING, f"{done} {more}")
        assert turn.done, turn
        # A judge by rule takes "No ..." for an objection.
        assert not turn.content.lower().startswith(("no ", "no,")), turn


def test_a_part_left_out_is_asked_for() -> None:
    scenario = next(s for s in SCENARIOS if s.task.id == "multi-3")
    turn = reply(
        scenario,
        opening(scenario),
        "I've booked the train, out 9:12, back 18:40, and a hotel room for the night.",
    )
    assert "calendar" in turn.content, turn
    assert not turn.done
