"""What is public: the names of the package, and one door for the commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import pytest_personalens
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.repository import Repository

PAGES = sorted(
    [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "example_project").rglob("*.py")]
)
COMMANDS = (
    "report", "show", "records", "explain", "comment", "merge", "agreement", "calibrate", "label", "check-dataset", "build", "import-chats", "from-chat", "show-prompts", "score", "doctor", "sample-size",
)  # fmt: skip


@pytest.mark.parametrize("name", pytest_personalens.__all__)
def test_a_public_name_is_at_the_top_and_says_what_it_is(name: str) -> None:
    assert getattr(pytest_personalens, name).__doc__


def test_no_other_name_is_at_the_top() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nobody'"):
        _ = pytest_personalens.Nobody


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_docs_and_the_example_import_from_the_top_only(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"^\s*(?:from|import) pytest_personalens\.\w+", text, re.MULTILINE)
    for names in re.findall(r"from pytest_personalens import ([\w, ]+)", text):
        assert set(re.split(r", *", names)) <= set(pytest_personalens.__all__)


def test_every_page_is_in_the_list_of_pages() -> None:
    listed = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = (page.relative_to(ROOT / "docs").as_posix() for page in PAGES if "docs" in page.parts)
    assert [page for page in pages if f"]({page})" not in listed] == ["README.md"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_fits_a_screen(empty_repo: Repository, command: str) -> None:
    result = empty_repo.command(command, "--help")
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"usage: personalens {command}*"])
    assert len(result.outlines) <= 36


def test_the_door_names_every_command(empty_repo: Repository) -> None:
    result = empty_repo.command("--help")
    listed = re.findall(r"^    ([a-z-]+)\b", result.stdout.str(), re.MULTILINE)
    assert listed == list(COMMANDS)


@pytest.mark.parametrize(
    "words", [(), ("reprot",), ("report",), ("report", "no-such.json"), ("sample-size", "--level", "x")]
)
def test_bad_input_is_exit_code_4_and_one_line(empty_repo: Repository, words: tuple[str, ...]) -> None:
    result = empty_repo.command(*words)
    assert result.ret == 4
    assert [line for line in result.errlines if line][-1].startswith("error: ")
    assert len([line for line in result.errlines if line]) == 1
