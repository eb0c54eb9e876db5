"""Tool calls in what a person reads: the terminal, the page, Markdown, JUnit."""

from __future__ import annotations

import base64
import json
import re
import xml.etree.ElementTree as ET
import zlib

import pytest

from tests.support.repository import Repository
from tests.support.scripted_agents import ACTING, MODELS, PAID, TEST

NASTY = "\x1b[31mred\n::error::x</script>" + "y" * 900
RUN = (
    *MODELS, "--personalens-sample", "2", "--personalens-record", "live", "--junitxml", "junit.xml",
    "--personalens-report", "page.html", "--personalens-report", "summary.md",
)  # fmt: skip


@pytest.fixture
def acted(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("CALLS", str(repo.path / "calls.log"))
    monkeypatch.setenv("RESULT", NASTY)
    low = ACTING.replace("score=dimension.scale.high", "score=dimension.scale.low")
    repo.write(conftest=low, test_bot=TEST)
    return repo


def test_the_terminal_shows_them_under_their_turn_inert_and_cut(acted: Repository) -> None:
    result = acted.inline(*RUN)
    # Where a line is broken depends on the terminal.
    told = re.sub(r"\s+", "", result.stdout.str())
    shown = r"calledbook\(people=2\)->\\x1b\[31mred\\n::error::x</script>y+\.\.\.1assistantanswer1"
    assert re.search(shown, told)
    assert "y" * 400 not in told
    assert "\x1b[31mred" not in result.stdout.str()


def test_markdown_and_junit_count_them(acted: Repository) -> None:
    acted.inline(*RUN)
    assert "tool calls: 6 in 2 of 2 dialogues" in (acted.path / "summary.md").read_text()
    counts = [p.attrib["value"] for p in ET.parse(acted.path / "junit.xml").iter("property")
              if p.attrib["name"] == "personalens_tool_calls"]  # fmt: skip
    assert counts == ["3", "3"]


def test_the_page_holds_them_with_their_turn(acted: Repository) -> None:
    acted.inline(*RUN)
    page = (acted.path / "page.html").read_text(encoding="utf-8")
    packed = re.search(r'<script type="text/plain" id="dialogues">(.*?)</script>', page, re.DOTALL)
    assert packed is not None
    data = json.loads(zlib.decompress(base64.b64decode(packed[1])))
    who, text, calls = data["items"][0]["messages"][1]
    assert (who, data["texts"][text]) == (1, "answer 1")
    assert [[data["texts"][n] for n in call] for call in calls] == [["book(people=2)", NASTY]]


def test_an_assistant_of_text_has_no_count(acted: Repository) -> None:
    acted.write(conftest=PAID)
    acted.inline(*RUN)
    assert "tool calls" not in (acted.path / "summary.md").read_text()
    assert "personalens_tool_calls" not in (acted.path / "junit.xml").read_text()
