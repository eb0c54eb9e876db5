"""A device is no file: it would be read without end, and fill the memory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT, Repository
from tests.test_bad_input import ARGS, one_line

pytestmark = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no such device")


def test_a_device_is_no_file(repo: Repository) -> None:
    """It would be read without end."""
    (repo.path / "templates").mkdir()
    zero = "/dev/zero"
    (repo.path / "templates" / "user.txt").symlink_to(zero)
    for option, value in {"baseline": zero, "check-judge": zero, "users": f"file:{zero}", "prompts": "templates"}.items():
        result = repo.inline(*ARGS, f"--personalens-{option}={value}")
        one_line(result)
        result.stderr.fnmatch_lines(["*a device, and no file*"])
    one_line(repo.inline(*ARGS, "--personalens-adopt-judge", "j.json", f"--personalens-anchors={zero}"))
    one_line(repo.inline(*ARGS, f"--personalens-json={zero}"))
    for command in (("report", zero), ("merge", zero), ("agreement", zero)):
        result = repo.python("-m", f"pytest_personalens.{command[0]}", *command[1:])
        assert result.ret in (2, 4)
        result.stderr.fnmatch_lines(["error: *a device, and no file*"])


@pytest.mark.parametrize("name", ["profiles/kit.toml", "domains/books.toml", "multi.toml", "dataset.toml"])
def test_data_that_is_a_device(repo: Repository, name: str) -> None:
    shutil.copytree(ROOT / "data", repo.path / "own", ignore=shutil.ignore_patterns("agreement", "judge"))
    (repo.path / "own" / name).unlink()
    (repo.path / "own" / name).symlink_to("/dev/zero")
    one_line(repo.inline("--personalens-sample", "99", "--personalens-users", "kit", "--personalens-data", "own"))


def test_a_record_that_is_a_device(repo: Repository) -> None:
    assert repo.inline(*ARGS, "--personalens-record=new").ret == 0
    record = min((repo.path / "__personalens__").rglob("*.json"))
    record.unlink()
    record.symlink_to("/dev/zero")
    result = repo.inline(*ARGS)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*the record cannot be read: a device, and no file; *"])
