"""A bot that keeps notes in SQLite with a full-text index (FTS5), and stores them late, in another thread.

Hosted memories work so: a message is taken in at once, and can be found seconds or minutes later.
"""

from __future__ import annotations

import queue
import re
import sqlite3
import threading
import time
from collections import Counter
from typing import Final, NamedTuple

_WORD: Final = re.compile(r"\w{3,}")
_FORGET: Final = re.compile(
    r"\b(?:forget|delete|erase|wipe|remove|scrub)\b|^bin the\b|\b(?:don't|do not) (?:remember|keep|hold)\b"
    r"|\bout of your (?:memory|notes|head)\b|\bdropped that\b",
    re.IGNORECASE,
)
#: Notes that are found for a message.
_MOST: Final = 10

#: What may go wrong with a memory: it keeps half of the messages, finds the first word only, tells
#: nothing of what it finds, or hides what it should forget and keeps it.
FAULTS: Final = ("keeps-half", "finds-little", "tells-nothing", "hides")


class Said(NamedTuple):
    """A message of a user that is to be stored, and the moment from which it can be."""

    user: str
    text: str
    due: float


class NoteKeeper:
    """The bot. Each message is stored `late` seconds after it was said; `fault` is one of FAULTS or empty."""

    def __init__(self, late: float, fault: str = "") -> None:
        self._late, self._fault = late, fault
        self._notes = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._notes.execute("create virtual table notes using fts5(user unindexed, hidden unindexed, said)")
        self._lock, self._open = threading.Lock(), Counter[str]()
        self._coming: queue.Queue[Said] = queue.Queue()
        threading.Thread(target=self._store, daemon=True).start()

    def reply(self, user: str, text: str) -> str:
        """Answer a message by the notes that are stored by now, and let it be stored."""
        if _FORGET.search(text):
            self._forget(user)
            return "I have deleted it."
        found = [] if self._fault == "tells-nothing" else self.search(user, text)
        with self._lock:
            self._open[user] += 1
        self._coming.put(Said(user, text, time.monotonic() + self._late))
        return "Done. " + " ".join(f"You told me: {note}" for note in found)

    def is_idle(self, user: str) -> bool:
        """True if nothing that the user said waits to be stored."""
        with self._lock:
            return not self._open[user]

    def search(self, user: str, text: str) -> list[str]:
        """Return the notes on the user that the words of a text find, the best first, then the newest."""
        words = _WORD.findall(text.lower())[: 1 if self._fault == "finds-little" else None]
        query = " OR ".join(f'"{word}"' for word in words)
        found = self._rows("notes match ? and user = ? order by rank", query, user) if query else []
        if self._fault != "finds-little":
            found += self._rows("user = ? order by rowid desc", user)
        return list(dict.fromkeys(found))[:_MOST]

    def entries(self, user: str) -> list[str]:
        """Return all that the table holds of the user, also what is hidden."""
        with self._lock:
            return [said for (said,) in self._notes.execute("select said from notes where user = ?", (user,))]

    def _rows(self, where: str, *values: str) -> list[str]:
        with self._lock:
            rows = self._notes.execute(f"select said from notes where hidden = 0 and {where}", values)
            return [said for (said,) in rows]

    def _forget(self, user: str) -> None:
        how = "update notes set hidden = 1" if self._fault == "hides" else "delete from notes"
        with self._lock:
            self._notes.execute(f"{how} where user = ?", (user,))
            # Until then, the index still has the words of what was deleted.
            self._notes.execute("insert into notes(notes) values ('optimize')")

    def _store(self) -> None:
        while True:
            said = self._coming.get()
            time.sleep(max(0.0, said.due - time.monotonic()))
            with self._lock:
                if self._fault != "keeps-half" or len(said.text) % 2:
                    self._notes.execute("insert into notes values (?, 0, ?)", (said.user, said.text))
                self._open[said.user] -= 1
