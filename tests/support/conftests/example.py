"""The example project's bot with a memory that holds all that is known of the user; deterministic."""

import sys

import pytest

sys.path.insert(0, "example_project")
from helpbot import Memory
from helpbot.bot import Helpbot


@pytest.fixture
def personalens_assistant(personalens_scenario, personalens_context):
    memory = Memory()
    for domain, types in personalens_scenario.preferences.items():
        known = ". ".join(value for values in types.values() for value in values)
        memory.remember(
            personalens_scenario.user, domain, f"{known}. {personalens_context.interactions.get(domain, '')}"
        )
    helpbot = Helpbot(personalens_scenario.user, memory)

    def bot(messages):
        return helpbot(messages)

    return bot
