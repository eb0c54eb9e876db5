"""The README's figures beside those of a run, and of stored outputs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_personalens.cli.command import main
from pytest_personalens.suites.personaconv.page.published import published
from pytest_personalens.suites.personaconv.values import KINDS
from tests.support.processes.commands import refusal
from tests.support.repository import ROOT, Repository

FACTS = ROOT.parent / "shared" / "reference" / "persona_bench.md"
#: The facts' name of a figure -> ours.
NAMES = {
    "accuracy": "accuracy", "f1": "f1", "mcc": "mcc", "rmse": "rmse", "mae": "mae", "rouge-1": "rouge1",
    "rouge-l": "rougeL", "meteor": "meteor", "bleu": "bleu", "sbert": "sbert",
}  # fmt: skip
CONFTEST = """
import pytest

@pytest.fixture
def personalens_assistant(personalens_scenario, personalens_context):
    wrong = "+" in personalens_context.user
    answers = {"sentiment": "positive", "impact": str(personalens_scenario.truth if not wrong else 7)}
    return lambda messages: answers[personalens_scenario.kind]
"""


def cells(text: str) -> dict[str, list[str]]:
    """Name of a row -> its cells, of all tables in the text."""
    rows = (re.split(r" {2,}", line) for line in text.splitlines())
    return {name: found for name, *found in rows if found}


@pytest.mark.skipif(not FACTS.is_file(), reason="the facts taken from the README are not at hand")
def test_the_figures_are_those_of_the_readme() -> None:
    facts = FACTS.read_text(encoding="utf-8")
    ours = {
        (row, metric): figure
        for kind in KINDS
        for row, figures in published(kind, {}).rows
        for metric, figure in zip(published(kind, {}).metrics, figures, strict=True)
    }
    table = facts[facts.index("| metric | GPT-4.1 |") :].splitlines()
    models = [cell.strip() for cell in table[0].strip("|").split("|")][1:]
    pairs = 0
    for line in table[2:12]:
        name, *found = (cell.strip() for cell in line.strip("|").split("|"))
        for model, pair in zip(models, found, strict=True):
            for setting, figure in zip(("P-Conv", "P-NonConv"), pair.split(" / "), strict=True):
                assert ours[f"README: {model} {setting}", NAMES[name.lower()]] == figure
            pairs += 1
    assert pairs == 50
    head, np_conv = (
        [cell.strip() for cell in line.strip(" |").split("|")]
        for line in facts.splitlines()
        if line.lstrip().startswith(("| GPT-4.1 | accuracy", "| NP-Conv"))
    )
    for name, figure in zip(head[1:], np_conv[1:], strict=True):
        assert ours["README: GPT-4.1 NP-Conv", NAMES[name.lower()]] == figure


def test_a_run_beside_the_readme(repo: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(conftest=CONFTEST)
    run = repo.inline(
        "--personalens-suite", "personaconv", "--personalens-sample", "16", "--personalens-kind", "sentiment,impact",
        "--personalens-control", "NP-Conv", "--personalens-gate", "none", "--personalens-report", "results.json",
    )  # fmt: skip
    run.assert_outcomes(passed=32)
    capsys.readouterr()
    path = repo.path / "results.json"
    assert main(["report", "--published", str(path)]) == 0
    text = capsys.readouterr().out
    found = cells(text)
    results = json.loads(path.read_text(encoding="utf-8"))
    sentiment, impact = (
        {g["name"]: g["figures"] for g in results["kinds"]}[k] for k in ("sentiment", "impact")
    )
    own = [sentiment[name]["value"] for name in ("correct", "f1", "mcc")]
    assert found["this run: P-Conv, 8 items"] == ["0.00", "0.00", "1.0000"]
    assert impact["skill"]["value"] == 1
    assert [f"{value:.4f}" for value in own] == cells(text.partition("impact, beside")[0])[
        "this run: P-Conv, 8 items"
    ]
    assert float(found["this run: NP-Conv, 8 items"][0]) > 1
    assert found["README: GPT-4.1 NP-Conv"] == ["316.84", "97.83", "-"]
    assert "LLaMA3-3, DeepSeek-R1: F1 probably weighted by class" in text
    assert "each request has the sign of the true score" in text
    assert refusal(capsys, "report", "--published", "--table", "3", str(path)) == (
        "error: --table, --figure, --published: give one of them"
    )


def test_outputs_beside_the_readme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = tmp_path / "outputs.jsonl"
    rows = [{"output": "positive", "true_label": label} for label in ("positive", "negative")]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    page = tmp_path / "scores.md"
    assert main(["score", str(outputs), "--kind", "sentiment", "--published", "--report", str(page)]) == 0
    found = cells(capsys.readouterr().out)
    assert found["outputs.jsonl, 2 rows"] == ["0.5000", "0.6667", "0.0000"]
    assert found["README: DeepSeek-R1 P-NonConv"] == ["0.7092", "0.7362", "0.2586"]
    assert "README: Claude-3.5 P-Conv" in page.read_text(encoding="utf-8")
    assert main(["score", str(outputs), "--kind", "sentiment"]) == 0
    assert "README" not in capsys.readouterr().out


def test_a_run_of_the_first_suite_has_no_published_predictions(
    repo: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.inline(
        "--personalens-sample", "2", "--personalens-gate", "none", "--personalens-report", "results.json"
    )
    assert refusal(capsys, "report", "--published", str(repo.path / "results.json")) == (
        "error: --published: this run is of personalens; its paper's tables are --table N"
    )
