"""The effect of each part of the context, in Table 4: one assistant in several settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.suite.suite import get_suite
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.reports.content.markup import figure, interval_text
from pytest_personalens.reports.tables.runs import (
    MeansRow,
    StoredRun,
    columns_of,
    differences,
    likeness,
    number_notes,
    setup_notes,
)
from pytest_personalens.reports.tables.table import PAPER, PaperTable, paper_notes, paper_rows, paper_title
from pytest_personalens.results.comparison.pairs import adjust_contrasts, contrast
from pytest_personalens.results.wording import over, p_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.reports.tables.runs import Column
    from pytest_personalens.results.comparison.pairs import Contrast
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_SCORES: Final = {"tcr": Dimension.TASK_COMPLETION, "p": Dimension.PERSONALIZATION}
_COLUMNS: Final = columns_of(_SCORES)


class ContextItems(NamedTuple):
    """Items, and what the assistant knew in them: `letters` of D, I, S, or another user's context.

    With the prompt "vanilla", the assistant knew nothing.
    """

    letters: str
    items: Sequence[Item]
    vanilla: bool = False
    swapped: bool = False

    @property
    def short(self) -> str:
        """Return a name such as ``no-context`` or ``D+I+S``."""
        word = get_suite(FIRST_SUITE).arm_word
        name = word("swapped") if self.swapped else "+".join(self.letters) or word("none")
        return "vanilla" if self.vanilla else name

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


def is_ablation(results: Results) -> bool:
    """True for a run with all controls that show what each part of the context is worth."""
    arms = results.of_suite.arm_groups.get("ablation", ())
    return bool(arms) and set(arms) <= {arm.name for arm in results.arms}


def contexts_of(results: Results) -> list[ContextItems]:
    """Return the settings of a run and its controls, in the paper's order."""
    s = results.settings
    vanilla = bool(s.get("assistant")) and s.get("assistant_prompt") == "vanilla"
    own = "" if vanilla else str(s.get("context", ""))
    settings = [ContextItems(own, results.own, vanilla=vanilla)]
    for arm in dict.fromkeys(item.arm for item in results.items if item.arm):
        swapped, letters = arm == "swapped", {"swapped": own, "none": ""}.get(arm, arm)
        items = [item for item in results.items if item.arm == arm]
        settings.append(ContextItems(letters, items, vanilla and not letters and not swapped, swapped))
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
    by_name: dict[str, tuple[str, ContextItems]] = {}
    for run in runs:
        for setting in contexts_of(run.results):
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
    return [*notes, *number_notes(runs), *likeness(runs, of_assistants=False), *paper_notes(4)]


def ablation_table(results: Results) -> PaperTable:
    """Return the effect of each part of the context, for a run's summary, with the lift over no context.

    A lift is the mean difference over the scenarios with scores in both.
    """
    settings = contexts_of(results)
    base = next((one for one in settings if not (one.letters or one.vanilla or one.swapped)), None)
    columns = [column for column in _COLUMNS if any(column.of(setting.items) for setting in settings)]
    header = ["context"]
    for column in columns:
        header += [column.heading, "lift"] if base else [column.heading]
    return PaperTable(
        "In the shape of Table 4 of the paper (Zhao et al., 2025): what each part of the context is worth",
        tuple(header),
        tuple(_ablation_row(setting, base, columns) for setting in settings),
        tuple(_ablation_notes(results, base)),
    )


def _ablation_row(
    setting: ContextItems, base: ContextItems | None, columns: Sequence[Column]
) -> tuple[str, ...]:
    cells = [setting.short]
    for column in columns:
        places = 1 if column.is_rate else 2
        cells.append(figure(column.mean(setting.items), places))
        if base is setting:
            cells.append("")
        elif base is not None:
            lift = contrast(column.of(base.items), column.of(setting.items), column.dimension)
            change = None if lift is None else column.scaled(lift.change)
            cells.append(figure(change, places, signed=True))
    return tuple(cells)


def _ablation_notes(results: Results, base: ContextItems | None) -> list[str]:
    own = next(setting for setting in contexts_of(results) if setting.items == results.own)
    letters = f"D: demographics, I: past interactions, S: situation; {own.short} is the run itself"
    notes = [f"{letters}. TCR in percent, its lift in points."]
    if not any(item.arm for item in results.items):
        notes.append("This run had no controls: give it --personalens-control ablation, or no-context.")
    elif base is None:
        notes.append("There is no lift to show: no run without context (--personalens-control no-context).")
    elif base is not own:
        read = [(d, one) for d in _SCORES.values() if (one := contrast(base.items, own.items, d)) is not None]
        tested = adjust_contrasts([one for _, one in read])
        notes += [_lift(d, one) for (d, _), one in zip(read, tested, strict=True)]
    return notes


def _lift(dimension: Dimension, one: Contrast) -> str:
    change = f"{figure(one.change, signed=True)} (95 %: {interval_text(one.low, one.high, signed=True)})"
    tested = f"{p_text(one.adjusted, 'two-sided')} (Holm), {over(one.pairs, one.users)}"
    return f"Lift of the run over no-context, {dimension.names.mean}: {change}, {tested}."
