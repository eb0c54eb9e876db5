"""Bedrock and OpenAI clients against an endpoint on loopback, with every fault a real one has; specs."""

from __future__ import annotations

import pytest

from pytest_personalens import FakeModel
from pytest_personalens.core.errors import ModelBusy, ModelError, SpecError
from pytest_personalens.models import Request, open_model
from pytest_personalens.models.retry import Reliable
from pytest_personalens.models.specs import read_parameters, read_spec
from tests.support.servers.endpoint import Endpoint, Reply

BEDROCK, OPENAI = "bedrock:claude-3-haiku-v1", "openai:small"
BOTH = pytest.mark.parametrize("spec", [BEDROCK, OPENAI])
ASK = Request("Be brief.", "Say hello.", temperature=0.5, max_tokens=50)


@pytest.fixture
def endpoint(endpoint: Endpoint) -> Endpoint:
    endpoint.answer = lambda call: Reply("ok")
    return endpoint


def patient(endpoint: Endpoint, spec: str) -> tuple[Reliable, list[float]]:
    """A model that is tried again at once, and the waits it would have made."""
    waits: list[float] = []
    return Reliable(endpoint.open(spec), sleep=waits.append, chance=lambda: 1.0), waits


def refused(code: str, message: str = "as told", status: int = 400) -> Reply:
    return Reply(status=status, code=code, message=message)


# what is sent and what comes back


@BOTH
def test_a_call_carries_what_was_asked_and_counts_what_was_billed(endpoint: Endpoint, spec: str) -> None:
    endpoint.replies = [Reply("Hello there.")]
    request = ASK._replace(history=(("user", "Hi."), ("assistant", "Yes?")))
    answer = endpoint.open(spec).complete(request)
    assert (answer.text, answer.end, answer.limit) == ("Hello there.", "end", 50)
    assert (answer.input_tokens, answer.output_tokens) == (6, 2)
    (call,) = endpoint.calls
    assert (call.system, call.history, call.prompt) == ("Be brief.", [*request.history], "Say hello.")
    limits = call.body.get("inferenceConfig", call.body)
    model = {"bedrock": "anthropic.claude-3-haiku-20240307-v1:0", "openai": "small"}[call.protocol]
    names = {"bedrock": "maxTokens", "openai": "max_tokens"}
    assert (call.model, limits["temperature"], limits[names[call.protocol]]) == (model, 0.5, 50)


@BOTH
def test_what_was_sent_before_is_read_from_the_cache(endpoint: Endpoint, spec: str) -> None:
    model, text = endpoint.open(spec), "word " * 30
    model.complete(Request("", text + "first", shared=len(text)))
    second = model.complete(Request("", text + "second", shared=len(text)))
    assert (second.input_tokens, second.cached_tokens) == (1, 30)
    if endpoint.calls[0].protocol == "bedrock":
        content = endpoint.calls[0].body["messages"][0]["content"]
        assert content == [{"text": text}, {"cachePoint": {"type": "default"}}, {"text": "first"}]


@BOTH
def test_an_answer_is_bound_to_its_schema_by_a_tool(endpoint: Endpoint, spec: str) -> None:
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    endpoint.replies = [Reply(data={"score": 3})]
    assert patient(endpoint, spec)[0].complete(ASK._replace(answer=schema)).data == {"score": 3}
    body = endpoint.calls[0].body
    tools = body["toolConfig"]["tools"] if "toolConfig" in body else body["tools"]
    assert "score" in str(tools)


@pytest.mark.parametrize("history", [(), (("user", "One."), ("assistant", "Two."))], ids=["alone", "later"])
def test_a_bedrock_model_that_takes_no_system_text_is_told_it_in_its_first_message(
    endpoint: Endpoint, history: tuple[tuple[str, str], ...]
) -> None:
    refusal = refused("ValidationException", "This model doesn't support the system field. Remove it.")
    endpoint.replies = [refusal, Reply("ok"), Reply("ok")]
    model = endpoint.open("bedrock:mistral-7b-instruct-v2")
    for _ in range(2):
        assert model.complete(Request("Be kind.", "Three.", history=history, shared=2)).text == "ok"
    assert [bool(call.system) for call in endpoint.calls] == [True, False, False]
    first = endpoint.calls[1].history[0][1] if history else endpoint.calls[1].prompt
    assert first == ("Be kind.\n\nOne." if history else "Be kind.\n\nThree.")


def test_parameters_of_the_spec_win_and_the_region_picks_the_profile(endpoint: Endpoint) -> None:
    for spec in ("claude-3-7-sonnet-v1?region=eu-west-1&temperature=0.9&max_tokens=7", "my.own-model-v9:0"):
        endpoint.open(f"bedrock:{spec}").complete(ASK)
    call, own = endpoint.calls
    assert (call.model, own.model) == ("eu.anthropic.claude-3-7-sonnet-20250219-v1:0", "my.own-model-v9:0")
    assert call.body["inferenceConfig"] == {"temperature": 0.9, "maxTokens": 7}
    assert "eu-west-1" in call.headers["authorization"]


