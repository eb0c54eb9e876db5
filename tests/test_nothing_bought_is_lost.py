"""What a run has paid for is kept until a record holds it, whatever happens to the run."""

from __future__ import annotations

import pytest

from tests.conftest import MODELS, Repository, calls, records

KEPT = ("-p", "cacheprovider")


@pytest.mark.parametrize("run", ["update", "replay"])
def test_records_are_written_and_read_where_python_runs_without_asserts(
    paid: Repository, monkeypatch: pytest.MonkeyPatch, run: str
) -> None:
    args = ("--assert=plain", *KEPT, "--personalens-sample", "2", *MODELS)
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    result = paid.pytester.runpytest_subprocess(*args, "--personalens-record=new")
    result.stdout.fnmatch_lines(["records: 2 written"])
    assert (len(records(paid)), calls(paid)) == (2, 10)
    if run == "replay":
        paid.pytester.runpytest_subprocess(*args).stdout.fnmatch_lines(["records: 2 replayed", "*2 snapshots passed*"])
        assert calls(paid) == 0


def test_a_record_that_cannot_be_written_is_one_line_and_what_was_bought_is_kept(paid: Repository) -> None:
    run, args = paid.pytester.runpytest_subprocess, (*KEPT, "--personalens-sample", "1", *MODELS, "--personalens-record=new")
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
