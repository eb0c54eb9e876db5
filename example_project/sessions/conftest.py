"""Hands a bot over that keeps its own memory: each call tells it the user and the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import pytest

from pytest_personalens import Context
from sessions.rememberer import BOTS


@pytest.fixture
def personalens_assistant() -> Callable[..., str]:
    """One bot for all sessions of an arc. HELPBOT names one of those that get it wrong."""
    bot = BOTS[os.environ.get("HELPBOT", "remembers")]()

    def assistant(messages: Sequence[Mapping[str, str]], context: Context) -> str:
        return bot.reply(context.user, context.session, messages[-1]["content"])

    return assistant
