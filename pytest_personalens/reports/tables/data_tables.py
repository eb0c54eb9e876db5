"""Tables of the paper about a dataset: its domains, its people, and its preference types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.reports.tables.published import published, slips
from pytest_personalens.reports.tables.table import PaperTable, of_paper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_personalens.datasets.quality import Quality

#: The domains of Table 8. Table 9 has all others.
_FIRST_DOMAINS: Final = DOMAINS[:10]
_YES: Final = {True: "yes", False: "no"}


def data_table(number: int, data: Quality) -> PaperTable:
    """Return one of the tables 1, 6, 7, 8 and 9. Tables 6 and 7 come as one."""
    return _TABLES[number](data)


def _domains(data: Quality) -> PaperTable:
    """Return Table 1. A multi-domain task or dialogue counts in each of its domains."""
    paper = published(1)
    return PaperTable(
        of_paper("Table 1", f"the domains of {data.dataset}"),
        ("domain", "tasks", "paper", "dialogues", "paper"),
        tuple(
            (
                d.domain,
                f"{d.single_tasks + d.multi_tasks:,}",
                paper.get(d.domain, {}).get("tasks", "-"),
                f"{d.scenarios:,}",
                paper.get(d.domain, {}).get("dialogues", "-"),
            )
            for d in data.domains
        ),
        (
            (
                f"Over {data.users:,} users; the paper has 1,500. A multi-domain task counts in each of its"
                " domains."
            ),
            *slips(1),
        ),
    )


def _people(data: Quality) -> PaperTable:
    return PaperTable(
        of_paper("Tables 6 and 7", f"the people of {data.dataset}"),
        ("", "users", "share", "paper"),
        tuple(
            (
                f"{s.attribute.replace('_', ' ')}: {s.category}",
                f"{round(s.share * data.users):,}",
                f"{s.share:.1%}",
                "-" if s.paper is None else f"{s.paper:.1%}",
            )
            for s in data.demographics
            if s.share or s.paper
        ),
        ("Regions are those of birth. For ethnicity, the figures of the paper are not in this package.",),
    )


def _types(number: int, data: Quality) -> PaperTable:
    """Return Table 8 or 9. For each preference type, they give whether its values come from a list, how many
    values are possible, how many occur, and Shannon evenness (paper, Eq. 1). As in the paper, they cover all
    profiles with any domains of interest, and count values by their spelling. For values from a list, "#
    Gen." in the paper is never more than "# Poss."; "observed" counts every value that occurs, also one that
    is not on the list.
    """
    rows = [
        (
            f"{t.domain}: {t.name}",
            _YES[t.categorical],
            "-" if t.possible is None else f"{t.possible:,}",
            f"{min(t.distinct, t.possible or t.distinct) if t.categorical else t.distinct:,}",
            f"{t.distinct:,}",
            f"{t.evenness:.2f}",
        )
        for t in data.types
        if (t.domain in _FIRST_DOMAINS) == (number == 8)
    ]
    unlisted = all(t.possible is None for t in data.types)
    return PaperTable(
        of_paper(f"Table {number}", f"the preference types of {data.dataset}"),
        ("domain: preference type", "Is Categorical", "# Poss.", "# Gen.", "observed", "evenness"),
        tuple(rows),
        (
            (
                f"Over all {data.users:,} profiles. # Gen. counts at most # Poss. values, as the paper does;"
                " observed counts all."
            ),
            f"Table {17 - number} has the other domains (--table {17 - number}).",
            *(["# Poss. is not known: there is no res/schema.json beside the data."] if unlisted else []),
        ),
    )


_TABLES: Final[Mapping[int, Callable[[Quality], PaperTable]]] = {
    1: _domains,
    6: _people,
    7: _people,
    8: lambda data: _types(8, data),
    9: lambda data: _types(9, data),
}
