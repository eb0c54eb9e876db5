"""The history of several runs as a table, and how old a baseline is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.content.markup import escape, markdown_table
from pytest_personalens.results.wording import count, ends_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.files.history import History, Run
    from pytest_personalens.results.means import Estimate

#: The text if the runs are in the order of their files.
NO_DATES: Final = "in the order of the files: not every run says when its commit was made"
_NONE: Final = "-"
#: The highest number of characters of a cell in Markdown.
_LONGEST: Final = 500


def table_lines(history: History) -> Iterator[str]:
    """Yield the table in plain text, one line for each run. The changes since the run before stand above each
    line.
    """
    heads, rows = _heads(history), [_cells(run, history) for run in history.runs]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    yield _aligned(heads, widths)
    for run, row in zip(history.runs, rows, strict=True):
        yield from (harmless(f"  not comparable with the runs above: {change}") for change in run.breaks)
        yield from (harmless(f"  changed: {change}") for change in run.changes)
        yield harmless(_aligned(row, widths))
    if not history.by_date:
        yield NO_DATES


def history_markdown(history: History) -> str:
    """Return the table as Markdown."""
    rows = [
        [escape(text, _LONGEST) for text in (*_cells(run, history), "; ".join(all_changes(run)))]
        for run in history.runs
    ]
    table = markdown_table([*_heads(history), "changed"], rows, words=len(rows[0]))
    title = f"## \N{CHART WITH UPWARDS TREND} personalens history of {count(len(rows), 'run')}"
    return "\n".join([title, "", *table, *([] if history.by_date else ["", NO_DATES])]) + "\n"


def all_changes(run: Run) -> list[str]:
    """Return the differences from the run before. Those that prevent a comparison come first."""
    return [*(f"not comparable: {change}" for change in run.breaks), *run.changes]


def gates_text(run: Run) -> str:
    """Return the outcome of a run's gates in a few words."""
    if run.failed:
        return f"FAILED: {', '.join(run.failed)}"
    if not run.whole:
        return "not decided: a part of the run"
    return "passed" if run.gates else "no gates"


def estimate_text(estimate: Estimate) -> str:
    """Return ``0.93 (0.78 to 0.99)``, or a dash if nothing has a score."""
    if estimate.value is None:
        return _NONE
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f}"
    return f"{estimate.value:.2f} ({ends_text(estimate.low, estimate.high)})"


def _heads(history: History) -> list[str]:
    branch = ["branch"] if _branches(history) else []
    return ["date", "commit", *branch, "scored", *(d.names.mean for d in history.measures), "gates"]


def _cells(run: Run, history: History) -> list[str]:
    branch = [run.provenance.branch or _NONE] if _branches(history) else []
    return [
        run.provenance.day or _NONE,
        run.label,
        *branch,
        f"{run.scored} of {run.expected}",
        *map(estimate_text, run.estimates),
        gates_text(run),
    ]


def _branches(history: History) -> bool:
    return len({run.provenance.branch for run in history.runs}) > 1


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(cells, widths, strict=True)).rstrip()


class BaselineAge(NamedTuple):
    """A sentence on the commit and the age, and whether it is older than it should be."""

    text: str
    old: bool


def baseline_age(baseline: Baseline, now: datetime, *, most: int) -> BaselineAge:
    """The age in whole days at `now`, which has a time zone; `most` days are not old."""
    tested = baseline.provenance
    if tested is None or not tested.committed:
        return BaselineAge("The baseline does not say which commit it is of.", False)
    days = max(0, (now - tested.instant).days)
    branch = f" of {tested.branch}" if tested.branch else ""
    text = f"Baseline: commit {tested.short}{branch}, {tested.day}, {count(days, 'day')} old."
    if days <= most:
        return BaselineAge(text, False)
    return BaselineAge(f"{text} That is more than {count(most, 'day')}: save a new one.", True)
