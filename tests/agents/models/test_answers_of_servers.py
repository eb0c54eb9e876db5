"""What servers send in place of a plain verdict: read where only one reading is possible, and else refused once.

Each table is one run, with an item for each row. The rows are kinds of answers that users of such tools have
reported for OpenAI's protocol, gateways, vLLM, llama.cpp, Ollama, Mistral, gpt-oss, Anthropic and others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.support.repository import Repository
from tests.support.servers.endpoint import Call, Endpoint, Reply, quote_of

ARGS = ("--personalens-judge-model=openai:small", "--personalens-record=live", "--personalens-dimensions=tc")
Data = dict[str, Any]


def form(call: Call, **changes: Any) -> Data:
    """A faultless form."""
    return {
        "evidence": [quote_of(call)],
        "justification": "as asked",
        "reasons": [],
        "score": True,
        **changes,
    }


def lines(call: Call, score: str = "true") -> str:
    """A faultless answer as text."""
    return f'Evidence: turn 0: "{quote_of(call)["quote"]}"\nJustification: as asked\nScore: {score}'


def chat(content: Any = None, finish: str | None = "stop", **message: Any) -> Reply:
    said = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "finish_reason": finish, "message": said}
    return Reply(raw={"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 4}})


def called(arguments: Any, finish: str = "tool_calls") -> Reply:
    function = {"name": "answer", "arguments": arguments}
    return chat(None, finish, tool_calls=[{"id": "c1", "type": "function", "function": function}])


def streamed(
    *pieces: Data, end: str = "\n\n", last: str = "data: [DONE]", kind: str = "text/event-stream"
) -> Reply:
    events = [f"data: {json.dumps(piece, ensure_ascii=False)}" for piece in pieces]
    return Reply(raw=end.join([*events, last, ""]).encode(), kind=kind)


def chunk(finish: str | None = None, **delta: Any) -> Data:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def in_chunks(call: Call, **more: Any) -> Reply:
    text = lines(call)
    first, second = chunk(role="assistant", content=text[:20]), chunk(content=text[20:])
    return streamed(first, chunk(reasoning_content="Score: false\n"), second, chunk("stop"), **more)


def of_call_chunks(call: Call) -> Reply:
    text = json.dumps(form(call))
    pieces = [{"index": 0, "id": "c1", "function": {"name": "answer", "arguments": text[:9]}}]
    rest = [{"index": 0, "function": {"arguments": text[9:]}}]
    said = (chunk(tool_calls=pieces), chunk(tool_calls=rest), chunk("tool_calls"))
    return streamed(*said, {"choices": [], "usage": {}})


def anthropic_events(call: Call) -> Reply:
    deltas = ({"type": "thinking_delta", "thinking": "Score: 0"}, {"type": "text_delta", "text": lines(call)})
    said = ({"type": "content_block_delta", "index": n, "delta": delta} for n, delta in enumerate(deltas))
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 7}}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}
    return streamed(start, *said, end, last="")


def response_events(call: Call) -> Reply:
    thought = {"type": "response.reasoning_summary_text.delta", "delta": "Score: false"}
    said = {"type": "response.output_text.delta", "delta": lines(call)}
    return streamed(thought, said, {"type": "response.completed", "response": {"usage": {}}}, last="")


DRAFT = "The person wanted it booked.\nJustification: first idea\nScore: false\nLet me look again.\n"
READ: dict[str, Callable[[Call], Reply]] = {
    "the form": lambda c: called(json.dumps(form(c))),
    "thoughts in tags": lambda c: chat(f"<think>\n{DRAFT}</think>\n\n{lines(c)}"),
    "other tags": lambda c: chat(f"<thinking>{DRAFT}</thinking>{lines(c)}"),
    "the closing tag alone": lambda c: chat(f"{DRAFT}</think>\n{lines(c)}"),
    "channels": lambda c: chat(f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>{lines(c)}<|return|>"),
    "channels without marks": lambda c: chat(f"analysisWe need{DRAFT}assistantfinal{lines(c)}"),
    "thoughts apart": lambda c: chat(lines(c), reasoning_content=DRAFT),
    "parts": lambda c: chat([{"type": "text", "text": lines(c)}]),
    "a thinking part": lambda c: chat([{"type": "thinking", "thinking": [{"type": "text", "text": DRAFT}]}, {"type": "text", "text": lines(c)}]),
    "a reasoning part with a text": lambda c: chat([{"type": "reasoning", "text": DRAFT}, {"type": "text", "text": lines(c)}]),
    "arguments as an object": lambda c: called(form(c)),
    "arguments in JSON twice": lambda c: called(json.dumps(json.dumps(form(c)))),
    "arguments in Python": lambda c: called(repr(form(c))),
    "a score as text": lambda c: called(json.dumps(form(c, score="True"))),
    "a score as number": lambda c: called(json.dumps(form(c, score=1))),
    "a turn as text": lambda c: called(json.dumps(form(c, evidence=[{**quote_of(c), "turn": "turn 0"}]))),
    "one quote for a list": lambda c: called(json.dumps(form(c, evidence=quote_of(c)))),
    "quotes as texts": lambda c: called(json.dumps(form(c, evidence=[f"turn 0: {quote_of(c)['quote']}"]))),
    "bare JSON": lambda c: chat(json.dumps(form(c))),
    "JSON in a fence": lambda c: chat(f"```json\n{json.dumps(form(c), indent=1)}\n```"),
    "JSON among words": lambda c: chat(f"Here it is:\n{json.dumps(form(c), indent=1)}\nI hope it helps."),
    "a call in tags": lambda c: chat(f"<tool_call>\n{json.dumps({'name': 'answer', 'arguments': form(c)})}\n</tool_call>"),
    "the same form twice": lambda c: chat(f"{json.dumps(form(c))}\n{json.dumps(form(c))}"),
    "lines in a fence": lambda c: chat("```\n" + lines(c).replace("Score:", "**Score:**") + "\n```"),
    "a score with a reason": lambda c: chat(lines(c, "True (no part is missing)")),
    "a score in a tag": lambda c: chat(lines(c, "<answer>true</answer>")),
    "a score on the next line": lambda c: chat(lines(c, "\ntrue")),
    "a full-width colon": lambda c: chat(lines(c).replace("Score:", "Score\uff1a")),
    "a numbered line": lambda c: chat(lines(c).replace("Score:", "3. Score:")),
    "the same score twice": lambda c: chat(f"{lines(c)}\nScore: true"),
    "a stream": in_chunks,
    "a stream of another type": lambda c: in_chunks(c, kind="application/json"),
    "a stream with CRLF": lambda c: in_chunks(c, end="\r\n\r\n"),
    "a stream with CR": lambda c: in_chunks(c, end="\r\r"),
    "a call in a stream": of_call_chunks,
    "a line separator in a stream": lambda c: streamed(chunk(content=lines(c).replace("as asked", "as\u2028asked")), chunk("stop")),
    "JSON and the end of a stream": lambda c: Reply(raw=json.dumps(chat(lines(c)).raw).encode() + b"\n\ndata: [DONE]\n"),
    "a byte order mark": lambda c: Reply(raw=b"\xef\xbb\xbf" + json.dumps(chat(lines(c)).raw).encode()),
    "events of Anthropic": anthropic_events,
    "events of the Responses API": response_events,
    "a message of Anthropic": lambda c: Reply(raw={"type": "message", "content": [{"type": "thinking", "thinking": DRAFT}, {"type": "tool_use", "id": "t", "name": "answer", "input": form(c)}], "stop_reason": "tool_use"}),
    "a response": lambda c: Reply(raw={"object": "response", "status": "completed", "output": [{"type": "reasoning", "summary": []}, {"type": "message", "content": [{"type": "output_text", "text": lines(c)}]}]}),
    "Ollama's own form": lambda c: Reply(raw={"message": {"role": "assistant", "content": lines(c)}, "done": True, "done_reason": "stop"}),
    "no reason to end": lambda c: chat(lines(c), None),
}  # fmt: skip
PAGE = b"<!doctype html><title>Sign in</title>"
#: Each with the number of calls that it takes, and words of the line that tells it.
REFUSED: dict[str, tuple[Callable[[Call], Reply], int, str]] = {
    "thoughts to the limit": (lambda c: chat("", "length", reasoning_content=DRAFT), 1, "cut off at 4,000 tokens before it said anything; raise max_tokens"),
    "arguments cut off": (lambda c: called('{"evidence": [{"turn": 0, "quo', "length"), 1, "cut off at 4,000 tokens; raise max_tokens"),
    "text cut off": (lambda c: chat("Justification: the assis", "length"), 1, "cut off at 4,000 tokens"),
    "thoughts cut off that draft a score": (lambda c: chat(f"<think>{DRAFT}"), 1, "the model answered thoughts and nothing else"),
    "thoughts alone, apart": (lambda c: chat("", reasoning_content=lines(c)), 1, "the model answered thoughts and nothing else"),
    "a filter": (lambda c: chat("", "content_filter"), 1, "stopped by a content filter (content_filter)"),
    "a refusal": (lambda c: chat(None, refusal="I can't rate people."), 1, "the model refuses to answer: \"I can't rate people.\""),
    "a malformed call": (lambda c: chat("", "malformed_function_call"), 1, "malformed_function_call"),
    "a stream that breaks off": (lambda c: streamed(chunk(content="Justification: it"), last=""), 1, "its stream stopped without an end"),
    "an error in a stream": (lambda c: streamed(chunk(content="Just"), {"error": {"message": "no such thing", "code": 403}}), 1, "with an error in it: no such thing 403"),
    "an error in 200": (lambda c: Reply(raw={"choices": None, "error": {"message": "not in your region", "code": 403}}), 1, "not in your region 403"),
    "an error of words in 200": (lambda c: Reply(raw={"error": "model 'qwen9' not found"}), 1, "model 'qwen9' not found"),
    "an error in a choice": (lambda c: Reply(raw={"choices": [{"error": {"message": "upstream refused", "code": 400}}]}), 1, "upstream refused"),
    "null": (lambda c: Reply(raw=b"null"), 1, "the status 200 and None, which is no chat completion; check the address"),
    "an empty object": (lambda c: Reply(raw={}), 1, "which is no chat completion; check the address"),
    "no choice": (lambda c: Reply(raw={"choices": [], "id": "c1"}), 1, "an object with the keys choices, id"),
    "a login page": (lambda c: Reply(raw=PAGE, kind="text/html"), 1, "a page (HTML): <!doctype html><title>Sign in</title>; check the address"),
    "a page of another type": (lambda c: Reply(raw=PAGE), 1, "a page (HTML)"),
    "a redirect": (lambda c: Reply(status=302, headers={"Location": "/login"}), 1, "302 to /login; give that address"),
    "two forms that differ": (lambda c: chat(f"{json.dumps(form(c))} or {json.dumps(form(c, score=False))}"), 2, "the model answered"),
    "two scores that differ": (lambda c: chat(f"{lines(c)}\nScore: false"), 2, "found 2: 'true', 'false'"),
    "a score and another": (lambda c: chat(lines(c, "true or false")), 2, "expected the score true or false, found 'true or false'"),
    "no form at all": (lambda c: chat("What a nice conversation!"), 2, "the model answered 'What a nice conversation!'"),
    "nothing": (lambda c: chat(""), 2, "the model answered nothing"),
}  # fmt: skip


def answer_in_turn(endpoint: Endpoint, rows: list[Callable[[Call], Reply]]) -> dict[str, int]:
    """Let the endpoint answer each item's reading by a row of its own; return the calls of each reading."""
    seen = dict[str, int]()

    def answer(call: Call) -> Reply:
        reading = call.prompt.partition("\n\nYour last answer")[0]
        seen[reading] = seen.get(reading, 0) + 1
        return rows[list(seen).index(reading)](call)

    endpoint.answer = answer
    return seen


