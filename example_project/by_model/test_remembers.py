"""Helpbot knows its users, whom a language model plays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from helpbot.bot import Messages
from helpbot.hosted import hosted
from pytest_personalens import Context, Personalens


@pytest.fixture(scope="session")
def personalens_assistant() -> Callable[[Messages, Context], str]:
    return hosted("remembers")


def test_knows_its_user(personalens: Personalens) -> None:
    personalens.check()
