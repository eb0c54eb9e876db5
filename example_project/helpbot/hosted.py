"""Helpbot as a service would run it: one callable that answers all users, side by side."""

from __future__ import annotations

from collections.abc import Callable

from helpbot.bot import BOTS, Messages
from helpbot.memory import Memory
from helpbot.wordings import Worded
from pytest_personalens import Context


def hosted(name: str) -> Callable[[Messages, Context], str]:
    """The bot of a name, which is told with each message whose conversation it is."""

    def reply(messages: Messages, context: Context) -> str:
        memory = Memory()
        for topic, summary in context.interactions.items():
            memory.remember(context.user, topic, summary)
        return Worded(BOTS[name](context.user, memory), "product")(messages)

    return reply
