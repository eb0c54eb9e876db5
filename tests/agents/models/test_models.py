"""Bedrock and OpenAI clients against an endpoint on loopback, with every fault a real one has; limiter,
meter, budget and specs.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_personalens.core.errors import BudgetSpent, ModelBusy, ModelError, SpecError
from pytest_personalens.core.judging.usage import Price, Usage, price_of, read_prices
from pytest_personalens.models import Answer, Model, Request, open_model
from pytest_personalens.models.meter import Budget, Meter
from pytest_personalens.models.retry import COOLDOWN, Limiter, Reliable
from pytest_personalens.models.specs import read_parameters, read_spec
from tests.support.servers.endpoint import Endpoint, Reply

BEDROCK, OPENAI = "bedrock:claude-3-haiku-v1", "openai:small"
BOTH = pytest.mark.parametrize("spec", [BEDROCK, OPENAI])
ASK = Request("Be brief.", "Say hello.", temperature=0.5, max_tokens=50)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    server = Endpoint()
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    yield server
    while _OPEN:
        _OPEN.pop().close()
    server.close()


_OPEN: list[Reliable] = []


def client(spec: str) -> Model:
    found = open_model(spec)
    assert found is not None
    _OPEN.append(Reliable(found))
    return found


def patient(spec: str) -> tuple[Reliable, list[float]]:
    """A model that is tried again at once, and the waits it would have made."""
    waits: list[float] = []
    return Reliable(client(spec), sleep=waits.append, chance=lambda: 1.0), waits


def refused(code: str, message: str = "as told", status: int = 400) -> Reply:
    return Reply(status=status, code=code, message=message)


# what is sent and what comes back


@BOTH
def test_a_call_carries_what_was_asked_and_counts_what_was_billed(endpoint: Endpoint, spec: str) -> None:
    endpoint.replies = [Reply("Hello there.")]
    request = ASK._replace(history=(("user", "Hi."), ("assistant", "Yes?")))
    answer = client(spec).complete(request)
    assert (answer.text, answer.end, answer.limit) == ("Hello there.", "end", 50)
    assert (answer.input_tokens, answer.output_tokens) == (6, 2)
    (call,) = endpoint.calls
    assert (call.system, call.history, call.prompt) == (
        "Be brief.",
        [("user", "Hi."), ("assistant", "Yes?")],
        "Say hello.",
    )
    body = call.body
    sampling = (
        body["inferenceConfig"]
        if call.protocol == "bedrock"
        else {"temperature": body["temperature"], "maxTokens": body["max_tokens"]}
    )
    assert sampling == {"temperature": 0.5, "maxTokens": 50}
    assert (
        call.model == {"bedrock": "anthropic.claude-3-haiku-20240307-v1:0", "openai": "small"}[call.protocol]
    )


@BOTH
def test_what_was_sent_before_is_read_from_the_cache(endpoint: Endpoint, spec: str) -> None:
    model, text = client(spec), "word " * 30
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
    assert patient(spec)[0].complete(ASK._replace(answer=schema)).data == {"score": 3}
    body = endpoint.calls[0].body
    tools = body["toolConfig"]["tools"] if "toolConfig" in body else body["tools"]
    assert "score" in str(tools)


@BOTH
def test_a_model_without_tools_is_asked_for_the_text_form(endpoint: Endpoint, spec: str) -> None:
    refusal = refused("ValidationException", "This model does not support tool use.")
    endpoint.replies = [refusal, Reply("Score: 3"), Reply("Score: 4")]
    model = client(spec)
    assert model.complete(ASK._replace(answer={"type": "object"})).text == "Score: 3"
    assert model.complete(ASK._replace(answer={"type": "object"})).text == "Score: 4"
    assert [("toolConfig" in c.body or "tools" in c.body) for c in endpoint.calls] == [True, False, False]


def test_a_bedrock_model_without_caching_is_asked_without_it(endpoint: Endpoint) -> None:
    endpoint.replies = [
        refused("ValidationException", "cachePoint is not supported by this model"),
        Reply("ok"),
    ]
    assert client("bedrock:mistral-7b").complete(Request("", "ab", shared=1)).text == "ok"
    assert [len(c.body["messages"][0]["content"]) for c in endpoint.calls] == [3, 1]


@pytest.mark.parametrize("history", [(), (("user", "One."), ("assistant", "Two."))], ids=["alone", "later"])
def test_a_bedrock_model_that_takes_no_system_text_is_told_it_in_its_first_message(
    endpoint: Endpoint, history: tuple[tuple[str, str], ...]
) -> None:
    refusal = refused("ValidationException", "This model doesn't support the system field. Remove it.")
    endpoint.replies = [refusal, Reply("ok"), Reply("ok")]
    model = client("bedrock:mistral-7b-instruct-v2")
    for _ in range(2):
        assert model.complete(Request("Be kind.", "Three.", history=history, shared=2)).text == "ok"
    assert [bool(call.system) for call in endpoint.calls] == [True, False, False]
    first = endpoint.calls[1].history[0][1] if history else endpoint.calls[1].prompt
    assert first == ("Be kind.\n\nOne." if history else "Be kind.\n\nThree.")


#: The models that the official README names, and the ids that the official code calls in us-east-1.
OFFICIAL_MODELS = {
    "claude-3-haiku-v1": "anthropic.claude-3-haiku-20240307-v1:0",
    "claude-3-sonnet-v1": "anthropic.claude-3-sonnet-20240229-v1:0",
    "claude-3-5-haiku-v1": "us.anthropic.claude-3-5-haiku-20241022-v1:0",
    "claude-3-5-sonnet-v1": "anthropic.claude-3-5-sonnet-20240620-v1:0",
    "claude-3-5-sonnet-v2": "us.anthropic.claude-3-5-sonnet-20241022-v2:0",
    "claude-3-7-sonnet-v1": "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
    "llama-3-70b-instruct-v1": "meta.llama3-70b-instruct-v1:0",
    "llama-3-1-8b-instruct-v1": "us.meta.llama3-1-8b-instruct-v1:0",
    "llama-3-1-70b-instruct-v1": "us.meta.llama3-1-70b-instruct-v1:0",
    "llama-3-3-70b-instruct-v1": "us.meta.llama3-3-70b-instruct-v1:0",
    "mistral-7b-instruct-v2": "mistral.mistral-7b-instruct-v0:2",
    "mixtral-8x7b-instruct-v1": "mistral.mixtral-8x7b-instruct-v0:1",
}


@pytest.mark.parametrize("name", OFFICIAL_MODELS)
def test_the_models_of_the_official_code_are_known_by_its_names(endpoint: Endpoint, name: str) -> None:
    client(f"bedrock:{name}").complete(Request("", "Hello"))
    # On demand, Claude 3 Haiku needs no inference profile; the official code calls it through one.
    assert endpoint.calls[0].model == OFFICIAL_MODELS[name]


@pytest.mark.parametrize(
    ("message", "absent", "present"),
    [
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens", "max_completion_tokens"),
        ("Unsupported value: 'temperature' does not support 0.5", "temperature", "max_tokens"),
    ],
)  # fmt: skip
def test_an_openai_model_that_takes_no_such_parameter_is_asked_without_it(
    endpoint: Endpoint, message: str, absent: str, present: str
) -> None:
    endpoint.replies = [Reply(status=400, message=message), Reply("ok")]
    assert client("openai:o9").complete(ASK).text == "ok"
    assert absent not in endpoint.calls[1].body
    assert present in endpoint.calls[1].body


def test_parameters_of_the_spec_win_and_the_region_picks_the_profile(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    client("bedrock:claude-3-7-sonnet-v1?region=eu-west-1&temperature=0.9&max_tokens=7").complete(ASK)
    (call,) = endpoint.calls
    assert call.model == "eu.anthropic.claude-3-7-sonnet-20250219-v1:0"
    assert call.body["inferenceConfig"] == {"temperature": 0.9, "maxTokens": 7}
    assert "eu-west-1" in call.headers["authorization"]
    client("bedrock:my.own-model-v9:0").complete(ASK)
    assert endpoint.calls[1].model == "my.own-model-v9:0"


# faults


BUSY = {
    "throttled": (Reply(status=429, code="ThrottlingException"), Reply(status=429)),
    "5xx": (Reply(status=503, code="ServiceUnavailableException"), Reply(status=503)),
    "internal": (Reply(status=500, code="InternalServerException"), Reply(status=500)),
    "model timeout": (Reply(status=408, code="ModelTimeoutException"), Reply(status=408)),
    "dropped": (Reply(fault="drop"), Reply(fault="drop")),
    "half a body": (Reply("x" * 400, fault="half"), Reply("x" * 400, fault="half")),
    "malformed": (Reply(fault="garbage"), Reply(fault="garbage")),
    "nothing": (Reply(""), Reply("")),
}


@BOTH
@pytest.mark.parametrize("fault", BUSY)
def test_what_may_pass_is_tried_again(endpoint: Endpoint, spec: str, fault: str) -> None:
    reply = BUSY[fault][0 if spec.startswith("bedrock") else 1]
    endpoint.replies = [reply, reply]
    model, waits = patient(f"{spec}?timeout=30")
    assert model.complete(ASK).text == "ok"
    assert len(endpoint.calls) == 3
    assert waits == [0.5, 1.0]


@BOTH
def test_an_answer_that_is_late_is_asked_for_once_more(endpoint: Endpoint, spec: str) -> None:
    """It may be billed all the same, and the server may still be at work."""
    endpoint.replies = [Reply(fault="hang")]
    model, waits = patient(f"{spec}?timeout=0.4")
    assert model.complete(ASK).text == "ok"
    endpoint.answer = lambda call: Reply(fault="hang")
    told = r"within 0.4 s; give it longer with \?timeout= \(gave up after 2 attempts\)"
    with pytest.raises(ModelError, match=told):
        model.complete(ASK)
    assert len(endpoint.calls) == 4
    assert waits == [0.5, 0.5]


@BOTH
def test_what_does_not_pass_is_given_up_with_the_last_reason(endpoint: Endpoint, spec: str) -> None:
    endpoint.answer = lambda call: Reply(status=503, code="ServiceUnavailableException", message="on fire")
    model, waits = patient(spec)
    with pytest.raises(ModelError, match=r"on fire.*gave up after 8 attempts"):
        model.complete(ASK)
    assert len(endpoint.calls) == 8
    assert waits == [0.5, 1, 2, 4, 8, 16, 30]


def test_a_model_that_never_answered_is_not_waited_for_again_and_again(endpoint: Endpoint) -> None:
    down = Reply(status=503, message="down")
    endpoint.answer = lambda call: down
    model, waits = patient("openai:small")
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
    model, waits = patient("openai:small")
    for _ in range(2):
        with pytest.raises(ModelError, match="gave up after 8 attempts"):
            model.complete(ASK)
    assert len(waits) == 14


@BOTH
def test_the_provider_says_how_long_to_wait(endpoint: Endpoint, spec: str) -> None:
    endpoint.replies = [
        Reply(status=429, code="ThrottlingException", headers={"Retry-After": "7"}),
        Reply(status=429, code="ThrottlingException", headers={"Retry-After": "900"}),
        Reply(status=429, code="ThrottlingException", headers={"Retry-After": "soon"}),
    ]
    model, waits = patient(spec)
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
    model, waits = patient(spec)
    with pytest.raises(ModelError, match=advice) as caught:
        model.complete(ASK)
    assert "\n" not in str(caught.value)
    assert not isinstance(caught.value, ModelBusy)
    assert (len(endpoint.calls), waits) == (1, [])


def test_missing_credentials_region_and_key_are_one_line_each(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = (
        "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION AWS_DEFAULT_REGION OPENAI_API_KEY OPENAI_BASE_URL"
    )
    for name in names.split():
        monkeypatch.delenv(name)
    with pytest.raises(ModelError, match=r"no AWS region is set; give \?region="):
        client("bedrock:nova-lite").complete(ASK)
    with pytest.raises(ModelError, match="no usable AWS credentials"):
        client("bedrock:nova-lite?region=us-east-1").complete(ASK)
    with pytest.raises(ModelError, match=r"config profile \(nobody\) could not be found"):
        client("bedrock:nova-lite?profile=nobody").complete(ASK)
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        client("openai:small").complete(ASK)
    assert client(f"openai:small?base_url={endpoint.url}/v1").complete(ASK).text == "ok"


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


def test_the_name_of_a_model_holds_what_shapes_its_answers() -> None:
    assert (
        client("bedrock:nova-lite?region=eu-west-1&temperature=0").name == "bedrock:nova-lite?temperature=0.0"
    )
    assert open_model("acme:large") is None
    defaults = {"region": "eu-west-1", "temperature": "0.2", "base_url": "http://127.0.0.1:1/v1"}
    found = open_model("bedrock:nova-lite?temperature=0.9", defaults)
    assert found is not None
    assert found.name == "bedrock:nova-lite?temperature=0.9"


def test_parameters_of_the_configuration_are_checked_as_those_of_a_spec() -> None:
    assert read_parameters(["region = eu-west-1", "temperature=0.2"]) == {
        "region": "eu-west-1",
        "temperature": "0.2",
    }
    for line, problem in (
        ("colour = red", "one of the names temperature"),
        ("region", "expected 'NAME = VALUE'"),
        ("timeout = long", "expected seconds"),
    ):
        with pytest.raises(SpecError, match=problem):
            read_parameters([line])


@pytest.mark.slow
def test_a_region_that_does_not_exist_is_found_out_at_once(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:9")
    model, waits = patient("bedrock:nova-lite?region=eu-nowhere-9")
    with pytest.raises(ModelError, match="no Bedrock in region 'eu-nowhere-9'"):
        model.complete(ASK)
    assert waits == []
    model, waits = patient("bedrock:nova-lite?region=eu-west-1")
    with pytest.raises(ModelError, match="no answer from Bedrock: Could not connect"):
        model.complete(ASK)
    assert len(waits) == 7


# limiter


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def busy_round(limiter: Limiter, *, good: bool = True) -> None:
    """As many calls as there are places, all in flight at once."""
    slots = [limiter.slot() for _ in range(limiter.limit)]
    for slot in slots:
        slot.__enter__()
    for _ in slots:
        if good:
            limiter.record_success()
        else:
            limiter.record_throttling()
    for slot in slots:
        slot.__exit__(None, None, None)


def test_the_limit_doubles_until_the_first_throttling_and_then_creeps() -> None:
    clock = Clock()
    limiter = Limiter(start=2, most=64, clock=clock)
    for expected in (4, 8, 16):
        busy_round(limiter)
        assert limiter.limit == expected
    busy_round(limiter, good=False)
    assert limiter.limit == 12, "one cut for one moment, however many calls it hit"
    busy_round(limiter)
    assert limiter.limit == 12, "what succeeds during the cooldown says nothing"
    clock.now += COOLDOWN
    busy_round(limiter)
    assert 12 <= limiter.limit <= 13
    for _ in range(60):
        clock.now += COOLDOWN
        busy_round(limiter, good=False)
    assert limiter.limit == 1, "never less than one"
    busy_round(limiter)


def test_a_start_far_above_the_quota_comes_down_at_once() -> None:
    limiter = Limiter(start=64, most=64, clock=Clock())
    for _ in range(8):
        busy_round(limiter, good=False)
    assert limiter.limit <= 4, "though not a second has passed"


def test_one_call_in_twenty_refused_cuts_once() -> None:
    limiter = Limiter(start=30, most=64, clock=Clock())
    for number in range(400):
        with limiter.slot():
            limiter.record_throttling() if number % 20 == 7 else limiter.record_success()
    assert limiter.limit == 24


def test_an_idle_limit_does_not_grow_and_a_failure_cuts_nothing() -> None:
    limiter = Limiter(start=10)
    for _ in range(50):
        with limiter.slot():
            limiter.record_success()
    assert limiter.limit == 10
    limiter.record_failure()
    assert limiter.limit == 10


def test_no_more_calls_are_in_flight_than_the_limit(endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply("ok", delay=0.02)
    model = Reliable(client("openai:small"), limiter=Limiter(start=2, most=3))
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _: model.complete(ASK), range(24)))
    assert endpoint.most_in_flight <= 3


# meter, prices, budget


class Fake:
    """A model that always answers the same."""

    name, paid = "fake", True

    def __init__(self, completion: Answer) -> None:
        self.completion = completion

    def complete(self, request: Request) -> Answer:
        return self.completion


def test_the_meter_counts_by_purpose() -> None:
    meter = Meter()
    for purpose in ("judge tc", "judge tc", "user agent"):
        meter.complete(
            Fake(Answer(text="x", input_tokens=10, output_tokens=2, cached_tokens=5, written_tokens=1)),
            ASK,
            purpose,
        )
    one = Usage(calls=1, input_tokens=10, output_tokens=2, cached_tokens=5, written_tokens=1)
    assert meter.usage == {"judge tc": one + one, "user agent": one}


def test_prices() -> None:
    prices = read_prices(
        ["bedrock:nova-lite = 0.06, 0.24, 0.015", "openai:x?temperature=0.0 = 1, 2, 0.5, 1.25"]
    )
    assert prices["bedrock:nova-lite"] == Price(0.06, 0.24, 0.015, 0.06)
    million = 1_000_000
    usage = Usage(
        calls=1,
        input_tokens=million,
        output_tokens=million // 2,
        cached_tokens=2 * million,
        written_tokens=million,
    )
    assert prices["openai:x?temperature=0.0"].of(usage) == pytest.approx(1 + 1 + 1 + 1.25)
    assert price_of("bedrock:nova-lite?temperature=0.5", prices) == prices["bedrock:nova-lite"]
    assert price_of("openai:x", prices) is None
    for bad in (
        "nova",
        "nova = 1",
        "nova = a, b",
        "= 1, 2",
        "nova = -1, 2",
        "nova = 1, 2, 3, 4, 5",
        "nova = nan, 1",
    ):
        with pytest.raises(SpecError, match="expected 'MODEL = INPUT, OUTPUT"):
            read_prices([bad])


def test_a_cap_on_calls_holds_across_processes_and_threads(tmp_path: Path) -> None:
    budgets = [Budget(tmp_path / "run", max_calls=10) for _ in range(4)]  # as four workers would have

    def take(budget: Budget) -> bool:
        try:
            budget.reserve()
        except BudgetSpent:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(take, budgets * 5)) == 10


def test_a_cap_on_money_counts_what_calls_cost(tmp_path: Path) -> None:
    fake = Fake(Answer(text="x", input_tokens=1_000_000))
    budget = Budget(tmp_path / "run", max_usd=2.5)
    meter = Meter(budget=budget, prices={"fake": Price(1.0, 1.0, 1.0, 1.0)})
    for _ in range(3):
        meter.complete(fake, ASK, "judge tc")
    with pytest.raises(BudgetSpent, match=r"has spent \$3.00, the cap of --personalens-budget is \$2.50"):
        meter.complete(fake, ASK, "judge tc")
    assert meter.usage["judge tc"].calls == 3
