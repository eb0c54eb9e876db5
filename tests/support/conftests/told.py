"""A judge whose scores are in files: ids in low.txt get the lowest score, ids in faults.txt none."""

import os
import pathlib

import pytest

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
        score = low if f"{dimension.short}:{scenario.id}" in listed("low.txt") else high
        return Verdict(dimension=dimension, score=score, justification="told")


def pytest_personalens_user_agent(spec):
    return User() if spec == "told" else None


def pytest_personalens_judge(spec):
    return Judge() if spec == "told" else None


@pytest.fixture(scope="session")
def personalens_assistant():
    return lambda messages: "fine"
