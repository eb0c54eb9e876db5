"""Tables 3, 4 and 12 from stored runs, and tables beside the paper's."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.reports.content.markup import Table, figure
from pytest_personalens.reports.tables.runs import (
    PAPER,
    PAPER_NOTE,
    Column,
    StoredRun,
    columns_of,
    means_row,
    notes_of,
    paper_notes,
    paper_rows,
    paper_title,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.datasets.quality import Quality
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

    #: A row of another table: its name, and a figure for each column, None for an empty cell.
    OtherRow = tuple[str, Mapping[str, float | None]]

#: The domains of Table 8. Table 9 has all others.
_FIRST_DOMAINS: Final = DOMAINS[:10]
_COUNTED: Final = "# Gen. counts at most # Poss. values, as the paper does; observed counts all."


def data_table(number: int, data: Quality) -> Table:
    """Return one of the tables 1, 6, 7, 8 and 9. Tables 6 and 7 come as one."""
    if number == 1:
        return _domains(data)
    return _people(data) if number in (6, 7) else _types(number, data)


def _domains(data: Quality) -> Table:
    """Return Table 1. A multi-domain task or dialogue counts in each of its domains."""
    paper, none = paper_rows(1), {"tasks": "-", "dialogues": "-"}
    rows = []
    for d in data.domains:
        theirs = paper.get(d.domain, none)
        tasks, dialogues = f"{d.single_tasks + d.multi_tasks:,}", f"{d.scenarios:,}"
        rows.append((d.domain, tasks, theirs["tasks"], dialogues, theirs["dialogues"]))
    note = (
        f"Over {data.users:,} users; the paper has 1,500. A multi-domain task counts in each of its domains."
    )
    title = paper_title("Table 1", f"the domains of {data.dataset}")
    header = ("domain", "tasks", "paper", "dialogues", "paper")
    return Table(title, header, tuple(rows), (note, *paper_notes(1)))


def _people(data: Quality) -> Table:
    rows = [
        (
            f"{s.attribute.replace('_', ' ')}: {s.category}",
            f"{round(s.share * data.users):,}",
            f"{s.share:.1%}",
            "-" if s.paper is None else f"{s.paper:.1%}",
        )
        for s in data.demographics
        if s.share or s.paper
    ]
    title = paper_title("Tables 6 and 7", f"the people of {data.dataset}")
    note = "Regions are those of birth. For ethnicity, the figures of the paper are not in this package."
    return Table(title, ("", "users", "share", "paper"), tuple(rows), (note,))


def _types(number: int, data: Quality) -> Table:
    """Return Table 8 or 9.

    For each preference type, they give whether its values come from a list, how many values are possible, how
    many occur, and Shannon evenness (paper, Eq. 1). As in the paper, they cover all profiles with any domains
    of interest, and count values by their spelling. For values from a list, "# Gen." in the paper is never
    more than "# Poss."; "observed" counts every value that occurs, also one that is not on the list.
    """
    rows = [
        (
            f"{t.domain}: {t.name}",
            "yes" if t.categorical else "no",
            "-" if t.possible is None else f"{t.possible:,}",
            f"{min(t.distinct, t.possible or t.distinct) if t.categorical else t.distinct:,}",
            f"{t.distinct:,}",
            f"{t.evenness:.2f}",
        )
        for t in data.types
        if (t.domain in _FIRST_DOMAINS) == (number == 8)
    ]
    notes = [
        f"Over all {data.users:,} profiles. {_COUNTED}",
        f"Table {17 - number} has the other domains (--table {17 - number}).",
    ]
    if all(t.possible is None for t in data.types):
        unread = ((f.file, f.field, f.message) for f in data.findings if f.file.endswith("schema.json"))
        why = next(unread, ("there is no res/schema.json beside the data",))
        notes.append(f"# Poss. is not known: {': '.join(filter(None, why))}.")
    header = ("domain: preference type", "Is Categorical", "# Poss.", "# Gen.", "observed", "evenness")
    title = paper_title(f"Table {number}", f"the preference types of {data.dataset}")
    return Table(title, header, tuple(rows), tuple(notes))


_NOTES: Final = (
    "Mean of annotators: as in the paper, of Cohen's kappas of the judge with each, over what each labelled.",
    "Among them: Fleiss' kappa.",
    "The paper's figures are of Claude 3.5 Sonnet and three people over 100 dialogues of its own.",
)


def agreement_table(readings: Iterable[tuple[str, float | None, float | None, float | None]]) -> Table:
    """Return Table 5 for readings by their short names.

    Each has the mean of the kappas with each annotator, which the paper gives; the kappa with the majority,
    which is higher, because the majority outvotes errors of single annotators; and Fleiss' kappa.
    """
    paper = paper_rows(5)
    header = ("", "mean of annotators", "majority", "among them", "paper: mean of 3", "paper: among them")
    rows = []
    for name, *kappas in readings:
        own = ["-" if kappa is None else f"{kappa:.3f}" for kappa in kappas]
        rows.append((name, *own, *paper.get(name, {"judge": "-", "people": "-"}).values()))
    return Table(paper_title("Table 5", "how far the judge agrees with people"), header, tuple(rows), _NOTES)


_OF_ASSISTANT: Final = columns_of(
    {
        "tcr": Dimension.TASK_COMPLETION,
        "p": Dimension.PERSONALIZATION,
        "nat": Dimension.NATURALNESS_ASSISTANT,
        "coh": Dimension.COHERENCE_ASSISTANT,
    }
)
_OF_USER: Final = columns_of({"nat": Dimension.NATURALNESS_USER, "coh": Dimension.COHERENCE_USER})
#: The range of each column of a file of rows. The task completion rate is in percent, as in the paper.
_RANGES: Final = {
    column.key: (0, 100) if column.is_rate else tuple(column.dimension.scale) for column in _OF_ASSISTANT
}


def assistant_tables(runs: Sequence[StoredRun], beside: Sequence[OtherRow] = ()) -> list[Table]:
    """Return Table 3.

    It has a row for each run, the rows of `beside`, and the paper's rows. The columns are the task
    completion rate in percent, mean personalization, and the assistant's naturalness and coherence, for
    single-domain (SD) and multi-domain (MD) tasks.
    """
    given = [(name, *(figure(figures[c.key]) for c in _OF_ASSISTANT)) for name, figures in beside]
    notes = ["TCR in percent, P from 1 to 4; Nat and Coh, of the assistant, from 1 to 5."]
    notes += ["Rows that --beside gave are as their file has them."] if beside else []
    return _tables(runs, 3, "assistants beside each other", _OF_ASSISTANT, notes, given)


def user_tables(runs: Sequence[StoredRun]) -> list[Table]:
    """Return Table 12: naturalness and coherence of the user agent, with a row for each run.

    The paper has these scores only for single-domain tasks.
    """
    note = "Nat and Coh, of the user agent, from 1 to 5; the paper has them for SD tasks."
    return _tables(runs, 12, "the user agent, by assistant", _OF_USER, [note], [])


def _tables(
    runs: Sequence[StoredRun],
    number: int,
    what: str,
    columns: Sequence[Column],
    notes: Sequence[str],
    given: Sequence[tuple[str, ...]],
) -> list[Table]:
    paper = [
        (f"{PAPER}{name}", *(row.get(c.key, "-") for c in columns))
        for name, row in paper_rows(number).items()
    ]
    table = Table(
        paper_title(f"Table {number}", what),
        ("", *(column.heading for column in columns)),
        (*(means_row(run.name, run.results.own, columns) for run in runs), *given, *paper),
        (*notes_of(runs), *notes, PAPER_NOTE, *paper_notes(number)),
    )
    return [table]


def read_rows(path: Path) -> tuple[OtherRow, ...]:
    """Return the rows of a CSV file with a column ``name`` and those of Table 3, such as ``sd_tcr``.

    A cell may be empty. Raise `DataError` with a text of one line for an invalid file.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            missing = [name for name in ("name", *_RANGES) if name not in (reader.fieldnames or ())]
            if missing:
                first = f"its first line must be name,{','.join(_RANGES)}"
                raise DataError(path, f"has no column {missing[0]!r}; {first}")
            rows = tuple(_row(path, reader.line_num, cells) for cells in reader)
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}", code="PL201") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(path, f"not a CSV file in UTF-8 ({error})", code="PL205") from None
    if not rows:
        raise DataError(path, "holds no row")
    return rows


