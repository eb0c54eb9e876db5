"""Bots, users and judges for the repositories of tests: each is the text of a conftest.py."""

from __future__ import annotations

from typing import Final

from tests.support.repository import ROOT

#: The example project's bot with a memory that holds all that is known of the user; deterministic.
BOT: Final = f"""
    import sys
    import pytest

    sys.path.insert(0, {str(ROOT / "example_project")!r})
    from helpbot import Memory
    from helpbot.bot import Helpbot

    @pytest.fixture
    def personalens_assistant(personalens_scenario, personalens_context):
        memory = Memory()
        for domain, types in personalens_scenario.preferences.items():
            known = ". ".join(value for values in types.values() for value in values)
            memory.remember(personalens_scenario.user, domain, f"{{known}}. {{personalens_context.interactions.get(domain, '')}}")
        helpbot = Helpbot(personalens_scenario.user, memory)

        def bot(messages):
            return helpbot(messages)

        return bot
"""
TEST = """
    def test_bot(personalens):
        personalens.check()
"""
#: A judge whose scores are in files: ids in low.txt get the lowest score, ids in faults.txt none.
TOLD = """
    import os, pathlib, pytest
    from pytest_personalens import UserTurn, Verdict

    HERE = pathlib.Path(__file__).parent

    def listed(name):
        file = HERE / name
        return file.read_text().split() if file.exists() else []

    class User:
        identity, paid = os.environ.get("USER_AGENT", "user 1"), False
        def turn(self, scenario, transcript):
            return UserTurn("hello" if not transcript else "bye", done=bool(transcript))

    class Judge:
        identity, paid = os.environ.get("JUDGE", "judge 1"), False
        def verdict(self, scenario, dialogue, dimension):
            if scenario.id in listed("faults.txt"):
                raise RuntimeError("not today")
            low, high = dimension.scale
            return Verdict(dimension=dimension, score=low if f"{dimension.short}:{scenario.id}" in listed("low.txt") else high, justification="told")

    def pytest_personalens_user_agent(spec):
        return User() if spec == "told" else None

    def pytest_personalens_judge(spec):
        return Judge() if spec == "told" else None

    @pytest.fixture(scope="session")
    def personalens_assistant():
        return lambda messages: "fine"
"""
#: The options that put the agents of `TOLD` in the roles of user and judge.
TOLD_AGENTS = ("--personalens-user-model", "told", "--personalens-judge-model", "told")
#: Paid agents that write down each call, and a bot whose wording can be changed from outside.
PAID = """
    import os, pytest
    from pathlib import Path
    from pytest_personalens import Dimension, UserTurn, Verdict

    def called(what):
        with Path(os.environ["CALLS"]).open("a") as log:
            log.write(what + "\\n")

    class User:
        identity, paid = "paid-user", True
        def turn(self, scenario, transcript):
            called("user")
            number = len(transcript) // 2
            return UserTurn(f"question {number}", done=number == 2)

    class Judge:
        identity, paid = "paid-judge", True
        def verdict(self, scenario, dialogue, dimension):
            called("judge")
            if os.environ.get("CRASH") == dimension.short:
                os._exit(9)
            return Verdict(dimension=dimension, score=dimension.scale.high, justification="fine")

    def pytest_personalens_user_agent(spec):
        return User() if spec == "paid" else None

    def pytest_personalens_judge(spec):
        return Judge() if spec == "paid" else None

    @pytest.fixture
    def personalens_assistant():
        return lambda messages: f"answer {len(messages)}" + os.environ.get("CHANGE", "")
"""
#: The same with an assistant that calls a tool in each turn.
ACTING = (
    PAID
    + """
    import uuid

    def acting(messages):
        name = f"call_{uuid.uuid4().hex}" if os.environ.get("NEW_IDS") else "call_1"
        done = {"id": name, "type": "function", "function": {"name": "book", "arguments": '{"people": 2}'}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [done]},
            {"role": "tool", "tool_call_id": name, "content": os.environ.get("RESULT", "ok")},
            {"role": "assistant", "content": f"answer {len([m for m in messages if m['role'] == 'user'])}"},
        ]

    @pytest.fixture(scope="session")
    def personalens_assistant():
        return acting
"""
)
MODELS = ("--personalens-user-model", "paid", "--personalens-judge-model", "paid")
