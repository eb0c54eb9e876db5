"""The effect of each part of the context, in Table 4: one assistant in several settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.tables.runs import (
    PAPER_NOTE,
    MeansRow,
    StoredRun,
    columns_of,
    differences,
    notes_of,
    setup_notes,
)
from pytest_personalens.reports.tables.table import PAPER, PaperTable, paper_notes, paper_rows, paper_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_SCORES: Final = {"tcr": Dimension.TASK_COMPLETION, "p": Dimension.PERSONALIZATION}
_COLUMNS: Final = columns_of(_SCORES)


class _ContextItems(NamedTuple):
    """Items, and what the assistant knew in them: `letters` of D, I, S, or another user's context.

    With the prompt "vanilla", the assistant knew nothing.
    """

    letters: str
    items: Sequence[Item]
    vanilla: bool = False
    swapped: bool = False

    @property
    def as_in_paper(self) -> str:
        """Return a name such as ``Base`` or ``Base + all``."""
        if self.vanilla or self.swapped:
            return "Vanilla" if self.vanilla else "Another user's"
        return "Base + all" if self.letters == "DIS" else " + ".join(["Base", *self.letters])

    @property
    def order(self) -> tuple[bool, bool, int, str]:
        """Return a sort key for the paper's order: vanilla, base, one letter, all."""
        return (not self.vanilla, self.swapped, len(self.letters), self.letters)


def _contexts_of(results: Results) -> list[_ContextItems]:
    """Return the settings of a run and its controls, in the paper's order."""
    s = results.settings
    vanilla = bool(s.get("assistant")) and s.get("assistant_prompt") == "vanilla"
    own = "" if vanilla else str(s.get("context", ""))
    settings = [_ContextItems(own, results.own, vanilla=vanilla)]
    for arm in dict.fromkeys(item.arm for item in results.items if item.arm):
        swapped, letters = arm == "swapped", {"swapped": own, "none": ""}.get(arm, arm)
        items = [item for item in results.items if item.arm == arm]
        settings.append(_ContextItems(letters, items, vanilla and not letters and not swapped, swapped))
    return sorted(settings, key=lambda setting: setting.order)


def context_tables(runs: Sequence[StoredRun]) -> list[PaperTable]:
    """Return Table 4: a row for each setting of the runs and their controls, and the paper's rows.

    A second table has the lift of each setting over Base. Raise `SpecError` for runs of several assistants,
    and for two runs with the same setting.
    """
    assistants = sorted({name for run in runs if (name := run.results.settings.get("assistant"))})
    if len(assistants) > 1:
        raise SpecError(
            f"--table 4: it is of one assistant, and these runs are of {' and '.join(assistants)}; give those"
            " of one"
        )
    by_name: dict[str, tuple[str, _ContextItems]] = {}
    for run in runs:
        for setting in _contexts_of(run.results):
            name = setting.as_in_paper
            if name in by_name:
                raise SpecError(
                    f"--table 4: {by_name[name][0]} and {run.name} both have the row {name!r}; leave one of"
                    " them out"
                )
            by_name[name] = (run.name, setting)
    settings = sorted((setting for _, setting in by_name.values()), key=lambda setting: setting.order)
    rows = {setting.as_in_paper: MeansRow(setting.as_in_paper, setting.items) for setting in settings}
    paper = [(f"{PAPER}{name}", *(row[c.key] for c in _COLUMNS)) for name, row in paper_rows(4).items()]
    main = PaperTable(
        paper_title("Table 4", "what each part of the context is worth"),
        ("", *(column.heading for column in _COLUMNS)),
        (*(row.cells(_COLUMNS) for row in rows.values()), *paper),
        tuple(_notes(runs, has_base="Base" in rows)),
    )
    lifts = (
        differences([*rows.values()], rows["Base"], _COLUMNS, "Lift over Base") if "Base" in rows else None
    )
    if lifts is None:
        return [main]
    # The contexts and prompts of these runs are what the table compares.
    compared = (": context was", ": assistant prompt was")
    others = [why for why in setup_notes(runs) if not any(what in why for what in compared)]
    return [main, lifts._replace(notes=(*lifts.notes, *others))]


def _notes(runs: Sequence[StoredRun], *, has_base: bool) -> list[str]:
    legend = (
        "D: demographics, I: past interactions, S: situation; Base: none of them. An assistant of your own"
        " has no Vanilla. TCR in percent, P from 1 to 4."
    )
    missing = (
        "There is no lift to show: no run is without context (--personalens-control ablation, or"
        " --personalens-context none)."
    )
    notes = [legend] if has_base else [legend, missing]
    return [*notes, *notes_of(runs), PAPER_NOTE, *paper_notes(4)]