def _row(path: Path, line: int, cells: Mapping[str, str | None]) -> OtherRow:
    figures: dict[str, float | None] = {}
    for column, (low, high) in _RANGES.items():
        text, field = (cells[column] or "").strip(), f"line {line}, {column}"
        try:
            value = float(text) if text else None
        except ValueError:
            raise DataError(
                path, f"expected a number, not {text[:40]!r}", field=field, code="PL101"
            ) from None
        if value is not None and not low <= value <= high:
            raise DataError(path, f"expected {low} to {high}, not {text[:40]}", field=field)
        if value is not None and high == 100 and 0 < value <= 1:
            raise DataError(path, f"expected percent, as the paper has it, not {text[:40]}", field=field)
        figures[column] = value
    return (cells["name"] or "").strip() or f"line {line}", figures


_SCORES: Final = {"tcr": Dimension.TASK_COMPLETION, "p": Dimension.PERSONALIZATION}
_COLUMNS: Final = columns_of(_SCORES)
_LEGEND: Final = (
    "D: demographics, I: past interactions, S: situation; Base: none of them. An assistant of your own has no"
    " Vanilla. TCR in percent, P from 1 to 4."
)


def _contexts_of(results: Results) -> Iterator[tuple[tuple[object, ...], str, list[Item]]]:
    """Yield the items of a run and of each control with their row's place and name in the paper's order.

    With the prompt "vanilla", the assistant knew nothing.
    """
    s = results.settings
    vanilla = bool(s.get("assistant")) and s.get("assistant_prompt") == "vanilla"
    own = "" if vanilla else str(s.get("context", ""))
    for control in dict.fromkeys(("", *(item.control for item in results.items))):
        swapped = control == "swapped"
        letters = {"": own, "swapped": own, "none": ""}.get(control, control)
        first = vanilla and not letters and not swapped
        name = "Base + all" if letters == "DIS" else " + ".join(["Base", *letters])
        name = "Vanilla" if first else "Another user's" if swapped else name
        items = [item for item in results.items if item.control == control]
        yield (not first, swapped, len(letters), letters), name, items


