"""The predictor foretells replies and their votes: one item for each prediction of the sample."""

from __future__ import annotations

from pytest_personalens import Personalens


def test_foretells(personalens: Personalens) -> None:
    personalens.check()
