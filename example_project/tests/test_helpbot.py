"""Helpbot knows its users: one item for each scenario of the sample."""

from __future__ import annotations

from pytest_personalens import Personalens


def test_knows_its_user(personalens: Personalens) -> None:
    personalens.check()