def context_tables(runs: Sequence[StoredRun]) -> list[Table]:
    """Return Table 4: a row for each setting of the runs and their controls, and the paper's rows.

    Raise `SpecError` for runs of several assistants, and for two runs with the same setting.
    """
    assistants = sorted({name for run in runs if (name := run.results.settings.get("assistant"))})
    if len(assistants) > 1:
        raise SpecError(
            f"--table 4: it is of one assistant, and these runs are of {' and '.join(assistants)}; give those"
            " of one",
            code="PL108",
        )
    owners: dict[str, str] = {}
    rows = []
    for run in runs:
        for place, name, items in _contexts_of(run.results):
            if name in owners:
                raise SpecError(
                    f"--table 4: {owners[name]} and {run.name} both have the row {name!r}; leave one of them"
                    " out",
                    code="PL108",
                )
            owners[name] = run.name
            rows.append((place, means_row(name, items, _COLUMNS)))
    paper = [(f"{PAPER}{name}", *(row[c.key] for c in _COLUMNS)) for name, row in paper_rows(4).items()]
    table = Table(
        paper_title("Table 4", "what each part of the context is worth"),
        ("", *(column.heading for column in _COLUMNS)),
        (*(cells for _, cells in sorted(rows)), *paper),
        (_LEGEND, *notes_of(runs), PAPER_NOTE, *paper_notes(4)),
    )
    return [table]
