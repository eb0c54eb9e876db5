"""Hands the acting Helpbot over: the same bot with a tool for each deed, and what its database holds."""

from __future__ import annotations

import os
import re
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


class EmptyTools(Tools):
    """Tools that say that all went well, and store nothing."""

    def call(self, name: str, arguments: dict[str, str]) -> str:
        return '{"ok": true, "id": 1}'


class LateTools(Tools):
    """Tools that store each thing a day late."""

    def call(self, name: str, arguments: dict[str, str]) -> str:
        return super().call(name, {key: _day_later(text) for key, text in arguments.items()})


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY = re.compile(rf"\b({'|'.join(_DAYS)})(?: (\d{{1,2}})(?= [A-Z]))?")
TOOLS = {"claims": BrokenTools, "stores-nothing": EmptyTools, "stores-a-day-late": LateTools}


def _day_later(text: str) -> str:
    def later(day: re.Match[str]) -> str:
        name = _DAYS[(_DAYS.index(day[1]) + 1) % 7]
        return f"{name} {int(day[2]) + 1}" if day[2] else name

    return _DAY.sub(later, text)


@pytest.fixture
def tools() -> Tools:
    """The user's calendar, bookings, messages and settings, empty at first."""
    return TOOLS.get(os.environ.get("HELPBOT", ""), Tools)()


@pytest.fixture
def personalens_state(tools: Tools) -> Callable[[], Any] | None:
    """What the database holds after the dialogue; with HELPBOT_STATE=none the judge does not see it."""
    return None if os.environ.get("HELPBOT_STATE") == "none" else tools.state


@pytest.fixture
def personalens_assistant(personalens_context: Context, tools: Tools) -> Callable[[Any], Any]:
    """Helpbot with tools; HELPBOT names a mistake of the tools, or a bot that says no more than "Done."."""
    memory = Memory()
    for topic, summary in personalens_context.interactions.items():
        memory.remember(personalens_context.user, topic, summary)
    bot = BOTS["remembers"](personalens_context.user, memory)
    if os.environ.get("HELPBOT") == "says-done":
        return ActingBot(bot, tools, lambda messages: "Done.")
    return ActingBot(bot, tools, Worded(bot, os.environ.get("HELPBOT_WORDING", "product")))
