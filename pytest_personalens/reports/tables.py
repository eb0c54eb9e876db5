"""Tables in the shape of the paper's: a row of Table 3 (assistants) and the rows of Table 4 (what each part of the context is worth)."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.devices import no_device
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.safe_text import harmless
from pytest_personalens.core.settings import ABLATION, control_word
from pytest_personalens.core.verdict import Dimension
from pytest_personalens.reports.comparability import comparability
from pytest_personalens.reports.markup import escaped, figure, markdown_table
from pytest_personalens.results.wording import over, p_text, signed_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.results.values import Group, Results

#: Columns of a file of rows to print beside ours, and the scale of each: the task completion rate in percent, as the paper has it.
COLUMNS: Final = {
    f"{kind}_{score}": scale
    for kind in ("sd", "md")
    for score, scale in {"tcr": (0, 100), "p": (1, 4), "nat": (1, 5), "coh": (1, 5)}.items()
}
_ASSISTANT: Final = (
    Dimension.TASK_COMPLETION,
    Dimension.PERSONALIZATION,
    Dimension.NATURALNESS_ASSISTANT,
    Dimension.COHERENCE_ASSISTANT,
)
_USER: Final = (Dimension.NATURALNESS_USER, Dimension.COHERENCE_USER)
_MAIN: Final = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)


class OtherRow(NamedTuple):
    """A row of somebody else's table: its name, and a figure for each of `COLUMNS`, None where the cell was empty."""

    name: str
    figures: Mapping[str, float | None]


