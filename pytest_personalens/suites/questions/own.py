"""Reads our own questions, whose answers are in the past sessions of the embedded people."""

from __future__ import annotations

import datetime as dt
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.facts import Clock, Session
from pytest_personalens.core.files.json_fields import Fields
from pytest_personalens.datasets.base import parse_file
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.toml_cache import read_toml
from pytest_personalens.datasets.world.dates import MONTHS
from pytest_personalens.datasets.world.histories import sessions
from pytest_personalens.suites.questions.data import OWN_DOMAINS, Row
from pytest_personalens.suites.questions.values import ABSTAIN, Expected, offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_personalens.suites.questions.values import Question

#: A question that has as many wrong values is also asked with options.
_OPTIONS: Final = 3


def open_rows(folder: Path) -> tuple[str, list[Row], Callable[[Row, str], Question]]:
    """Return the version, the rows of a file for each type, such as ``latest.toml``, and the reader."""
    people = EmbeddedDataset()
    files = [folder / f"{name}.toml" for name in OWN_DOMAINS if (folder / f"{name}.toml").is_file()]
    content = b"\0".join(file.read_bytes() for file in files)
    numbers: dict[str, int] = {}
    rows = [row for file in files for row in _rows(file, people, numbers)]
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
        name = people.profile(row.user).name
        return row.question(
            dataset, name=name, asks=asks, sessions=said, now=now, expected=expected, shipped=True
        )

    version = f"{hashlib.sha256(content).hexdigest()[:8]} of {people.name} {people.version}"
    return version, rows, read


def _rows(file: Path, people: EmbeddedDataset, numbers: dict[str, int]) -> Iterator[Row]:
    kind, users = file.stem, set(people.users())
    content = Fields(file, "", parse_file(file, "TOML", read_toml))
    for place, raw in enumerate(content.values("questions", 1), 1):
        entry = Fields(file, f"questions.{place}", raw)
        user = entry.text("user")
        if user not in users:
            raise entry.error("user", f"{user!r} is nobody of the embedded people")
        entry.text("asks")
        wrong = entry.texts("wrong") if "wrong" in raw else []
        if kind == "when":
            _check_day(entry)
        elif kind != ABSTAIN and set(entry.texts("answer", 1)) & set(wrong):
            raise entry.error("wrong", "the right answer is among the wrong ones")
        # A user's questions are numbered over all files, so that no id tells the type.
        numbers[user] = numbers.get(user, 0) + 1
        asked = {"answer": f"question-{numbers[user]}"}
        if len(wrong) >= _OPTIONS and "answer" in raw:
            asked["choice"] = f"question-{numbers[user]}-options"
        for form, task in asked.items():
            form_of: Any = form
            yield Row(user, task, form_of, (kind,), raw, f"{file.name} {place}")


def _check_day(entry: Fields) -> None:
    try:
        dt.date.fromisoformat(entry.text("date"))
    except ValueError:
        raise entry.error("date", "expected a day such as 2025-03-04") from None


def _ways(entry: dict[str, Any]) -> tuple[str, ...]:
    """Return the texts of which any is the answer; those of a day name at least its month and year."""
    if "date" not in entry:
        return tuple(entry.get("answer", ()))
    year, month, day = entry["date"].split("-")
    name = MONTHS[int(month) - 1]
    return (entry["date"], f"{int(day)} {name}", f"{name} {int(day)}", f"{name} {year}", f"{name} of {year}")


def _past(people: EmbeddedDataset, user: str) -> tuple[Session, ...]:
    """Return a person's sessions of all domains, in order of date."""
    found = [
        session
        for domain in people.profile(user).domains
        if (history := people.history(user, domain)) is not None
        for session in sessions(domain, history)
    ]
    if not found:
        raise DataError(people.root / "histories", f"{user} has no past sessions")
    return tuple(sorted(found, key=lambda session: (session.date, session.id)))
