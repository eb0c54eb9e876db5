"""Rooms, and the docs, whose size is limited, by the table of budgets in pyproject.toml."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.support.repository import ROOT

BUDGETS: dict[str, int] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "personalens"
]["budgets"]
WORDS = BUDGETS.pop("docs")


def lines_of(room: str) -> int:
    """Return the number of lines of Python in a folder, or in a file."""
    place = ROOT / "pytest_personalens" / room
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


@pytest.mark.parametrize("room", BUDGETS)
def test_a_room_keeps_its_budget_of_lines(room: str) -> None:
    assert 0 < lines_of(room) <= BUDGETS[room], f"{room} has {lines_of(room)} lines"


def test_the_docs_keep_their_budget_of_words() -> None:
    """A word has a letter or a digit. Blocks of code, most of which run as tests, are not counted."""
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")]
    prose = (re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL) for page in pages)
    words = sum(bool(re.search(r"\w", word)) for page in prose for word in page.split())
    assert 0 < words <= WORDS, f"docs/ has {words} words"
