"""What a run has paid for is kept until a record holds it, whatever happens to the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from tests.conftest import MODELS, Repository, calls, records
from tests.endpoint import Call, Endpoint, Reply

KEPT = ("-p", "cacheprovider")


@pytest.mark.parametrize("run", ["update", "replay"])
def test_records_are_written_and_read_where_python_runs_without_asserts(
    paid: Repository, monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    args = ("--assert=plain", *KEPT, "--personalens-sample", "2", *MODELS)
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    result = paid.pytester.runpytest_subprocess(*args, "--snapshot-update")
    result.stdout.fnmatch_lines(["records: 2 written"])
    assert (len(records(paid)), calls(paid)) == (2, 10)
    if run == "replay":
        paid.pytester.runpytest_subprocess(*args).stdout.fnmatch_lines(["records: 2 replayed", "*2 snapshots passed*"])
        assert calls(paid) == 0


def test_a_record_that_cannot_be_written_is_one_line_and_what_was_bought_is_kept(paid: Repository) -> None:
    run, args = paid.pytester.runpytest_subprocess, (*KEPT, "--personalens-sample", "1", *MODELS, "--snapshot-update")
    folder = paid.path / "__personalens__" / "test_bot"
    folder.parent.mkdir()
    folder.write_text("a file where the folder of the records belongs")
    result = run(*args)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*the record cannot be written: *; make it writable and run again, what was bought is kept"])
    assert "Traceback" not in str(result.stdout)
    assert calls(paid) == 5
    folder.unlink()
    run(*args).stdout.fnmatch_lines(["records: 1 written"])
    assert calls(paid) == 0, "all of it had been kept"


def chatty(call: Call) -> Reply:
    """A user who has always one more wish, and so dialogues that hardly end, 50 ms a turn."""
    return Reply(f"I have wish number {len(call.prompt)}, please.", delay=0.05)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_workers_whose_controller_was_killed_make_no_further_call(repo: Repository, endpoint: Endpoint, end: signal.Signals) -> None:
    repo.write(
        conftest="import pytest\n\n@pytest.fixture(scope='session')\ndef personalens_assistant():\n    return lambda messages: 'done'\n"
    )
    endpoint.answer = chatty
    run = (
        "--personalens-sample",
        "60",
        "-n",
        "2",
        "--personalens-concurrency",
        "4",
        "--personalens-max-turns",
        "900",
        "--personalens-live",
    )
    models = ("--personalens-user-model", "openai:small")
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", *run, *models], cwd=repo.path, start_new_session=True, stdout=subprocess.DEVNULL
    )
    while len(endpoint.calls) < 30 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(end)
    assert process.wait(timeout=60) == -end, "it had not come to its end before"
    made = len(endpoint.calls)
    with suppress(ProcessLookupError):
        while True:  # until the last worker has gone
            os.killpg(process.pid, 0)
            time.sleep(0.01)
    assert len(endpoint.calls) - made <= 2 * 4, "no more than were on their way"
