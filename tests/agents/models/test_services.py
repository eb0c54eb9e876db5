"""Assistants that are services: what they are sent, how their answers are read, and what goes wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from typing import Any, Final

import boto3
import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository, unwrapped
from tests.support.scripted_agents import TOLD_AGENTS, TOLD_ALONE
from tests.support.servers.endpoint import environment
from tests.support.servers.service import Answer, Asked, Service, agent_turn, events, json_answer

RUN: Final = ("--personalens-sample", "1", *TOLD_AGENTS)
CALL: Final = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"people": 2}'}}
DELTAS: Final = [{"choices": [{"delta": {"content": text}}]} for text in ("It is ", "booked", ".")]
RESPONSE: Final = [
    {"type": "response.reasoning_summary_text.delta", "delta": "A table?"},
    {"type": "response.function_call_arguments.delta", "delta": '{"day"'},
    {"type": "response.output_text.delta", "delta": "Fi"},
    {"type": "response.output_text.delta", "delta": "ne."},
    {"type": "response.completed", "response": {}},
]
#: A trace of a call of a function, one of an API, and a look into a knowledge base.
TRACE: Final = [
    ("invocationInput", {"actionGroupInvocationInput": {"actionGroupName": "tables", "function": "book_table", "parameters": [{"name": "people", "type": "integer", "value": "2"}, {"name": "place", "type": "string", "value": "007"}]}}),
    ("observation", {"actionGroupInvocationOutput": {"text": "reference QX77"}}),
    ("invocationInput", {"actionGroupInvocationInput": {"actionGroupName": "mail", "apiPath": "/mails", "verb": "post", "requestBody": {"content": {"application/json": [{"name": "to", "type": "string", "value": "Ada"}]}}}}),
    ("observation", {"actionGroupInvocationOutput": {"text": "sent"}}),
    ("invocationInput", {"knowledgeBaseLookupInput": {"text": "opening hours", "knowledgeBaseId": "K1"}}),
    ("observation", {"knowledgeBaseLookupOutput": {"retrievedReferences": [{"content": {"text": "9 to 5"}}]}}),
]  # fmt: skip


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    found = Service()
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment(found.url).items():
        monkeypatch.setenv(name, value)
    yield found
    found.close()


@pytest.fixture
def told(empty_repo: Repository) -> Repository:
    """A repository without an assistant, whose user greets and leaves."""
    empty_repo.write(conftest=TOLD_ALONE)
    return empty_repo


def first_turn(repo: Repository, *args: str) -> dict[str, Any]:
    """The assistant's first message in the one dialogue of a run that passes, which has two."""
    repo.inline(*RUN, "--personalens-report", "results.json", *args).assert_outcomes(passed=1)
    (item,) = repo.results()["items"]
    _, turn, _, _ = item["evaluation"]["dialogue"]["messages"]
    found: dict[str, Any] = turn
    return found


def http(service: Service, path: str = "") -> tuple[str, str]:
    return ("--personalens-assistant", f"http:{service.url}{path}")


def answered(
    repo: Repository, service: Service, answers: Sequence[Answer], *args: str
) -> tuple[list[Any], pytest.RunResult]:
    """The evaluations of one run, whose items are each answered by one of the answers."""
    left, sessions = iter(answers), dict[str, Answer]()

    def answer(asked: Asked) -> Answer:
        session = asked.body["session"]
        return sessions.get(session) or sessions.setdefault(session, next(left))

    service.answer = answer
    options = ("-opersonalens_parallel=false", "--personalens-report=results.json", *TOLD_AGENTS)
    result = repo.inline(f"--personalens-sample={len(answers)}", *options, *http(service), *args)
    items = [item["evaluation"] for item in repo.results()["items"]]
    return [next(one for one in items if one["scenario"] in session) for session in sessions], result


# HTTP