def run(repo: Repository, calls: Iterable[str], count: int, *more: str) -> list[Data]:
    """What came of each reading of a run over so many items, in the order of the calls."""
    result = repo.inline(*ARGS, f"--personalens-sample={count}", "--personalens-report=r.json", *more)
    result.assert_outcomes(**({"failed": 1, "skipped": count} if more else {"passed": count}))
    items = [item["evaluation"] for item in repo.results("r.json")["items"]]
    opening = {json.dumps(e["dialogue"]["messages"][0]["content"], ensure_ascii=False): e for e in items}
    return [next(item for said, item in opening.items() if said in reading) for reading in calls]


@pytest.mark.slow
def test_an_answer_is_read_where_only_one_reading_is_possible(repo: Repository, endpoint: Endpoint) -> None:
    calls = answer_in_turn(endpoint, list(READ.values()))
    found = {}
    for name, evaluation in zip(READ, run(repo, calls, len(READ)), strict=True):
        told = [(v["score"], len(v["evidence"]), v["justification"].split()) for v in evaluation["verdicts"]]
        found[name] = told or evaluation.get("detail")
    assert found == {name: [(1, 1, ["as", "asked"])] for name in READ}
    assert [*calls.values()] == [1] * len(READ)


def test_an_answer_that_ended_for_a_reason_costs_one_call_and_a_line(
    repo: Repository, endpoint: Endpoint
) -> None:
    calls = answer_in_turn(endpoint, [row for row, _, _ in REFUSED.values()])
    evaluations = run(repo, calls, len(REFUSED), "--personalens-gate=valid >= 1")
    for (name, (_, count, words)), evaluation in zip(REFUSED.items(), evaluations, strict=True):
        detail = evaluation["detail"]
        assert evaluation["cause"] == "judge", name
        assert words in detail and "openai:small" in detail and "\n" not in detail, (name, detail)
        assert list(calls.values())[list(REFUSED).index(name)] == count, name
