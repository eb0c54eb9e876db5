"""A report shows figures that are computed from a file's items, and refuses a file whose own figures say
otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.cli.runs.report import main
from pytest_personalens.results.files import read_computed
from pytest_personalens.results.values.results import write_json
from tests.support.results.rich_results import rich_results

Tamper = Callable[[dict[str, Any]], object]


def edited_run(folder: Path, tamper: Tamper, **how: Any) -> Path:
    file = folder / "r.json"
    write_json(rich_results(12, compared=True, **how), file)
    data = json.loads(file.read_text(encoding="utf-8"))
    tamper(data)
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


def stored(folder: Path, tamper: Tamper = lambda data: None) -> Path:
    return edited_run(folder, tamper, trials=2, controls=("none",))


def gate(data: dict[str, Any], name: str) -> Any:
    return next(gate for gate in data["gates"] if gate["name"] == name)


def lower(data: dict[str, Any]) -> None:
    verdict = next(
        v for i in data["items"] if not i["arm"] for v in i["evaluation"]["verdicts"] if v["score"] > 1
    )
    verdict["score"] -= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tamper", "place"),
    [
        (lambda d: d["overall"]["figures"]["personalization"].update(value=3.99), "overall.figures.personalization.value: stored is 3.99, but "),
        (lambda d: d["overall"].update(scored=d["overall"]["scored"] + 1), "overall.scored: stored is "),
        (lambda d: d["domains"].pop(), "domains."),
        (lambda d: d["kinds"][0]["figures"].pop("task_completion"), "kinds."),
        (lambda d: d["turns"].update(value=1.0), "turns.value: stored is 1.0, but "),
        (lambda d: d["trials"]["pass_k"].__setitem__(1, 1.0), "trials.pass_k.1: stored is 1.0, but "),
        (lambda d: d["arms"][0]["lift"][1].update(change=3.0), "arms.none.lift.personalization.change: stored is 3.0, but "),
        (lambda d: d["usage"].update({"judge p": {"calls": 7}}), "usage.judge p"),
        (lambda d: d["comparison"]["differences"][1].update(change=1.5), "comparison.p.change: stored is 1.5, but "),
        (lambda d: gate(d, "p").update(value=3.9), "gates.p.value: stored is 3.9, but "),
        (lambda d: gate(d, "p").update(passed=not gate(d, "p")["passed"]), "gates.p.passed: stored is "),
        (lambda d: gate(d, "p").update(limit=1.0, value=1.0, passed=True), "gates.p.value: stored is 1.0, but "),
        (lower, "overall.figures."),
    ],
)  # fmt: skip
def test_a_file_whose_figures_do_not_follow_from_its_items_is_refused(
    tamper: Tamper, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = stored(tmp_path, tamper)
    assert main([str(file)]) == 4
    told = capsys.readouterr()
    assert f"{file}: {place}" in told.err
    assert " follows from its items; restore the file, or run its tests again" in told.err
    assert len(told.err.splitlines()) == 1
    assert not told.out
    assert main([str(stored(tmp_path)), str(file)]) == 0, "the file was restored"


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        (lambda d: d["items"][0]["evaluation"]["verdicts"][0].update(score=10**400), "is scored 0 to 1, not 1000"),
        (lambda d: d["items"][0]["evaluation"]["verdicts"][0].update(score=10**4200), "is scored 0 to 1, not 1000"),
        (lambda d: gate(d, "p").update(name="x y"), "has no metric for the gate 'x y'"),
        (lambda d: gate(d, "p").update(name="p(tcr)"), "has no metric for the gate 'p(tcr)'"),
        (lambda d: gate(d, "p").update(name="lift(p, nobody)"), "there is no control for the gate 'lift(p, nobody)'"),
        (lambda d: d["settings"].update(prompts=10**30), "prompts is 1000"),
        (lambda d: d.update(suite="x y"), "unknown suite 'x y'"),
    ],
)  # fmt: skip
def test_numbers_of_any_size_and_unknown_names_are_refused_in_a_line(
    tamper: Tamper, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(stored(tmp_path, tamper))]) == 4
    told = capsys.readouterr().err
    assert problem in told
    assert len(told.splitlines()) == 1


def compared(folder: Path, tamper: Tamper = lambda data: None, *, seed: str = "rich", each: int = 1) -> Path:
    """A run of single trials, whose items hold what they were by the baseline."""
    return edited_run(folder, tamper, seed=seed, each=each)


def of_p(data: dict[str, Any]) -> Any:
    return next(d for d in data["comparison"]["differences"] if d["dimension"] == "personalization")


def lower_earlier(data: dict[str, Any]) -> None:
    scores = next(s for i in data["items"] if (s := i["earlier"]["scores"]).get("personalization", 1) > 1)
    scores["personalization"] -= 1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("each", [1, 4])
def test_a_comparison_that_follows_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int, each: int
) -> None:
    file = compared(tmp_path, seed=str(seed), each=each)
    stored = json.loads(file.read_text(encoding="utf-8"))["comparison"]
    assert main([str(file)]) == 0, capsys.readouterr().err
    assert read_computed(file).model_dump(mode="json")["comparison"] == stored


@pytest.mark.parametrize(
    ("tamper", "place"),
    [
        (lambda d: of_p(d).update(before=of_p(d)["before"] + 0.5, change=of_p(d)["change"] - 0.5), "comparison.differences.personalization.before: "),
        (lambda d: of_p(d).update(pairs=11), "comparison.differences.personalization.pairs: stored is 11, but "),
        (lambda d: of_p(d).update(worse=of_p(d)["worse"] + 1), "comparison.differences.personalization.worse: "),
        (lambda d: of_p(d).update(regressed=not of_p(d)["regressed"]), "comparison.differences.personalization.regressed: "),
        (lambda d: d["comparison"]["flips"].pop(), "comparison.flips."),
        (lambda d: d["comparison"]["flips"][0].update(before=4.0), "comparison.flips."),
        (lower_earlier, "comparison.differences.personalization."),
    ],
)  # fmt: skip
def test_a_comparison_that_does_not_follow_from_its_items_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tamper: Tamper, place: str
) -> None:
    file = compared(tmp_path, tamper)
    assert main([str(file)]) == 4
    told = capsys.readouterr().err
    assert f"{file}: {place}" in told
    assert len(told.splitlines()) == 1


def test_the_p_of_a_comparison_is_computed_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(compared(tmp_path))]) == 0
    written = capsys.readouterr().out
    assert main([str(compared(tmp_path, lambda d: of_p(d).update(p=0.75, low=-0.5, high=0.5)))]) == 0
    assert capsys.readouterr().out == written


def test_a_tampered_second_file_is_refused_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = stored(tmp_path, lower).rename(tmp_path / "bad.json")
    assert main([str(stored(tmp_path)), str(bad)]) == 4
    assert f"{bad}: overall.figures." in capsys.readouterr().err


def test_intervals_of_an_earlier_version_are_computed_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def older(data: dict[str, Any]) -> None:
        gate(data, "p").update(low=1.25, high=1.75, message="mean personalization 1.50 (1.25 to 1.75)")
        data["arms"][0]["lift"][1].update(low=-0.125, high=0.125)

    assert main([str(stored(tmp_path))]) == 0
    written = capsys.readouterr().out
    assert main([str(stored(tmp_path, older))]) == 0
    assert capsys.readouterr().out == written
