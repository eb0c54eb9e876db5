"""Hands Helpbot over to pytest-personalens."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from helpbot import Memory
from helpbot.bot import BOTS, Messages
from helpbot.wordings import Worded
from pytest_personalens import Context


@pytest.fixture
def personalens_assistant(personalens_context: Context) -> Callable[[Messages], str]:
    """Helpbot as this user meets it: its memory holds what earlier conversations left there."""
    memory = Memory()
    for topic, summary in personalens_context.interactions.items():
        memory.remember(personalens_context.user, topic, summary)
    # HELPBOT picks one of the bots that get it wrong (helpbot/bot.py), HELPBOT_WORDING other words for the
    # same (helpbot/wordings.toml).
    bot = BOTS[os.environ.get("HELPBOT", "remembers")](personalens_context.user, memory)
    return Worded(bot, os.environ.get("HELPBOT_WORDING", "product"))
