"""Composes the summary of a domain and its past sessions from a person's dealings with an assistant."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.facts import Session
from pytest_personalens.core.frozen import unchecked
from pytest_personalens.core.safe_text import slug
from pytest_personalens.datasets.world.dates import MONTHS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.facts import Clock, Thing
    from pytest_personalens.datasets.world.fact_entries import HistoryEntry

#: How long before a scenario its existing things were arranged.
_ARRANGED: Final = 4
_SIDES: Final = ("user", "assistant")


def summary(history: HistoryEntry) -> str:
    """Return what an assistant remembers: dealings by date, then notes, with the year where it changes."""
    texts = []
    last = ""
    for dealing in history.dealings:
        year, month, day = dealing.date.split("-")
        said = f"{int(day)} {MONTHS[int(month) - 1]}"
        texts.append(dealing.noted.replace("{date}", said if year == last else f"{said} {year}"))
        last = year
    return " ".join(" ".join([*texts, *history.notes]).split())


def sessions(domain: str, history: HistoryEntry) -> tuple[Session, ...]:
    """Return the conversations that the summary sums up."""
    return tuple(
        past_session(domain, d.date, d.device, d.asked, d.answered, d.chose) for d in history.dealings
    )


def past_session(domain: str, date: str, device: str, *said: str, mark: str = "") -> Session:
    """Return a conversation of a day, in which the user and the assistant `said` this in turn.

    `mark` is the end of its id. The texts are checked already.
    """
    messages = tuple([{"role": _SIDES[n % 2], "content": text} for n, text in enumerate(said)])
    id_ = f"{slug(domain)}-{date}{mark}"
    return unchecked(Session, id=id_, date=date, domain=domain, device=device, time="", messages=messages)


def records_sentence(domain: str, things: Sequence[Thing]) -> str:
    """Return the sentence of a summary that says which things of a domain exist, or an empty text."""
    own = [thing for thing in things if thing.domain == domain]
    records = [record for thing in own for record in (thing.record, thing.other) if record]
    return f"On file now: {'; '.join(records)}." if records else ""


def arrangement_sessions(domain: str, things: Sequence[Thing], now: Clock) -> tuple[Session, ...]:
    """Return the conversation in which the things of a domain were put on file."""
    said = records_sentence(domain, things)
    if not said:
        return ()
    day = dt.date.fromisoformat(now.date) - dt.timedelta(days=_ARRANGED)
    asked = "What do you have on file for me at the moment?"
    return (past_session(domain, day.isoformat(), "", asked, said, mark="-file"),)
