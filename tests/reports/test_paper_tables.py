"""The paper's tables from stored runs: golden tables, the rows, what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.reports.paper_tables import paper_rows
from pytest_personalens.results.stats.paired import holm
from pytest_personalens.results.summarize import summarize
from pytest_personalens.results.values.results import read_results, write_json
from tests.support.processes.commands import report as main
from tests.support.repository import ROOT
from tests.support.results.rich_results import rich_results

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

Cells = dict[str, list[str]]


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs of users with one scenario each."""
    return store(tmp_path, monkeypatch, each=1)


def store(folder: Path, monkeypatch: pytest.MonkeyPatch, *, each: int) -> Path:
    """Three runs of one kind of assistant: with all of the context and controls, by another prompt, and one
    over other scores.
    """
    monkeypatch.chdir(folder)
    whole = rich_results(45, trials=2, controls=("none", "D", "I", "S", "swapped"), each=each)
    write_json(whole, folder / "ours.json")
    write_json(rich_results(40, seed="another", each=each), folder / "theirs.json")
    plain = rich_results(45, each=each)
    settings = plain.settings | {"assistant": "module:bot", "assistant_prompt": "vanilla"}
    write_json(plain.model_copy(update={"settings": settings}), folder / "plain.json")
    return folder


def printed(capsys: pytest.CaptureFixture[str], *args: str) -> list[Cells]:
    """The tables that the command prints: each a row's name -> its cells."""
    assert main(args) == 0
    tables: list[Cells] = []
    for block in capsys.readouterr().out.split("\n\n"):
        lines = [re.split(r" {2,}", line) for line in block.splitlines()]
        if len(lines[0]) < 3 or lines[0][0]:
            lines = lines if lines and len(lines[0]) > 3 and lines[0][0] == "domain" else []
        if lines:
            tables.append({cells[0]: cells[1:] for cells in lines[1:]})
    return tables


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
    store(tmp_path, monkeypatch, each=each)
    shown = {}
    for args in (("--table", "3"), ("--table", "12"), ("--table", "13"), ("--table", "10"), ("--figure", "4"),
                 ("--figure", "5"), ("--table", "4")):  # fmt: skip
        others = "plain.json" if args == ("--table", "4") else "theirs.json"
        assert main(["ours.json", others, *args]) == 0
        shown[" ".join(args)] = capsys.readouterr().out
    assert shown == snapshot


def test_the_reply_to_the_goodbye_is_no_turn_of_figure_5(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads((stored / "theirs.json").read_text(encoding="utf-8"))
    every = (item["evaluation"] for item in found["items"])
    dialogues = [one for one in every if not one["cause"] and one["kind"] == "single"]
    assert {d["dialogue"]["end"] for d in dialogues} == {"user"}
    replies = [sum(m["role"] == "assistant" for m in d["dialogue"]["messages"]) for d in dialogues]
    (cells,) = printed(capsys, "theirs.json", "--figure", "5")
    counts = [int(cell.rpartition("(")[2].rstrip(")")) for cell in cells["SD, all domains"] if cell]
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


def test_dialogues_read_on_nothing_but_tc_and_p_have_no_figure_5(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = read_results(stored / "ours.json")
    kept = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
    items = []
    for item in run.items:
        verdicts = tuple(verdict for verdict in item.evaluation.verdicts if verdict.dimension in kept)
        evaluation = item.evaluation.model_copy(update={"verdicts": verdicts})
        items.append(item.model_copy(update={"evaluation": evaluation}))
    made = summarize(
        items, settings=run.settings, dataset=run.dataset, requested=run.requested, drawn=run.drawn
    )
    write_json(made, stored / "ours.json")
    assert main(["ours.json", "--figure", "5"]) == 0
    nothing = "Nothing was read turn by turn: run with --personalens-dimensions tc,p,p-turns."
    assert nothing in capsys.readouterr().out


def test_holms_adjusted_p_is_what_statsmodels_computes() -> None:
    multitest = pytest.importorskip(
        "statsmodels.stats.multitest", reason="statsmodels is a development dependency"
    )
    ps = [0.04, 0.001, 0.3, 0.02, 0.02, 1.0, 0.0005]
    assert holm(ps) == pytest.approx(list(multitest.multipletests(ps, method="holm")[1]))
