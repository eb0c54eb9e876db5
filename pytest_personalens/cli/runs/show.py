"""The command ``show``: the transcript, the scores and the reasons of one item."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import command
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.text.node_ids import holds_case
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.terminal.transcript import failure_lines
from pytest_personalens.results.shards import last_run
from pytest_personalens.results.values.results import read_results

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_STATUS = {"passed": "passed", "low": "below a threshold", "uncounted": "not scored"}


@command("show")
def main(options: argparse.Namespace) -> int:
    """Return 0, or 4 for an item that the results do not have."""
    path = options.results or last_run(Path.cwd())
    results = read_results(path)
    for item in _find_items(results, options.item, path):
        print(*(harmless(line) for line in _lines(results, item)), sep="\n")
    return 0


def _find_items(results: Results, name: str, path: Path) -> list[Item]:
    """Return the item with this node id, or every item with this id of a scenario, control or trial.

    Raise `SpecError` if there is none.
    """
    found = [i for i in results.items if i.nodeid == name] or [
        i for i in results.items if name == i.nodeid.rpartition("::")[2] or holds_case(i.nodeid, name)
    ]
    if found:
        return found
    known = sorted({known for i in results.items for known in (i.evaluation.scenario, i.nodeid)})
    near = get_close_matches(name, known, 1, cutoff=0.5)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    missing = {*results.lost, *results.unevaluated}
    if any(nodeid == name or holds_case(nodeid, name) for nodeid in missing):
        raise SpecError(
            f"{name} brought no result in this run: its test ended before its dialogue", code="PL106"
        )
    raise SpecError(f"no item {name!r} among the {len(results.items):,} of {path}{meant}", code="PL106")


def _lines(results: Results, item: Item) -> Iterator[str]:
    scenario = results.scenarios.get(item.evaluation.scenario)
    if scenario is None:
        raise SpecError(
            f"the results do not hold the scenario of {item.nodeid}; run its tests again", code="PL106"
        )
    yield f"{item.nodeid}: {_STATUS[item.status]}"
    yield from failure_lines(
        item.evaluation,
        scenario,
        item.shortfalls,
        item.earlier,
        "",
        width=get_terminal_size().columns,
        whole=True,
    )
