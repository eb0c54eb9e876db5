"""Gates, figures, comparisons and summaries of runs of the suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_personalens.cli.command import main
from tests.suites.personaconv.arguments import (  # fmt: skip
    BOT,
    CONTROL,
    DATA,
    GATE,
    KIND,
    REPORT,
    SCORES,
    SUITE,
    check_refused,
    evaluations,
    gates,
    reports,
)
from tests.suites.personaconv.trees import talk, written
from tests.support.repository import ROOT, Repository


@pytest.fixture
def threads(empty_repo: Repository) -> Repository:
    """A repository with an assistant that is mostly right."""
    empty_repo.write(conftest=BOT)
    return empty_repo


@pytest.mark.slow
def test_one_word_for_everything_is_right_by_half(
    threads: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYS", "positive")
    result = threads.inline(*SUITE, "30", GATE, "accuracy >= 0.4", *REPORT)
    assert result.ret == 1
    result.assert_outcomes(passed=21, skipped=10, failed=1)
    result.stdout.fnmatch_lines([
        "sentiment: 10 items, 10 read * P-Conv",
        "  accuracy * 0.50",
        "  MCC * 0.00",
        "impact: 10 items, 0 read *",
        "next-text: 10 items, 10 read *",
        "  not computed: METEOR (no WordNet given), SBERT (no embedding named)",
        "left out of 160 posts: 40 without a past (-v lists them)",
        "leaks: none in 30 requests",
        "gate valid: FAILED, 20 of 30 items could be scored (not: 10 assistant); the floor is 90%",
        "gate accuracy: passed, accuracy 0.50 (* to *) >= 0.40 over 10 predictions",
    ])  # fmt: skip
    assert "RMSE" not in result.stdout.str()
    assert threads.results()["leaks"] == {}
    kinds = ("sentiment", "impact", "next-text")
    assert threads.results()["excluded"] == {kind: {"no-past": 40} for kind in kinds}
    assert set(threads.results()["drawn_from"].values()) == {120}


@pytest.mark.slow
def test_what_is_not_read_counts_where_it_can(threads: Repository) -> None:
    hums = "if personalens_scenario.user < 'u_d':\n            return 'Hm.'\n        if SAYS:"
    threads.write(conftest=BOT.replace("if SAYS:", hums))

    def told(*args: str) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        """The evaluations of each kind, and those whose reply was not read."""
        threads.inline(*SUITE, "60", *args, *REPORT)
        every = {
            kind: [e for e in evaluations(threads) if e["kind"] == kind] for kind in ("sentiment", "impact")
        }
        return every, {
            kind: [e for e in of_kind if not e["answer"]["read"]] for kind, of_kind in every.items()
        }

    every, unread = told(*SCORES, GATE, "accuracy >= 0, mae <= 999, parsed >= 0, valid >= 0.5")
    assert min(map(len, unread.values())) >= 2
    assert {e["cause"] for e in unread["impact"]} == {"assistant"}
    assert {e["cause"] for e in unread["sentiment"]} == {""}
    assert {v["score"] for e in unread["sentiment"] for v in e["verdicts"]} == {0}
    assert {e["answer"]["value"] for e in every["sentiment"]} == {"positive", "negative"}
    decided = gates(threads)
    assert f"over {len(every['impact']) - len(unread['impact'])} predictions" in decided["mae"]["message"]
    assert f"over {len(every['sentiment'])} predictions" in decided["accuracy"]["message"]
    assert decided["parsed"]["value"] == pytest.approx(1 - sum(map(len, unread.values())) / 60, abs=1e-6)
    # In the official protocol it leaves the denominator.
    official = ("-o", "personalens_protocol=official", GATE, "accuracy >= 0, valid >= 0")
    every, unread = told(KIND, "sentiment", *official)
    assert {e["answer"]["value"] for e in unread["sentiment"]} == {None}
    read = len(every["sentiment"]) - len(unread["sentiment"])
    assert f"over {read} predictions" in gates(threads)["accuracy"]["message"]


def test_one_class_alone_has_no_mcc(threads: Repository) -> None:
    posts = {f"u_{n}": [talk(f"u_{n}", 1000 * p + 9 * n) for p in range(2)] for n in range(4)}
    data = written(threads.path, posts)
    wanted = ("mcc >= 0, accuracy >= 0.1", KIND, "sentiment", DATA, str(data))
    result = threads.inline(*SUITE, "4", GATE, *wanted, *REPORT)
    assert result.ret == 1
    result.stdout.fnmatch_lines([
        "  all true answers are positive: MCC has no value, and the same answer to all is right",
        "gate mcc: FAILED (not decided), MCC: all true answers are of one class, so it has no value",
    ])  # fmt: skip
    assert gates(threads)["mcc"]["value"] is None
    assert threads.results()["overall"]["figures"]["mcc"]["value"] is None


@pytest.mark.slow
def test_one_run_gives_one_result_however_it_is_run(
    threads: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(threads.path)
    shape = (*SUITE, "24", *SCORES, CONTROL, "NP-Conv", GATE, "mcc >= 0, lift(mae, NP-Conv) >= 1")
    for name in ("one.json", "two.json"):
        threads.inline(*shape, "--personalens-report", name)
    threads.run(*shape, "--personalens-report", "workers.json", "-n", "2")
    text = Path("one.json").read_text(encoding="utf-8")
    for name in ("two.json", "workers.json"):
        assert Path(name).read_text(encoding="utf-8") == text
    bot = BOT.replace("@pytest.fixture", "@pytest.fixture(scope='session')")
    bot = bot.replace("(personalens_scenario, personalens_context)", "()")
    threads.write(
        conftest=bot.replace(
            "if SAYS:\n            return SAYS", "return str(len(messages[0]['content']) % 50)"
        )
    )
    found = []
    for most in ("false", "6"):
        threads.inline(*shape, "-o", f"personalens_parallel={most}", *REPORT)
        found.append(threads.results() | {"settings": {}})
    assert found[0] == found[1]
    threads.write(conftest=BOT)
    schema = json.loads((ROOT / "docs/reference/results.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(text), schema)
    for part in ("1", "2"):
        threads.inline(*shape, "--personalens-shard", f"{part}/2", *reports(f"shard{part}.json"))
    assert main(["merge", "shard1.json", "shard2.json", "--report", "merged.json"]) == 0
    assert "leaks: none in 48 requests" in capsys.readouterr().out
    one, merged = (json.loads(Path(name).read_text(encoding="utf-8")) for name in ("one.json", "merged.json"))
    same = ("overall", "kinds", "domains", "arms", "gates", "excluded", "drawn_from", "leaks", "uncounted")
    assert {name: merged[name] for name in same} == {name: one[name] for name in same}
    assert main(["report", "one.json", "--report", "page.html", "--report", "page.md"]) == 0


@pytest.mark.slow
def test_a_baseline_is_refused_to_another_suite(threads: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    run = (*SUITE, "60", *SCORES)
    threads.inline(*run, "--personalens-save-baseline", "base.json")
    result = threads.inline(*run, "--personalens-baseline", "base.json", *REPORT)
    assert result.ret == 0
    assert list(gates(threads)) == ["regression: accuracy", "regression: log-error", "valid"]
    monkeypatch.setenv("WORSE", "1")
    result = threads.inline(*run, "--personalens-baseline", "base.json")
    assert result.ret == 1
    result.stdout.fnmatch_lines([
        "gate regression: accuracy: FAILED, * a significant drop",
        "gate regression: log-error: FAILED, * a significant drop",
    ])  # fmt: skip
    # A part of the kinds is compared with the whole.
    part = threads.inline(*SUITE, "30", KIND, "sentiment", "--personalens-baseline", "base.json")
    part.stdout.fnmatch_lines(["gate regression: accuracy: FAILED, *"])
    for args, problem in (
        (SUITE[:0], "it is of the suite 'personaconv', this run of 'personalens'"),
        ((*SUITE[:2], "-o", "personalens_protocol=official"), "the protocol changed: 'official' now, 'fixed' then"),
        ((*SUITE[:2], "-o", "personalens_history=context"), "the place of the past changed: 'context' now, *"),
        ((*SUITE[:2], "-o", "personalens_context=none"), "the context changed: 'none' now, 'P-Conv' then"),
    ):  # fmt: skip
        problem = f"*base.json cannot be compared with this run: {problem}*"
        check_refused(threads, problem, *args, "--personalens-sample=6", "--personalens-baseline=base.json")


@pytest.mark.slow
def test_official_leaks_are_counted_and_the_best_of_trials_is_told(threads: Repository) -> None:
    official = ("-o", "personalens_protocol=official", GATE, "valid >= 0")
    result = threads.inline(*SUITE, "6", KIND, "impact", *official, *REPORT)
    assert threads.results()["leaks"]["sign"] == 6
    result.stdout.fnmatch_lines(["leaks in 6 requests: *the sign of the score is in the request: 6*"])
    wanted = (KIND, "next-text", "--personalens-trials", "2", GATE, "rouge1 >= 0, pass^2 >= 0")
    result = threads.inline(*SUITE, "3", *wanted)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["  best of 2: ROUGE-1 0.*, 0.* where zeros are left out"])
