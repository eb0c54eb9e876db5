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
    # The dealings are checked already.
    return tuple(
        unchecked(
            Session,
            id=f"{slug(domain)}-{dealing.date}",
            date=dealing.date,
            domain=domain,
            device=dealing.device,
            time="",
            messages=(
                {"role": "user", "content": dealing.asked},
                {"role": "assistant", "content": dealing.answered},
                {"role": "user", "content": dealing.chose},
            ),
        )
        for dealing in history.dealings
    )


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
    return (
        unchecked(
            Session,
            id=f"{slug(domain)}-{day.isoformat()}-file",
            date=day.isoformat(),
            domain=domain,
            device="",
            time="",
            messages=(
                {"role": "user", "content": "What do you have on file for me at the moment?"},
                {"role": "assistant", "content": said},
            ),
        ),
    )
