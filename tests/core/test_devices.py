"""A device is no file: it would be read without end, and root would replace it for the whole machine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.plugin.options.test_bad_input import ARGS, one_line
from tests.project.fuzz.case import make_device
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import MODELS


@pytest.fixture
def zero(repo: Repository) -> Path:
    """A device without end, which is not that of the machine where it could be replaced."""
    path = repo.path / "zero"
    make_device(path, "zero")
    if not path.is_char_device():
        pytest.skip("no device can be made here")
    return path


def test_a_device_is_no_file(repo: Repository, zero: Path) -> None:
    (repo.path / "templates").mkdir()
    (repo.path / "templates" / "user.txt").symlink_to(zero)
    for option, value in {
        "baseline": "zero",
        "check-judge": "zero",
        "users": "file:zero",
        "prompts": "templates",
    }.items():
        result = repo.inline(*ARGS, f"--personalens-{option}={value}")
        one_line(result)
        result.stderr.fnmatch_lines(["*a device, and no file*"])
    one_line(repo.inline(*ARGS, "--personalens-adopt-judge", "j.json", "-opersonalens_anchors=zero"))
    (repo.path / "zero.json").symlink_to(zero)
    one_line(repo.inline(*ARGS, "--personalens-report=zero.json"))
    for command in ("report", "merge", "agreement"):
        assert_usage_error(repo.command(command, "zero"), "error: *a device, and no file*")
    assert zero.is_char_device()


@pytest.mark.parametrize("name", ["profiles/kit.toml", "domains/books.toml", "multi.toml", "dataset.toml"])
def test_data_that_is_a_device(repo: Repository, zero: Path, name: str) -> None:
    shutil.copytree(ROOT / "data", repo.path / "own", ignore=shutil.ignore_patterns("agreement", "judge"))
    (repo.path / "own" / name).unlink()
    (repo.path / "own" / name).symlink_to(zero)
    one_line(
        repo.inline("--personalens-sample", "99", "--personalens-users", "kit", "--personalens-data", "own")
    )


@pytest.mark.parametrize("mode", ["none", "new", "all"])
def test_a_record_that_is_a_device(repo: Repository, zero: Path, mode: str) -> None:
    assert repo.inline(*ARGS, "--personalens-record=new").ret == 0
    record = min((repo.path / "__personalens__").rglob("*.json"))
    record.unlink()
    record.symlink_to(zero)
    result = repo.inline(*ARGS, f"--personalens-record={mode}")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*the record cannot be *: a device, and no file; *"])
    assert zero.is_char_device()


def test_what_is_kept_in_the_cache_is_a_device(paid: Repository, zero: Path) -> None:
    kept = paid.path / ".pytest_cache" / "d" / "personalens" / "run"
    kept.parent.mkdir(parents=True)
    kept.symlink_to(zero)
    for more in ((), ("--personalens-resume",)):
        result = paid.pytester.runpytest_inprocess(
            "-p", "no:xdist", *ARGS, *MODELS, "--personalens-record", "live", *more
        )
        one_line(result)
        result.stderr.fnmatch_lines(
            [
                "ERROR: personalens: pytest's cache cannot be written: *run: a device, and no file; remove it (PL105)"
            ]
        )
        assert zero.is_char_device()
