"""The distribution of a dataset's values for each preference type.

These are Tables 8 and 9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.reports.tables.table import PaperTable, of_paper

if TYPE_CHECKING:
    from pytest_personalens.datasets.quality import Quality


def type_table(data: Quality) -> PaperTable:
    """Return Tables 8 and 9.

    For each preference type, they give how many values are possible, how many occur, and Shannon evenness
    (paper, Eq. 1). As in the paper, they cover all profiles with any domains of interest, and count values by
    their spelling. For values from a list, "# Gen." in the paper is never more than "# Poss."; "observed"
    counts every value that occurs, also one that is not on the list.
    """
    rows = [
        (
            f"{t.domain}: {t.name}",
            "-" if t.possible is None else f"{t.possible:,}",
            f"{min(t.distinct, t.possible or t.distinct) if t.categorical else t.distinct:,}",
            f"{t.distinct:,}",
            f"{t.evenness:.2f}",
        )
        for t in data.types
    ]
    unlisted = all(t.possible is None for t in data.types)
    return PaperTable(
        of_paper("Tables 8 and 9", f"the preference types of {data.dataset}"),
        ("domain: preference type", "# Poss.", "# Gen.", "observed", "evenness"),
        tuple(rows),
        (
            (
                f"Over all {data.users:,} profiles. # Gen. counts at most # Poss. values, as the paper does;"
                " observed counts all."
            ),
            *(["# Poss. is not known: there is no res/schema.json beside the data."] if unlisted else []),
        ),
    )
