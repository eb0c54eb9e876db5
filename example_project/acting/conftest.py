"""Hands the acting Helpbot over: the same bot, which calls a tool for each deed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from helpbot import Memory
from helpbot.acting import ActingBot
from helpbot.bot import BOTS
from helpbot.tools import Tools
from helpbot.wordings import Worded
from pytest_personalens import Context


class BrokenTools(Tools):
    """Tools that all fail: the bot says that it acted, and nothing was done."""

    def call(self, name: str, arguments: dict[str, str]) -> str:
        return '{"error": "the service is down"}'


@pytest.fixture
def tools() -> Tools:
    """The user's calendar, bookings, messages and settings, empty at first."""
    return BrokenTools() if os.environ.get("HELPBOT") == "claims" else Tools()


@pytest.fixture
def personalens_assistant(personalens_context: Context, tools: Tools) -> Callable[[Any], Any]:
    """Helpbot with tools; with HELPBOT=claims all of them fail, and it says that all is done."""
    memory = Memory()
    for topic, summary in personalens_context.interactions.items():
        memory.remember(personalens_context.user, topic, summary)
    bot = BOTS["remembers"](personalens_context.user, memory)
    return ActingBot(bot, tools, Worded(bot, os.environ.get("HELPBOT_WORDING", "product")))
