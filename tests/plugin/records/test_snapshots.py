"""Records as snapshots of syrupy: compared by tests of one's own, never unused, never deleted."""

from __future__ import annotations

import hashlib
import json

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository, calls, records
from tests.support.scripted_agents import MODELS

COMPARES = """
    from pytest_personalens import RecordExtension

    def test_bot(personalens, snapshot):
        assert personalens.evaluate() == snapshot(extension_class=RecordExtension)
"""
ARGS = ("--personalens-gate=none",)


def texts(repo: Repository) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in records(repo)}


def test_an_evaluation_is_compared_with_the_record_of_its_item(
    paid: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid.write(test_bot=COMPARES)
    args = ("--personalens-sample=2", *MODELS, *ARGS)
    paid.run(*args, "--personalens-record=new").assert_outcomes(passed=2)
    before = texts(paid)
    for extra in ((), ("-n", "2"), ("--snapshot-update",)):
        paid.run(*args, *extra).assert_outcomes(passed=2)
        assert texts(paid) == before
    calls(paid)
    monkeypatch.setenv("CHANGE", "!")
    changed = paid.run(*args, "--personalens-record=live")
    changed.assert_outcomes(failed=2)
    assert "answer 1!" in str(changed.stdout)
    assert texts(paid) == before
    paid.run(*args, "--personalens-record=live", "--snapshot-update").assert_outcomes(passed=2)
    assert texts(paid) != before
    kept = [row for text in before.values() for row in json.loads(text)["calls"]]
    now = [row for text in texts(paid).values() for row in json.loads(text)["calls"]]
    assert all(row in now for row in kept), "the calls of the old record are not lost"


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_no_sample_and_no_update_deletes_a_record(repo: Repository, workers: tuple[str, ...]) -> None:
    repo.write(test_bot=COMPARES)
    repo.run("--personalens-sample=6", *ARGS, "--personalens-record=new")
    before = texts(repo)
    for more in (
        (),
        ("--snapshot-update",),
        ("--personalens-record=new", "--snapshot-update"),
    ):
        result = repo.run("--personalens-sample=2", *ARGS, *workers, *more)
        assert result.ret == 0
        assert "unused" not in str(result.stdout)
        assert texts(repo) == before


def test_unused_records_are_one_line_and_deleted_by_a_command_of_their_own(repo: Repository) -> None:
    repo.run("--personalens-sample=4", *ARGS, "--personalens-record=new")
    smaller = repo.run_with_cache("--personalens-sample=1", *ARGS, "--personalens-record=new")
    smaller.stdout.fnmatch_lines(["3 records of no item of this run stay as they are: personalens records"])
    listed = repo.command("records")
    assert listed.ret == 0
    listed.stdout.fnmatch_lines(["3 records of no item of the last run; --delete deletes them, 1 in use"])
    assert len(records(repo)) == 4
    assert repo.command("records", "--delete").ret == 0
    assert len(records(repo)) == 1
    repo.run("--personalens-sample=1", *ARGS).stdout.fnmatch_lines(["records: 1 replayed"])


def test_collecting_with_workers_warns_of_nothing(repo: Repository) -> None:
    repo.pytester.makeini("[pytest]\nfilterwarnings = error\n")
    assert repo.run("--collect-only", "-q", "-n", "2", "--personalens-sample=2").ret == 0


OLD = {
    "assistant": "",
    "dataset": "embedded 3.2",
    "dialogue": {
        "end": "user",
        "messages": [
            {"content": "A film for tonight, please.", "role": "user"},
            {"content": "I've booked two seats.", "role": "assistant"},
        ],
    },
    "judge": "openai:small prompt 1234abcd",
    "record": 1,
    "scenario": "movies-1-amara",
    "usage": {},
    "user_agent": "embedded user",
    "user_digest": "00",
    "verdicts": [
        {
            "evidence_digest": "11",
            "verdict": {"dimension": name, "score": score, "justification": "as it was"},
        }
        for name, score in (("task_completion", 1), ("personalization", 2))
    ],
}


def sealed(record: dict[str, object]) -> str:
    digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:32]
    return json.dumps({**record, "integrity": digest}, indent=2)


