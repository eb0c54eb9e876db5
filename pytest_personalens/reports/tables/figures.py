"""Figures 4 and 5 as tables: scores by domain, and personalization by turn."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.content.markup import figure
from pytest_personalens.reports.tables.means import SHORT, mean_of
from pytest_personalens.reports.tables.runs import number_notes
from pytest_personalens.reports.tables.table import PaperTable, paper_title
from pytest_personalens.results.means import item_scores, scenario_means, scores_by_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.reports.tables.runs import StoredRun
    from pytest_personalens.results.values.item import Item

Kinds = Literal["single", "multi", "all"]
_SAID: Final[dict[Kinds, str]] = {
    "single": "single-domain tasks only, as the official gathering has them",
    "multi": "multi-domain tasks only, each in all of its domains",
    "all": "single- and multi-domain tasks, each in all of its domains",
}
_ALL: Final = "all domains"
_BY_DOMAIN: Final = {"TCR %": Dimension.TASK_COMPLETION, "P": Dimension.PERSONALIZATION}
#: The highest number of turns that are shown. Few dialogues are longer, and a line of a terminal has no more
#: room.
_MOST_TURNS: Final = 10


def domain_tables(runs: Sequence[StoredRun], kinds: Kinds) -> list[PaperTable]:
    """Return Figure 4: scenarios, task completion rate and personalization by domain, a row for each run."""
    several = len(runs) > 1
    domains = sorted({d for run in runs for item in run.results.own for d in item.evaluation.domains})
    rows = [
        (
            f"{domain or _ALL}, {run.name}" if several else domain or _ALL,
            *_of_items([i for i in run.results.own if not domain or domain in i.evaluation.domains], kinds),
        )
        for domain in (*domains, "")
        for run in runs
    ]
    notes = (
        *number_notes(runs),
        f"{_ALL.capitalize()}: the mean over all scenarios, each counted once (the dashed line).",
        "TCR in percent, P from 1 to 4. The paper draws Figure 4 and prints no figures of it.",
    )
    title = paper_title("Figure 4", f"by domain, {_SAID[kinds]}")
    shown = tuple(row for row in rows if row[1] != "0")
    return [PaperTable(title, ("domain", "scenarios", *_BY_DOMAIN), shown, notes)]


def _of_items(items: Sequence[Item], kinds: Kinds) -> Iterator[str]:
    """Yield the number of scenarios, and each mean, with its own number if a reading is missing."""
    among = [i for i in items if _among(i, kinds)]
    scenarios = len({i.scenario_key for i in among if i.evaluation.scored})
    yield f"{scenarios:,}"
    for dimension in _BY_DOMAIN.values():
        read = len({i.scenario_key for i in among if i.evaluation.score(dimension) is not None})
        yield figure(mean_of(among, dimension)) + (f" ({read:,})" if 0 < read < scenarios else "")


def turn_tables(runs: Sequence[StoredRun], kinds: Kinds) -> list[PaperTable]:
    """Return Figure 5 for each run: mean personalization after each reply of the assistant, by kind and domain.

    The reply after the user's end is left out, because it answers a goodbye. The figure needs the reading
    `p-turns`.
    """
    return [_turns(run, kinds, f", {run.name}" if len(runs) > 1 else "") for run in runs]


def _turns(run: StoredRun, kinds: Kinds, name: str) -> PaperTable:
    items = [item for item in run.results.own if _among(item, kinds)]
    rows: dict[str, list[tuple[float, int]]] = {}
    for kind, short in SHORT.items():
        of_kind = [item for item in items if item.evaluation.kind == kind]
        rows[f"{short}, all domains"] = _by_turn(of_kind)
        for d in sorted({d for item in of_kind for d in item.evaluation.domains}):
            rows[f"{short}, {d}"] = _by_turn([i for i in of_kind if d in i.evaluation.domains])
    longest = max(map(len, rows.values()))
    shown = min(longest, _MOST_TURNS)
    notes = [
        "In brackets: dialogues. P from 1 to 4. The reply after the user's end is left out.",
        "The paper draws Figure 5 and prints no figures of it.",
    ]
    if longest > shown:
        notes.append(f"Turns after the {shown}th are not shown; the longest dialogue has {longest}.")
    if not longest:
        notes = ["Nothing was read turn by turn: run with --personalens-dimensions tc,p,p-turns."]
    cells = [
        (title, *(f"{mean:.2f} ({count})" for mean, count in turns[:shown]), *[""] * (shown - len(turns)))
        for title, turns in rows.items()
        if turns
    ]
    header = ("", *(f"turn {number}" for number in range(1, shown + 1)))
    what = f"personalization turn by turn{name}"
    return PaperTable(paper_title("Figure 5", what), header, tuple(cells), tuple(notes))


def _by_turn(items: Sequence[Item]) -> list[tuple[float, int]]:
    """Return the mean by scenario and the number of dialogues, for each turn."""
    turns = scores_by_turn((one.key, one.turns) for one in item_scores(items))
    return [(fmean(scenario_means(scores).values()), sum(map(len, scores.values()))) for scores in turns]


def _among(item: Item, kinds: Kinds) -> bool:
    return kinds in ("all", item.evaluation.kind)
