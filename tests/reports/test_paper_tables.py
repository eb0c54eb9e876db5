"""The paper's tables from stored runs: golden tables, the rows, what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.paper_tables import paper_rows
from pytest_personalens.results.summarize import summarize
from pytest_personalens.results.values.results import write_json
from tests.support.processes.commands import report as main
from tests.support.repository import ROOT
from tests.support.results.rich_results import rich_results

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from pytest_personalens.results.values.results import Results

CONTROLS = ("none", "D", "I", "S", "swapped")


@pytest.mark.slow
@pytest.mark.parametrize("each", [1, 3], ids=["one a user", "three"])
def test_the_tables_and_figures(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    snapshot: SnapshotAssertion,
    each: int,
) -> None:
    """Their figures were once counted anew from the results files, with SciPy."""
    monkeypatch.chdir(tmp_path)
    write_json(rich_results(45, trials=2, controls=CONTROLS, each=each), tmp_path / "ours.json")
    write_json(rich_results(40, seed="another", each=each), tmp_path / "theirs.json")
    plain = rich_results(45, each=each)  # of the same assistant by another prompt
    settings = plain.settings | {"assistant": "module:bot", "assistant_prompt": "vanilla"}
    write_json(plain.model_copy(update={"settings": settings}), tmp_path / "plain.json")
    shown = {}
    for name in (
        "--table 3",
        "--table 12",
        "--table 13",
        "--table 10",
        "--figure 4",
        "--figure 5",
        "--table 4",
    ):
        others = "plain.json" if name == "--table 4" else "theirs.json"
        assert main(["ours.json", others, *name.split()]) == 0
        shown[name] = capsys.readouterr().out
    assert shown == snapshot


def figure_5(results: Results, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    write_json(results, folder / "r.json")
    assert main([str(folder / "r.json"), "--figure", "5"]) == 0
    return capsys.readouterr().out


def test_figure_5_is_without_the_last_reply(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = rich_results(40, seed="another")
    scored = [i.evaluation for i in results.items if not i.evaluation.cause and i.evaluation.kind == "single"]
    assert {e.dialogue.end for e in scored} == {"user"}
    replies = [sum(m.role == "assistant" for m in e.dialogue.messages) for e in scored]
    (row,) = re.findall("^SD, all domains.*", figure_5(results, tmp_path, capsys), re.MULTILINE)
    counts = [int(number) for number in re.findall(r"\((\d+)\)", row)]
    assert counts == [sum(n - 1 >= turn for n in replies) for turn in range(1, max(replies))]


def test_the_figures_of_the_paper_are_those_that_were_taken_from_it() -> None:
    facts = ROOT.parent / "shared" / "reference" / "paper_tables.json"
    if not facts.is_file():
        pytest.skip("the facts taken from the paper are not at hand")
    for key, table in json.loads(facts.read_text(encoding="utf-8")).items():
        if not key.startswith("table_"):
            continue
        ours = [
            [float(cell.replace(",", "")) for cell in row.values()]
            for row in paper_rows(int(key.removeprefix("table_"))).values()
        ]
        rows = [row[1:] for row in table["rows"]]
        assert ours == ([[row[kind] for kind in (0, 1) for row in rows]] if key == "table_13" else rows), key


def test_tc_and_p_alone_have_no_figure_5(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = rich_results(9, trials=2, controls=CONTROLS)
    kept = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
    items = []
    for item in run.items:
        verdicts = tuple(verdict for verdict in item.evaluation.verdicts if verdict.dimension in kept)
        evaluation = item.evaluation.model_copy(update={"verdicts": verdicts})
        items.append(item.model_copy(update={"evaluation": evaluation}))
    made = summarize(
        items, settings=run.settings, dataset=run.dataset, requested=run.requested, drawn=run.drawn
    )
    nothing = "Nothing was read turn by turn: run with --personalens-dimensions tc,p,p-turns."
    assert nothing in figure_5(made, tmp_path, capsys)
