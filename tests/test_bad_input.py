"""What a user may give by mistake ends in one line that says what is wrong, and never in a traceback or a run for ever."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import MODELS, ROOT, Repository, calls

ARGS = ("--personalens-sample", "2")


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("judge-votes", "99999999999", "from 1 to 99"),
        ("judge-votes", "101", "from 1 to 99"),
        ("turn-timeout", "inf", "from 0.001 to 86400"),
        ("turn-timeout", "1e9", "from 0.001 to 86400"),
        ("max-usd", "inf", "from 1e-06 to 1e+09"),
        ("max-turns", "9" * 30, "from 1 to 1000"),
        ("concurrency", "9" * 30, "from 1 to 10000"),
        ("sample", "9" * 5000, "from 1 to 1e+09"),
        ("trials", "9" * 30, "from 1 to 100"),
        ("max-calls", "9" * 30, "from 1 to 1e+09"),
    ],
)
def test_numbers_without_sense(repo: Repository, option: str, value: str, expected: str) -> None:
    result = repo.inline(*ARGS, f"--personalens-{option}", value)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: --personalens-{option}: expected *number {expected}, not *"])


@pytest.mark.parametrize("content", ["", "\n  \n"])
def test_a_file_without_users_is_not_everybody(repo: Repository, content: str) -> None:
    (repo.path / "users.txt").write_text(content)
    result = repo.inline(*ARGS, "--personalens-users", "file:users.txt")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: --personalens-users: no user is in *users.txt; write an id a line, or leave the option out *"])


def test_a_cache_that_cannot_be_written_is_a_warning(repo: Repository) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\ncache_dir = kept/cache\n")
    # Also root, for whom no folder is read-only, can make no folder below a file.
    (repo.path / "kept").write_text("")
    result = repo.pytester.runpytest_subprocess(*ARGS, "--personalens-gate", "tcr >= 0.5")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*personalens: nothing can be kept in pytest's cache (*"])
    resumed = repo.pytester.runpytest_subprocess(*ARGS, "--personalens-resume")
    assert resumed.ret == 4
    resumed.stderr.fnmatch_lines(["ERROR: --personalens-resume: needs pytest's cache, *"])


def test_a_run_that_pays_and_keeps_nothing_says_so(paid: Repository) -> None:
    told = "pytest's cache is off or cannot be written: what is paid for and not in a record is bought again by the next run"
    for more in (("--personalens-live",), ("--personalens-record=new",)):
        paid.run(*ARGS, *MODELS, *more, "-q").stdout.fnmatch_lines([f"personalens: {told}"])
        assert calls(paid)
    assert told not in str(paid.run(*ARGS).stdout), "what costs nothing is not lost"
    assert told not in str(paid.pytester.runpytest_subprocess("-p", "cacheprovider", *ARGS, *MODELS, "--personalens-live").stdout)


HOSTILE = r'"home\n::error title=x::pwned\u001b[31m##[error]\u202e"'


def test_a_dataset_drives_neither_terminal_nor_runner(repo: Repository) -> None:
    data = repo.path / "own"
    subprocess.run(["cp", "-r", str(ROOT / "data"), str(data)], check=True)
    for file in (data / "profiles").glob("*.toml"):
        if file.name[0] != "a":
            file.unlink()
            continue
        text = file.read_text(encoding="utf-8")
        for name in ("name", "home", "work", "out", "transit"):
            text = "\n".join(f"{name} = {HOSTILE}" if line.startswith(f"{name} = ") else line for line in text.split("\n"))
        file.write_text(text, encoding="utf-8")
    head = (data / "dataset.toml").read_text(encoding="utf-8")
    lines = [f"{name} = {HOSTILE}" for name in ("name", "version")]
    kept = [line for line in head.split("\n") if not line.startswith(("name", "version"))]
    (data / "dataset.toml").write_text("\n".join([*lines, *kept]), encoding="utf-8")
    files = ("--personalens-markdown", "s.md", "--personalens-json", "r.json")
    result = repo.run("--personalens-sample", "3", "--personalens-data", "own", "--personalens-threshold", "p>=4", *files, "-vv", "-rA")
    assert result.ret == 1
    assert r"home\n\x3a:error title=x::pwned" in str(result.stdout) or "pwned" in str(result.stdout)
    for line in [*result.outlines, *result.errlines, *(Path(repo.path) / "s.md").read_text(encoding="utf-8").splitlines()]:
        assert not line.lstrip().startswith("::")
        assert not set("\x1b\u202e") & set(line)
    reported = repo.python("-m", "pytest_personalens.report", "r.json")
    assert not any(line.lstrip().startswith("::") for line in reported.outlines)
