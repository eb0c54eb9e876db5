"""Arcs, assistants and arguments for the tests of the suite."""

from __future__ import annotations

from typing import Any

SUITE = ("--personalens-suite", "memory", "--personalens-sample", "all")
DATA, CONTROL, GATE, KIND = (f"--personalens-{name}" for name in ("data", "control", "gate", "kind"))
REPORT = ("--personalens-report", "results.json")
#: Writes down what it gets with each call.
LISTENER = """
import json
import pytest

@pytest.fixture(scope="session")
def personalens_assistant():
    def reply(messages, context):
        call = {"messages": messages, **context.model_dump(include={"user", "dialogue", "session", "date"})}
        with open("heard.jsonl", "a") as log:
            log.write(json.dumps(call) + "\\n")
        return f"reply {len(messages)}"
    return reply
"""
ARC = """
kind = "recall"

[[arcs]]
id = "tea"
person = "ada"
domain = "Shopping"

[[arcs.sessions]]
date = "2026-01-05"
says = ["Put tea on the list, I drink rooibos.", "And some milk."]

[[arcs.sessions]]
date = "2026-01-07"
says = ["What is the weather in Oban?"]

[[arcs.sessions]]
date = "2026-02-01"
says = ["Order my tea."]

[arcs.test]
right = ["rooibos | redbush"]
"""
#: The same with a task, for which the user goes on after the test.
WITH_TASK = ARC.replace(
    "[arcs.test]",
    """[arcs.task]
intent = "You want to order your tea."
preference = "Tea"
ask = ["tea", "which one"]

[arcs.test]""",
)


def said_by_user(item: Any) -> list[tuple[str, str]]:
    """The sessions and texts of the user in an item."""
    messages = item["evaluation"]["dialogue"]["messages"]
    return [(m["session"], m["content"]) for m in messages if m["role"] == "user"]
