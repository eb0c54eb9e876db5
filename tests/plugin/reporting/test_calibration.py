"""The rate corrected for the judge's errors: measured on labels, shown, gated, and refused for another judge."""

from __future__ import annotations

import json

import pytest

from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge
from pytest_personalens.results.values.calibration import Found, correct, labels_to_decide
from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import ROOT, Repository

LABELS = str(ROOT / "data" / "agreement" / "by-hand-user6.jsonl")
SAMPLE = ("--personalens-sample", "6", "--personalens-report", "r.json")
FILE = {"schema": "personalens-calibration/1", "judge": "", "dialogues": 120}
FILE |= {"completed": 60, "seen_completed": 54, "failed": 60, "seen_failed": 54}


def test_calibrate_measures_the_judge_on_labels_and_writes_what_runs_read(repo: Repository) -> None:
    result = repo.command("calibrate", LABELS, "--write", "judge.json")
    result.stdout.fnmatch_lines([
        "embedded-judge *: 24 labelled dialogues",
        "sensitivity 0.* (95 % 0.* to *): sees * of * completed tasks",
        "specificity 0.* (95 % 0.* to *): sees * of * failed tasks",
        "a rate read as 0.80 over 100 dialogues is corrected to *",
        "tc: rows are the majority, columns the judge",
        "p: rows are the majority, columns the judge",
    ])  # fmt: skip
    written = json.loads((repo.path / "judge.json").read_text())
    assert written["completed"] + written["failed"] == written["dialogues"] == 24
    assert sum(written["personalization"].values()) == 24
    calibrated = ("-o", "personalens_calibration=judge.json", "--personalens-gate", "tcr >= 0.01")
    result = repo.run(*SAMPLE, *calibrated)
    result.stdout.fnmatch_lines(["*TCR as read *, corrected for the judge's errors * (95 % *; sensitivity *"])
    assert repo.results("r.json")["calibration"] == written
    # Its labels do not decide a gate at the corrected rate itself, and the report decides the same again.
    assert repo.command("report", "r.json", "--report", "-").ret == 0


@pytest.mark.parametrize(
    ("silent", "floor", "told", "code"),
    [
        (False, 0.55, "passed, task completion rate as read *, corrected *; the floor is *", 0),
        (True, 0.55, "FAILED, task completion rate as read *, corrected *; the floor is *", 1),
        (False, 0.9, "INCONCLUSIVE, *, within the interval: *would decide*", 7),
    ],
)
def test_a_gate_is_held_against_the_interval_of_the_corrected_rate(
    repo: Repository, silent: bool, floor: float, told: str, code: int
) -> None:
    if silent:
        repo.bot("'I cannot help with that.'")
    # The embedded judge reads, and is said to see nine of ten.
    (repo.path / "judge.json").write_text(json.dumps(FILE | {"judge": EmbeddedJudge().identity}))
    gates = ("--personalens-gate", f"tcr >= {floor}, valid >= 0")
    result = repo.run(*SAMPLE, "-o", "personalens_calibration=judge.json", *gates)
    assert_ended(result, code, f"gate tcr: {told}")
    gate = next(gate for gate in repo.results("r.json")["gates"] if gate["name"] == "tcr")
    assert (gate["passed"], gate["inconclusive"]) == (code == 0, code == 7)


def test_the_calibration_of_another_judge_and_what_is_none_are_refused(repo: Repository) -> None:
    ini = ("-o", "personalens_calibration=judge.json")
    for content, told in (
        (FILE | {"judge": "openai:m prompt 1"}, "judge.json is of the judge 'openai:m prompt 1', and task completion is read*"),
        (FILE | {"seen_failed": 61}, "judge.json: *at most*"),
        (FILE | {"personalization": {"9 -> 1": 3}}, "judge.json: personalization.9 -> 1*"),
        (FILE | {"schema": "other"}, "judge.json: not a calibration of this version*"),
    ):  # fmt: skip
        (repo.path / "judge.json").write_text(json.dumps(content))
        assert_one_line(repo.inline(*SAMPLE, *ini), f"*{told}*")
    (repo.path / "labels.jsonl").write_text((ROOT / LABELS).read_text().splitlines()[0] + "\n")
    told = "labels.jsonl: * labelled as completed and * a calibration needs some*"
    assert_one_line(repo.command("calibrate", "labels.jsonl", "--write", "new.json"), told)


def test_the_estimate_and_its_interval() -> None:
    found = correct(0.83, 100, Found(50, 70), Found(32, 50))
    exact = correct(0.6, 1000, Found(900, 1000), Found(800, 1000))
    assert found is not None and exact is not None
    assert found.value == 1.0  # (0.83 + 0.64 - 1) / (0.714 + 0.64 - 1) = 1.33, cut
    assert exact.value == pytest.approx(0.4 / 0.7)
    assert exact.low < exact.value < exact.high
    assert exact.high - exact.low == pytest.approx(2 * 1.96 * 0.0252, abs=0.003)  # by the delta method
    few = correct(0.6, 100, Found(18, 20), Found(16, 20))  # by hand, with the formulas of the paper
    assert few is not None and (few.low, few.high) == pytest.approx((0.3490, 0.8070), abs=0.0005)
    assert correct(0.6, 100, Found(5, 10), Found(5, 10)) is None
    nothing_known = correct(0.5, 10, Found(2, 2), Found(1, 2))
    assert nothing_known is not None and (nothing_known.low, nothing_known.high) == (0, 1)


def test_so_many_labels_decide_and_at_few_dialogues_none_do() -> None:
    judge = Found(45, 50), Found(40, 50)
    more = labels_to_decide(0.75, 400, *judge, 0.7)
    assert more is not None
    times = (100 + more) / 100
    decided = correct(0.75, 400, *(Found(f.right * times, f.of * times) for f in judge))
    assert decided is not None
    assert decided.low >= 0.7
    assert labels_to_decide(0.75, 10, *judge, 0.7) is None