# faults


#: Status, code and fault of a call that may succeed later.
BUSY = {
    "throttled": Reply(status=429, code="ThrottlingException"), "5xx": Reply(status=502, code="NobodyKnowsException"),
    "internal": Reply(status=500, code="InternalServerException"), "model timeout": Reply(status=408, code="ModelTimeoutException"),
    "dropped": Reply(fault="drop"), "half a body": Reply("x" * 400, fault="half"), "malformed": Reply(fault="garbage"), "nothing": Reply(""),
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("fault", BUSY)
def test_what_may_pass_is_tried_again(endpoint: Endpoint, spec: str, fault: str) -> None:
    endpoint.replies = [BUSY[fault]] * 2
    model, waits = patient(endpoint, f"{spec}?timeout=30")
    assert model.complete(ASK).text == "ok"
    assert (len(endpoint.calls), waits) == (3, [0.5, 1.0])


@BOTH
def test_an_answer_that_is_late_is_asked_for_once_more(endpoint: Endpoint, spec: str) -> None:
    """It may be billed all the same, and the server may still be at work."""
    endpoint.replies = [Reply("ok"), Reply(fault="hang")]
    model, waits = patient(endpoint, f"{spec}?timeout=2")  # a busy machine needs a second for an answer
    assert [model.complete(ASK).text for _ in range(2)] == ["ok", "ok"]
    endpoint.answer = lambda call: Reply(fault="hang")
    told = r"within 2 s; give it longer with \?timeout= \(gave up after 2 attempts\)"
    with pytest.raises(ModelError, match=told):
        model.complete(ASK)
    assert len(endpoint.calls) == 5
    assert waits == [0.5, 0.5]


def test_an_empty_answer_that_ended_for_a_reason_is_not_asked_for_again(endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply("", stop="length")
    model, waits = patient(endpoint, OPENAI)
    assert (model.complete(ASK).end, len(endpoint.calls), waits) == ("length", 1, [])


@BOTH
def test_what_does_not_pass_is_given_up_with_the_last_reason(endpoint: Endpoint, spec: str) -> None:
    endpoint.answer = lambda call: Reply(status=503, code="ServiceUnavailableException", message="on fire")
    model, waits = patient(endpoint, spec)
    with pytest.raises(ModelError, match=r"on fire.*gave up after 8 attempts"):
        model.complete(ASK)
    assert len(endpoint.calls) == 8
    assert waits == [0.5, 1, 2, 4, 8, 16, 30]


def test_a_model_that_never_answered_is_not_waited_for_again_and_again(endpoint: Endpoint) -> None:
    down = Reply(status=503, message="down")
    endpoint.answer = lambda call: down
    model, waits = patient(endpoint, "openai:small")
    with pytest.raises(ModelError, match="gave up after 8 attempts"):
        model.complete(ASK)
    waits.clear()
    for _ in range(3):
        with pytest.raises(ModelError, match=r"down.*it has not answered once"):
            model.complete(ASK)
    assert waits == []
    endpoint.answer = lambda call: Reply("up")
    assert model.complete(ASK).text == "up"
    endpoint.answer = lambda call: down
    with pytest.raises(ModelError, match="gave up after 8 attempts"):
        model.complete(ASK)


def test_a_model_that_has_no_room_yet_is_waited_for_each_time(endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply(status=429, message="slower")
    model, waits = patient(endpoint, "openai:small")
    for _ in range(2):
        with pytest.raises(ModelError, match="gave up after 8 attempts"):
            model.complete(ASK)
    assert len(waits) == 14


@BOTH
def test_the_provider_says_how_long_to_wait(endpoint: Endpoint, spec: str) -> None:
    endpoint.replies = [
        Reply(status=429, code="ThrottlingException", headers={"Retry-After": "7"}),
        Reply(status=429, code="NobodyKnowsException", headers={"Retry-After": "900"}),
        Reply(status=429, code="ThrottlingException", headers={"Retry-After": "soon"}),
    ]
    model, waits = patient(endpoint, spec)
    model.complete(ASK)
    assert waits == [7.0, 30.0, 2.0]
    assert model.limiter.throttled == 3


INVALID = "The provided model identifier is invalid."
ON_DEMAND = "Invocation with on-demand throughput isn't supported"
EXPIRED = r"does not accept the credentials \(ExpiredTokenException\); renew them"


@pytest.mark.parametrize(
    ("spec", "reply", "advice"),
    [
        (BEDROCK, refused("ExpiredTokenException", status=403), EXPIRED),
        (BEDROCK, refused("UnrecognizedClientException", status=403), "renew them"),
        (BEDROCK, refused("AccessDeniedException", "not yours", 403), r"denies access to anthropic.* \(not yours\); allow bedrock:Invoke"),
        (BEDROCK, refused("ValidationException", INVALID), "no model .* in region us-east-1"),
        (BEDROCK, refused("ResourceNotFoundException", status=404), r"no model .* AWS retired it, at the latest on 2026-09-10; take claude-haiku-4-5"),
        (BEDROCK, refused("ValidationException", ON_DEMAND), "inference profile"),
        (BEDROCK, refused("ValidationException", "too long"), "refuses the call: ValidationException: too long"),
        (OPENAI, Reply(status=401, message="bad key"), "does not accept the key: .*bad key.*OPENAI_API_KEY"),
        (OPENAI, Reply(status=403, message="no"), "does not accept the key"),
        (OPENAI, Reply(status=404, message="no such model"), "no model 'small' there"),
        (OPENAI, Reply(status=400, message="context length exceeded"), "refuses the call: .*context length"),
        (OPENAI, Reply(status=429, code="insufficient_quota", message="insufficient_quota"), "no quota left"),
    ],
)  # fmt: skip
def test_a_client_says_at_once_what_to_do(endpoint: Endpoint, spec: str, reply: Reply, advice: str) -> None:
    endpoint.replies = [reply]
    model, waits = patient(endpoint, spec)
    with pytest.raises(ModelError, match=advice) as caught:
        model.complete(ASK)
    assert "\n" not in str(caught.value)
    assert not isinstance(caught.value, ModelBusy)
    assert (len(endpoint.calls), waits) == (1, [])


def test_a_profile_that_is_unknown_and_an_address_that_needs_no_key(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What else is missing is told before a run: tests/engine/test_live_runs.py."""
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelError, match=r"config profile \(nobody\) could not be found"):
        endpoint.open("bedrock:nova-lite?profile=nobody").complete(ASK)
    assert endpoint.open(f"openai:small?base_url={endpoint.url}/v1").complete(ASK).text == "ok"


# specs


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("bedrock:", "expected bedrock:MODEL"),
        ("openai:x?color=red", "unknown parameter 'color'; known for openai: temperature"),
        ("bedrock:x?temperature=hot", "temperature: expected a number from 0 to 2, not 'hot'"),
        ("bedrock:x?temperature=3", "temperature: expected a number from 0 to 2"),
        ("bedrock:x?region", "expected parameters such as"),
        ("bedrock:x?region=", "region: expected an AWS region"),
        ("bedrock:x?tools=maybe", "tools: expected on or off"),
    ],
)
def test_a_bad_spec_is_one_line(text: str, problem: str) -> None:
    with pytest.raises(SpecError, match=problem):
        read_spec(text)


def test_the_name_of_a_model_holds_what_shapes_its_answers(endpoint: Endpoint) -> None:
    named = endpoint.open("bedrock:nova-lite?region=eu-west-1&temperature=0").name
    assert named == "bedrock:nova-lite?temperature=0.0"
    assert open_model("acme:large") is None
    defaults = {"region": "eu-west-1", "temperature": "0.2", "base_url": "http://127.0.0.1:1/v1"}
    found = open_model("bedrock:nova-lite?temperature=0.9", defaults)
    assert found is not None and found.name == "bedrock:nova-lite?temperature=0.9"


def test_parameters_of_the_configuration_are_checked_as_those_of_a_spec() -> None:
    given = ["region = eu-west-1", "temperature=0.2"]
    assert read_parameters(given) == {"region": "eu-west-1", "temperature": "0.2"}
    for line, problem in (("colour = red", "one of the names temperature"), ("region", "expected 'NAME = VALUE'"), ("timeout = long", "expected seconds")):  # fmt: skip
        with pytest.raises(SpecError, match=problem):
            read_parameters([line])


@pytest.mark.slow
def test_an_unknown_region_is_found_out_at_once(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:9")
    for region, problem, tries in (
        ("eu-nowhere-9", "no Bedrock in region 'eu-nowhere-9'", 0),
        ("eu-west-1", "no answer from Bedrock: Could not connect", 7),
    ):
        model, waits = patient(endpoint, f"bedrock:nova-lite?region={region}")
        with pytest.raises(ModelError, match=problem):
            model.complete(ASK)
        assert len(waits) == tries


def test_a_check_opens_no_connections(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urllib3.PoolManager", None)
    Reliable(endpoint.open(OPENAI)).check_ready()


def test_a_fake_model_says_what_a_test_gives_it_and_refuses_what_is_no_answer() -> None:
    busy, own = ModelBusy("in a moment"), lambda request: f"{request.prompt} two"
    model = FakeModel("one", busy, own, 3, name="fake:x")  # type: ignore[arg-type]
    assert [model.complete(ASK).text, model.name, model.paid] == ["one", "fake:x", False]
    with pytest.raises(ModelBusy, match="in a moment"):
        model.complete(ASK)
    assert model.complete(ASK).text == "Say hello. two"
    for _ in range(2):
        with pytest.raises(TypeError, match="expected a text, an Answer or an exception, not 3"):
            model.complete(ASK)
    assert model.requests == [ASK] * 5
    with pytest.raises(ValueError, match="give it one answer at least"):
        FakeModel()
