"""Records as snapshots of syrupy: compared by tests of one's own, never unused, never deleted."""

from __future__ import annotations

import hashlib
import json
import shlex

import pytest

from tests.support.processes.runs import assert_ended, assert_one_line
from tests.support.repository import Repository, calls, record_bytes, records
from tests.support.scripted_agents import MODELS

COMPARES = """
    from pytest_personalens import RecordExtension

    def test_bot(personalens, snapshot):
        assert personalens.evaluate() == snapshot(extension_class=RecordExtension)
"""
ARGS = ("--personalens-gate=none",)
NEW = "--personalens-record=new"


def test_evaluations_are_compared(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    paid.write(test_bot=COMPARES)
    args = ("--personalens-sample=2", *MODELS, *ARGS)
    paid.run(*args, NEW).assert_outcomes(passed=2)
    before = record_bytes(paid)
    for extra in ((), ("-n", "2"), ("--snapshot-update",)):
        paid.run(*args, *extra).assert_outcomes(passed=2)
        assert record_bytes(paid) == before
    calls(paid)
    monkeypatch.setenv("CHANGE", "!")
    assert_ended(paid.run(*args, "--personalens-record=live"), 1, "*answer 1!*", failed=2)
    assert record_bytes(paid) == before
    paid.run(*args, "--personalens-record=live", "--snapshot-update").assert_outcomes(passed=2)
    assert record_bytes(paid) != before
    both = before.values(), record_bytes(paid).values()
    kept, now = ([row for text in files for row in json.loads(text)["calls"]] for files in both)
    assert all(row in now for row in kept), "the calls of the old record are not lost"


@pytest.mark.slow
def test_no_sample_and_no_update_deletes_a_record_or_calls_it_unused(repo: Repository) -> None:
    repo.write(test_bot=COMPARES)
    first = repo.run("--personalens-sample=12", *ARGS, NEW, "-n", "2")
    first.stdout.fnmatch_lines(["records: 12 written"])
    before = record_bytes(repo)
    assert len(before) == 12
    whole = ("", "-n 2", NEW, "-k 'music or alarm'", f"-m personalens(kind=\\'multi\\') {NEW} -n 2")
    fewer = ("", "--snapshot-update", f"{NEW} --snapshot-update -n 2")
    small = [f"--personalens-sample=3 {more}" for more in fewer]
    for words in (*whole, *small):
        run = repo.run("--personalens-sample=12", *ARGS, *shlex.split(words))
        result = assert_ended(run, 0, "records: * replayed")
        assert " unused" not in str(result.stdout)
        assert record_bytes(repo) == before
    other = repo.run("--personalens-sample=5", "--personalens-seed=x", *ARGS, "--snapshot-update")
    assert " unused" not in str(other.stdout)
    assert before.items() <= record_bytes(repo).items()
    assert repo.run().ret == 0
    assert before.items() <= record_bytes(repo).items()


def test_unused_records_are_one_line_and_deleted_by_a_command_of_their_own(repo: Repository) -> None:
    repo.run("--personalens-sample=4", *ARGS, NEW)
    smaller = repo.run_with_cache("--personalens-sample=1", *ARGS, NEW)
    smaller.stdout.fnmatch_lines(["3 records of no item of this run stay as they are: personalens records"])
    listed = "3 records of no item of the last run; --delete deletes them, 1 in use"
    assert_ended(repo.command("records"), 0, listed)
    assert len(records(repo)) == 4
    assert repo.command("records", "--delete").ret == 0
    assert len(records(repo)) == 1
    repo.run("--personalens-sample=1", *ARGS).stdout.fnmatch_lines(["records: 1 replayed"])


def test_the_teams_own_snapshots_are_left_to_syrupy(repo: Repository) -> None:
    """Of any extension and in any test, ours neither accepts nor loses them."""
    by_json = "__import__('syrupy.extensions.json').extensions.json.JSONSnapshotExtension"
    own = f"def test_own(snapshot):\n    assert {{}} == snapshot(extension_class={by_json})\n"
    item = "def test_bot(personalens, snapshot):\n    personalens.check()\n    assert personalens.scenario.id == snapshot\n"
    repo.write(test_own=own, test_bot=item)
    args = ("--personalens-sample=1", *ARGS)
    for mode in ("new", "all"):
        repo.run(*args, f"--personalens-record={mode}").assert_outcomes(failed=2)
        assert not list(repo.path.rglob("__snapshots__"))
    repo.run(*args, "--snapshot-update").stdout.fnmatch_lines(["2 snapshots generated."])
    before = {path: path.read_bytes() for path in repo.path.rglob("__snapshots__/**/*.*")}
    repo.inline(*args).stdout.fnmatch_lines(["2 snapshots passed."])
    repo.write(test_own=own.replace("{}", "{'a': 1}"))
    for mode in ("new", "all"):
        repo.run(*args, f"--personalens-record={mode}").assert_outcomes(passed=1, failed=1)
        assert {path: path.read_bytes() for path in before} == before
    assert len(records(repo)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "workers"])
