"""What Helpbot can act on: a calendar, bookings, messages and settings, in one SQLite database."""

from __future__ import annotations

import json
import sqlite3

_TABLES = ("calendar", "bookings", "messages", "settings")


class Tools:
    """The tools of one user; each call tells what became of it."""

    def __init__(self, database: str = ":memory:") -> None:
        self._database = sqlite3.connect(database, check_same_thread=False)
        for table in _TABLES:
            self._database.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY, what TEXT, details TEXT)"
            )

    def call(self, name: str, arguments: dict[str, str]) -> str:
        """Call a tool by its name; the result as JSON."""
        tools = {
            "add_calendar_entry": "calendar",
            "make_booking": "bookings",
            "change_booking": "bookings",
            "cancel_booking": "bookings",
            "send_message": "messages",
            "save_setting": "settings",
        }
        if name not in tools:
            return json.dumps({"error": f"no tool {name}"})
        return json.dumps({"ok": True, "id": self._enter(tools[name], arguments)})

    def rows(self, table: str) -> list[str]:
        """What stands in a table."""
        if table not in _TABLES:
            raise ValueError(f"no table {table}; known: {', '.join(_TABLES)}")
        return [str(what) for (what,) in self._database.execute(f"SELECT what FROM {table} ORDER BY id")]

    def state(self) -> dict[str, list[dict[str, str]]]:
        """What stands in every table, row by row, as it was entered."""
        return {
            table: [
                json.loads(details)
                for (details,) in self._database.execute(f"SELECT details FROM {table} ORDER BY id")
            ]
            for table in _TABLES
        }

    def _enter(self, table: str, arguments: dict[str, str]) -> int | None:
        done = self._database.execute(
            f"INSERT INTO {table} (what, details) VALUES (?, ?)",
            (arguments.get("what", ""), json.dumps(arguments)),
        )
        self._database.commit()
        return done.lastrowid
