"""Arcs, assistants and arguments for the tests of the suite."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tests.support.repository import ROOT

SUITE = ("--personalens-suite", "memory", "--personalens-sample", "all")
DATA, CONTROL, GATE, KIND = (f"--personalens-{name}" for name in ("data", "control", "gate", "kind"))
REPORT = ("--personalens-report", "results.json")
#: The bots of the example project: HELPBOT names one. SCOPE is that of the fixture.
BOTS = f"""
import os, sys
import pytest

sys.path.insert(0, {str(ROOT / "example_project")!r})
from sessions.rememberer import BOTS

@pytest.fixture(scope=os.environ.get("SCOPE", "function"))
def personalens_assistant():
    bot = BOTS[os.environ.get("HELPBOT", "remembers")]()
    return lambda messages, context: bot.reply(context.user, context.session, messages[-1]["content"])
"""
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


def by_kind(results: Any) -> dict[str, list[int]]:
    """The scores of the run itself, by kind."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for item in results["items"]:
        if not item["arm"]:
            found[item["evaluation"]["kind"]].append(item["evaluation"]["verdicts"][0]["score"])
    return dict(found)


def shares(results: Any) -> dict[str, float]:
    """The share of arcs that are remembered, by kind."""
    return {kind: sum(scores) / len(scores) for kind, scores in by_kind(results).items()}


def failing(bot: dict[str, float], right: dict[str, float]) -> set[str]:
    """The kinds that a bot gets wrong: at least 0.3 below the right one; the others are within 0.15 of it."""
    assert bot.keys() == right.keys()
    far = {kind: right[kind] - bot[kind] for kind in right if abs(right[kind] - bot[kind]) > 0.15}
    assert all(drop >= 0.3 for drop in far.values()), far
    return set(far)


def said_by_user(item: Any) -> list[tuple[str, str]]:
    """The sessions and texts of the user in an item."""
    messages = item["evaluation"]["dialogue"]["messages"]
    return [(m["session"], m["content"]) for m in messages if m["role"] == "user"]
