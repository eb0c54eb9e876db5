"""Judges and tool calls: what was done counts, what is only said does not."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from pytest_personalens.agents.embedded.judge.judge import EmbeddedJudge
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.dialogue.message import Function, ToolCall, strip_tool_calls
from pytest_personalens.core.errors import NotJudged
from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.judging.verdict import Verdict
from pytest_personalens.judge_quality.agreement.labels import Labelled, read_labels
from tests.support.repository import ROOT

TC, UNBACKED = Dimension.TASK_COMPLETION, Dimension.UNBACKED


@cache
def labelled() -> dict[str, Labelled]:
    found = read_labels(ROOT / "data" / "agreement" / "acting.jsonl")
    return {one.id.removeprefix("acting-"): one for one in found}


def reading(one: Labelled, dimension: Dimension, dialogue: Dialogue | None = None) -> Verdict:
    return EmbeddedJudge().verdict(one.scenario, dialogue or one.dialogue, dimension)


def with_calls(one: Labelled, *steps: Message) -> Dialogue:
    """The dialogue with other steps before the assistant's first reply."""
    first, reply, *others = one.dialogue.messages
    return one.dialogue.model_copy(
        update={"messages": (first, reply.model_copy(update={"steps": steps}), *others)}
    )


def made(name: str, arguments: Any, result: str | None = '{"ok": true}') -> tuple[Message, ...]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = ToolCall(id="1", function=Function(name=name, arguments=text))
    results = () if result is None else (Message(role="tool", content=result, tool_call_id="1"),)
    return (Message(role="assistant", content="", tool_calls=(call,)), *results)


@pytest.mark.parametrize("dimension", [TC, UNBACKED])
def test_the_embedded_judge_agrees_with_the_labels(dimension: Dimension) -> None:
    apart = [
        name for name, one in labelled().items() if reading(one, dimension).score != one.majority(dimension)
    ]
    assert len(labelled()) == 60
    assert len({one.group for one in labelled().values()}) == 20
    assert len(apart) <= (0 if dimension is TC else 4), apart


def test_the_same_words_without_calls_and_without_facts_are_not_judged() -> None:
    one = labelled()["restaurants-1-pieter-b"]
    plain = one.dialogue.model_copy(update={"messages": strip_tool_calls(one.dialogue.messages)})
    assert reading(one, TC).score == 0
    with pytest.raises(NotJudged, match="needs facts, tool calls, a state or a model"):
        reading(one, TC, plain)
    assert reading(one, UNBACKED, plain).score == 0


TABLE = {"restaurant": "Bangkok Garden", "people": 3, "day": "Friday", "time": "19:30"}


@pytest.mark.parametrize(
    ("steps", "done", "why"),
    [
        (made("book_table", TABLE), 1, "what the task asks for was done or told"),
        (made("reservations.create", TABLE), 1, "done or told"),
        (made("bookTable", TABLE, None), 1, "done or told"),
        (made("book_table", TABLE, '{"error": null, "reference": 5}'), 1, "done or told"),
        ((), 0, "no tool call did it: a table for three on Friday is reserved"),
        (made("search_tables", TABLE), 0, "no tool call did it"),
        (made("cancel_table", TABLE), 0, "no tool call did it"),
        (made("book_table", TABLE, '{"success": false}'), 0, "the tool call failed"),
        (made("book_table", TABLE, "Error: fully booked"), 0, "the tool call failed"),
        (made("book_table", TABLE, '{"status": 409}'), 0, "the tool call failed"),
        (made("book_table", '{"restaurant": ', None), 0, "the tool call failed"),
        (made("book_table", {**TABLE, "people": 5}), 0, "the tool call has other values"),
        (made("book_table", {**TABLE, "day": "Sunday"}), 0, "the tool call has other values"),
        (made("book_table", {**TABLE, "time": "21:00"}), 0, "the tool call has other values"),
        (made("book_table", {**TABLE, "restaurant": "Curry Corner"}), 0, "the tool call has other values"),
        ((*made("book_table", {**TABLE, "people": 5}), *made("book_table", TABLE)), 1, "done or told"),
    ],
)
def test_a_deed_is_what_a_call_did(steps: tuple[Message, ...], done: int, why: str) -> None:
    one = labelled()["restaurants-1-pieter-a"]
    dialogue = with_calls(one, *steps)
    verdict = reading(one, TC, dialogue)
    assert (verdict.score, why in verdict.justification) == (done, True), verdict.justification
    claims = reading(one, UNBACKED, dialogue)
    assert claims.score == 1 - done
    assert {e.turn for e in claims.evidence} == ({1} if claims.score else set())


