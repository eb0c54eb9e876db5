"""The bot is met in several sessions: one item for each arc of the sample."""

from __future__ import annotations

from pytest_personalens import Personalens


def test_remembers(personalens: Personalens) -> None:
    personalens.check()