def test_a_service_is_sent_who_speaks_and_what_was_said(told: Repository, service: Service) -> None:
    service.answer = lambda asked: json_answer(f"Answer {len(asked.body['messages'])}.")
    for _ in range(2):
        turn = first_turn(told, *http(service, "/chat?v=2"))
    assert turn == {"role": "assistant", "content": "Answer 1."}
    asked, *_ = service.asked
    assert asked.path == "/chat?v=2"
    assert asked.body["messages"] == [{"role": "user", "content": "hello"}]
    assert asked.body["user"] in asked.body["session"]
    assert "About the user:" in asked.body["context"]
    one, same, other, _ = (asked.body["session"] for asked in service.asked)
    assert one == same != other, "the session is another one in each run"


SAID: Final = 'hello {context} "}, {"'


@pytest.mark.parametrize(
    ("template", "said", "sent"),
    [
        ({"input": {"text": "<{message}>", "n": 1}, "history": ["{messages}"], "braces": "{}"}, "hello", {"input": {"text": "<hello>", "n": 1}, "history": [[{"role": "user", "content": "hello"}]], "braces": "{}"}),
        ({"m": "{message}"}, SAID, {"m": SAID}),  # a user who writes a place, or JSON, changes nothing but the text
    ],
    ids=["places", "a place in what is said"],
)  # fmt: skip
def test_a_template_says_what_is_sent_and_a_path_where_the_reply_is(
    told: Repository, service: Service, template: object, said: str, sent: object
) -> None:
    told.write(conftest=TOLD_ALONE.replace('"hello"', repr(said)))
    service.answer = lambda asked: json_answer({"data": [{"reply": "Fine."}], "id": 7})
    request = f"-opersonalens_assistant_request={json.dumps(template)}"
    turn = first_turn(told, *http(service), request, "-opersonalens_assistant_reply=data.0.reply")
    assert (turn["content"], service.asked[0].body) == ("Fine.", sent)


