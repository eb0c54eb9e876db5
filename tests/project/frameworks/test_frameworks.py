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


def skip_without(framework: str) -> None:
    try:
        there = find_spec(MODULES[framework]) is not None
    except ModuleNotFoundError:  # of the package above it
        there = False
    if not there:
        pytest.skip(f"{framework} is not installed here (make test-frameworks FRAMEWORKS={framework})")


def test_the_page_has_a_snippet_for_each_framework() -> None:
    assert set(SNIPPETS) == set(MODULES) == {file.stem for file in BOTS.glob("*.py")}


def test_make_and_ci_run_them_all() -> None:
    make = re.search(r"^FRAMEWORKS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    ci = re.search(r"matrix: \{ name: \[(.*)\] \}", (ROOT / ".github/workflows/ci.yml").read_text())
    assert make is not None
    assert ci is not None
    assert set(make[1].split()) == set(ci[1].split(", ")) == {*MODULES, "stores"}


@pytest.mark.parametrize("framework", MODULES)
def test_an_agent_comes_with_its_calls(empty_repo: Repository, model: ScriptedModel, framework: str) -> None:
    skip_without(framework)
    bot, tool = ((BOTS / name).read_text(encoding="utf-8") for name in (f"{framework}.py", "../booking.py"))
    empty_repo.write(conftest=SNIPPETS[framework], my_bot=bot, booking=tool, told_agents=TOLD_ALONE)
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


#: A graph that tells what the store has of the user, and how many messages the thread has.
WITH_A_STORE = """
import uuid
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore

store = InMemoryStore()

def answer(state, config):
    own = (config["configurable"]["user_id"],)
    known = " ".join(item.value["text"] for item in store.search(own, limit=100))
    text = state["messages"][-1].content
    store.put(own, uuid.uuid4().hex, {"text": text})
    return {"messages": [AIMessage(f"Done. You told me: {known} ({len(state['messages'])})")]}

graph = StateGraph(MessagesState)
graph.add_node("answer", answer)
graph.add_edge(START, "answer")
agent = graph.compile(checkpointer=InMemorySaver(), store=store)
"""


@pytest.mark.parametrize("framework", ["langgraph"])
def test_a_store_is_keyed_by_user_and_a_thread_by_session(empty_repo: Repository, framework: str) -> None:
    skip_without(framework)
    (snippet,) = re.findall(
        r"^```python\n# conftest\.py \(langgraph with a store\)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL
    )
    empty_repo.write(conftest=f"import pytest\nfrom my_bot import agent\n{snippet}", my_bot=WITH_A_STORE)
    arcs = ("--personalens-suite=memory", "--personalens-sample=all", "--personalens-kind=recall,apart")
    gate = "--personalens-gate=recall: memory >= 1, apart: memory >= 1"
    result = empty_repo.pytester.runpytest_subprocess(*arcs, gate, "--personalens-report", "results.json")
    assert result.ret == 0
    for item in empty_repo.results()["items"]:
        messages = item["evaluation"]["dialogue"]["messages"]
        for session in {m["session"] for m in messages}:
            replies = [m["content"] for m in messages if (m["session"], m["role"]) == (session, "assistant")]
            assert [int(re.findall(r"\((\d+)\)$", text)[0]) for text in replies] == [
                2 * n + 1 for n in range(len(replies))
            ]


def check_calls(turn: dict[str, Any]) -> None:
    """The turn has the one call that was made for it, with its result, and none of another turn."""
    call, result = turn["steps"]
    (made,) = call["tool_calls"]
    assert made["function"]["name"] == "book_table"
    assert json.loads(made["function"]["arguments"]) == ARGUMENTS
    assert result["role"] == "tool"
    assert result["tool_call_id"] == made["id"]
    assert "reference QX77 for 2 on Friday" in result["content"]
