"""The agreement of a judge with people, compared with the paper's Table 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.reports.tables.published import published
from pytest_personalens.reports.tables.table import PaperTable, of_paper

if TYPE_CHECKING:
    from collections.abc import Iterable


def agreement_table(readings: Iterable[tuple[str, float | None, float | None, float | None]]) -> PaperTable:
    """Return Table 5 for readings by their short names. Each reading has the mean of the kappas with each
    annotator, the kappa with the majority, and Fleiss' kappa. The paper gives the first. The kappa with the
    majority is higher, because the majority outvotes errors of single annotators.
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
