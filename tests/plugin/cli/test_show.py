"""The command `show`: any item of the last run, or of stored results."""

from __future__ import annotations

import json

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository

RUN = ("--personalens-sample", "3", "--personalens-gate", "none")


def _ids(repo: Repository) -> list[str]:
    return [item["evaluation"]["scenario"] for item in repo.results()["items"]]


def test_an_item_of_the_last_run_that_passed(repo: Repository) -> None:
    easy = (*RUN, "-o", "personalens_threshold=tc>=0,p>=1", "--personalens-report", "results.json")
    assert repo.run_with_cache(*easy, "-n", "1").ret == 0
    for item in repo.results()["items"]:
        assert item["status"] == "passed"
        messages = item["evaluation"]["dialogue"]["messages"]
        for wanted in (item["evaluation"]["scenario"], item["nodeid"], item["nodeid"].split("::")[1]):
            shown = repo.command("show", wanted)
            assert shown.ret == 0
            text = " ".join(shown.stdout.str().split())
            assert shown.outlines[0] == f"{item['nodeid']}: passed"
            assert all(" ".join(message["content"].split()) in text for message in messages[:2])
            for verdict in item["evaluation"]["verdicts"]:
                told = verdict["reasons"] or [{"type": verdict["justification"]}]
                assert any(" ".join(r["type"].removesuffix(" Preference").split()) in text for r in told)
    assert repo.command("show", _ids(repo)[0], "--results", "results.json").ret == 0


def test_the_last_run_is_that_of_the_folder_or_of_one_above(repo: Repository) -> None:
    assert_usage_error(
        repo.command("show", "books-1-amara"),
        "error: no last run is kept in *; give --results RESULTS.json, *",
    )
    assert repo.run_with_cache(*RUN, "--personalens-report", "results.json").ret == 0
    (repo.path / "sub").mkdir()
    repo.pytester.chdir()
    first = _ids(repo)[0]
    assert (
        repo.run_with_cache(
            "--personalens-sample", "3", "--personalens-gate", "none", "-k", _ids(repo)[1]
        ).ret
        == 0
    )
    gone = repo.command("show", first)
    assert gone.ret == 4, "the last run had another item alone"
    assert repo.command("show", first, "--results", "results.json").ret == 0


def test_an_item_that_is_not_there_is_one_line(repo: Repository) -> None:
    assert repo.run_with_cache(*RUN, "--personalens-report", "results.json").ret == 0
    first = _ids(repo)[0]
    wrong = repo.command("show", first[:-1])
    assert wrong.ret == 4
    assert wrong.outlines == []
    (line,) = wrong.errlines
    assert line.startswith(f"error: no item {first[:-1]!r} among the 3 of ")
    assert line.endswith(f"; did you mean {first!r}?")
    results = repo.results()
    results["scenarios"] = {}
    (repo.path / "bare.json").write_text(json.dumps(results), encoding="utf-8")
    assert_usage_error(
        repo.command("show", first, "--results", "bare.json"),
        "error: the results do not hold the scenario of *",
    )
    assert repo.command("show", first, "--results", "nowhere.json").ret == 4
