"""The bot is met in several sessions, each after what was said before is stored."""

from __future__ import annotations

from pytest_personalens import Personalens


def test_remembers(personalens: Personalens) -> None:
    personalens.check()