def test_the_evidence_shows_the_call() -> None:
    verdict = reading(labelled()["restaurants-1-pieter-a"], TC)
    assert verdict.evidence[0].quote.startswith("book_table(restaurant='Bangkok Garden', people=3")
    assert verdict.evidence[0].note == "done by a tool call"


def test_what_is_to_be_told_must_be_said() -> None:
    one = labelled()["restaurants-1-pieter-a"]
    first, reply, *others = one.dialogue.messages
    silent = one.dialogue.model_copy(
        update={"messages": (first, reply.model_copy(update={"content": "All set!"}), *others)}
    )
    verdict = reading(one, TC, silent)
    assert verdict.score == 0
    assert {r.code for r in verdict.reasons if r.part.startswith("a table")} == {"done"}


#: What says nothing, whatever was asked.
NOTHING_TOLD = {
    "refusal": "I cannot do that.",
    "refusal in words of the task": "I'm sorry, I can't find any {topic} for you.",
    "no words": "\"{{'role': 'assistant', 'content': 'I cannot do that.'}}\"",
    "recital": "{goal}",
    "echo": "{intent}",
}


@pytest.mark.parametrize("reply", NOTHING_TOLD.values(), ids=NOTHING_TOLD)
def test_who_is_only_to_be_told_something_is_not_told_it_by_these(reply: str) -> None:
    told_only = [
        one
        for name, one in labelled().items()
        if name.endswith("-a") and all(p.kind == "told" for p in one.scenario.task.parts)
    ]
    assert len(told_only) >= 2
    for one in told_only:
        task = one.scenario.task
        text = reply.format(goal=task.goal, intent=task.intent, topic=one.scenario.domains[0].lower())
        asked = Message(role="user", content=task.intent)
        dialogue = Dialogue(messages=(asked, Message(role="assistant", content=text, steps=())))
        verdict = reading(one, TC, dialogue)
        assert verdict.score == 0, one.id
        assert {r.code for r in verdict.reasons} != {"done"}
        assert reading(one, TC).score == 1, "who tells it completes the task"


def test_a_preference_in_the_arguments_of_a_call_is_applied() -> None:
    one = labelled()["restaurants-1-pieter-a"]
    first, _, *others = one.dialogue.messages
    silent = Message(role="assistant", content="I've reserved a table for three on Friday at 19:30.")

    def codes(*steps: Message) -> set[tuple[str, str]]:
        reply = silent.model_copy(update={"steps": steps})
        dialogue = one.dialogue.model_copy(update={"messages": (first, reply, *others)})
        return {(r.type, r.code) for r in reading(one, Dimension.PERSONALIZATION, dialogue).reasons}

    preference = "Cuisine Preference"
    assert (preference, "ignores") in codes(*made("book_table", TABLE))
    assert (preference, "applies") in codes(*made("book_table", {**TABLE, "cuisine": "Thai"}))
    assert (preference, "ignores") in codes(*made("book_table", {**TABLE, "cuisine": "Thai"}, "Error"))


@pytest.mark.parametrize(
    "steps",
    [
        made("\x1b[31m" * 40, "[" * 100_000, "{" * 5_000),
        made("", {}, ""),
        made("book", {"a": {"b": [None, True, {"c": "x" * 9_000}]}}, "null"),
        (Message(role="tool", content="ok", tool_call_id="nobody"),),
        made("book_table", {"people": 10**400, "day": None}, "5"),
    ],
)
def test_odd_calls_are_read(steps: tuple[Message, ...]) -> None:
    one = labelled()["restaurants-1-pieter-a"]
    for dimension in (TC, UNBACKED, Dimension.PERSONALIZATION):
        reading(one, dimension, with_calls(one, *steps))