#: Each answer, the path of the reply in it, and the reply.
READ: Final[list[tuple[Answer, str, str]]] = [
    (json_answer("Fine."), "", "Fine."),
    (Answer(["Schön.".encode()], "text/plain; charset=utf-8"), "", "Schön."),
    (json_answer({"role": "assistant", "content": "Fine."}), "", "Fine."),
    (json_answer({"choices": [{"message": {"content": "Fine."}}]}), "", "Fine."),
    (json_answer({"output": [{"a": 1}, {"text": "Fine."}]}), "output.-1.text", "Fine."),
    (events(*DELTAS), "", "It is booked."),
    (events({"type": "start"}, {"text": "It is "}, {"text": "booked."}, {"usage": 3}), "text", "It is booked."),
    (events("It is ", "booked", end=False), "", "It is booked"),
    (Answer([b'"It is ', b'"\n"booked."\n'], "application/x-ndjson"), "", "It is booked."),
    (Answer([b'{"d": "It"}\n', b'{"d": " is"}\n'], "application/jsonl"), "d", "It is"),
    (events({"choices": [{"delta": {"role": "assistant", "content": ""}}]}, *DELTAS, {"choices": [{"delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": {"total_tokens": 9}}), "", "It is booked."),
    (events({"choices": [{"delta": {"reasoning_content": "A table?"}}]}, *DELTAS, {"choices": [{"delta": None, "finish_reason": "stop"}]}), "", "It is booked."),
    (json_answer({"choices": [{"message": {"content": "<think>A table?</think>Fine."}, "finish_reason": "stop"}]}), "", "Fine."),
    (events(*RESPONSE, end=False), "delta", "Fine."),
    (events({"type": "text-start"}, {"type": "reasoning-delta", "delta": "A table?"}, {"type": "text-delta", "delta": "Fine."}, {"type": "finish"}), "", "Fine."),
    (events({"type": "message_start", "message": {}}, {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "A table?"}}, {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Fine."}}, {"type": "message_stop"}, end=False), "", "Fine."),
    (Answer([b'{"message": {"content": "Fi"}, "done": false}\n{"message": {"content": "ne."}, "done": true, "done_reason": "stop"}\n'], "application/x-ndjson"), "", "Fine."),
    (Answer([b"event: delta\r\ndata: {\"text\":\r\ndata: \"Fine.\"}\r\n\r\n: ping\r\n\r\n"], "text/event-stream"), "text", "Fine."),
]  # fmt: skip


@pytest.mark.parametrize("path", sorted({path for _, path, _ in READ}))
def test_answers_are_read_to_their_end(told: Repository, service: Service, path: str) -> None:
    rows = [(answer, said) for answer, of_path, said in READ if of_path == path]
    args = ("-o", f"personalens_assistant_reply={path}") if path else ()
    found, _ = answered(told, service, [answer for answer, _ in rows], *args)
    assert [one["dialogue"]["messages"][1]["content"] for one in found] == [said for _, said in rows]


CUT: Final[list[tuple[Answer, str]]] = [
    (json_answer({"choices": [{"message": {"content": "I've boo"}, "finish_reason": "length"}]}), "cut off at the limit of tokens"),
    (events({"choices": [{"delta": {"content": "I've boo"}, "finish_reason": None}]}, end=False), "broken off: its stream stopped without an end"),
    (events({"choices": [{"delta": {"content": "I've boo"}, "finish_reason": "content_filter"}]}), "stopped by a content filter (content_filter)"),
]  # fmt: skip


def test_a_reply_that_is_not_whole_is_marked(told: Repository, service: Service) -> None:
    found, result = answered(told, service, [answer for answer, _ in CUT])
    for one, (_, cut) in zip(found, CUT, strict=True):
        turns = [message for message in one["dialogue"]["messages"] if message["role"] == "assistant"]
        assert [(turn["content"], turn.get("cut")) for turn in turns] == [("I've boo", cut)] * 2
        shown = told.command("show", one["scenario"], "--results", "results.json").stdout.str()
        assert f"[this reply was {cut}]" in shown
    result.stdout.fnmatch_lines([f"replies that are not whole in 3 of 3 items, such as: {CUT[0][1]}"])


STEPS: Final = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "QX77"},
    {"role": "assistant", "content": "Booked."},
]
FIRST: Final = {"index": 0, "id": "c1", "function": {"name": "book", "arguments": '{"peop'}}
REST: Final = {"index": 0, "function": {"arguments": 'le": 2}'}}
PIECES: Final = [{"choices": [{"delta": {"tool_calls": [call]}}]} for call in (FIRST, REST)]


@pytest.mark.parametrize(
    ("answer", "path", "said"),
    [
        (json_answer(STEPS), "", "Booked."),
        (json_answer({"messages": STEPS}), "messages", "Booked."),
        (events(*PIECES, *DELTAS), "", "It is booked."),
    ],
    ids=["a list", "at a path", "a stream"],
)
def test_calls_of_a_service(told: Repository, service: Service, answer: Answer, path: str, said: str) -> None:
    service.answer = lambda asked: answer
    args = ("-o", f"personalens_assistant_reply={path}") if path else ()
    turn = first_turn(told, *http(service), *args)
    assert turn["content"] == said
    first, *others = turn.get("steps", [turn])
    assert first["tool_calls"][0]["function"] == CALL["function"]
    assert [step["content"] for step in others] == ["QX77"] * ("steps" in turn)


def test_headers_of_the_environment_are_secret(
    told: Repository, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_PASS", "s3cr3t-of-the-bot\n")
    headers = "\n  Authorization: Bearer ${BOT_PASS}\n  X-Team: chat\n"
    told.pytester.makeini(f"[pytest]\npersonalens_assistant_headers ={headers}")
    service.answer = lambda asked: json_answer({"error": asked.headers["authorization"]}, status=422)
    result = told.inline(*RUN, *http(service), "--personalens-report", "results.json")
    result.assert_outcomes(failed=1)
    assert service.asked[0].headers["authorization"] == "Bearer s3cr3t-of-the-bot"
    assert service.asked[0].headers["x-team"] == "chat"
    result.stdout.fnmatch_lines(["*the service refuses the call: 422: Bearer ****"])
    assert "s3cr3t" not in result.stdout.str() + (told.path / "results.json").read_text()


# what may pass, and what may not


AGENT: Final = ("--personalens-assistant", "bedrock-agent:AGENT1/LIVE")
RUNTIME: Final = ("--personalens-assistant", "agentcore:arn:aws:bedrock-agentcore:eu-west-1:123456789012:runtime/bot-x1")  # fmt: skip
KNOWN: Final = "bedrock-agentcore" in boto3.Session().get_available_services()
AGENTCORE: Final = pytest.mark.skipif(not KNOWN, reason="this boto3 does not know bedrock-agentcore")
NOW: Final = {"Retry_After": "0"}


@pytest.mark.parametrize(
    ("spec", "answers", "last"),
    [
        pytest.param((), [json_answer({}, 429, **NOW), json_answer({"detail": "warming up"}, 503, **NOW), Answer([b'"half', b'"'], cut=True), Answer([b'{"half":'])], json_answer("Booked."), marks=pytest.mark.slow),
        (AGENT, [agent_turn(("chunk", b"It"), ("throttlingException", {"message": "slow down"}))], agent_turn(("chunk", b"Booked."))),
        pytest.param(RUNTIME, [json_answer({"message": "slow down"}, 429, x_amzn_ErrorType="ThrottlingException", **NOW), json_answer({"message": "oh"}, 500, x_amzn_ErrorType="InternalServerException")], json_answer("Booked."), marks=AGENTCORE),
    ],
    ids=["http", "an agent", "a runtime"],
)  # fmt: skip
def test_what_may_pass_is_asked_again(
    told: Repository, service: Service, spec: tuple[str, ...], answers: list[Answer], last: Answer
) -> None:
    service.answers, service.answer = [*answers], lambda asked: last
    turn = first_turn(told, *(spec or http(service)))
    assert (turn["content"], len(service.asked)) == ("Booked.", len(answers) + 2)


#: What a run is given, what it is answered, the requests that this costs, and a line that tells it.
ENDS: Final[dict[str, tuple[tuple[str, ...], Answer, int, str]]] = {
    "silent": (("-opersonalens_turn_timeout=0.3",), Answer([b'"'], pause=3), 1, "the assistant did not answer within 0.3 s (personalens_turn_timeout)"),
    "trickling": (("-opersonalens_turn_timeout=0.3",), Answer([b" "] * 100, pause=0.1), 1, "the assistant did not answer within 0.3 s"),
    "without end": ((), Answer([b"x" * 1_000_000] * 60, "text/plain"), 1, "the service's answer has more than 50,000,000 bytes, which is the limit"),
    "a cap": (("--personalens-sample=4", "--personalens-budget=2calls"), json_answer("Fine."), 2, "the cap of --personalens-budget"),
    "a path": (("-opersonalens_assistant_reply=data.reply",), json_answer({"text": "Fine."}), 1, "nothing at 'data.reply' (personalens_assistant_reply)*with the keys text"),
    "a path in a stream": (("-opersonalens_assistant_reply=data.reply",), events({"text": "Fine."}), 1, "nothing at 'data.reply' (personalens_assistant_reply)*with the keys text"),
    "a call left to its caller": (AGENT, agent_turn(("returnControl", {"invocationInputs": [{"functionInvocationInput": {"actionGroup": "g", "function": "book_table"}}]})), 1, "leaves the call of book_table to its caller (return of control)"),
    "denied": (AGENT, agent_turn(("accessDeniedException", {"message": "no"})), 1, "AWS denies access to bedrock-agent:AGENT1/LIVE (no); allow bedrock:InvokeAgent on it"),
    "nothing": (AGENT, agent_turn(), 1, "the assistant returned an empty text"),
    "gone": (AGENT, Answer([b'{"message": "gone"}'], status=404, headers={"x-amzn-ErrorType": "ResourceNotFoundException"}), 1, "no bedrock-agent:AGENT1/LIVE in region us-east-1: gone; check agent, alias, region"),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_what_ends_a_dialogue_is_told_and_not_asked_again(
    told: Repository, service: Service, name: str
) -> None:
    """A service that keeps its session would hear the message again."""
    args, answer, asked, line = ENDS[name]
    service.answer = lambda asked: answer
    result = told.inline(*RUN, *http(service), *args)
    assert len(service.asked) == asked
    assert fnmatch(unwrapped(result), f"*{line}*")


FAULTS: Final[list[tuple[Answer, str]]] = [
    (json_answer({"error": {"message": "no key"}}, 401), "lets nobody in without its key: 401: no key; set personalens_assistant_headers"),
    (json_answer({}, 404), "takes no POST at this address: 404"),
    (json_answer({}, 307, Location="/login"), "sends this call elsewhere: 307 to /login"),
    (json_answer({"detail": "field required"}, 422), 'refuses the call: 422: {"detail": "field required"}; see personalens_assistant_request'),
    (json_answer({"text": "Fine.", "id": 1}), "the service's answer is an object with the keys text, id; say by personalens_assistant_reply where the reply is in it"),
    (json_answer(7), "the service's answer is 7; say by personalens_assistant_reply"),
    (Answer([b"<html>Sign in</html>"], "text/html"), "answers with a page (text/html)"),
    (json_answer(""), "the assistant returned an empty text"),
    (Answer([], "application/json"), "the assistant returned an empty text"),
    (json_answer({"error": {"message": "quota is spent", "code": 403}}), "an error in it: quota is spent 403"),
    (json_answer({"detail": "Session not found"}), "an error in it: "),
    (json_answer({"status": "error", "message": "no such session"}), "an error in it: no such session"),
    (events("I've boo", {"type": "error", "errorText": "no such table"}), "with an error in it: no such table"),
    (Answer([b"data: I've boo\n\nevent: error\ndata: {\"message\": \"closed for good\"}\n\n"], "text/event-stream"), "with an error in it: closed for good"),
    (events({"type": "response.failed", "response": {"error": {"code": "invalid_prompt", "message": "not so"}}}), "with an error in it: not so"),
    (events({"error": {"message": "out of tokens"}}), "the service sent a stream with an error in it: out of tokens"),
    (events(), "stream has no event in it"),
    (json_answer([{"role": "tool", "tool_call_id": "c1", "content": "QX77"}]), "ends with a tool message"),
]  # fmt: skip


def test_what_will_not_pass_is_the_assistants_fault_at_once(told: Repository, service: Service) -> None:
    found, result = answered(told, service, [answer for answer, _ in FAULTS], "-rA")
    for one, (_, problem) in zip(found, FAULTS, strict=True):
        assert (one["cause"], problem in one["detail"]) == ("assistant", True), one["detail"]
        assert one["detail"] in result.stdout.str()
    assert len({asked.body["session"] for asked in service.asked}) == len(service.asked) == len(FAULTS)


def test_each_dialogue_has_its_session(told: Repository, service: Service) -> None:
    side_by_side = ("--personalens-sample=6", "-n", "2", "-opersonalens_parallel=3")
    told.run(*RUN, *side_by_side, *http(service)).assert_outcomes(passed=6)
    assert len({asked.body["session"] for asked in service.asked}) == 6


def test_a_service_is_called_in_every_run_the_rest_is_replayed(told: Repository, service: Service) -> None:
    args = (*RUN, *http(service))
    told.inline(*args, "--personalens-record", "new").assert_outcomes(passed=1)
    (record,) = told.path.glob("__personalens__/**/*.json")
    before = record.read_bytes()
    told.inline(*args).assert_outcomes(passed=1)
    assert (len(service.asked), record.read_bytes()) == (4, before)


@pytest.mark.parametrize(
    ("spec", "ini", "problem"),
    [
        ("http:localhost:8000", "", "expected http:URL, such as http:http://localhost:8000/chat, not 'http:localhost:8000'"),
        ("http://localhost:port/x", "", "expected http:URL"),
        ("https://ada:pw@bot.test/x", "", "the address holds a user or a password; leave it out, and set personalens_assistant_headers"),
        ("http://127.0.0.1:9/x", "personalens_assistant_request={", "personalens_assistant_request: expected JSON"),
        ("http://127.0.0.1:9/x", 'personalens_assistant_request={"q": "{mesage}"}', "unknown place {mesage}; known: {message}, {messages}"),
        ("http://127.0.0.1:9/x", 'personalens_assistant_request={"q": "hi"}', "nothing that the user says is sent"),
        ("http://127.0.0.1:9/x", 'personalens_assistant_request={"q": "so far: {messages}"}', "{messages} is a list; let it stand alone"),
        ("http://127.0.0.1:9/x", "personalens_assistant_headers=Authorization Bearer", "expected 'NAME: VALUE', not 'Authorization Bearer'"),
        ("http://127.0.0.1:9/x", "personalens_assistant_headers=X-Key: ${NO_SUCH_KEY}", "X-Key needs the environment variable NO_SUCH_KEY, which is not set"),
        ("bedrock-agent:AGENT1", "", "expected bedrock-agent:AGENT/ALIAS"),
        ("bedrock-agent:AGENT1/LIVE?timeout=3", "", "unknown parameter 'timeout'; known for bedrock-agent: region, profile"),
        ("bedrock-agent:AGENT1/LIVE", "personalens_assistant_reply=x", "personalens_assistant_reply: it is not used for bedrock-agent; leave it out"),
        ("agentcore:arn:aws:lambda:us-east-1:1:function:x", "", "expected agentcore:ARN"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_one_line(told: Repository, spec: str, ini: str, problem: str) -> None:
    result = told.inline(*RUN, "--personalens-assistant", spec, *(("-o", ini) if ini else ()))
    assert result.ret == 4
    (line,) = (line for line in result.errlines if line.strip())
    assert problem in line


# agents of Bedrock


def test_an_agent_of_bedrock_hears_the_last_message_alone(told: Repository, service: Service) -> None:
    traces = [("trace", {"trace": {"orchestrationTrace": {kind: data}}}) for kind, data in TRACE]
    service.answer = lambda asked: agent_turn(
        *traces, ("chunk", b"It is boo"), ("chunk", "ked, Zoë.".encode())
    )
    turn = first_turn(told, *AGENT)
    assert turn["content"] == "It is booked, Zoë."
    steps = turn["steps"]
    functions = [call["function"] for step in steps for call in step.get("tool_calls", ())]
    called = [(function["name"], json.loads(function["arguments"])) for function in functions]
    booked = ("book_table", {"people": 2, "place": "007"})
    assert called == [booked, ("mails", {"to": "Ada"}), ("knowledge_base", {"text": "opening hours"})]
    assert [s["content"] for s in steps if s["role"] == "tool"] == ["reference QX77", "sent", "9 to 5"]
    asked, _ = service.asked
    _, agent, _, alias, _, session, _ = asked.path.strip("/").split("/")
    assert (agent, alias) == ("AGENT1", "LIVE")
    state = asked.body["sessionState"]
    assert (asked.body["inputText"], asked.body["enableTrace"]) == ("hello", True)
    assert state["sessionAttributes"]["user"] in session
    assert "About the user:" in state["promptSessionAttributes"]["context"]


def test_no_credentials_no_run(told: Repository, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    result = told.inline(*RUN, *AGENT)
    assert_usage_error(result, "*bedrock-agent:AGENT1/LIVE: no usable AWS credentials*")
    result.stderr.no_fnmatch_line("*--personalens-record*")


# AgentCore


@AGENTCORE
@pytest.mark.parametrize("streamed", [False, True])
def test_a_runtime_of_agentcore(told: Repository, service: Service, streamed: bool) -> None:
    message = {"role": "assistant", "content": [{"text": "It is booked."}]}
    answer = events("It is ", "booked.", end=False) if streamed else json_answer(message)
    service.answer = lambda asked: answer
    turn = first_turn(told, RUNTIME[0], f"{RUNTIME[1]}?qualifier=TEST")
    assert turn["content"] == "It is booked."
    asked, _ = service.asked
    assert asked.path.endswith("/invocations?qualifier=TEST")
    assert "eu-west-1" in asked.headers["authorization"], "the region is that of the ARN"
    assert len(asked.headers["x-amzn-bedrock-agentcore-runtime-session-id"]) >= 33
    assert asked.body["prompt"] == "hello"
    assert "About the user:" in asked.body["context"]


@AGENTCORE
def test_a_runtime_has_a_template_and_a_path(told: Repository, service: Service) -> None:
    service.answer = lambda asked: json_answer({"result": "Fine."})
    template = 'personalens_assistant_request={"input": "{message}"}'
    turn = first_turn(told, *RUNTIME, "-o", template, "-opersonalens_assistant_reply=result")
    assert (turn["content"], service.asked[0].body) == ("Fine.", {"input": "hello"})
