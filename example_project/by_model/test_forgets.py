"""A bot without a memory, whose users a language model plays: its gate on P fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from helpbot.bot import Messages
from helpbot.hosted import hosted
from pytest_personalens import Context, Personalens


@pytest.fixture(scope="session")
def personalens_assistant() -> Callable[[Messages, Context], str]:
    return hosted("forgets")


def test_knows_its_user(personalens: Personalens) -> None:
    personalens.check()
