"""Helpbot does what it says: its calls and the database, asserted for each scenario of the sample."""

from __future__ import annotations

from helpbot.tools import Tools
from pytest_personalens import Personalens, called

TABLES = {"make_booking": "bookings", "send_message": "messages", "add_calendar_entry": "calendar"}


def test_acts_for_its_user(personalens: Personalens, tools: Tools) -> None:
    dialogue = personalens.check().dialogue
    for call in dialogue.tool_calls():
        assert call.result is not None and '"ok": true' in call.result
    for name, table in TABLES.items():
        for call in dialogue.tool_calls(name):
            assert call.arguments["what"] in tools.rows(table)
    if personalens.scenario.task.id == "restaurants-1":
        assert called("make_booking", day="Friday", time="19:30") in dialogue.tool_calls()
