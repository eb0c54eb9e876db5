"""The example project's predictor: its figures, and runs that give the same results byte for byte."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT

FOLDER = ROOT / "example_project" / "foresight"
HELD_OUT = (FOLDER / "held-out.txt").read_text(encoding="utf-8").split()


def run(report: Path, *options: str) -> bytes:
    """The results of a run of the predictor that passes its gates, as they are written."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--personalens-report={report}", *options],
        cwd=FOLDER, env=clean, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return report.read_bytes()


MEASURES = ("correct", "log-error", "rouge1")


def row(users: str, setting: str, cells: list[str]) -> str:
    """A row of the table in the README."""
    return f"| {users} | {setting} | {' | '.join(cells)} |"


def test_the_users_that_nobody_read_are_those_of_the_digest() -> None:
    users = [path.stem for path in (ROOT / "data" / "suites" / "personaconv").glob("u_*.json")]
    first = sorted(users, key=lambda user: hashlib.sha256(f"foresight {user}".encode()).hexdigest())
    assert sorted(first[:20]) == HELD_OUT


def test_the_predictor_is_small_and_reads_no_data() -> None:
    files = [FOLDER / name for name in ("__init__.py", "predictor.py", "manners.toml")]
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert sum(len(text.splitlines()) for text in texts) <= 200
    assert "data/" not in "".join(texts)
    assert "open(" not in "".join(texts)


@pytest.mark.slow
def test_the_same_predictions_are_the_same_bytes(tmp_path: Path) -> None:
    sample = ("--personalens-sample", "6", "--personalens-gate", "none")
    assert run(tmp_path / "again.json", *sample, "-n", "2") == run(tmp_path / "plain.json", *sample)


@pytest.mark.slow
def test_predictions_side_by_side_are_the_same(tmp_path: Path) -> None:
    sample = ("--personalens-sample=30", "--personalens-kind=sentiment,impact", "--personalens-gate=none")
    plain = json.loads(run(tmp_path / "plain.json", *sample))
    again = json.loads(run(tmp_path / "again.json", *sample, "-o", "personalens_parallel=30"))
    assert again.pop("settings") == plain.pop("settings") | {"parallel": 30}
    assert again == plain


@pytest.mark.slow
def test_a_past_in_the_context_gives_the_same_predictions(tmp_path: Path) -> None:
    sample = ("--personalens-sample", "12", "--personalens-gate", "none")
    found = []
    for history in ("request", "context"):
        results = json.loads(run(tmp_path / "results.json", *sample, "-o", f"personalens_history={history}"))
        items = [item["evaluation"] for item in results["items"]]
        assert {"earlier posts" in item["dialogue"]["messages"][0]["content"] for item in items} == {
            history == "request"
        }
        found.append([(item["scenario"], item["verdicts"]) for item in items])
    assert found[0] == found[1]


@pytest.mark.slow
def test_all_predictions_have_the_figures_of_the_readme(tmp_path: Path) -> None:
    every = json.loads(run(tmp_path / "all.json", "--personalens-sample", "all", "-n", "2"))
    held_out = json.loads(
        run(tmp_path / "held_out.json", "--personalens-sample=all", "-opersonalens_users=file:held-out.txt")
    )
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for results, items, users in ((every, 120, "all 40"), (held_out, 60, "20 not read")):
        assert {kind["items"] for kind in results["kinds"]} == {items}
        figures = {m: results["overall"]["figures"][m]["value"] for m in MEASURES}
        assert figures["correct"] >= 0.7
        assert row(users, "P-Conv", [f"{value:.2f}" for value in figures.values()]) in readme
        for control in results["arms"]:
            lifts = {each["dimension"]: each for each in control["lift"]}
            setting = control["name"].replace("np-conv", "NP-Conv").replace("p-nonconv", "P-NonConv")
            told = [f"{lifts[m]['before']:.2f} ({chance(lifts[m]['p'])})" for m in MEASURES]
            assert row(users, setting, told) in readme
            if setting == "NP-Conv":
                assert all(lifts[m]["p"] < 0.05 for m in MEASURES)


def chance(p: float) -> str:
    """A probability as the tables show it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
