"""What only Windows or macOS does, forced with a fake: no signal, no fork, locks, files in use, other quotes."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.cli import command
from pytest_personalens.core import safe_text
from pytest_personalens.core.files import links
from pytest_personalens.core.files.links import append_line, write_atomically
from tests.support.repository import Repository
from tests.support.scripted_agents import TOLD_AGENTS, TOLD_ALONE

Patch = pytest.MonkeyPatch
SLOW_BOT = """
    @pytest.fixture
    def personalens_assistant():
        import time
        return lambda messages: time.sleep(2) or "fine"
"""


def test_without_alarms_a_slow_assistant_is_left_behind(told: Repository, monkeypatch: Patch) -> None:
    """Windows has no ``SIGALRM``."""
    for name in ("setitimer", "getitimer", "SIGALRM", "ITIMER_REAL"):
        monkeypatch.delattr(signal, name)
    told.write(conftest=TOLD_ALONE + SLOW_BOT)
    args = ("--personalens-sample", "1", *TOLD_AGENTS, "--personalens-report", "r.json")
    assert told.inline(*args, "-o", "personalens_turn_timeout=0.3").ret == 1
    (item,) = told.results("r.json")["items"]
    late = "the assistant did not answer within 0.3 s (personalens_turn_timeout)"
    assert item["evaluation"]["detail"] == late


class Locks:
    """Plays the module of Windows that locks files: it refuses some times, and says what was asked of it."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self, refuses: int) -> None:
        self.refuses, self.asked = refuses, list[tuple[int, int, int]]()

    def locking(self, file: int, mode: int, count: int) -> None:
        self.asked.append((mode, os.lseek(file, 0, os.SEEK_CUR), os.fstat(file).st_size))
        if mode == self.LK_NBLCK and self.refuses:
            self.refuses -= 1
            raise OSError(errno.EACCES, "Permission denied")


def test_a_line_is_appended_under_a_lock(tmp_path: Path, monkeypatch: Patch) -> None:
    locks = Locks(refuses=3)
    monkeypatch.setattr(links, "_LOCKS", locks)
    assert [append_line(tmp_path / "calls", "call") for _ in range(2)] == [1, 2]
    assert [mode for mode, _, _ in locks.asked] == [2, 2, 2, 2, 0, 2, 0]
    place = {place for _, place, _ in locks.asked}
    assert place == {1 << 30}, "a byte that nobody reads"
    assert [size for mode, _, size in locks.asked if mode == 0] == [32, 64], "written before it is unlocked"
    assert (tmp_path / "calls").read_bytes() == (b"call".ljust(31) + b"\n") * 2

    monkeypatch.setattr(links, "_PATIENCE", 0.0)
    locks.refuses = 1000
    with pytest.raises(OSError, match="Permission denied"):
        append_line(tmp_path / "calls", "call")
    assert (tmp_path / "calls").stat().st_size == 64


def test_shared_lines_are_opened_in_binary_mode(tmp_path: Path, monkeypatch: Patch) -> None:
    """Windows otherwise writes a line end of two bytes, and the numbers of calls are wrong."""
    opened: list[int] = []
    real = os.open
    monkeypatch.setattr(os, "O_BINARY", 1 << 40, raising=False)

    def open_it(path: Path, flags: int, mode: int) -> int:
        opened.append(flags)
        return real(path, flags & ~(1 << 40), mode)

    monkeypatch.setattr(os, "open", open_it)
    append_line(tmp_path / "calls", "call")
    assert [bool(flags & 1 << 40) for flags in opened] == [True]


class InUse(PermissionError):
    """What Windows raises for a file that another process has open."""

    winerror = 32


@pytest.mark.parametrize(("times", "replaced"), [(3, True), (1000, False)])
def test_a_file_in_use_is_replaced_when_it_is_closed(
    tmp_path: Path, monkeypatch: Patch, times: int, replaced: bool
) -> None:
    left, real = [times], Path.replace

    def replace(self: Path, target: Path) -> Path:
        if left[0]:
            left[0] -= 1
            raise InUse(errno.EACCES, "in use", str(target))
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(links, "_PAUSES", (0.0,) * 7)
    file = tmp_path / "record.json"
    file.write_text("old", encoding="utf-8")
    with nullcontext() if replaced else pytest.raises(PermissionError):
        write_atomically(file, "new")
    assert file.read_text(encoding="utf-8") == ("new" if replaced else "old")
    assert [p.name for p in tmp_path.iterdir()] == ["record.json"], "no draft is left"


