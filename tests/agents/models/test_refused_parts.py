"""Parts of a request that a model refuses: each is learnt by whoever sent it, and nothing is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_personalens import ModelError, Request
from pytest_personalens.models.bedrock import model_id
from pytest_personalens.models.openai import Learnt
from pytest_personalens.models.retry import Limiter, Reliable
from tests.support.servers.endpoint import Call, Endpoint, Reply

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}
ASK = Request("Be brief.", "Say hello.", max_tokens=4000, shared=4, answer=SCHEMA)
#: Status and message of a refusal, by what it refuses; each as a server has worded it.
OPENAI_REFUSALS = {
    "max_tokens": (400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
    "temperature": (400, "Unsupported value: 'temperature' does not support 0 with this model."),
    "tools": (500, "tools param requires --jinja flag"),
    "system": (400, "System role not supported"),
    "stream": (422, "stream: Extra inputs are not permitted"),
}  # fmt: skip
BEDROCK_REFUSALS = {
    "temperature": "The model returned the following errors: `temperature` is deprecated for this model.",
    "toolChoice": "This model doesn't support the toolConfig.toolChoice.tool field. Remove it and try again.",
    "toolConfig": "This model doesn't support tool use.",
    "system": "This model doesn't support system messages. Try again without a system message.",
    "cachePoint": "You invoked an unsupported model or your request did not allow prompt caching.",
}


def refuse_in_turn(call: Call) -> Reply:
    """A server that refuses five parts, one a request, and takes its time for it."""
    if call.protocol == "openai":
        sent = {*call.body, *(m["role"] for m in call.body["messages"])}
        for part, (status, message) in OPENAI_REFUSALS.items():
            if part in sent:
                return Reply(status=status, message=message, delay=0.02)
    else:
        text = str(call.body)
        for part, message in BEDROCK_REFUSALS.items():
            if part in text:
                return Reply(status=400, code="ValidationException", message=message, delay=0.02)
    return Reply("Score: 3", delay=0.02)


@pytest.mark.parametrize("spec", ["openai:small", "bedrock:nova-lite"])
def test_calls_at_once_learn_five_refused_parts_and_none_is_lost(endpoint: Endpoint, spec: str) -> None:
    endpoint.answer = refuse_in_turn
    model = endpoint.open(spec, connections=64)
    reliable = Reliable(model, limiter=Limiter(start=30, most=30))
    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(reliable.complete, [ASK] * 120))
    assert {answer.text for answer in answers} == {"Score: 3"}
    # Only the calls in flight at the beginning are refused, and each of them once a part.
    assert len(endpoint.calls) <= 120 + 30 * 5
    before = len(endpoint.calls)
    reliable.complete(ASK)
    assert len(endpoint.calls) == before + 1
    call = endpoint.calls[-1]
    assert (call.system, call.prompt) == ("", "Be brief.\n\nSay hello."), (
        "the system text is told all the same"
    )
    kept = {
        "openai": {"model", "messages", "max_completion_tokens"},
        "bedrock": {"messages", "inferenceConfig"},
    }
    assert call.body.keys() == kept[call.protocol]


def test_another_process_knows_what_was_learnt(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.answer = refuse_in_turn
    for expected in (6, 1):
        model = endpoint.open("openai:small", folder=tmp_path)
        endpoint.calls.clear()
        assert model.complete(ASK).text == "Score: 3"
        assert len(endpoint.calls) == expected
    other = endpoint.open("openai:large", folder=tmp_path)
    endpoint.calls.clear()
    other.complete(ASK)
    assert len(endpoint.calls) == 6, "another model may take what this one refuses"


@pytest.mark.parametrize(
    ("problem", "sent", "tokens", "parts"),
    [
        ("max_tokens is too large: 4000. This model supports at most 2048 completion tokens.", ("max_tokens",), 4000, {"max_tokens<=2048"}),
        ("The maximum tokens you requested exceeds the model limit of 2048.", ("max_tokens", "tools"), 4000, {"max_tokens<=2048"}),
        ("body.tool_choice Input should be a valid string", ("tools", "tool_choice"), 4000, {"tool_choice"}),
        ("body.tool_choice Input should be a valid string", ("tools",), 4000, {"tools"}),
        ("Conversation roles must alternate user/assistant", ("system", "tools"), 4000, {"system"}),
        ("registry.ollama.ai/library/gemma2:9b does not support tools", ("tools", "tool_choice"), 4000, {"tools"}),
        ("No endpoints found that support tool use.", ("tools",), 4000, {"tools"}),
        ("Invalid schema for function 'answer'", ("tools", "temperature"), 4000, {"tools"}),
        ("`temperature` may only be set to 1 when thinking is enabled", ("temperature",), 4000, {"temperature"}),
    ],
)  # fmt: skip
def test_what_a_refusal_names(problem: str, sent: tuple[str, ...], tokens: int, parts: set[str]) -> None:
    learnt = Learnt()
    assert not learnt.learn(problem, (), tokens), "what was not sent is not refused"
    assert learnt.learn(problem, sent, tokens)
    assert learnt.parts() == parts
    assert learnt.learn(problem, sent, tokens), "another request that sent it may be sent again"


@pytest.mark.parametrize(
    ("name", "region", "called"),
    [
        # The models that the official README names, and the ids that the official code calls. On demand, Claude 3
        # Haiku needs no inference profile; the official code calls it through one.
        ("claude-3-haiku-v1", "us-east-1", "anthropic.claude-3-haiku-20240307-v1:0"),
        ("claude-3-sonnet-v1", "us-east-1", "anthropic.claude-3-sonnet-20240229-v1:0"),
        ("claude-3-5-haiku-v1", "us-east-1", "us.anthropic.claude-3-5-haiku-20241022-v1:0"),
        ("claude-3-5-sonnet-v1", "us-east-1", "anthropic.claude-3-5-sonnet-20240620-v1:0"),
        ("claude-3-5-sonnet-v2", "us-east-1", "us.anthropic.claude-3-5-sonnet-20241022-v2:0"),
        ("claude-3-7-sonnet-v1", "us-east-1", "us.anthropic.claude-3-7-sonnet-20250219-v1:0"),
        ("llama-3-70b-instruct-v1", "us-east-1", "meta.llama3-70b-instruct-v1:0"),
        ("llama-3-1-8b-instruct-v1", "us-east-1", "us.meta.llama3-1-8b-instruct-v1:0"),
        ("llama-3-1-70b-instruct-v1", "us-east-1", "us.meta.llama3-1-70b-instruct-v1:0"),
        ("llama-3-3-70b-instruct-v1", "us-east-1", "us.meta.llama3-3-70b-instruct-v1:0"),
        ("mistral-7b-instruct-v2", "us-east-1", "mistral.mistral-7b-instruct-v0:2"),
        ("mixtral-8x7b-instruct-v1", "us-east-1", "mistral.mixtral-8x7b-instruct-v0:1"),
        ("claude-sonnet-4-5", "ap-northeast-1", "jp.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("claude-haiku-4-5", "ap-southeast-2", "au.anthropic.claude-haiku-4-5-20251001-v1:0"),
        ("claude-sonnet-4-5", "us-gov-west-1", "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("claude-sonnet-4-5", "me-central-1", "global.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("claude-sonnet-4-6", "ap-south-1", "global.anthropic.claude-sonnet-4-6"),
        ("claude-sonnet-4", "ap-northeast-1", "apac.anthropic.claude-sonnet-4-20250514-v1:0"),
        ("nova-lite", "eu-west-1", "amazon.nova-lite-v1:0"),
        ("jp.anthropic.claude-opus-4-8", "us-east-1", "jp.anthropic.claude-opus-4-8"),
    ],
)
def test_an_inference_profile_hangs_on_the_model_and_the_region(name: str, region: str, called: str) -> None:
    assert model_id(name, region) == called


BEARER = "AWS_BEARER_TOKEN_BEDROCK"


@pytest.mark.parametrize(
    ("token", "problem"),
    [
        ("", "AWS_BEARER_TOKEN_BEDROCK is set and empty, .*unset it, or set the token"),
        ("  \n", "AWS_BEARER_TOKEN_BEDROCK is set and empty"),
        ("abcdefgh\n", "AWS_BEARER_TOKEN_BEDROCK holds a line break, a space .*set it again"),
        ("abcdefgh", "boto3 sends the token in AWS_BEARER_TOKEN_BEDROCK over https alone, and the endpoint is http://"),
    ],
)  # fmt: skip
def test_a_token_that_no_call_can_succeed_with_is_told_before_the_run(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, token: str, problem: str
) -> None:
    monkeypatch.setenv(BEARER, token)
    model = endpoint.open("bedrock:nova-lite")
    for use in (Reliable(model).check_ready, lambda: Reliable(model).complete(ASK)):
        with pytest.raises(ModelError, match=problem) as caught:
            use()
        assert "\n" not in str(caught.value)
        assert "abcdefgh" not in str(caught.value)
    assert endpoint.calls == []


def test_an_expired_token_is_to_be_renewed(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    model = endpoint.open("bedrock:nova-lite")

    def expired(call: Call) -> Reply:
        # The call was signed with keys, because the endpoint is no https.
        monkeypatch.setenv(BEARER, "abcdefgh")
        return Reply(status=403, code="AccessDeniedException", message="Bearer Token has expired")

    endpoint.answer = expired
    told = r"does not accept the token in AWS_BEARER_TOKEN_BEDROCK \(Bearer Token has expired\); make a new"
    with pytest.raises(ModelError, match=told):
        Reliable(model).complete(ASK)
    assert len(endpoint.calls) == 1


@pytest.mark.parametrize(
    ("content", "stop", "text", "end"),
    [
        ([{"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": "Yes."}], "end_turn", "Yes.", "end"),
        ([{"text": "It is "}, {"citationsContent": {"content": [{"text": "at 19:30"}]}}, {"text": "."}], "end_turn", "It is at 19:30.", "end"),
        ([{"text": "I've boo"}], "max_tokens", "I've boo", "length"),
        ([{"text": "I've boo"}], "model_context_window_exceeded", "I've boo", "length"),
        ([{"text": "I've boo"}], "malformed_model_output", "I've boo", "error"),
        ([], "malformed_tool_use", "", "error"),
        ([{"text": "Sorry."}], "guardrail_intervened", "Sorry.", "filter"),
        ([], "content_filtered", "", "filter"),
        ([{"text": "Yes."}], "stop_sequence", "Yes.", "end"),
    ],
)  # fmt: skip
def test_stop_reasons_of_bedrock(
    endpoint: Endpoint, content: list[object], stop: str, text: str, end: str
) -> None:
    body = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop}
    usage = {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13}
    endpoint.replies = [Reply(raw={**body, "usage": usage, "metrics": {"latencyMs": 1}})]
    model = endpoint.open("bedrock:nova-lite")
    answer = Reliable(model).complete(Request("", "Hello"))
    assert (answer.text, answer.end, answer.output_tokens) == (text, end, 4)
    assert len(endpoint.calls) == 1
