"""The page about frameworks: each snippet hands over an agent whose model calls a tool, over two turns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.project.frameworks.scripted_model import ARGUMENTS, ScriptedModel
from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import TOLD_AGENTS, TOLD_ALONE

PAGE = (ROOT / "docs/how-to/assistant/frameworks.md").read_text(encoding="utf-8")
BOTS = Path(__file__).parent / "bots"
SNIPPETS = dict(re.findall(r"```python\n# conftest\.py \((\w+)\)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
#: Framework -> the module by which it is known to be installed.
MODULES = {
    "langgraph": "langgraph", "strands": "strands", "openai_agents": "agents", "pydantic_ai": "pydantic_ai", "adk": "google.adk",
    "crewai": "crewai", "agent_framework": "agent_framework", "llama_index": "llama_index", "mcp": "mcp", "a2a": "a2a",
}  # fmt: skip
#: Assistants that tell nothing of the tools behind them.
TEXT_ONLY = ("mcp", "a2a")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModel]:
    found = ScriptedModel()
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.setenv(name, found.url)
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    for name in ("CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_TRACKING", "OTEL_SDK_DISABLED"):
        monkeypatch.setenv(name, "true")
    yield found
    found.close()


def installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package above it
        return False


def test_the_page_has_a_snippet_for_each_framework() -> None:
    assert set(SNIPPETS) == set(MODULES) == {file.stem for file in BOTS.glob("*.py")}


def test_make_and_ci_run_them_all() -> None:
    make = re.search(r"^FRAMEWORKS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    ci = re.search(r"matrix: \{ name: \[(.*)\] \}", (ROOT / ".github/workflows/ci.yml").read_text())
    assert make is not None
    assert ci is not None
    assert set(make[1].split()) == set(ci[1].split(", ")) == set(MODULES)


@pytest.mark.parametrize("framework", MODULES)
def test_an_agent_is_handed_over_with_its_calls(
    empty_repo: Repository, model: ScriptedModel, framework: str
) -> None:
    if not installed(MODULES[framework]):
        pytest.skip(f"{framework} is not installed here (make test-frameworks FRAMEWORKS={framework})")
    agents = TOLD_ALONE
    bot = (BOTS / f"{framework}.py").read_text(encoding="utf-8")
    empty_repo.write(conftest=SNIPPETS[framework], my_bot=bot, told_agents=agents)
    result = empty_repo.pytester.runpytest_subprocess(
        "-p", "told_agents", "--personalens-sample", "1", *TOLD_AGENTS, "--personalens-report", "results.json"
    )
    result.assert_outcomes(passed=1)
    (item,) = empty_repo.results()["items"]
    _, first, _, second = item["evaluation"]["dialogue"]["messages"]
    for turn in (first, second):
        assert "I've booked it: " in turn["content"]
        assert "QX77" in turn["content"]
        if framework not in TEXT_ONLY:
            check_calls(turn)


def check_calls(turn: dict[str, Any]) -> None:
    """The turn has the one call that was made for it, with its result, and none of another turn."""
    call, result = turn["steps"]
    (made,) = call["tool_calls"]
    assert made["function"]["name"] == "book_table"
    assert json.loads(made["function"]["arguments"]) == ARGUMENTS
    assert result["role"] == "tool"
    assert result["tool_call_id"] == made["id"]
    assert "reference QX77 for 2 on Friday" in result["content"]
