"""The embedded judge: what it tells apart, what it rests on, and how far it agrees with labels."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from statistics import mean
from typing import Any, Final

import pytest

from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.judging.evaluation import Evaluation, evaluate
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import EmbeddedDataset, draw
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.judge_quality import Labelled, measure, read_labels
from tests.support.datasets.dinner import DINNER, TASTES, dialogue, small_scenario
from tests.support.repository import ROOT

TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
EMBEDDED = EmbeddedDataset()
STRANGER = DINNER.model_copy(
    update={
        "preferences": {
            "Restaurants": {
                "Favorite Cuisine": ("barbecue",),
                "Dietary Restriction": ("none",),
                "Seating": ("bar counter",),
                "Price Range": ("high",),
            }
        },
        "summaries": {
            "Restaurants": "Paul eats late with colleagues after the match. He likes a screen in sight and pays by company card."
        },
    }
)
TRIP = small_scenario(
    "multi-1",
    "Tomas",
    {
        "Train": {"Preferred Seat Type": ("window",), "Preferred Train Class": ("second class",)},
        "Alarm": {"Alarm Sound": ("birdsong",), "Snooze": ("no snooze",)},
    },
    {
        "Train": "Tomas takes the train to Porto every month and works in the quiet coach. He brings a folding bicycle.",
        "Alarm": "He sleeps through short tones and sets the alarm an hour and a half before he leaves.",
    },
    ("Lisbon", "Smartphone", "Evening", "Sunday", "Quiet"),
    description="The user wants a ticket and an alarm.",
    intent="You want a train ticket to Porto for tomorrow morning and an alarm to be up in time.",
    goal="A ticket to Porto for tomorrow morning is bought; an alarm is set that leaves time to catch the train.",
)
ASKED = "I'd like a table for two this evening, please."
#: The codes of reasons, by what they are about.
ABOUT_PREFERENCES: Final = {
    "asks-known",
    "contradicts",
    "ignores",
    "recites",
    "uses-stated",
    "applies",
    "anticipates",
}
ABOUT_PARTS: Final = {"done", "promised", "proposed", "refused", "handed-back", "wrong", "missing"}
#: What decides task completion whatever was said.
ENDED: Final = ("the user gave up", "the turn limit ended the dialogue before the user was served")
BYE = ("Perfect, thank you!", "Enjoy your evening!")
APPLIED = (
    ASKED,
    "I've booked a table for two at Cedre for 19:00, on the outdoor terrace. It's Lebanese, and the whole menu is vegetarian.",
    *BYE,
)
FORESEEN = (
    ASKED,
    (
        "I've booked a table for two at Cedre for 19:00, out on the terrace: Lebanese, with plenty without"
        " meat. The entrance has no steps, so your sister rolls straight in, there is no music in the garden,"
        " and you will be home before the babysitter has to go at ten."
    ),
    *BYE,
)
AGAINST = (
    ASKED, "I've booked a table for two at Steakhouse Sam for 19:00, inside by the grill.",
    "No, I'm vegetarian and I want to sit outside.", "I've booked a table for two at Steakhouse Sam, inside.",
    "You got it wrong again. Never mind.", "Enjoy your steak!",
)  # fmt: skip
TICKET = "I've booked your ticket to Porto for tomorrow at 7:39, a window seat in second class, 25 euros."
BOTH_ASKED = "I need a train ticket to Porto for tomorrow morning, and an alarm so I'm up in time."


def score(dimension: Dimension, *turns: str, scenario: Scenario = DINNER) -> int:
    return int(EmbeddedJudge().verdict(scenario, dialogue(*turns), dimension).score)


@cache
def labelled(name: str) -> tuple[Labelled, ...]:
    return tuple(read_labels(data_folder() / "agreement" / f"{name}.jsonl"))


def test_what_is_known_and_applied_unasked_is_three() -> None:
    assert (score(TC, *APPLIED), score(P, *APPLIED)) == (1, 3)


def test_a_paraphrase_of_what_is_known_is_three_as_well() -> None:
    reply = "I've booked a vegetable mezze place, Cedre, for two at 19:00, at an outdoor table in the quiet garden. No steps at the door."
    assert score(P, ASKED, reply, *BYE) >= 3


def test_what_is_foreseen_from_habits_is_four() -> None:
    assert (score(TC, *FORESEEN), score(P, *FORESEEN)) == (1, 4)


def test_a_reply_that_would_suit_anybody_is_not_three() -> None:
    assert score(P, ASKED, "I've booked a table for two at Cedre for 19:00.", *BYE) <= 2


def test_dropping_names_is_one_and_does_nothing() -> None:
    boasts = (
        ASKED, "Ah, you love Lebanese food and outdoor terraces! And I remember that you are vegetarian.", "Yes. And the table?",
        "A terrace is always lovely for a vegetarian like you! What kind of place do you want?", "Forget the terrace, I only want a table.",
        "Lebanese food is wonderful.",
    )  # fmt: skip
    assert (score(TC, *boasts), score(P, *boasts)) == (0, 1)


def test_asking_what_is_known_lies_below_confirming_it() -> None:
    booked = ("I've booked a table for two at Cedre for 19:00, on the terrace.", *BYE)
    asking = (
        ASKED,
        "What kind of food, and inside or outside?",
        "Lebanese, vegetarian, out on the terrace.",
        *booked,
    )
    confirming = (ASKED, "Lebanese and vegetarian as usual, out on the terrace?", "Yes, exactly.", *booked)
    assert score(P, *asking) <= 2 < score(P, *confirming)
    assert score(TC, *asking) == score(TC, *confirming) == 1


def test_a_promise_is_no_deed() -> None:
    assert (
        score(
            TC,
            ASKED,
            "I will look for a table on a terrace and book it for you later.",
            "Thanks.",
            "I'll let you know.",
        )
        == 0
    )
    assert (
        score(
            TC,
            ASKED,
            "I've booked a table for two at Cedre for 19:00, on the terrace.",
            "Thanks.",
            "You're welcome!",
        )
        == 1
    )


def test_who_follows_a_change_of_mind_lies_above_who_contradicts() -> None:
    followed = (
        *APPLIED[:2], "Actually, it looks like rain. Inside tonight, please.",
        "Of course, I've moved your table inside, still at 19:00. The vegetarian mezze stay.", *BYE,
    )  # fmt: skip
    assert (score(TC, *followed), score(P, *followed)) == (1, 3)
    assert score(TC, *AGAINST) == 0
    assert score(P, *AGAINST) < 3


@pytest.mark.xfail(
    reason="a deed against what the user has just said (a steakhouse for a vegetarian, inside) is taken for use of what is said",
    strict=True,
)
def test_who_contradicts_what_is_known_and_said_is_one() -> None:
    assert score(P, *AGAINST) == 1


@pytest.mark.parametrize(
    "rest",
    [
        (TICKET, "And the alarm?", "I'm not able to set alarms.", "So I have to do that on my own. Hm. Bye.", "Have a good trip!"),
        (
            "I've set your alarm for 6:09 tomorrow, with birdsong.", "And the ticket?",
            "Sorry, I couldn't book the ticket, the site is down. Please try again later.", "That's no help. Bye.", "Goodbye!",
        ),
    ],
    ids=["no alarm", "no ticket"],
)  # fmt: skip
def test_a_part_left_undone_is_not_all_done(rest: tuple[str, ...]) -> None:
    done = (
        BOTH_ASKED,
        f"{TICKET} And I've set your alarm for 6:09 tomorrow, with birdsong.",
        "Great, thank you!",
        "Have a good trip!",
    )
    assert score(TC, *done, scenario=TRIP) == 1
    assert score(TC, BOTH_ASKED, *rest, scenario=TRIP) == 0


def test_the_same_words_to_a_stranger_are_no_more_personal() -> None:
    for turns in (APPLIED, FORESEEN):
        assert score(P, *turns, scenario=STRANGER) < score(P, *turns)


def test_labelled_dialogues_lose_under_a_strangers_profile() -> None:
    judge, own, strange = EmbeddedJudge(), [], []
    for item in labelled("heldout"):
        if (item.majority(P) or 0) >= 3:
            own.append(judge.verdict(item.scenario, item.dialogue, P).score)
            strange.append(
                judge.verdict(_under_another_profile(item, labelled("heldout")), item.dialogue, P).score
            )
    assert len(own) >= 30
    assert mean(strange) <= mean(own) - 0.3, (
        f"{mean(own):.2f}, under a stranger's profile {mean(strange):.2f}"
    )
    assert sum(b > a for a, b in zip(own, strange, strict=True)) <= len(own) * 0.05, (
        "a stranger's profile hardly ever fits better"
    )


def _under_another_profile(item: Labelled, others: tuple[Labelled, ...]) -> Scenario:
    """The scenario with everything that is known taken from the next dialogue of another user with the
    domain, if there is one.
    """
    start = others.index(item)
    preferences, summaries, situation = {}, {}, item.scenario.situation
    for domain in item.scenario.domains:
        known = (
            o
            for o in (*others[start:], *others[:start])
            if o.group != item.group and domain in o.scenario.preferences
        )
        other = next(known, None)
        preferences[domain] = other.scenario.preferences[domain] if other else {}
        summaries[domain] = other.scenario.summaries.get(domain, "") if other else ""
        situation = other.scenario.situation if other else situation
    task = item.scenario.task.model_copy(
        update={"relevant": tuple((d, t) for d, types in preferences.items() for t in types)}
    )
    return item.scenario.model_copy(
        update={"preferences": preferences, "summaries": summaries, "situation": situation, "task": task}
    )


def test_what_the_turn_limit_cut_short_is_not_completed() -> None:
    verdict = EmbeddedJudge().verdict(DINNER, dialogue(*APPLIED[:3]).model_copy(update={"end": "limit"}), TC)
    assert verdict.score == 0
    assert "turn limit" in verdict.justification


def test_what_the_user_gives_up_is_not_completed() -> None:
    verdict = EmbeddedJudge().verdict(
        DINNER, dialogue(*APPLIED[:2], "Oh, forget it, I'll do it myself.", "Enjoy your evening!"), TC
    )
    assert (verdict.score, verdict.justification) == (0, "the user gave up")
    assert verdict.evidence[0].turn == 2


def test_p_by_turn_has_a_score_for_each_reply_and_ends_with_p() -> None:
    told = dialogue(ASKED, "What cuisine do you like?", "Lebanese.", *APPLIED[1:])
    verdict = EmbeddedJudge().verdict(DINNER, told, Dimension.PERSONALIZATION_TURNS)
    assert len(verdict.turns) == 3
    assert verdict.turns[-1] == verdict.score == EmbeddedJudge().verdict(DINNER, told, P).score
    cut = told.model_copy(update={"messages": told.messages[:2]})
    assert verdict.turns[0] == EmbeddedJudge().verdict(DINNER, cut, P).score


def test_verdicts_are_on_their_scale_and_say_why_with_quotes_from_the_transcript() -> None:
    judge = EmbeddedJudge()
    for item in labelled("heldout")[::4]:
        for dimension in judge.dimensions:
            verdict = judge.verdict(item.scenario, item.dialogue, dimension)
            assert verdict.justification
            assert "\n" not in verdict.justification
            assert dimension.scale.low <= verdict.score <= dimension.scale.high
            for evidence in verdict.evidence:
                said = " ".join(item.dialogue.messages[evidence.turn].content.split())
                assert evidence.quote.removesuffix("...") in said, f"{item.id} {dimension.short}"


def test_low_and_high_personalization_rest_on_evidence() -> None:
    judge = EmbeddedJudge()
    verdicts = [judge.verdict(item.scenario, item.dialogue, P) for item in labelled("heldout")]
    assert all(v.evidence for v in verdicts if v.score > 2)
    # Where nothing that is known was so much as named, there is nothing to quote.
    shown = [
        v
        for v in verdicts
        if v.score == 1 and {r.code for r in v.reasons} & {"asks-known", "contradicts", "recites"}
    ]
    assert len(shown) >= 10
    assert all(v.evidence for v in shown)


def test_every_personalization_verdict_has_a_reason_for_each_preference_that_the_task_needs() -> None:
    judge = EmbeddedJudge()
    for item in labelled("heldout"):
        verdict = judge.verdict(item.scenario, item.dialogue, P)
        needed = set(item.scenario.task.relevant)
        assert needed <= {(r.domain, r.type) for r in verdict.reasons}, item.id
        assert {r.code for r in verdict.reasons} <= ABOUT_PREFERENCES, item.id


def test_a_low_personalization_names_a_preference() -> None:
    judge = EmbeddedJudge()
    low = [
        v for item in labelled("heldout") if (v := judge.verdict(item.scenario, item.dialogue, P)).score == 1
    ]
    assert len(low) >= 30
    for verdict in low:
        assert any(
            r.code in ("asks-known", "contradicts", "recites", "ignores") and r.type and r.value
            for r in verdict.reasons
        )
        # Of replies that say nothing at all the line says that.
        assert "nothing for this user" in verdict.justification or any(
            r.type in verdict.justification for r in verdict.reasons
        )


def test_a_task_completion_verdict_has_the_state_of_each_part_of_the_goal() -> None:
    judge = EmbeddedJudge()
    for item in labelled("heldout"):
        verdict = judge.verdict(item.scenario, item.dialogue, TC)
        if verdict.justification in ENDED:
            continue
        assert verdict.reasons, item.id
        assert all(r.part and not r.type for r in verdict.reasons), item.id
        assert {r.code for r in verdict.reasons} <= ABOUT_PARTS, item.id
        if parts := item.scenario.task.parts:
            assert [r.part for r in verdict.reasons] == [p.text for p in parts if not p.never], item.id
        if verdict.score:
            assert {r.code for r in verdict.reasons} == {"done"}, item.id


def test_a_dialogue_given_up_or_cut_short_has_the_state_of_each_part_as_well() -> None:
    given_up = dialogue(*APPLIED[:2], "Oh, forget it, I'll do it myself.", "Enjoy your evening!")
    cut_short = dialogue(*APPLIED[:3]).model_copy(update={"end": "limit"})
    assert all(EmbeddedJudge().verdict(DINNER, ended, TC).reasons for ended in (given_up, cut_short))


def test_parts_left_undone_are_named_with_what_became_of_them() -> None:
    refused = dialogue(
        BOTH_ASKED, TICKET, "And the alarm?", "I'm not able to set alarms.", "Hm. Bye.", "Have a good trip!"
    )
    verdict = EmbeddedJudge().verdict(TRIP, refused, TC)
    alarm = [r for r in verdict.reasons if "alarm" in r.part]
    assert alarm
    assert all(r.code != "done" for r in alarm), alarm


def test_a_type_asked_for_is_among_the_reasons_with_its_turn() -> None:
    asking = dialogue(
        ASKED,
        "What kind of food would you like?",
        "Lebanese.",
        "I've booked a table for two at Cedre for 19:00.",
        *BYE,
    )
    reasons = {r.type: r for r in EmbeddedJudge().verdict(DINNER, asking, P).reasons}
    assert set(reasons) == set(TASTES)
    assert (reasons["Favorite Cuisine"].code, reasons["Favorite Cuisine"].turn) == ("asks-known", 1)


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("What would you like?", "asks-known"),
        ("What kind of flight would you like, and which airline?", "uses-stated"),
    ],
)
def test_a_question_about_another_domain_asks_for_no_preference_of_this_one(question: str, code: str) -> None:
    asking = dialogue(ASKED, question, "Lebanese.", "I've booked a table for two at Cedre for 19:00.", *BYE)
    reasons = {r.type: r.code for r in EmbeddedJudge().verdict(DINNER, asking, P).reasons}
    assert reasons["Favorite Cuisine"] == code


def test_guests_are_no_restaurants_that_are_compared() -> None:
    ref = next(r for user in EMBEDDED.users() for r in EMBEDDED.refs(user) if r.task == "restaurants-4")
    compared = dialogue(
        "I'd like to compare a few places for lunch, please.",
        "Side by side: 1. Cedre, Lebanese, $30 for 2. 2. Lune, French, $45 for 2. 3. Inti, Peruvian, $28 for 2.",
        "Thank you, goodbye.",
        "You're welcome.",
    )
    reasons = EmbeddedJudge().verdict(EMBEDDED.load(ref), compared, TC).reasons
    assert not [r for r in reasons if "for 2" in r.detail], reasons


@pytest.mark.parametrize("length", ["2 hours", "two hours", "120 minutes"])
def test_a_known_length_of_time_counts_in_other_words_too(length: str) -> None:
    ref = next(ref for ref in EMBEDDED.refs("kenneth") if ref.id == "calendar-1-kenneth")
    scenario = EMBEDDED.load(ref)
    assert scenario.preferences["Calendar"]["Notification Preference"] == ("2 hours before",)
    done = dialogue(
        "Good day. I'd like a regular appointment in my calendar, with a reminder.",
        f"I've added the weekly entry: Tuesday 18:15. The reminder is set {length} before.",
        "Thank you, goodbye.",
        "You're welcome.",
    )
    verdict = EmbeddedJudge().verdict(scenario, done, P)
    reminder = {r.type: r.code for r in verdict.reasons}["Notification Preference"]
    assert (verdict.score, reminder) == (3, "applies")
    parts = {r.part: r.code for r in EmbeddedJudge().verdict(scenario, done, TC).reasons}
    assert parts["its reminder"] == "done"


@pytest.mark.parametrize("dimension", [d for d in Dimension if d not in EmbeddedJudge.dimensions])
def test_it_gives_no_reading_of_the_user(dimension: Dimension) -> None:
    assert dimension in (Dimension.NATURALNESS_USER, Dimension.COHERENCE_USER)
    with pytest.raises(JudgeFault, match=f"gives no reading of {dimension.short}; a model as the judge does"):
        EmbeddedJudge().verdict(DINNER, dialogue(*APPLIED), dimension)


def test_it_gives_what_it_says_it_gives_and_nothing_else() -> None:
    given = []
    for dimension in Dimension:
        with suppress(JudgeFault):
            given.append(EmbeddedJudge().verdict(DINNER, dialogue(*APPLIED), dimension).dimension)
    assert set(given) == set(EmbeddedJudge.dimensions)
    assert set(Dimension) - set(given) == {Dimension.NATURALNESS_USER, Dimension.COHERENCE_USER}


@pytest.mark.parametrize(
    "turns",
    [
        (
            "Hei, haluaisin pöydän kahdelle tänään.", ("Totta kai! Varasin teille pöydän kahdelle hengelle ravintolasta kello seitsemäksi, ja "
            "terassilta löytyy rauhallinen paikka. Ruokalistalla on paljon kasvisruokia."), "Kiitos!", "Mukavaa iltaa!",
        ),
        (
            "Hallo, ich möchte heute Abend einen Tisch für zwei.", ("Gerne! Ich habe für Sie einen Tisch für zwei Personen auf der Terrasse um "
            "neunzehn Uhr reserviert, und es gibt viele vegetarische Gerichte."), "Danke!", "Einen schönen Abend noch!",
        ),
    ],
    ids=["Finnish", "German"],
)  # fmt: skip
def test_what_it_cannot_read_it_does_not_judge(turns: tuple[str, ...]) -> None:
    for dimension in (TC, P, Dimension.NATURALNESS_ASSISTANT, Dimension.COHERENCE_ASSISTANT):
        with pytest.raises(JudgeFault, match="could not read"):
            score(dimension, *turns)


def test_an_opening_that_states_a_preference_leaks() -> None:
    leak = EmbeddedJudge().verdict(
        DINNER, dialogue("A vegetarian table for two, please.", *APPLIED[1:]), Dimension.OPENING_LEAK
    )
    assert (leak.score, leak.justification) == (1, "states Dietary Restriction")
    assert leak.evidence[0].turn == 0
    assert score(Dimension.OPENING_LEAK, *APPLIED) == 0


@pytest.mark.parametrize("dimension", Dimension)
def test_without_a_reply_there_is_no_verdict(dimension: Dimension) -> None:
    with pytest.raises(JudgeFault):
        EmbeddedJudge().verdict(DINNER, dialogue("Hello?"), dimension)


def test_repetition_costs_naturalness_and_coherence(scenario: Scenario) -> None:
    good = (
        "I need a ticket to York.",
        "To York tomorrow at 9:12?",
        "Yes please, to York.",
        "Done, here is your ticket to York.",
    )
    bad = (
        "I need a ticket to York.",
        "Please specify the required field.",
        "York!",
        "Please specify the required field.",
    )
    for dimension in (Dimension.NATURALNESS_ASSISTANT, Dimension.COHERENCE_ASSISTANT):
        assert score(dimension, *good, scenario=scenario) > score(dimension, *bad, scenario=scenario)


VERDICTS = """
import sys
from pathlib import Path
from pytest_personalens.agents import EmbeddedJudge
from pytest_personalens.judge_quality import read_labels