class PaperTable(NamedTuple):
    """A table as text in cells; the first column names the rows. `notes` are sentences to print below it."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """For a terminal."""
        cells = [self.header, *self.rows]
        widths = [max(len(row[n]) for row in cells) for n in range(len(self.header))]
        lines = [
            harmless(
                "  ".join(cell.rjust(width) if n else cell.ljust(width) for n, (cell, width) in enumerate(zip(row, widths, strict=True)))
            )
            for row in cells
        ]
        return "\n".join([self.title, "", *(line.rstrip() for line in lines), "", *(harmless(note) for note in self.notes)]) + "\n"

    def markdown(self) -> str:
        """For a page: the same cells, with what others wrote made harmless."""
        lines = markdown_table([escaped(cell) for cell in self.header], [[escaped(cell) for cell in row] for row in self.rows])
        return "\n".join([f"### {escaped(self.title)}", "", *lines, "", *(f"- {escaped(note, 600)}" for note in self.notes)]) + "\n"


def paper_table(results: Results, beside: Sequence[OtherRow] = ()) -> PaperTable:
    """The run as a row of the paper's Table 3, `beside` other rows, with what makes it (not) comparable.

    Single-domain (SD) and multi-domain (MD): the task completion rate in percent, mean personalization, and the assistant's
    naturalness and coherence; the user's too where they were judged.
    """
    kinds = {group.name: group for group in results.kinds}
    users = [d for d in _USER if d.value in results.overall.means]
    columns = [(kind, d) for kind in ("single", "multi") for d in (*_ASSISTANT, *users)]
    header = ["", *(_column(kind, d) for kind, d in columns)]
    own = [_name(results), *(_cell(kinds.get(kind), d) for kind, d in columns)]
    others = [[row.name, *(_given(row, kind, d) for kind, d in columns)] for row in beside]
    counts = [
        len({i.scenario_key for i in results.own if i.evaluation.scored and i.evaluation.kind == kind}) for kind in ("single", "multi")
    ]
    notes = (
        f"This run: {counts[0]:,} single-domain (SD) and {counts[1]:,} multi-domain (MD) scenarios scored; TCR in percent, P from 1 to 4, "
        "Nat. and Coh. from 1 to 5, of the assistant" + (" and (.u) of the user" if users else "") + ".",
        *comparability(results, counts[0], counts[1]),
        *(["Rows beside ours are as their file gives them."] if beside else []),
    )
    return PaperTable("As a row of Table 3 of the paper (Zhao et al., 2025)", tuple(header), tuple(map(tuple, [own, *others])), notes)


def ablation_table(results: Results) -> PaperTable:
    """What each part of the context is worth, in the shape of the paper's Table 4: a row for each context, the run's own the last.

    A row's lift is the difference of its means from those without context, over the scored items of each.
    """
    own = "+".join(str(results.settings.get("context", ""))) or "none"
    by_control = {control.name: (control.overall, control.kinds) for control in results.arms}
    rows: list[tuple[str, Group, Sequence[Group]]] = [(name, *by_control[name]) for name in ABLATION if name in by_control and name != own]
    rows.append((own, results.overall, results.kinds))
    if "swapped" in by_control:
        rows.append(("swapped", *by_control["swapped"]))
    base = next(((overall, kinds) for name, overall, kinds in rows if name == "none"), None)
    header = ["context"]
    lines = [[control_word(name)] for name, _, _ in rows]
    for kind in ("single", "multi"):
        if not any(_of(kind, kinds) for _, _, kinds in rows):
            continue
        for d in _MAIN:
            header += [_column(kind, d)] + ["lift"] * (base is not None)
            for line, (name, _, kinds) in zip(lines, rows, strict=True):
                line.append(_cell(_of(kind, kinds), d))
                if base is not None:
                    line.append("" if name == "none" else _difference(_of(kind, kinds), _of(kind, base[1]), d))
    return PaperTable(
        "In the shape of Table 4 of the paper (Zhao et al., 2025): what each part of the context is worth",
        tuple(header),
        tuple(map(tuple, lines)),
        tuple(_ablation_notes(results, own, base is not None)),
    )


def read_rows(path: Path) -> tuple[OtherRow, ...]:
    """The rows of a CSV file with a column ``name`` and the `COLUMNS`; a cell may be empty. Raises `DataError` in one line."""
    try:
        with no_device(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            missing = [name for name in ("name", *COLUMNS) if name not in (reader.fieldnames or ())]
            if missing:
                raise DataError(path, f"has no column {missing[0]!r}; its first line must be name,{','.join(COLUMNS)}")
            rows = tuple(_row(path, reader.line_num, cells) for cells in reader)
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(path, f"not a CSV file in UTF-8 ({error})") from None
    if not rows:
        raise DataError(path, "holds no row")
    return rows


def _row(path: Path, line: int, cells: Mapping[str, str | None]) -> OtherRow:
    figures: dict[str, float | None] = {}
    for column, (low, high) in COLUMNS.items():
        text = (cells[column] or "").strip()
        try:
            value = float(text) if text else None
        except ValueError:
            raise DataError(path, f"expected a number, not {text[:40]!r}", field=f"line {line}, {column}") from None
        if value is not None and not low <= value <= high:
            raise DataError(path, f"expected {low} to {high}, not {text[:40]}", field=f"line {line}, {column}")
        if value is not None and high == 100 and 0 < value <= 1:
            raise DataError(path, f"expected percent, as the paper has it, not {text[:40]}", field=f"line {line}, {column}")
        figures[column] = value
    return OtherRow((cells["name"] or "").strip() or f"line {line}", figures)


def _column(kind: str, dimension: Dimension) -> str:
    return f"{'SD' if kind == 'single' else 'MD'} {dimension.names.paper_heading}{' %' if dimension is Dimension.TASK_COMPLETION else ''}"


def _name(results: Results) -> str:
    return str(results.settings.get("assistant") or "this run")


def _of(kind: str, groups: Sequence[Group]) -> Group | None:
    return next((group for group in groups if group.name == kind), None)


def _mean(group: Group | None, dimension: Dimension) -> float | None:
    mean = None if group is None else group.means.get(dimension.value)
    if mean is None or mean.value is None:
        return None
    return 100 * mean.value if dimension is Dimension.TASK_COMPLETION else mean.value


def _cell(group: Group | None, dimension: Dimension) -> str:
    return figure(_mean(group, dimension), 1 if dimension is Dimension.TASK_COMPLETION else 2)


def _difference(group: Group | None, base: Group | None, dimension: Dimension) -> str:
    here, there = _mean(group, dimension), _mean(base, dimension)
    places = 1 if dimension is Dimension.TASK_COMPLETION else 2
    return "-" if here is None or there is None else figure(here - there, places, signed=True)


def _given(row: OtherRow, kind: str, dimension: Dimension) -> str:
    if dimension in _USER:
        return "-"
    score = dict(zip(_ASSISTANT, ("tcr", "p", "nat", "coh"), strict=True))[dimension]
    return figure(row.figures[f"{'sd' if kind == 'single' else 'md'}_{score}"], 1 if score == "tcr" else 2)


def _ablation_notes(results: Results, own: str, based: bool) -> list[str]:
    notes = [
        f"D: demographics, I: past interactions, S: situation; {control_word(own)} is the run itself. TCR in percent, its lift in points."
    ]
    if not results.arms:
        notes.append("This run had no controls: give it --personalens-control ablation, or no-context.")
    elif not based:
        notes.append("There is no lift to show: no run without context (--personalens-control no-context).")
    for control in results.arms:
        if control.name == "none":
            notes += [
                f"Lift of the run over no-context, {lift.dimension.short}: {figure(lift.change, signed=True)} "
                f"({signed_interval(lift.low, lift.high)}), {p_text(lift.p)}, {over(lift.pairs, lift.users or lift.pairs)}."
                for lift in control.lift
                if lift.dimension in _MAIN
            ]
    return notes
