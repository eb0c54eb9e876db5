"""A bot that calls a tool in each turn, for the end of another conftest.py."""

import os
import uuid

import pytest


def acting(messages):
    name = f"call_{uuid.uuid4().hex}" if os.environ.get("NEW_IDS") else "call_1"
    done = {"id": name, "type": "function", "function": {"name": "book", "arguments": '{"people": 2}'}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [done]},
        {"role": "tool", "tool_call_id": name, "content": os.environ.get("RESULT", "ok")},
        {"role": "assistant", "content": f"answer {len([m for m in messages if m['role'] == 'user'])}"},
    ]


@pytest.fixture(scope="session")
def personalens_assistant():
    return acting