def test_records_need_no_plugin_of_syrupys(repo: Repository, workers: tuple[str, ...]) -> None:
    repo.write(test_own="def test_own(snapshot):\n    assert {} == snapshot\n")
    args = ("--personalens-sample=2", "--personalens-gate=p >= 1", "-p", "no:syrupy", *workers)
    assert_ended(repo.run(*args, NEW, "test_bot.py"), 0, "records: 2 written")
    kept = record_bytes(repo)
    # 2 items, 2 gates; the team's own snapshot alone is missed.
    told = "*fixture 'snapshot' not found", "records: 2 replayed"
    assert_ended(repo.run(*args), 1, *told, passed=4, errors=1)
    assert repo.run(*args[:2], NEW, "test_bot.py").ret == 0
    assert record_bytes(repo) == kept, "the same files as with it"


OLD = {
    "assistant": "", "dataset": "embedded 3.2", "judge": "openai:small prompt 1234abcd", "record": 1,
    "scenario": "movies-1-amara", "usage": {}, "user_agent": "embedded user", "user_digest": "00",
    "dialogue": {"end": "user", "messages": [
        {"content": "A film for tonight, please.", "role": "user"}, {"content": "I've booked two seats.", "role": "assistant"},
    ]},
    "verdicts": [
        {"evidence_digest": "11", "verdict": {"dimension": name, "score": score, "justification": "as it was"}}
        for name, score in (("task_completion", 1), ("personalization", 2))
    ],
}  # fmt: skip


@pytest.fixture
def old(paid: Repository) -> Repository:
    """A repository with a record of version 0.2."""
    folder = paid.path / "__personalens__" / "test_bot"
    folder.mkdir(parents=True)
    digest = hashlib.sha256(json.dumps(OLD, sort_keys=True).encode()).hexdigest()[:32]
    (folder / "test_bot[movies-1-amara].json").write_text(json.dumps({**OLD, "integrity": digest}, indent=2))
    return paid


def test_old_records_are_refused_before_anything_is_paid(old: Repository) -> None:
    before = record_bytes(old)
    for mode in ("live", "new", "all"):
        told = "*test_bot[[]movies-1-amara].json: the record is of version 0.2, *personalens records FOLDER --write FILE.jsonl*"
        assert_one_line(
            old.inline("--personalens-sample=2", *MODELS, f"--personalens-record={mode}"),
            f"personalens: {told}",
        )
        assert (calls(old), record_bytes(old)) == (0, before)


def test_old_records_become_stored_dialogues_with_their_verdicts(old: Repository) -> None:
    (path,) = records(old)
    whole = path.read_text()
    path.write_text(whole.replace("two seats", "ten seats"))
    write = ("records", ".", "--write", "old.jsonl")
    assert_one_line(old.command(*write), "*: cannot be read: it was edited by hand; *")
    assert not (old.path / "old.jsonl").exists()
    path.write_text(whole)
    assert old.command(*write).ret == 0
    assert_one_line(old.command(*write), "--write: old.jsonl is there, and may hold what somebody wrote; *")
    path.unlink()
    files = ("--report", "r.json", "--save-baseline", "b.json")
    assert old.command("score", "old.jsonl", *files, "--gate", "valid >= 0").ret == 0
    (item,) = old.results("r.json")["items"]
    evaluation = item["evaluation"]
    assert evaluation["judge"] == "openai:small prompt 1234abcd (verdicts of records of version 0.2)"
    scores = {v["dimension"]: v["score"] for v in evaluation["verdicts"]}
    assert scores == {"task_completion": 1, "personalization": 2}
    assert [m["content"] for m in evaluation["dialogue"]["messages"]][1] == "I've booked two seats."
    assert (old.path / "b.json").is_file()
    assert calls(old) == 0


@pytest.mark.parametrize("mode", ["live", "new"])
def test_a_run_that_keeps_none(paid: Repository, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    (paid.path / "cache").write_text("a file")
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(paid.path / "cache"))
    (paid.path / "__personalens__").write_text("a file")
    args = ("--personalens-sample=2", *MODELS, f"--personalens-record={mode}")
    told = "personalens: what is bought could not be kept (*PERSONALENS_CACHE_DIR*"
    assert_one_line(paid.run(*args), told)
    assert calls(paid) == 0
    (paid.path / "__personalens__").unlink()
    if mode == "new":
        paid.run(*args).assert_outcomes(passed=2)
        assert calls(paid) == 10
