"""Stored runs and their means as rows of tables, and the figures that the paper prints."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.content.markup import figure
from pytest_personalens.results.means import estimate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_personalens.core.scenario import Kind
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: The beginning of the names of the paper's rows.
PAPER: Final = "paper: "


def paper_title(number: str, what: str) -> str:
    """Return the title of a table that follows one of the paper's, such as "Table 3" or "Figure 4"."""
    return f"{number} of the paper (Zhao et al., 2025): {what}"


def paper_rows(table: int) -> dict[str, dict[str, str]]:
    """Return the rows of one of the paper's tables: name -> column -> the figure as it is printed there.

    `table` is 1, 3, 4, 5, 10, 12 or 13.
    """
    entry = _tables()[f"table_{table}"]
    places = entry.get("places", 2)
    return {
        name: {
            column: f"{value:,}" if isinstance(value, int) else f"{value:.{places}f}"
            for column, value in zip(entry["columns"], values, strict=True)
        }
        for name, *values in entry["rows"]
    }


def paper_notes(table: int) -> list[str]:
    """Return where the paper contradicts itself about a table, in sentences."""
    return list(_tables()[f"table_{table}"]["notes"])


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("published.toml").read_text(encoding="utf-8"))


SHORT: Final[dict[Kind, str]] = {"single": "SD", "multi": "MD"}
#: docs/explanation/protocol.md says which runs compare with the paper's.
PAPER_NOTE: Final = (
    "The paper's rows are of 50 official users (3,283 SD and 813 MD scenarios), the official prompts, and"
    " models of 2024; see docs/explanation/protocol.md."
)


class Column(NamedTuple):
    """The mean of a dimension over the items of a kind. `key` is its name in files."""

    key: str
    kind: Kind
    dimension: Dimension

    @property
    def is_rate(self) -> bool:
        """True for a column that is printed in percent."""
        return self.dimension is Dimension.TASK_COMPLETION

    @property
    def heading(self) -> str:
        """``SD TCR %``. The title of the table says if a reading is of the user or of the assistant."""
        heading = self.dimension.names.paper_heading.removesuffix(".u")
        return f"{SHORT[self.kind]} {heading}{' %' if self.is_rate else ''}"

    def mean(self, items: Sequence[Item]) -> float | None:
        """Return the mean over the items of the column's kind."""
        return mean_of([item for item in items if item.evaluation.kind == self.kind], self.dimension)


def columns_of(scores: Mapping[str, Dimension]) -> list[Column]:
    return [
        Column(f"{short.lower()}_{key}", kind, dimension)
        for kind, short in SHORT.items()
        for key, dimension in scores.items()
    ]


def mean_of(items: Sequence[Item], dimension: Dimension) -> float | None:
    """Return the mean of `items` by scenario, in percent for a rate; None if no item has a score."""
    mean = estimate(items, dimension, ends=False).figure("high").value
    return mean if mean is None or dimension is not Dimension.TASK_COMPLETION else 100 * mean


def means_row(name: str, items: Sequence[Item], columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the name, and each mean with two decimals as in the paper."""
    return (name, *(figure(column.mean(items)) for column in columns))


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


def notes_of(runs: Sequence[StoredRun]) -> list[str]:
    """Return what each run was made of, how many scenarios it scored, and on each reading where the judge did
    not give all.
    """
    notes = [_setup(run) for run in runs]
    notes += [
        f"{run.name}: {run.scenarios('single'):,} single-domain (SD) and {run.scenarios('multi'):,}"
        " multi-domain (MD) scenarios scored."
        for run in runs
    ]
    notes += [
        f"{run.name}: the judge did not give every reading; each is missing from its own mean only. Scenarios"
        f" with a score: {'; '.join(_by_reading(run))}."
        for run in runs
        if any(item.evaluation.unread for item in run.results.own)
    ]
    return notes


def _setup(run: StoredRun) -> str:
    s = run.results.settings
    prompts, protocol = s.get("prompts"), s.get("protocol") or "default"
    words = f"prompts {prompts}" if prompts else f"protocol {protocol}"
    context = "+".join(str(s.get("context") or "")) or "nothing"
    return (
        f"{run.name}: dataset {run.results.dataset}, user agent {s.get('user_model')}, judge"
        f" {s.get('judge_model')}, {words}, the assistant was told {context}."
    )


def _by_reading(run: StoredRun) -> Iterator[str]:
    for kind, short in SHORT.items():
        items = [i for i in run.results.own if i.evaluation.kind == kind]
        counts = {
            m.short: len({i.scenario_key for i in items if i.evaluation.score(m) is not None})
            for m in run.results.of_suite.measures
        }
        if any(counts.values()):
            yield f"{short} {', '.join(f'{name} {number:,}' for name, number in counts.items() if number)}"
