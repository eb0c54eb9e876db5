"""The command ``score`` on outputs in every format that the official scripts write."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.cli.command import main
from pytest_personalens.suites.personaconv.values import KINDS
from tests.suites.personaconv.trees import CASES, NO_REFERENCE, json_lines
from tests.support.processes.commands import refusal

FILES = {"sentiment": "log_sentiment.jsonl", "impact": "log_impact.jsonl", "next-text": "log_text.jsonl"}
THEIR_NAMES = {"f1_score": "f1-weighted", "meteor_exact_stem": "meteor-es"}


def score(path: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    """What the command writes as JSON; it ends with that code."""
    report = path.parent / "scores.json"
    assert main(["score", str(path), *arguments, "--report", str(report)]) == code
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return found


def rows(folder: Path, *values: Any, name: str = "outputs.jsonl") -> Path:
    return json_lines(folder, name, *values)


def outputs(folder: Path, pairs: Iterable[tuple[Any, Any]], name: str = "outputs.jsonl", **more: Any) -> Path:
    """A file with a row for each true label and output."""
    return json_lines(folder, name, *({"output": out, "true_label": true, **more} for true, out in pairs))


@pytest.mark.skipif(not CASES.is_dir(), reason=NO_REFERENCE)
@pytest.mark.parametrize("kind", KINDS)
def test_figures_of_the_log_evaluators_to_six_digits(tmp_path: Path, kind: str) -> None:
    expected = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))["logs"][FILES[kind]]
    copied = tmp_path / FILES[kind]
    copied.write_bytes((CASES / FILES[kind]).read_bytes())
    (log,) = score(copied, "--kind", kind, "--protocol", "official")["logs"]
    ours = {"ALL": log["overall"], **log["domains"]}
    counted = {"count", "scored", "errors"}
    for domain, figures in expected["figures"].items():
        for name, value in figures.items():
            if name not in counted:
                found = ours[domain][THEIR_NAMES.get(name, name)]
                assert round(found, 6) == pytest.approx(value, abs=1e-6), (domain, name)
    assert set(ours) == set(expected["figures"])
    everything = expected["figures"]["ALL"]
    assert log["rows"] == everything.get("count", everything.get("scored"))
    assert len(log["ignored"]) == expected.get("ignored", everything.get("errors"))
    assert all(each["line"] and each["reason"] for each in log["ignored"])


@pytest.mark.skipif(not CASES.is_dir(), reason=NO_REFERENCE)
def test_what_the_evaluators_ignore_counts_in_fixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied = tmp_path / FILES["sentiment"]
    copied.write_bytes((CASES / FILES["sentiment"]).read_bytes())
    (log,) = score(copied, "--kind", "sentiment")["logs"]
    assert (log["rows"], log["read"], len(log["ignored"]), len(log["not_read"])) == (19, 12, 3, 7)
    assert log["overall"]["accuracy"] == pytest.approx(8 / 19)
    assert log["overall"]["parsed"] == pytest.approx(12 / 19)
    assert "line 8 not read: neither positive nor negative alone: 'I cannot tell'" in capsys.readouterr().out


def test_every_format_gives_the_same(tmp_path: Path) -> None:
    pairs = [("positive", "positive"), ("negative", "positive"), ("negative", "negative")]
    plain = score(outputs(tmp_path, pairs, subreddit="life"), "--kind", "sentiment")
    rows_of_runs = (
        {"predicted_label": out, "true_label": true, "domain": "life", "status": "processed"}
        for true, out in pairs
    )
    assert score(rows(tmp_path, *rows_of_runs), "--kind", "sentiment")["logs"] == plain["logs"]
    assert plain["logs"][0]["domains"].keys() == {"life"}


def test_texts_of_several_models_and_candidates(tmp_path: Path) -> None:
    kind = ("--kind", "next-text")
    best = score(
        rows(tmp_path, {"true_label": "a small pot", "best_sbert_candidate_text": "a small pot"}), *kind
    )
    assert best["logs"][0]["overall"]["rouge1"] == 1
    models = {"one": {"best_candidate_text": "a small pot"}, "two": "nothing of it"}
    found = score(rows(tmp_path, {"true_label": "a small pot", "model_outputs": models}), *kind)
    assert [(log["name"], log["overall"]["rouge1"]) for log in found["logs"]] == [
        ("outputs.jsonl: one", 1),
        ("outputs.jsonl: two", 0),
    ]
    path = rows(
        tmp_path,
        {"true_label": "a small pot", "output": ["nothing of it", "a small pot"]},
        {"true_label": "so", "output": ["no", "never"]},
    )
    (log,) = score(path, *kind)["logs"]
    assert log["overall"]["rouge1"] == 0.25
    assert log["best_of"]["rouge1"] == {"kept": 0.5, "left_out": 1.0}
    (log,) = score(path, *kind, "--protocol", "official")["logs"]
    assert log["overall"]["rouge1"] == 0.0, "the first candidate counts"


def test_gates_decide_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = rows(
        tmp_path,
        *(
            {"output": out, "true_label": 10, "subreddit": domain}
            for out, domain in [("10", "Life"), ("20", "Life"), ("40", "Art"), ("many", "Art")]
        ),
    )
    passed = score(path, "--kind", "impact", "--gate", "mae <= 14", "--gate", "life: mae <= 5")
    assert [gate["passed"] for gate in passed["gates"]] == [True, True]
    failed = score(path, "--kind", "impact", "--gate", "art: mae <= 29", "--gate", "parsed >= 90%", code=1)
    assert [(gate["value"], gate["rows"]) for gate in failed["gates"]] == [(30, 1), (0.75, 4)]
    out = capsys.readouterr().out
    assert "gate art: mae <= 29: FAILED, mae 30 over 1 rows of outputs.jsonl" in out
    assert "gate parsed >= 0.9: FAILED, parsed 0.75 (0.19 to 0.99) over 4 rows of outputs.jsonl" in out
    assert "one row of 10 carries 90% of the squared error" in out


def test_a_gate_on_what_says_nothing_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = rows(tmp_path, {"output": "positive", "true_label": "positive"})
    found = score(path, "--kind", "sentiment", "--gate", "mcc >= -1", code=1)
    assert found["gates"][0]["value"] is None
    assert "one class only is true, so there is no MCC" in capsys.readouterr().out
    path = rows(tmp_path, {"output": "many", "true_label": 5})
    assert score(path, "--kind", "impact", "--gate", "mae <= 1000", code=1)["gates"][0]["rows"] == 0


def test_two_files_are_paired_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truths, kind = ["positive", "negative"] * 4, ("--kind", "sentiment")
    good = outputs(tmp_path, zip(truths, truths, strict=True), "good.jsonl")
    bad = outputs(tmp_path, ((true, "positive") for true in truths), "bad.jsonl")
    (found,) = score(bad, str(good), *kind)["differences"]
    assert (found["pairs"], found["better"], found["p"]) == (8, -0.5, 0.0625)
    assert "over 8 pairs (one-sided p of a drop 0.062)" in capsys.readouterr().out
    (found,) = score(good, str(bad), *kind)["differences"]
    assert (found["better"], found["p"]) == (0.5, 1.0)
    other = outputs(tmp_path, (("positive", true) for true in truths), "other.jsonl")
    score(good, str(other), *kind)
    assert "not paired: line 2 has another true_label in other.jsonl" in capsys.readouterr().out
    near, far = (outputs(tmp_path, [(10, said)] * 8, f"{said}.jsonl") for said in ("9", "90"))
    (found,) = score(far, str(near), "--kind", "impact")["differences"]
    assert (found["metric"], found["p"]) == ("log-error", 1 / 2**8)
    assert found["better"] < 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--kind", "sentimnt"], "error: argument --kind: invalid choice: 'sentimnt'*"),
        (["--kind", "impact", "--gate", "rmse >= 3"], "*rmse is better low: write rmse <= 3, not 'rmse >= 3'"),
        (["--kind", "impact", "--gate", "rmze <= 3"], "*unknown metric 'rmze' (did you mean rmse?); known: *"),
        (["--kind", "impact", "--gate", "mae"], "*expected [[]DOMAIN or KIND:] METRIC >= VALUE*"),
        (["--kind", "impact", "--gate", "valid >= 1"], "*stored outputs have no valid; known: accuracy, *"),
        (["--kind", "sentiment", "--gate", "accuracy >= 7"], "*accuracy lies from 0 to 1; did you mean 7%*"),
        (["--kind", "sentiment", "--gate", "mae <= 7"], "error: --gate: no mae here: it is of impact; *"),
        (["--kind", "sentiment", "--gate", "Art: mcc >= 0"], "error: --gate: * has no domain 'Art'; it has UNKNOWN"),
        (["--kind", "impact"], "*none of its 1 rows can be scored as impact (line 1: true_label is none of impact: 'positive'); expected rows*"),
        (["--kind", "sentiment", "--nltk-data", "x"], "error: --nltk-data: it is of --kind next-text"),
        (["--kind", "next-text", "--nltk-data", "none"], "error: none: has no corpora/wordnet in it, and no data.noun; put *"),
        (["--kind", "next-text", "--embedding", "nothing"], "error: embedding: expected sentence-transformers:PATH *"),
        (["--kind", "next-text", "--embedding", "nothing:x"], "error: embedding: cannot take 'x' from 'nothing': *"),
        (["--kind", "next-text", "--embedding", "json:loads"], "error: embedding json:loads: TypeError*"),
        (["--kind", "next-text", "--embedding", "sentence-transformers:none"], "error: embedding: none is no folder of a model; *"),
    ],
)  # fmt: skip
def test_what_cannot_be_scored_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], line: str
) -> None:
    path = rows(tmp_path, {"output": "positive", "true_label": "positive"})
    found = refusal(capsys, "score", str(path), *arguments)
    assert fnmatch.fnmatch(found, line), found


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read: No such file"),
        (b"", "none of its 0 rows can be scored as impact (it is empty)"),
        (b"\xff\n[1]\n{no\n", "none of its 3 rows can be scored as impact (line 1: is not UTF-8)"),
    ],
)
def test_files_that_hold_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, problem: str
) -> None:
    path = tmp_path / "empty.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert problem in refusal(capsys, "score", str(path), "--kind", "impact")


def test_reports_of_hostile_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = '</td><script>alert(1)</script> \x1b[31m ::error:: \ud83d | "x"'
    path = rows(tmp_path, {"output": hostile, "true_label": "positive", "subreddit": hostile})
    reports = [tmp_path / f"scores{ending}" for ending in (".html", ".md", ".json")]
    told_reports = [word for report in reports for word in ("--report", str(report))]
    for _ in range(2):  # its own reports are replaced
        assert main(["score", str(path), "--kind", "sentiment", *told_reports]) == 0
    assert "\x1b" not in capsys.readouterr().out
    page = reports[0].read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "\x1b" not in page
    assert "<script>" not in reports[1].read_text(encoding="utf-8")
    assert json.loads(reports[2].read_text(encoding="utf-8"))["logs"][0]["rows"] == 1
    (tmp_path / "mine.md").write_text("Mine.", encoding="utf-8")
    mine = ("--report", str(tmp_path / "mine.md"))
    told = refusal(capsys, "score", str(path), "--kind", "sentiment", *mine)
    assert "was not written by this plugin" in told
