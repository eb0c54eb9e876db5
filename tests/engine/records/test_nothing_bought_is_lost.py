"""What a run has paid for is kept until a record holds it, whatever happens to the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from tests.support.processes.runs import assert_ended, assert_usage_error
from tests.support.repository import ROOT, Repository, calls, records
from tests.support.scripted_agents import MODELS, PAID, TOLD
from tests.support.servers.endpoint import Call, Endpoint, Reply, play

KEPT = ("-p", "cacheprovider")


@pytest.mark.slow
def test_records_where_python_runs_without_asserts(paid: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    args = ("--assert=plain", *KEPT, "--personalens-sample=2", *MODELS)
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    result = paid.run_with_cache(*args, "--personalens-record=new")
    result.stdout.fnmatch_lines(["records: 2 written"])
    assert (len(records(paid)), calls(paid)) == (2, 10)
    paid.run_with_cache(*args).stdout.fnmatch_lines(["records: 2 replayed"])
    assert calls(paid) == 0


def test_a_record_that_cannot_be_written_is_one_line_and_what_was_bought_is_kept(paid: Repository) -> None:
    run, args = (paid.run_with_cache, (*KEPT, "--personalens-sample=1", *MODELS, "--personalens-record=new"))
    folder = paid.path / "__personalens__" / "test_bot"
    folder.parent.mkdir()
    folder.write_text("a file where the folder of the records belongs")
    result = run(*args)
    assert result.ret == 1
    told = "*the record cannot be written: *; make it writable and run again, what was bought is kept"
    result.stdout.fnmatch_lines([told])
    assert "Traceback" not in str(result.stdout)
    assert calls(paid) == 5
    folder.unlink()
    run(*args).stdout.fnmatch_lines(["records: 1 written"])
    assert calls(paid) == 0, "all of it had been kept"


def chatty(call: Call) -> Reply:
    """A user who has always one more wish, and so dialogues that hardly end, 50 ms a turn."""
    return Reply(f"I have wish number {len(call.prompt)}, please.", delay=0.05)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_workers_of_a_killed_controller_stop(
    repo: Repository, endpoint: Endpoint, end: signal.Signals
) -> None:
    repo.write(conftest=TOLD.replace("fine", "done"))
    endpoint.answer = chatty
    run = [
        *(sys.executable, "-m", "pytest", "-q", "-n", "2", "--personalens-sample=60", "--personalens-record=live"),
        *("-opersonalens_parallel=4", "-opersonalens_max_turns=900", "--personalens-user-model=openai:small"),
    ]  # fmt: skip
    process = subprocess.Popen(run, cwd=repo.path, start_new_session=True, stdout=subprocess.DEVNULL)
    while len(endpoint.calls) < 30 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(end)
    assert process.wait(timeout=600) == -end, "it had not come to its end before"
    made = len(endpoint.calls)
    with suppress(ProcessLookupError):
        while True:  # until the last worker has gone
            os.killpg(process.pid, 0)
            time.sleep(0.01)
    assert len(endpoint.calls) - made <= 2 * 4, "no more than were on their way"


ANCHORS = str(ROOT / "data" / "agreement" / "anchors.jsonl")
AGREEMENT = ("agreement", ANCHORS, "--judge-model=openai:small", "--live")


@pytest.fixture
def own_cache(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("PERSONALENS_CACHE_DIR", str(repo.path / "cache"))
    return repo


@pytest.mark.parametrize("name", ["taken.json", "taken.md"])
def test_agreement_looks_at_its_paths_first(own_cache: Repository, endpoint: Endpoint, name: str) -> None:
    (own_cache.path / name).write_text("mine")
    for path, problem in (
        (f"{name}/x{name[5:]}", f"cannot write to {name}: *"),
        (name, f"{name} was not written by this plugin; *"),
    ):
        assert_usage_error(own_cache.command(*AGREEMENT, "--report", path), f"error: --report: {problem}")
    assert not endpoint.calls


def test_agreement_prints_before_it_writes(own_cache: Repository, endpoint: Endpoint) -> None:
    readings = (*AGREEMENT, "--dimensions", "tc", "--report")
    for _ in range(2):
        result = own_cache.command(*readings, "new/folder/x.json", "--report", "x.md")
        assert_ended(result, 0, "openai:small *: 24 dialogues over *")
    assert len(endpoint.calls) == 24, "what was paid for is replayed"
    result = own_cache.command(*readings, "/proc/full.json")
    assert_ended(result, 4, "openai:small *: 24 dialogues over *")


def test_agreement_goes_on_where_it_was_killed(own_cache: Repository, endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply(**{**vars(play(call)), "delay": 0.1})
    command = [
        sys.executable,
        "-m",
        "pytest_personalens",
        *AGREEMENT,
        "--dimensions",
        "tc",
        "--concurrency",
        "1",
    ]
    process = subprocess.Popen(command, cwd=own_cache.path, stdout=subprocess.DEVNULL)
    while len(endpoint.calls) < 10 and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert own_cache.command(*AGREEMENT, "--dimensions", "tc").ret == 0
    assert len(endpoint.calls) <= 24 + 1, "the one in flight"


@pytest.mark.parametrize("how", [(), ("-opersonalens_parallel=2",)], ids=["alone", "side by side"])
def test_votes_are_kept_singly(
    paid: Repository, monkeypatch: pytest.MonkeyPatch, how: tuple[str, ...]
) -> None:
    """The judge says no each time, and the process dies at its tenth vote."""
    low = PAID.replace("score=dimension.scale.high", "score=dimension.scale.low")
    shared = low.replace("@pytest.fixture\n", "@pytest.fixture(scope='session')\n")
    tenth = 'if len(open(os.environ["CALLS"]).readlines()) == int(os.environ["CRASH"]):'
    paid.write(conftest=shared.replace('if os.environ.get("CRASH") == dimension.short:', tenth))
    run = paid.run_with_cache
    votes = ("--personalens-dimensions=tc", "-opersonalens_judge_votes=15", "--personalens-record=live")
    args = (*KEPT, "--personalens-sample=1", *MODELS, *votes, *how)
    monkeypatch.setenv("CRASH", "13")
    run(*args)
    assert calls(paid) == 3 + 10, "three turns of the user, ten votes"
    monkeypatch.setenv("CRASH", "-1")
    assert run(*args).ret == 1
    assert calls(paid) == 15 - 9, "the vote that never came back, and the rest"
    run(*args, "--personalens-report=r.json")
    assert calls(paid) == 0
    (verdict,) = paid.results("r.json")["items"][0]["evaluation"]["verdicts"]
    assert len(verdict["votes"]) == 15