def test_a_permission_that_is_lacking_is_told_at_once(tmp_path: Path, monkeypatch: Patch) -> None:
    tries: list[int] = []

    def replace(self: Path, target: Path) -> Path:
        tries.append(1)
        raise PermissionError(errno.EACCES, "denied", str(target))

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(PermissionError):
        write_atomically(tmp_path / "record.json", "new")
    assert len(tries) == 1


def test_a_path_that_is_too_long_for_windows(tmp_path: Path, monkeypatch: Patch) -> None:
    """Windows says of such a path that it is not found, which sends the user looking for a folder."""

    real = Path.open

    def opened(self: Path, *mode: Any) -> Any:
        if len(str(self)) > 259:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(self))
        return real(self, *mode)

    folder = tmp_path / ("x" * 100) / ("y" * 100)
    folder.mkdir(parents=True)
    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(OSError, match="Windows takes 259 by default") as error:
        write_atomically(folder / f"{'z' * 60}.json", "new")
    assert error.value.errno == errno.ENAMETOOLONG
    with pytest.raises(FileNotFoundError, match="No such file"):
        monkeypatch.undo()
        write_atomically(tmp_path / "gone" / "r.json", "new")


def test_the_command_to_paste_is_quoted_for_windows(told: Repository, monkeypatch: Patch) -> None:
    """cmd.exe knows no single quotes."""
    monkeypatch.setattr(safe_text, "_WINDOWS", True)
    told.write(conftest=TOLD_ALONE + SLOW_BOT)
    options = ("-o", "personalens_turn_timeout=0.1", "-o", "personalens_seed=another one")
    result = told.inline("--personalens-sample", "1", *TOLD_AGENTS, *options)
    again = next(line for line in result.outlines if "again: " in line).partition("again: ")[2]
    assert "'" not in again
    assert '-o "personalens_seed=another one"' in again


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("tests/test_bot.py", "tests/test_bot.py"),
        ("tests\\test_bot.py::test_bot", "tests\\test_bot.py::test_bot"),
        ("test_bot.py::test_bot[books-1-ada]", '"test_bot.py::test_bot[books-1-ada]"'),
        ("tcr>=0.8", '"tcr>=0.8"'),
        ("", '""'),
        ('say "yes"', '"say \\"yes\\""'),
        ("C:\\my bots\\", '"C:\\my bots\\\\"'),
    ],
)
def test_quotes_of_windows(monkeypatch: Patch, word: str, quoted: str) -> None:
    monkeypatch.setattr(safe_text, "_WINDOWS", True)
    assert safe_text.shell_line([word]) == quoted
    monkeypatch.setattr(safe_text, "_WINDOWS", False)
    assert safe_text.shell_line([""]) == "''"


def test_a_reader_that_closed_the_pipe_ends_a_command_on_windows_too(
    monkeypatch: Patch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """There it is an invalid argument, and no broken pipe."""

    def explain(_: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr("pytest_personalens.cli.before_a_run.explain", explain)

    with (tmp_path / "out").open("w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", out)
        with pytest.raises(SystemExit) as ended:
            command.run(lambda: command.main(["explain", "PL201"]))
    assert ended.value.code == 1
    assert capfd.readouterr().err == ""


def test_a_terminal_of_an_old_code_page_shows_any_name(monkeypatch: Patch) -> None:
    """A console of Windows is seldom UTF-8."""
    shown = io.BytesIO()
    out = io.TextIOWrapper(shown, encoding="cp1252")

    def main() -> int:
        print("Kwabena → Łukasz")
        return 0

    monkeypatch.setattr(sys, "stdout", out)
    with pytest.raises(SystemExit) as ended:
        command.run(main)
    out.flush()
    assert ended.value.code == 0
    assert shown.getvalue().splitlines() == [b"Kwabena \\u2192 \\u0141ukasz"]
