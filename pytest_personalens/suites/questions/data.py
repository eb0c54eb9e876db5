"""A dataset of questions, of our own or of a benchmark that a spec names."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.facts import Clock, Session
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.embedded.packaged import packaged_file, packaged_head
from pytest_personalens.datasets.world.dates import MONTHS
from pytest_personalens.suites.questions.questions import ABSTAIN, Expected, Row, offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pytest_personalens.suites.questions.questions import Kind, Question


def open_own() -> tuple[str, list[Row], Callable[[Row, str], Question]]:
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


#: The domains of our questions.
OWN_DOMAINS: Final = ("recall", "latest", "who", "when", ABSTAIN)
#: Why a row gives no question -> its words.
REASONS: Final = {
    "needs-model": "only a model can judge this answer: give --personalens-judge-model SPEC",
    "no-history": "its history is not there",
    "no-wrong-answer": "it has one option only",
    "duplicate": "it is there twice",
    "names-answer": "the question names its answer",
}


class QuestionsDataset:
    """Questions of a file or folder; `read` returns the whole question of a row.

    With `by_value`, the judge looks for values, and what needs a model is left out. Raise `DataError` if no
    row gives a question.
    """

    def __init__(
        self,
        name: str,
        version: str,
        rows: Iterable[Row],
        read: Callable[[Row, str], Question],
        *,
        by_value: bool,
    ) -> None:
        self.name, self.version, self._read = name, version, read
        self.loaded_ahead = 100  # a history may have megabytes, and the process holds what it has loaded
        self._rows: dict[tuple[str, str], Row] = {}
        self._refs: dict[str, list[ScenarioRef]] = {}
        self.left_out: list[tuple[Row, str]] = []
        for row in rows:
            reason = row.reason or ("needs-model" if by_value and row.needs_model else "")
            if reason:
                self.left_out.append((row, reason))
                continue
            self._rows[row.user, row.task] = row
            self._refs.setdefault(row.user, []).append(ScenarioRef(row.user, row.task, row.kind, row.domains))
        if not self._rows:
            reasons = Counter(reason for _, reason in self.left_out)
            why = "; ".join(f"{number:,}: {REASONS[reason]}" for reason, number in reasons.items())
            free = "; form=mcq needs no model" * ("needs-model" in reasons and "form=" in name)
            raise DataError(name, f"no question in it can be asked ({why or 'it is empty'}{free})")

    def domains(self) -> list[str]:
        return sorted({domain for row in self._rows.values() for domain in row.domains})

    def users(self) -> list[str]:
        return list(self._refs)

    def refs(self, user: str) -> list[ScenarioRef]:
        return self._refs[user]

    def load(self, ref: ScenarioRef) -> Question:
        return self._read(self._rows[ref.user, ref.task], f"{self.name} {self.version}")

    def counts(self) -> dict[Kind, int]:
        """Return the number of questions by kind, also of kinds that are left out whole."""
        kinds = dict.fromkeys([row.kind for row, _ in self.left_out], 0)
        return kinds | dict(Counter(row.kind for row in self._rows.values()))


def open_questions(spec: str, base: Path, *, by_value: bool) -> QuestionsDataset:
    """Return the questions that a spec names: ``embedded``, or ``prefeval:DIR?distance=10`` and the like.

    Raise `DataError` for a bad file, and `SpecError` for a bad spec.
    """
    if spec == "embedded":
        return QuestionsDataset("questions", *open_own(), by_value=by_value)
    from pytest_personalens.suites.questions.benchmarks import open_benchmark

    name, opened = open_benchmark(spec, base)
    return QuestionsDataset(name, *opened, by_value=by_value)