for item in read_labels(Path(sys.argv[1]))[::10]:
    print(*(EmbeddedJudge().verdict(item.scenario, item.dialogue, d).model_dump_json() for d in EmbeddedJudge.dimensions), sep="\\n")
"""


def test_verdicts_are_the_same_in_every_process() -> None:
    judge = EmbeddedJudge()
    here = [
        judge.verdict(item.scenario, item.dialogue, d).model_dump_json()
        for item in labelled("heldout")[::10]
        for d in judge.dimensions
    ]
    there = subprocess.run(
        [sys.executable, "-c", VERDICTS, str(data_folder() / "agreement" / "heldout.jsonl")],
        env={**os.environ, "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1", "PYTHONIOENCODING": "utf-8"},
        capture_output=True, check=True, encoding="utf-8", timeout=600,
    )  # fmt: skip
    assert there.stdout.splitlines() == here


def test_agreement_with_the_labels_it_was_trained_on() -> None:
    found = {
        r.dimension: r.majority
        for r in measure(labelled("calibration"), EmbeddedJudge(), dimensions=[TC]).readings
    }
    assert (found[TC].plain or 0) >= 0.7


def test_agreement_with_labels_it_has_never_seen() -> None:
    agreement = measure(labelled("heldout"), EmbeddedJudge(), dimensions=[TC, P])
    found = {r.dimension: r.majority for r in agreement.readings}
    assert not agreement.faults
    assert (found[TC].plain or 0) >= 0.55
    assert (found[P].plain or 0) >= 0.55
    assert (found[P].weighted or 0) >= 0.78


#: What makes up a reply as long as replies may be.
UNITS: Final = ("\n", "&amp;", "&lt;b&gt;", "a ", "[", "{", "enjoy a ", "1,", "? ")
#: The same of many sentences or lines, however ordinary.
MANY_SENTENCES: Final = ("a. ", "I have booked it. ", "- a\n", "|a|b|\n")
READ = """
import sys
from contextlib import suppress
from tests.agents.judge.test_embedded_judge import ASKED, BYE, DINNER, P, TC, dialogue
from pytest_personalens.agents import EmbeddedJudge
from pytest_personalens.core.dialogue.dialogue import MAX_REPLY_CHARS
from pytest_personalens.core.errors import JudgeFault

