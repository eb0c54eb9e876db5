"""Paid agents that write down each call, and a bot whose wording can be changed from outside."""

import os
from pathlib import Path

import pytest

from pytest_personalens import UserTurn, Verdict


def called(what):
    with Path(os.environ["CALLS"]).open("a", encoding="utf-8") as log:
        log.write(what + "\n")


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
