"""The agreement of a judge with people, compared with the paper's Table 5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.reports.tables.table import PaperTable, paper_rows, paper_title

if TYPE_CHECKING:
    from collections.abc import Iterable

_NOTES: Final = (
    "Mean of annotators: as in the paper, of Cohen's kappas of the judge with each, over what each labelled.",
    "Among them: Fleiss' kappa.",
    "The paper's figures are of Claude 3.5 Sonnet and three people over 100 dialogues of its own.",
)


def agreement_table(readings: Iterable[tuple[str, float | None, float | None, float | None]]) -> PaperTable:
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
    return PaperTable(
        paper_title("Table 5", "how far the judge agrees with people"), header, tuple(rows), _NOTES
    )
