"""Exports of servers, of tracing and of other test tools are judged, and become drafts, as they are.

The files in `exports/` were written by the tools themselves, or have the layout that the pages of the tool document (Bedrock, Langfuse, promptfoo, ShareGPT).
Each last reply names its file.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.processes.runs import assert_ended, assert_usage_error
from tests.support.repository import Repository

EXPORTS: Final = Path(__file__).parent / "exports"
WISH: Final = "Please book me a film for tonight."
SEARCH: Final = ["search_films", "Two films"]
#: What the assistant did before its last reply: the calls and the results.
DONE: Final[dict[str, list[str]]] = {
    "anthropic": SEARCH, "anthropic-batch": SEARCH, "bedrock-batch": [], "bedrock-log": ["search_films", '{"films": 2}'],
    "converse": ["search_films", '{"films": 2}'], "deepeval": SEARCH, "inspect": SEARCH, "langfuse": [], "langfuse-nested": SEARCH, "langfuse-trace": [], "langsmith": SEARCH,
    "openai-batch": [], "openinference": SEARCH, "otel-calls": SEARCH, "pydantic-ai": SEARCH, "otel": ["book", '{"booked": true}'], "promptfoo": [], "responses": SEARCH, "sharegpt": [],
}  # fmt: skip
TURNS: Final = {name: ["Which one?", "The comedy."] for name in ("langfuse", "otel", "pydantic-ai")}


def steps_of(message: dict[str, Any]) -> list[str]:
    """The tools that were called, and their results, in order."""
    calls = [
        [c["function"]["name"] for c in step.get("tool_calls", ())] for step in message.get("steps") or []
    ]
    return [
        text
        for names, step in zip(calls, message.get("steps") or [], strict=True)
        for text in names or [step["content"]]
    ]


@pytest.mark.slow
def test_each_is_judged_with_its_turns_and_its_tools(repo: Repository) -> None:
    (repo.path / "test_bot.py").unlink()
    shutil.copytree(EXPORTS, repo.path / "logs")
    judged = ("--personalens-gate=none", "--personalens-report=judged.json")
    assert_ended(repo.inline("--personalens-dialogues=logs", *judged), 0)
    dialogues = [item["evaluation"]["dialogue"]["messages"] for item in repo.results("judged.json")["items"]]
    by_name = {messages[-1]["content"][6:-2]: messages for messages in dialogues}
    assert len(dialogues) == len(by_name)
    assert {name: steps_of(messages[-1]) for name, messages in by_name.items()} == DONE
    said = {name: [m["content"] for m in messages[:-1]] for name, messages in by_name.items()}
    assert said == {name: [WISH, *TURNS.get(name, ())] for name in DONE}


#: The halves of a batch are two files of one dialogue.
HALVES: Final = ("openai-batch-input.jsonl", "openai-batch-output.jsonl")
WHOLE: Final = sorted({file.name for file in EXPORTS.glob("*/*")} - {*HALVES})


@pytest.mark.parametrize("names", [HALVES, *((name,) for name in WHOLE)], ids="-".join)
def test_each_becomes_a_draft(empty_repo: Repository, names: tuple[str, ...]) -> None:
    for name in names:
        shutil.copy(next(EXPORTS.rglob(name)), empty_repo.path / name)
    result = empty_repo.command("import-chats", *names, "--out", "own")
    assert_ended(result, 0, "1 draft in own/drafts; 0 left out")
    (draft,) = (empty_repo.path / "own/drafts").iterdir()
    tools = DONE[names[0].partition(".")[0].removesuffix("-input")][:1]
    assert [
        tool
        for tool in ("search_films", "book")
        if f'tools = ["{tool}"]' in draft.read_text(encoding="utf-8")
    ] == tools


def test_a_file_that_is_one_value_over_many_lines(empty_repo: Repository) -> None:
    messages = [{"role": "user", "content": WISH}, {"role": "assistant", "content": "Done."}]
    call = {"request": {"messages": messages[:1]}, "response": {"choices": [{"message": messages[1]}]}}
    for n, value in enumerate((call, [{"messages": messages}, {"messages": messages}], [messages, messages])):
        (empty_repo.path / "chats.json").write_text(json.dumps(value, indent=2), encoding="utf-8")
        result = empty_repo.command("import-chats", "chats.json", "--out", f"own{n}")
        result.stdout.fnmatch_lines([f"{'2 drafts' if n else '1 draft'} in own{n}/drafts; 0 left out"])


ASK: Final = {"custom_id": "a", "params": {"messages": [{"role": "user", "content": WISH}]}}
FAILED: Final = {"custom_id": "a", "result": {"type": "errored", "error": {"type": "error"}}}
RESPONSE: Final = {"object": "response", "id": "r", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}]}  # fmt: skip
SPAN: Final = {"context": {}, "attributes": {"gen_ai.operation.name": "chat"}}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.eval", b"PK\x03\x04", "*x.eval: not valid JSON: it is an inspect log (a zip archive); run: inspect log dump x.eval > x.json"),
        ("x.zip", b"PK\x03\x04", "*x.zip: not valid JSON: it is a zip archive; run: unzip x.zip"),
        ("x.parquet", b"PAR1", "*x.parquet: not valid JSON: it is a Parquet file; run: duckdb -c \"COPY (FROM 'x.parquet') TO 'x.jsonl'\""),
        ("x.json.gz", b"\x1f\x8b\x08\x00", "*x.json.gz: not valid JSON: it is compressed by gzip; run: gunzip x.json.gz"),
        ("x.jsonl", ASK, "*x.jsonl: line 1: the request 'a' alone; name the file of the results beside this one"),
        ("x.jsonl", FAILED, "*x.jsonl: line 1: a batch: the request 'a' has no reply (errored); remove the line"),
        ("x.jsonl", RESPONSE, '*x.jsonl: line 1: a model\'s answer: the user\'s side is missing; add what was sent, as "input", beside it'),
        ("x.jsonl", {"custom_id": "a", "response": {"status_code": 200, "body": RESPONSE}}, "*x.jsonl: line 1: the result 'a' alone; name the file of the requests beside this one"),
        ("x.jsonl", SPAN, "*x.jsonl: line 1: OpenTelemetry: a span without gen_ai.input.messages and gen_ai.output.messages; let your instrumentation keep the content"),
        ("x.jsonl", {"run_type": "llm", "inputs": {}, "name": "bot"}, "*x.jsonl: line 1: a LangSmith run: no message of both sides in the run 'bot'; remove it"),
        ("x.jsonl", {"conversations": [7]}, "*x.jsonl: line 1: *expected *"),
        ("x.jsonl", {"modelId": "m", "input": {"inputBodyJson": {}}, "output": {"outputBodyJson": []}}, "*x.jsonl: line 1: an invocation log of Bedrock: a streamed InvokeModel, *"),
        ("x.json", {"eval": {}, "samples": [7]}, "*x.json: line 1: it looks like an inspect log, and is not as its format has it *"),
        ("x.jsonl", {"conversations": [{"from": "human", "value": WISH}, {"from": "gpt", "value": "Done."}]}, "*x.jsonl: line 1: scenario: expected the id of a scenario, *"),
    ],
)  # fmt: skip
def test_no_dialogue(empty_repo: Repository, name: str, content: object, expected: str) -> None:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (empty_repo.path / name).write_bytes(data)
    run = empty_repo.inline(f"--personalens-dialogues={name}", "--personalens-gate=none")
    assert_usage_error(run, expected)
