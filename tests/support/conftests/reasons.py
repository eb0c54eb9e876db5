"""A bot that forgets where FORGETS is set, and a judge that says why it scores as it does."""

import os

import pytest

from pytest_personalens import Dimension, Evidence, Reason, UserTurn, Verdict

ASKS, KNOWS = (
    "Gladly. Which seat would you like, and which row of the house is it to be?",
    "Your window seat is booked.",
)


class User:
    identity, paid = "user 1", False

    def turn(self, scenario, transcript):
        return UserTurn(
            "Please book me a seat." if not transcript else "Thank you, bye.", done=bool(transcript)
        )


class Judge:
    identity, paid = "judge 1", False

    def verdict(self, scenario, dialogue, dimension):
        asks = dialogue.messages[1].content == ASKS
        if dimension is not Dimension.PERSONALIZATION:
            return Verdict(dimension=dimension, score=1, justification="booked")
        reason = Reason(
            code="asks-known" if asks else "applies",
            domain="Movies",
            type="Seat Type",
            value="window",
            turn=1,
        )
        return Verdict(
            dimension=dimension,
            score=1 if asks else 3,
            justification="asks again" if asks else "knows",
            evidence=(Evidence.of(1, dialogue.messages[1].content),),
            reasons=() if os.environ.get("SILENT") else (reason,),
        )


def pytest_personalens_user_agent(spec):
    return User() if spec == "told" else None


def pytest_personalens_judge(spec):
    return Judge() if spec == "told" else None


@pytest.fixture(scope="session")
def personalens_assistant():
    return lambda messages: ASKS if os.environ.get("FORGETS") and len(messages) == 1 else KNOWS
