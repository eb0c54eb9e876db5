"""A run that is to fail on nothing measures and reports."""

from __future__ import annotations

from typing import Final

import pytest

from tests.support.processes.runs import assert_ended, assert_usage_error, merge_shards, run_shards
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample", "10", *TOLD_AGENTS)
NOTHING = ("--personalens-gate", "none")
LOW = TOLD.replace("score = low if f", "score = low if True or f")
SAID = "report only: nothing here fails the run"
WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])


def crashing(which: str) -> str:
    """An assistant that raises in dialogues of these numbers."""
    number = "number = __import__('itertools').count()"
    reply = f'return lambda messages: 1 / 0 if next(number) {which} else "fine"'
    return TOLD.replace('return lambda messages: "fine"', f"{number}\n        {reply}")


def ini(repo: Repository, **values: str) -> None:
    lines = [f"personalens_{name} = {value}" for name, value in values.items()]
    (repo.path / "pytest.ini").write_text("\n".join(["[pytest]", *lines, ""]))


@pytest.mark.parametrize(
    ("gate", "value"), [("gate", "tcr >= 0"), ("gate", "valid >= 0.5"), ("baseline", "b.json"), ("check-judge", "j.json")]
)  # fmt: skip
@pytest.mark.parametrize("where", ["option", "ini"])
def test_a_gate_that_is_asked_for_contradicts_it(told: Repository, gate: str, value: str, where: str) -> None:
    ini(told, **({"gate": "none"} if where == "ini" else {}))
    name, nothing = ("personalens_gate = none", ()) if where == "ini" else (" ".join(NOTHING), NOTHING)
    given = f"--personalens-gate {value!r}" if gate == "gate" else f"--personalens-{gate}"
    for more in ((f"--personalens-{gate}", value), (f"--personalens-{gate}={value}",)):
        with pytest.raises(pytest.UsageError) as refused:
            told.settings(*ARGS, *nothing, *more)
        assert f"{name}: not allowed with {given}: such a run fails on nothing" in str(refused.value)


@WORKERS
def test_low_scores_fail_nothing_and_all_say_so(told: Repository, workers: tuple[str, ...]) -> None:
    told.write(conftest=LOW)
    result = assert_ended(
        told.run(*ARGS, *NOTHING, *workers, "--personalens-report=page.html", "--personalens-report=page.md"),
        0,
        f"personalens: 10 scenarios *; {SAID}",
        "overall *0.00 *",
        f"{SAID} (--personalens-gate none)",
    )
    result.assert_outcomes(passed=10)
    page = (told.path / "page.html").read_text(encoding="utf-8")
    assert "</span> Report only</h1>" in page
    assert "Report only: nothing here fails the run." in page
    assert (told.path / "page.md").read_text(encoding="utf-8").startswith(f"## ⚠️ personalens {SAID}\n")


@pytest.mark.slow
def test_gates_of_the_configuration_are_only_shown(told: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told.inline(*ARGS, "--personalens-save-baseline=base.json").ret == 0
    told.write(conftest=LOW)
    ini(told, gate="tcr >= 0.9", baseline="base.json")
    assert told.inline(*ARGS).ret == 1
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(told.path / "step"))
    reports = [f"--personalens-report={name}" for name in ("page.html", "r.json", "github")]
    result = assert_ended(
        told.run(*ARGS, *NOTHING, *reports, "--junitxml=junit.xml"),
        0,
        f"*; {SAID}, its gates are shown and do not count",
        "gate tcr: FAILED (report only), task completion rate *",
        "gate regression: tcr: FAILED (report only), *",
        "gate valid: passed, *",
        f"{SAID}, its gates are shown and do not count (*",
    )
    result.assert_outcomes(passed=10)
    assert "::error" not in str(result.stdout)
    assert "gate[" not in (told.path / "junit.xml").read_text(encoding="utf-8")
    page = (told.path / "page.html").read_text(encoding="utf-8")
    assert "its gates are shown and do not count." in page
    assert "FAILED (report only)" in page
    stored = told.command("report", "r.json", "--report", "-")
    stored.stdout.fnmatch_lines([f"## * personalens {SAID} (it would fail: TCR * → *, P * → *)"])


@WORKERS
def test_a_dialogue_without_a_score_fails_nothing(told: Repository, workers: tuple[str, ...]) -> None:
    told.write(conftest=crashing("< 1"))
    result = told.run(*ARGS, *NOTHING, *workers)
    assert result.ret == 0
    crashed = 2 if workers else 1
    result.assert_outcomes(passed=10 - crashed, skipped=crashed)
    result.stdout.fnmatch_lines([f"not scored: {crashed}, the assistant failed"])


FAULTS: Final[dict[str, dict[str, str]]] = {
    "the assistant": {"conftest": crashing(">= 0")},
    "the judge": {"conftest": TOLD.replace('listed("faults.txt")', "[scenario.id]")},
    "the user": {"conftest": TOLD.replace("return UserTurn(", "1 / 0\n            return UserTurn(")},
    "skipped": {"test_bot": "import pytest\n\ndef test_bot(personalens):\n    pytest.skip('no key')\n"},
}


@pytest.mark.parametrize(
    ("fault", "workers"), [*((fault, ()) for fault in FAULTS), ("the user", ("-n", "2")), ("skipped", ("-n", "2"))]
)  # fmt: skip
def test_a_run_that_measured_nothing_fails(told: Repository, fault: str, workers: tuple[str, ...]) -> None:
    told.write(**FAULTS[fault])
    nothing = "gate valid: FAILED, 0 of 10 items could be scored *"
    result = assert_ended(told.run(*ARGS, *NOTHING, *workers), 1, nothing)
    result.stdout.no_fnmatch_line("report only*")


def test_own_asserts_fail_all_the_same(told: Repository) -> None:
    one = "assert personalens.evaluate().personalization == 1"
    told.write(test_bot=f"def test_bot(personalens):\n    {one}\n")
    result = told.inline(*ARGS, *NOTHING)
    assert result.ret == 1
    result.assert_outcomes(failed=10)
    result.stdout.no_fnmatch_line("report only*")


@pytest.mark.slow
def test_shards_that_are_to_fail_on_nothing(told: Repository) -> None:
    told.write(conftest=LOW)
    ini(told, gate="tcr >= 0.9")
    assert [run.ret for run in run_shards(told, 2, *ARGS, *NOTHING)] == [0, 0]
    assert_ended(merge_shards(told), 0, "gate tcr: FAILED (report only), *", f"{SAID}, *")
    for gate in (("--gate", "p >= 1"), ("--baseline", "old.json")):
        of_nothing = "the shards are of a run that fails on nothing (--personalens-gate none)"
        why = f"{gate[0]}: asks for a gate, and {of_nothing}; leave it out, or run them without that"
        assert_usage_error(merge_shards(told, *gate), f"error: {why}")
    told.write(conftest=crashing(">= 0"))
    assert [run.ret for run in run_shards(told, 2, *ARGS, *NOTHING)] == [0, 0]
    assert merge_shards(told).ret == 1, "nothing was measured"


def test_the_first_baseline_needs_no_gate(told: Repository) -> None:
    assert_ended(told.inline(*ARGS, *NOTHING, "--personalens-save-baseline=b.json"), 0, "baseline: *b.json")
    assert_ended(told.inline(*ARGS, "--personalens-baseline=b.json"), 0, "gate regression: p: passed, *")
