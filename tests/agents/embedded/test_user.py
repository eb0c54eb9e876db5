"""The embedded user: its first message, what it says to questions, and how its dialogues go."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from pytest_personalens import Dialogue, Dimension, Scenario
from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.agents.embedded.reader.text import fold, mentions, sentences
from pytest_personalens.agents.embedded.user.answers import alternatives, questions
from pytest_personalens.agents.embedded.user.voice import first_person
from pytest_personalens.core.dialogue.dialogue import AssistantMessages, converse
from pytest_personalens.datasets import draw, open_dataset
from pytest_personalens.datasets.world.written import say
from tests.support.datasets.dinner import dialogue as talk
from tests.support.datasets.embedded import EMBEDDED, any_with, drawn, next_turn, of_task

SCENARIOS = drawn(300, "user")
PLAYED = SCENARIOS[:60]


def opening(scenario: Scenario) -> str:
    return next_turn(scenario).content


def leaked(scenario: Scenario, text: str) -> list[str]:
    """The preferences that the text names, but for words that the task makes the user say."""
    values = (v for types in scenario.preferences.values() for held in types.values() for v in held)
    said = scenario.task.intent if scenario.task.facts else ""
    return [value for value in values if mentions(value, text) and not mentions(value, said)]


def test_no_opening_names_a_preference() -> None:
    for number, user in enumerate(EMBEDDED.users()):
        for ref in EMBEDDED.refs(user)[number % 6 :: 6]:  # each task, of other users
            scenario = EMBEDDED.load(ref)
            text = opening(scenario)
            seen = EmbeddedJudge().verdict(scenario, talk(text, "Hello."), Dimension.OPENING_LEAK)
            assert not leaked(scenario, text) and not seen.score, (scenario.id, text)
            assert not re.search(r"\byou (?:want|need)\b", text.lower()), (scenario.id, text)


def test_no_opening_names_a_preference_of_the_official_data(official: Path) -> None:
    dataset = open_dataset(str(official))
    for ref in draw(dataset, 300, seed="user").refs:
        scenario = dataset.load(ref)
        assert not leaked(scenario, opening(scenario)), (scenario.id, opening(scenario))


def test_openings_tell_facts_differ_and_are_not_longer_than_the_wish() -> None:
    texts = [opening(scenario) for scenario in SCENARIOS]
    for scenario, text in zip(SCENARIOS, texts, strict=True):
        said = (fact.says for fact in scenario.task.facts if fact.known == "said" and fact.says)
        untold = [fact for fact in said if mentions(fact, scenario.task.intent) and not mentions(fact, text)]
        assert not untold, (scenario.id, text)
    assert len(set(texts)) > 0.9 * len(texts)
    assert not [t for t in texts if re.search(r"\bthank|\bbye\b|never mind", t.lower())]
    words = [len(text.split()) - len(s.task.intent.split()) for s, text in zip(SCENARIOS, texts, strict=True)]
    assert median(words) <= 1


def test_openings_keep_the_words_of_the_task(bots: Any) -> None:
    """However a person words the task, the example bot understands the same."""
    from helpbot.assistant import wanted

    understood: dict[str, list[Any]] = {}
    for scenario in SCENARIOS:
        understood.setdefault(scenario.task.id, []).append(wanted([opening(scenario)])[0])
    names = {task: {skill and skill.name for skill in skills} for task, skills in understood.items()}
    missed = {task: found for task, found in names.items() if None in found or len(found) > 1}
    assert len(missed) <= 0.03 * len(understood), missed


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


#: Ways to ask for consent; the last eight were measured against an earlier user, of whom few said yes.
CONSENT = [
    "Do I have your permission to go on?", "Just give me the nod and it's yours.", "Type OK to finish.",
    "One tap on yes and we are done, deal?", "I only need a yes from you.", "Are you happy for me to place the order?",
    "To complete the booking, answer 'yes'.", "Can you approve this?", "May I put it on your usual card?",
    "It's all prepared; I'm holding it until I hear from you.", "Would that be all right?", "Let me know and I'll finalize it.",
    "Is it a go?", "Please authorize the purchase.", "Should this be booked now?", "Want it?",
    "Everything is lined up and only awaits your approval.", "Ready when you are - confirm to proceed.",
    "Mind if I go through with it?", "Say yes, and I'll take care of the rest.",
    "Shall I go ahead?", "Please confirm.", "Please confirm so I can proceed.",
    "Just to be sure: do you confirm that I should finalize this booking?", "Please reply YES to confirm.",
    "Let me know if I should go ahead.", "Ready to book. Just say the word.", "Reply with yes and I will book it.",
    "Waiting for your go-ahead.",
]  # fmt: skip
_YES = re.compile(r"\b(?:yes|yep|yeah|sure|ok|okay)\b", re.IGNORECASE)


def said(scenario: Scenario, reply: str) -> str:
    turn = next_turn(scenario, reply)
    return "(leaves)" if turn.done else turn.content


NO_CONSENT = ["Which of these would you like?\n1. Blue Door\n2. Red Lion", "On what day?"]


@pytest.mark.parametrize("wording", [*CONSENT, *NO_CONSENT])
def test_every_user_says_yes_to_a_question_for_its_consent_alone(wording: str) -> None:
    for person in SCENARIOS[:24]:
        assert bool(_YES.search(said(person, wording))) == (wording in CONSENT), person.id


@pytest.mark.parametrize(
    ("task", "reply", "tells"),
    [
        ("hotels-1", "Which day do you arrive?", ["<arrive>"]),
        ("hotels-1", "For how many people?", [r"\bone\b|\bjust me\b|\bonly me\b"]),
        ("hotels-1", "Which city is it?", ["said|mentioned|like"]),  # not told as new
        ("flights-1", "On which days do you fly out and back, and which seat do you like?", ["<out>", "<back>", "<Seat Preference>"]),
        ("flights-1", "Would you like <Seat Preference> or the middle seat?", ["<Seat Preference>"]),
        ("flights-1", "The middle seat or <Seat Preference>?", ["<Seat Preference>"]),
        ("flights-1", "Which one do you prefer?\n1. Nowhere Air, $200\n2. <Preferred Airline>, $210", ["<Preferred Airline>|second"]),
        ("restaurants-1", "What kind of food do you like?", ["<Cuisine Preference>"]),
        ("restaurants-1", "Do you have a favourite cuisine?", ["<Cuisine Preference>"]),
    ],
)  # fmt: skip
def test_a_question_is_answered_by_what_the_user_knows(task: str, reply: str, tells: list[str]) -> None:
    person = any_with(task)
    known: dict[str, tuple[str, ...]] = {fact.name: (fact.says,) for fact in person.task.facts}
    for types in person.preferences.values():
        known |= types
    for name, ways in known.items():
        reply = reply.replace(f"<{name}>", ways[0] if ways else "")
        tells = [t.replace(f"<{name}>", "|".join(map(re.escape, ways))) for t in tells]
    text = said(person, reply)
    assert all(re.search(told, text, re.IGNORECASE) for told in tells), (text, tells)


def test_an_answer_tells_no_more_than_was_asked() -> None:
    person = next(s for s in of_task("hotels-3") if s.user == "aroha")
    days = [fact.says for fact in person.task.facts if fact.kind == "date" and fact.known != "open"]
    text = said(person, "Which dates are we talking about?")
    assert len(days) > len({*days}) and text.count(days[0]) == 1, "two facts with one value are told once"
    for person in SCENARIOS[:24]:
        text = said(person, "Shall I send it by courier or by post?").lower()
        assert ("courier" in text) != ("post" in text), (person.id, text)
    for person in of_task("restaurants-1")[:40]:
        text = said(person, "Is there anything you cannot eat?").lower()
        diet = [v.lower() for v in person.preferences["Restaurants"].get("Dietary Restrictions", ())]
        assert any(v in text for v in diet) == bool(diet) or person.limits, (person.id, text)
    assert not questions('I have sent this to Ana: "Shall we meet on Friday at seven at my place?" Done.')


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        ("would you like a window seat, an aisle seat or the exit row?", ["a window seat", "an aisle seat", "the exit row"]),
        ("do you read on paper or on a screen?", ["paper", "a screen"]),
        ("shall i book it, or would you rather wait?", []),
        ("would you rather have a man or a woman, or don't you mind?", ["a man", "a woman"]),
    ],
)  # fmt: skip
def test_alternatives(question: str, choices: list[str]) -> None:
    assert alternatives(question) == choices


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
    texts = (message.content for message in dialogue.messages if message.role == "user")
    said = Counter(fold(sentence).strip(" .!?") for text in texts for sentence in sentences(text))
    return [sentence for sentence, times in said.items() if times > 1]


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
        for scenario in PLAYED if name == "remembers" else PLAYED[number::4]:
            memory = bots.Memory()
            for topic, summary in scenario.summaries.items():
                memory.remember(scenario.user, topic, summary)
            dialogue = played(scenario, bot(scenario.user, memory))
            assert dialogue.end in ("user", "unserved"), (name, scenario.id)
            assert not repeated(dialogue), (name, scenario.id, repeated(dialogue))
            ends[name] += dialogue.end == "user"
    assert ends["remembers"] >= 0.85 * len(PLAYED)


FLIGHT = any_with("flights-1")
FACTS = {fact.name: fact.says for fact in FLIGHT.task.facts}
WRONG = say("date", next(fact.wrong[0] for fact in FLIGHT.task.facts if fact.name == "out"))
AIRLINE = FLIGHT.preferences["Flights"]["Preferred Airline"][0]
BOOKED = (
    f"I've booked your return flight to {FACTS['to']} for one person: out on {FACTS['out']} at 12:10, back on"
    f" {FACTS['back']} at 14:10. The airline is {AIRLINE}, your seat is {FACTS['seat']}."
)
BOOKED_WRONG, PROMISED = BOOKED.replace(FACTS["out"], WRONG), BOOKED.replace("I've booked", "I'll book")
CONSENT_WRONG = f"Shall I book the flight to {FACTS['to']} out on {WRONG}?"


@pytest.mark.parametrize(
    ("replies", "ends", "says", "says_not"),
    [
        ([BOOKED], "served", "than|great", None),
        ([BOOKED_WRONG], "", f"{FACTS['out']}.*{WRONG}|{WRONG}.*{FACTS['out']}", None),
        ([BOOKED_WRONG, BOOKED_WRONG], None, "", WRONG),  # objected to once
        ([CONSENT_WRONG], None, FACTS["out"], "^Yes"),
        ([PROMISED], "", "", None),  # a promise is no deed
        ([PROMISED, PROMISED], "not served", "", None),
    ],
)
def test_what_is_right_or_wrong(
    replies: list[str], ends: str | None, says: str, says_not: str | None
) -> None:
    turn = next_turn(FLIGHT, *replies)
    assert re.search(says, turn.content, re.IGNORECASE)
    assert says_not is None or not re.search(says_not, turn.content)
    if ends is not None:
        assert (turn.done and turn.served) == (ends == "served")
        assert ends or not turn.done


def test_a_part_that_was_left_out_is_asked_for_once() -> None:
    reply = f"I've booked your return flight to {FACTS['to']} for one person: out on {FACTS['out']}, back on {FACTS['back']}."
    first = next_turn(FLIGHT, reply)
    assert not first.done
    told = f"It is {AIRLINE}, out at 12:10 and back at 14:10, seat 12C on the aisle."
    assert next_turn(FLIGHT, reply, told).content != first.content


def test_a_broken_limit_is_objected_to() -> None:
    people = ((s, x) for s in of_task("restaurants-2") for x in s.limits)
    scenario, limit = next((s, x) for s, x in people if x.kind == "allergy" and x.name.startswith("no "))
    ordered = f"I've ordered a big {limit.words[0]} dish for you, it comes at 19:00."
    assert limit.name.lower() in next_turn(scenario, ordered).content.lower()


def test_the_same_scenario_and_transcript_give_the_same_turn() -> None:
    for scenario in SCENARIOS[:5]:
        replies = ("How many people?", "Shall I go ahead?")
        assert next_turn(scenario, *replies) == next_turn(scenario, *replies)
