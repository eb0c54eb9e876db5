"""Opens our own questions, whose answers are in the past sessions of the embedded people."""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from pytest_personalens.core.facts import Clock, Session
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.embedded.packaged import packaged_file, packaged_head
from pytest_personalens.datasets.world.dates import MONTHS
from pytest_personalens.suites.questions.data import Row
from pytest_personalens.suites.questions.values import Expected, offer

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.suites.questions.values import Question


def open_rows() -> tuple[str, list[Row], Callable[[Row, str], Question]]:
    """Return the version, the rows, and the reader of our questions."""
    people = EmbeddedDataset()
    entries = map(from_json, packaged_file("questions.jsonl").read_bytes().splitlines())
    rows = [Row(e["user"], e["task"], e["form"], (e["type"],), e, e["item"]) for e in entries]
    past = cache(lambda user: _past(people, user))

    def read(row: Row, dataset: str) -> Question:
        said = past(row.user)
        entry: dict[str, Any] = row.place
        day = dt.date.fromisoformat(said[-1].date) + dt.timedelta(days=7)
        ways = _ways(entry)
        right = ways[0] if ways else "It was never said."
        asks, expected = entry["asks"], Expected(answer=right, ways=ways, wrong=tuple(entry.get("wrong", ())))
        if row.kind == "choice":
            asks, expected = offer(asks, [entry["answer"][0], *entry["wrong"]], f"{row.user} {row.task}")
        now = Clock(date=day.isoformat(), time="09:00")
        name = people.files.profile(row.user).name
        return row.question(
            dataset, name=name, asks=asks, sessions=said, now=now, expected=expected, shipped=True
        )

    version = f"{packaged_head()['questions']} of {people.name} {people.version}"
    return version, rows, read


def _ways(entry: dict[str, Any]) -> tuple[str, ...]:
    """Return the texts of which any is the answer; those of a day name at least its month and year."""
    if "date" not in entry:
        return tuple(entry.get("answer", ()))
    year, month, day = entry["date"].split("-")
    name = MONTHS[int(month) - 1]
    return (entry["date"], f"{int(day)} {name}", f"{name} {int(day)}", f"{name} {year}", f"{name} of {year}")


def _past(people: EmbeddedDataset, user: str) -> tuple[Session, ...]:
    """Return a person's sessions of all domains, in order of date."""
    return tuple(sorted(people.past(user), key=lambda session: (session.date, session.id)))
