"""Stored runs: their names in tables, and the notes on what their figures can be compared with."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.reports.content.beside import unlike
from pytest_personalens.reports.content.comparability import comparability
from pytest_personalens.reports.tables.means import SHORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_personalens.core.scenario import Kind
    from pytest_personalens.results.values.results import Results


class StoredRun(NamedTuple):
    """The results of a run, and its name in a table."""

    name: str
    results: Results

    def scenarios(self, kind: Kind) -> int:
        """Return how many scenarios of a kind were scored."""
        own = self.results.own
        return len({i.scenario_key for i in own if i.evaluation.scored and i.evaluation.kind == kind})


def stored_runs(read: Sequence[tuple[Path, Results]]) -> list[StoredRun]:
    """Return each run with the name of its assistant.

    The name includes the file if several runs have the same assistant. A single run is "this run" if its
    assistant is yours.
    """
    if len(read) == 1:
        return [StoredRun(_assistant(read[0][1]) or "this run", read[0][1])]
    assistants = Counter(_assistant(results) for _, results in read)
    stems = Counter(path.stem for path, _ in read)
    runs = []
    for path, results in read:
        file, assistant = path.stem if stems[path.stem] == 1 else str(path), _assistant(results)
        name = file if not assistant else assistant if assistants[assistant] == 1 else f"{assistant} ({file})"
        runs.append(StoredRun(name, results))
    return runs


def _assistant(results: Results) -> str:
    return str(results.settings.get("assistant") or "")


def number_notes(runs: Sequence[StoredRun]) -> list[str]:
    """Return how many scenarios each run scored, and on each reading where the judge did not give all."""
    scored = [
        f"{run.name}: {run.scenarios('single'):,} single-domain (SD) and {run.scenarios('multi'):,}"
        " multi-domain (MD) scenarios scored."
        for run in runs
    ]
    return scored + [
        f"{run.name}: the judge did not give every reading; each is missing from its own mean only. Scenarios"
        f" with a score: {'; '.join(_by_reading(run))}."
        for run in runs
        if any(item.evaluation.unread for item in run.results.own)
    ]


def _by_reading(run: StoredRun) -> Iterator[str]:
    for kind, short in SHORT.items():
        items = [i for i in run.results.own if i.evaluation.kind == kind]
        counts = {
            m.short: len({i.scenario_key for i in items if i.evaluation.score(m) is not None})
            for m in run.results.of_suite.measures
        }
        if any(counts.values()):
            yield f"{short} {', '.join(f'{name} {number:,}' for name, number in counts.items() if number)}"


def likeness(runs: Sequence[StoredRun], *, of_assistants: bool = True) -> list[str]:
    """Return how far the runs compare with the paper (`comparability`). What is true for all appears once."""
    notes = []
    for run in runs:
        numbers = run.scenarios("single"), run.scenarios("multi")
        notes.append(comparability(run.results, *numbers, of_assistants=of_assistants))
    of_all = set(notes[0]).intersection(*notes)
    collected: list[str] = []
    for run, sentences in zip(runs, notes, strict=True):
        collected += [
            s if s in of_all else f"{run.name}: {s[0].lower()}{s[1:]}"
            for s in sentences
            if s not in collected
        ]
    return collected


def unlike_each_other(runs: Sequence[StoredRun]) -> Iterator[str]:
    """Yield why a difference from the first run may not be due to the assistant."""
    first = runs[0]
    for run in runs[1:]:
        yield from (f"{run.name} beside {first.name}: {why}." for why in unlike(first.results, run.results))
