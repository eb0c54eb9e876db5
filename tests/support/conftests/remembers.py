"""The example's bot that remembers, except for the users whose first letters the variable FORGETS lists."""

import os
import sys

import pytest

sys.path.insert(0, "example_project")
from helpbot import Memory
from helpbot.bot import BOTS


@pytest.fixture
def personalens_assistant(personalens_context):
    memory = Memory()
    for topic, summary in personalens_context.interactions.items():
        memory.remember(personalens_context.user, topic, summary)
    forgets = personalens_context.user[0] in os.environ.get("FORGETS", "").split(",")
    return BOTS["forgets" if forgets else "remembers"](personalens_context.user, memory)