@pytest.fixture
def old(paid: Repository) -> Repository:
    """A repository with a record of version 0.2."""
    folder = paid.path / "__personalens__" / "test_bot"
    folder.mkdir(parents=True)
    (folder / "test_bot[movies-1-amara].json").write_text(sealed(OLD))
    return paid


@pytest.mark.parametrize("mode", ["live", "new", "all"])
def test_old_records_are_refused_before_anything_is_paid(old: Repository, mode: str) -> None:
    before = texts(old)
    result = assert_usage_error(
        old.run("--personalens-sample=2", *MODELS, f"--personalens-record={mode}"),
        "ERROR: personalens: *test_bot[[]movies-1-amara].json: the record is of version 0.2, *",
    )
    assert "personalens records FOLDER --write FILE.jsonl" in str(result.stderr) + str(result.stdout)
    assert (calls(old), texts(old)) == (0, before)


def test_old_records_become_stored_dialogues_with_their_verdicts(old: Repository) -> None:
    assert old.command("records", ".", "--write", "old.jsonl").ret == 0
    again = old.command("records", ".", "--write", "old.jsonl")
    assert_usage_error(again, "error: --write: old.jsonl was not written by this plugin; *")
    for path in records(old):
        path.unlink()
    files = ("--report", "r.json", "--save-baseline", "b.json")
    assert old.command("score", "old.jsonl", *files, "--gate", "valid >= 0").ret == 0
    (item,) = old.results("r.json")["items"]
    evaluation = item["evaluation"]
    assert evaluation["judge"] == "openai:small prompt 1234abcd (verdicts of records of version 0.2)"
    assert {v["dimension"]: v["score"] for v in evaluation["verdicts"]} == {
        "task_completion": 1,
        "personalization": 2,
    }
    assert [m["content"] for m in evaluation["dialogue"]["messages"]][1] == "I've booked two seats."
    assert (old.path / "b.json").is_file()
    assert calls(old) == 0


def test_an_old_record_that_was_edited_is_not_converted(old: Repository) -> None:
    (path,) = records(old)
    path.write_text(path.read_text().replace("two seats", "ten seats"))
    assert_usage_error(
        old.command("records", ".", "--write", "old.jsonl"),
        "error: *: cannot be read: it was edited by hand; *",
    )
    assert not (old.path / "old.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"record": 3}', "the record is of a newer version (record 3); update the plugin"),
        ('{"name": "mine"}', "is no record, and stays as it is; move it away"),
    ],
)
@pytest.mark.parametrize("mode", ["none", "new", "all"])
def test_what_is_no_record_of_ours_is_never_replaced(
    repo: Repository, content: str, told: str, mode: str
) -> None:
    args = ("--personalens-sample=1", "--personalens-gate=p >= 1")
    repo.run(*args, "--personalens-record=new")
    (path,) = records(repo)
    path.write_text(content)
    result = repo.run(*args, f"--personalens-record={mode}")
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"*{told}"])
    assert path.read_text() == content


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_record_behind_a_link_is_neither_read_nor_written(repo: Repository, what: str) -> None:
    args = ("--personalens-sample=1", "--personalens-gate=p >= 1", "--personalens-record=new")
    repo.run(*args)
    (path,) = records(repo)
    victim = repo.path.parent / f"victim-{repo.path.name}-{what}"
    if what == "file":
        path.rename(victim)
        path.symlink_to(victim)
    else:
        path.parent.rename(victim)
        path.parent.symlink_to(victim)
    before = (victim if what == "file" else victim / path.name).read_bytes()
    result = repo.run(*args)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*the record cannot be read: a symbolic link, which is not followed; *"])
    assert (victim if what == "file" else victim / path.name).read_bytes() == before


@pytest.mark.parametrize("mode", ["live", "new"])
def test_a_run_that_could_keep_nothing_is_refused_before_its_first_call(
    paid: Repository, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    (paid.path / "cache").write_text("a file")
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(paid.path / "cache"))
    (paid.path / "__personalens__").write_text("a file")
    args = ("--personalens-sample=2", *MODELS, f"--personalens-record={mode}")
    assert_usage_error(
        paid.run(*args), "ERROR: personalens: what is bought could not be kept (*PERSONALENS_CACHE_DIR"
    )
    assert calls(paid) == 0
    (paid.path / "__personalens__").unlink()
    if mode == "new":
        paid.run(*args).assert_outcomes(passed=2)
        assert calls(paid) == 10
