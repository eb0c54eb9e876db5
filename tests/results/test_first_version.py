"""Results and baselines of the first version of their formats are read as the first suite's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_personalens.cli.runs.report import main
from pytest_personalens.results.comparison.baseline import baseline_of, read_baseline
from pytest_personalens.results.values.results import read_results, write_json

STORED = Path(__file__).parent / "stored"
RESULTS, BASELINE = STORED / "results_1.json", STORED / "baseline_1.json"


def test_results_of_version_1_are_read_with_every_figure_and_gate(tmp_path: Path) -> None:
    was, now = json.loads(RESULTS.read_text(encoding="utf-8")), read_results(RESULTS)
    assert (was["schema"], now.suite) == ("personalens-results/1", "personalens")
    for before, group in (
        (was["overall"], now.overall),
        (was["kinds"][0], now.kinds[0]),
        (was["domains"][-1], now.domains[-1]),
        (was["arms"][0]["overall"], now.arms[0].overall),
    ):
        assert {name: figure.value for name, figure in group.figures.items()} == {
            name: mean["value"] for name, mean in before["means"].items()
        }
    assert [(g.name, g.limit, g.direction) for g in now.gates] == [
        (gate["name"], gate["floor"], ">=") for gate in was["gates"]
    ]
    write_json(now, tmp_path / "now.json")
    written = json.loads((tmp_path / "now.json").read_text(encoding="utf-8"))
    assert written["schema"] == "personalens-results/2"
    assert read_results(tmp_path / "now.json") == now


def test_a_report_of_version_1_says_what_one_of_version_2_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_json(read_results(RESULTS), tmp_path / "now.json")
    said = []
    for file in (RESULTS, tmp_path / "now.json"):
        assert main([str(file)]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "gate p: FAILED, mean personalization 2.12 (1.07 to 3.43) < 2.50 over 4 scenarios" in said[0]


def test_a_baseline_of_version_1_is_what_its_results_make_today() -> None:
    then, today = read_baseline(BASELINE), baseline_of(read_results(RESULTS))
    without = tuple(entry.model_copy(update={"messages": (), "reasons": {}}) for entry in today.entries)
    assert (then.terms, then.entries) == (today.terms, without), "a file of version 1 keeps scores alone"
    written = today.model_copy(update={"plugin": then.plugin}).text()
    assert written == BASELINE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        (lambda data: data["overall"].update(means=[]), "overall.figures"),
        (lambda data: data.update(gates="none"), "gates"),
        (lambda data: data.update(gates=["none"]), "gates.0"),
        (lambda data: data.update(arms=[7]), "arms.0"),
        (lambda data: data.update(settings=[]), "settings"),
        (lambda data: data.pop("overall"), "overall"),
    ],
)
def test_what_is_wrong_in_version_1_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: object, field: str
) -> None:
    data = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert callable(spoil)
    spoil(data)
    (tmp_path / "r.json").write_text(json.dumps(data), encoding="utf-8")
    assert main([str(tmp_path / "r.json")]) == 4
    problem = capsys.readouterr().err
    assert problem.startswith(f"error: {tmp_path / 'r.json'}: {field}: ")
    assert problem.count("\n") == 1
