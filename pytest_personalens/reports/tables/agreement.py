"""Agreement of a judge with people beside that of the paper: Table 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.reports.tables.published import published
from pytest_personalens.reports.tables.table import PaperTable, of_paper

if TYPE_CHECKING:
    from collections.abc import Iterable


def agreement_table(readings: Iterable[tuple[str, float | None, float | None, float | None]]) -> PaperTable:
    """Table 5, of readings by their short names: the mean of the kappas against each annotator, that against
    the majority, Fleiss' kappa.

    The first is what the paper gives; against the majority a judge looks better, because errors of single
    annotators are voted down.
    """
    paper = published(5)
    rows = tuple(
        (
            name,
            *("-" if kappa is None else f"{kappa:.3f}" for kappa in kappas),
            *(paper.get(name) or {"judge": "-", "people": "-"}).values(),
        )
        for name, *kappas in readings
    )
    return PaperTable(
        of_paper("Table 5", "how far the judge agrees with people"),
        ("", "mean of annotators", "majority", "among them", "paper: mean of 3", "paper: among them"),
        rows,
        (
            (
                "Mean of annotators: as in the paper, of Cohen's kappas of the judge against each of them,"
                " over what each labelled."
            ),
            "Among them: Fleiss' kappa.",
            "The paper's figures are of Claude 3.5 Sonnet and three people over 100 dialogues of its own.",
        ),
    )
