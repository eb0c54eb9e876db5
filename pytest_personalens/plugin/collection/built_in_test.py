"""The built-in suite: one test function. It runs if a repository has no test that asks for `personalens`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_personalens.plugin.fixtures.personalens_object import Personalens


def test_personalens(personalens: Personalens) -> None:
    """The assistant completes the task and knows its user."""
    personalens.check()