told = dialogue(ASKED, (sys.argv[1] * MAX_REPLY_CHARS)[:MAX_REPLY_CHARS], *BYE)
for dimension in (TC, P):
    with suppress(JudgeFault):
        EmbeddedJudge().verdict(DINNER, told, dimension)
"""


@pytest.mark.parametrize("unit", UNITS)
def test_no_reply_makes_it_hang(unit: str) -> None:
    # In a process of its own, which can be ended. The bound is far above what any machine takes over it.
    subprocess.run([sys.executable, "-c", READ, unit], cwd=ROOT, check=True, timeout=600)


@pytest.mark.slow
@pytest.mark.parametrize("unit", MANY_SENTENCES)
def test_no_reply_of_very_many_sentences_makes_it_hang(unit: str) -> None:
    test_no_reply_makes_it_hang(unit)


def run(bots: Any, name: str, size: int = 9) -> list[Evaluation]:
    found = []
    for ref in draw(EMBEDDED, size, seed="bots").refs:
        scenario = EMBEDDED.load(ref)
        memory = bots.Memory()
        for topic, summary in scenario.summaries.items():
            memory.remember(scenario.user, topic, summary)
        found.append(
            evaluate(
                scenario,
                bots.BOTS[name](scenario.user, memory),
                EmbeddedUserAgent(),
                EmbeddedJudge(),
                dimensions=[TC, P],
            )
        )
    return found


def test_good_and_bad_bots_come_out_in_order(bots: Any) -> None:
    results = {name: run(bots, name) for name in bots.BOTS}
    assert all(e.scored for es in results.values() for e in es)
    p = {name: mean(e.personalization or 0 for e in es) for name, es in results.items()}
    tcr = {name: mean(bool(e.task_completed) for e in es) for name, es in results.items()}
    # Who asks for what it should know, contradicts or recites is at 1, each of them.
    assert p["remembers"] > p["forgets"] + 0.5, p
    assert p["remembers"] > p["contradicts"] + 0.5, p
    assert p["remembers"] > p["name-drops"] + 0.5, p
    assert min(tcr["remembers"], tcr["forgets"]) >= 0.5, tcr
    assert max(tcr["remembers"], tcr["forgets"]) >= tcr["contradicts"] > tcr["name-drops"] == 0, tcr
