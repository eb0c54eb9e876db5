"""Sizes that are limited, by the table of budgets in pyproject.toml: a change that needs more says so there."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.options.option_table import OPTIONS
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

BUDGETS: dict[str, int] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "personalens"
]["budgets"]
PACKAGE, TESTS = ROOT / "pytest_personalens", ROOT / "tests"
MOST_ENTRIES, MOST_LINES = 12, 500


def lines_of(files: Iterable[Path]) -> int:
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def words_of_docs() -> int:
    """A word has a letter or a digit. Blocks of code, most of which run as tests, are not counted."""
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")]
    prose = (re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL) for page in pages)
    return sum(bool(re.search(r"\w", word)) for page in prose for word in page.split())


def size_of(what: str) -> int:
    """Return the number of what a key of the budgets limits: a room's lines of Python, if it is no other word."""
    if what == "assets":  # lines of scripts and styles of the page
        return lines_of(file for file in PACKAGE.rglob("*") if file.suffix in (".css", ".js"))
    if what == "docs":
        return words_of_docs()
    if what == "modules":
        return sum(module.name != "__init__.py" for module in PACKAGE.rglob("*.py"))
    if what == "options":  # of the command line
        return sum(option.on != "ini" for option in OPTIONS)
    return lines_of((TESTS if what == "tests" else PACKAGE / what).rglob("*.py"))


@pytest.mark.parametrize("what", BUDGETS)
def test_a_budget_is_kept(what: str) -> None:
    assert 0 < size_of(what) <= BUDGETS[what], f"{what}: {size_of(what)}"


def test_each_room_has_a_budget() -> None:
    folders = {module.parent.relative_to(PACKAGE) for module in PACKAGE.rglob("*.py")}
    rooms = {Path(key) for key in BUDGETS}
    assert {str(f) for f in folders if not rooms & {f, *f.parents}} == {".", "agents", "suites"}


def test_modules_and_folders_can_be_surveyed() -> None:
    modules = [*PACKAGE.rglob("*.py"), *TESTS.rglob("*.py")]
    assert [str(m) for m in modules if lines_of([m]) > MOST_LINES] == []
    entries = Counter(
        entry.parent for entry in {*modules, *(m.parent for m in modules)} if entry.stem != "__init__"
    )
    assert [
        str(folder) for folder, number in entries.items() if number > MOST_ENTRIES and folder != ROOT
    ] == []
