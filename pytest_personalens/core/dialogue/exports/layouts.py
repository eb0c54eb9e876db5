"""The layouts of exports: of servers, of tracing tools and of other test tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from pytest_personalens.core.dialogue.exports.export_pieces import (
    Messages,
    Piece,
    asked_of,
    decoded,
    get,
    has_both_sides,
    metadata_of,
    piece_of,
    reply_of,
    said_in,
    sides,
    turn_of,
    whole,
)


def of_promptfoo(value: Mapping[str, Any]) -> Iterator[Piece]:
    results = value["results"]["results"] if "results" in value else [value]
    for n, result in enumerate(results):
        said = get(result, "response", "metadata", "messages") or get(result, "metadata", "messages")
        output = get(result, "response", "output")
        if not said and output is None:
            raise ValueError(
                f"the result {n} has no output ({get(result, 'error') or 'no reason given'}); remove it"
            )
        prompt = decoded(get(result, "prompt", "raw"))
        messages = sides(said) if said else [*said_in(prompt, reply=False), *said_in(output, reply=True)]
        found = {**metadata_of(get(result, "testCase") or {}), **metadata_of(result)}
        provider = get(result, "provider", "id") or get(result, "provider")
        yield Piece(messages, str(get(result, "id") or n), found.get("scenario"), str(provider or ""))


def of_inspect(value: Mapping[str, Any]) -> Iterator[Piece]:
    for sample in value.get("samples") or ():
        name = f"{sample.get('id')}-{sample.get('epoch', 1)}"
        scenario = metadata_of(sample).get("scenario", sample.get("id"))
        yield Piece(
            sides(sample.get("messages") or []), name, scenario, str(get(value, "eval", "model") or "")
        )


def of_deepeval(value: Mapping[str, Any]) -> Iterator[Piece]:
    for n, case in enumerate(value.get("conversationalTestCases") or ([value] if "turns" in value else [])):
        scenario = metadata_of(case).get("scenario", case.get("name"))
        yield Piece(sides(case.get("turns") or []), str(case.get("name") or n), scenario)


def of_sharegpt(value: Mapping[str, Any]) -> Iterator[Piece]:
    said = value.get("conversations", value.get("conversation"))
    yield Piece(sides(said), str(value.get("id") or ""), value.get("scenario"))


def of_batch(value: Mapping[str, Any]) -> Iterator[Piece]:
    name = str(value["custom_id"])
    if "body" in value or "params" in value:
        body = value.get("body", value.get("params"))
        asked = whole(asked_of(body), [{}])[:-1]
        yield Piece(asked, name, metadata_of(body or {}).get("scenario"), group=name, half="request")
        return
    body = get(value, "response", "body") or get(value, "result", "message")
    reply = reply_of(body)
    if not reply:
        why = get(value, "error", "message") or get(body, "error", "message") or get(value, "result", "type")
        raise ValueError(f"the request {name!r} has no reply ({why or 'no text'}); remove the line")
    yield Piece(reply, name, assistant=str(get(body, "model") or ""), group=name, half="result")


def of_bedrock_batch(value: Mapping[str, Any]) -> Iterator[Piece]:
    asked, reply = asked_of(value["modelInput"]), reply_of(value.get("modelOutput"))
    yield Piece(whole(asked, reply), str(value.get("recordId") or ""))


def of_invocation_log(value: Mapping[str, Any]) -> Iterator[Piece]:
    body = get(value, "output", "outputBodyJson")
    if isinstance(body, list):
        raise ValueError("a streamed InvokeModel, whose reply is in pieces; log calls of Converse")
    messages = whole(asked_of(get(value, "input", "inputBodyJson")), reply_of(body))
    yield piece_of(
        value, messages, str(value.get("requestId") or ""), value.get("modelId"), value.get("timestamp")
    )


def of_call(value: Mapping[str, Any]) -> Iterator[Piece]:
    answer = value if _has_reply(value) else value["response"]
    messages = whole(asked_of(value) or asked_of(value.get("request")), reply_of(answer))
    yield piece_of({**answer, **value}, messages, str(answer.get("id") or ""), answer.get("model"))


def of_langsmith(value: Mapping[str, Any]) -> Iterator[Piece]:
    messages, parent = turn_of(value, value.get("inputs"), value.get("outputs")), value.get("parent_run_id")
    if not has_both_sides(messages):
        if not parent:
            raise ValueError(f"no message of both sides in the run {value.get('name')!r}; remove it")
        messages = []
    without_project = {k: v for k, v in value.items() if k != "session_id"}
    piece = piece_of(
        without_project, messages, str(value.get("id") or ""), value.get("name"), value.get("start_time")
    )
    yield piece._replace(trace=str(value.get("trace_id") or ""), parent=str(parent or ""))


def of_langfuse(value: Mapping[str, Any]) -> Iterator[Piece]:
    messages = turn_of(value, value.get("input"), value.get("output"))
    time = value.get("timestamp") or value.get("startTime")
    for seen in value.get("observations") or ():
        if not has_both_sides(messages) and get(seen, "type") == "GENERATION":
            messages = turn_of(seen, seen.get("input"), seen.get("output"))
    if not has_both_sides(messages):
        if value.get("type") in (None, "GENERATION"):
            raise ValueError("no message of both sides in the input and output; remove it")
        messages = []  # a span or an event of a trace
    found, name = {**value, "metadata": decoded(value.get("metadata"))}, str(value.get("id") or "")
    trace, parent = (str(value.get(key) or "") for key in ("traceId", "parentObservationId"))
    yield piece_of(found, messages, name, time=time)._replace(trace=trace, parent=parent)


def of_otel(value: Mapping[str, Any]) -> Iterator[Piece]:
    scopes = [s for r in value.get("resourceSpans") or () for s in get(r, "scopeSpans") or ()]
    for span in (
        [s for scope in scopes for s in get(scope, "spans") or ()] if "resourceSpans" in value else [value]
    ):
        attributes = _attributes(span.get("attributes"))
        for event in span.get("events") or ():  # the content may stand in an event of the span
            attributes |= {
                k: v for k, v in _attributes(get(event, "attributes")).items() if k.endswith(".messages")
            }
        session = attributes.get("gen_ai.conversation.id", attributes.get("session.id"))
        scenario = attributes.get("scenario", attributes.get("gen_ai.conversation.scenario"))
        name = str(get(span, "context", "span_id") or span.get("spanId") or "")
        piece = piece_of(
            {"metadata": {"conversation_id": session, "scenario": scenario}},
            _of_span(attributes),
            name,
            attributes.get("gen_ai.request.model", attributes.get("llm.model_name")),
            span.get("startTimeUnixNano") or span.get("start_time"),
        )
        trace, parent = (
            (get(span, "context", "trace_id"), span.get("parent_id"))
            if "context" in span
            else (span.get("traceId"), span.get("parentSpanId"))
        )
        yield piece._replace(trace=str(trace or ""), parent=str(parent or ""))


def _of_span(attributes: Mapping[str, Any]) -> Messages:
    """Return the messages of a span of GenAI, of an agent of pydantic-ai, or of OpenInference.

    Raise `ValueError` for a call of a model whose content was not kept.
    """
    operation = attributes.get("gen_ai.operation.name", attributes.get("openinference.span.kind"))
    if operation not in (None, "chat", "generate_content", "invoke_agent", "LLM"):
        return []
    asked, reply = (decoded(attributes.get(f"gen_ai.{side}.messages")) for side in ("input", "output"))
    if asked and reply:
        return [*sides(asked), *sides(reply)]
    if every := decoded(attributes.get("pydantic_ai.all_messages")):
        return sides(every)
    body, answer = (decoded(attributes.get(f"{side}.value")) for side in ("input", "output"))
    before, after = asked_of(body), reply_of(answer)
    if before and after:
        return [*before, *after]
    # An agent's span may leave the content to those of its calls.
    if operation == "invoke_agent" or not any(name.startswith("gen_ai.") for name in attributes):
        return []
    raise ValueError(
        "a span without gen_ai.input.messages and gen_ai.output.messages;"
        " let your instrumentation keep the content"
    )


def _attributes(value: object) -> dict[str, Any]:
    """Return attributes by name, from an object or from OTLP's list of keys and typed values."""
    if isinstance(value, Mapping):
        return dict(value)
    listed = value if isinstance(value, list) else []
    return {str(get(one, "key")): _any_value(get(one, "value")) for one in listed}


def _any_value(value: object) -> Any:
    if (listed := get(value, "arrayValue")) is not None:
        return [_any_value(one) for one in get(listed, "values") or ()]
    if (mapping := get(value, "kvlistValue")) is not None:
        return _attributes(get(mapping, "values"))
    return next(iter(value.values()), None) if isinstance(value, Mapping) else value


_Object = Mapping[str, Any]


class Layout(NamedTuple):
    """One layout: an object has it if `known` says so; `read` raises ValueError if it holds no dialogue."""

    name: str
    known: Callable[[_Object], bool]
    read: Callable[[_Object], Iterator[Piece]]


def layout_of(value: object) -> Layout | None:
    """Return the layout of an object, or None if it is no export that is known."""
    if not isinstance(value, Mapping):
        return None
    return next((layout for layout in _LAYOUTS if layout.known(value)), None)


def _is_batch(value: _Object) -> bool:
    return "custom_id" in value and not {"body", "params", "response", "result"}.isdisjoint(value)


def _is_invocation(value: _Object) -> bool:
    return "modelId" in value and get(value, "input", "inputBodyJson") is not None


def _is_call(value: _Object) -> bool:
    return _has_reply(value) or _has_reply(value.get("response"))


def _has_reply(value: object) -> bool:
    known = get(value, "object") == "response" or isinstance(get(value, "choices"), list)
    return known or bool(reply_of(value))


def _is_promptfoo(value: _Object) -> bool:
    return (
        isinstance(get(value, "results", "results"), list) or {"prompt", "response", "vars"} <= value.keys()
    )


def _is_deepeval(value: _Object) -> bool:
    return "conversationalTestCases" in value or isinstance(get(value, "turns", 0, "role"), str)


def _is_sharegpt(value: _Object) -> bool:
    return isinstance(value.get("conversations", value.get("conversation")), list)


def _is_otel(value: _Object) -> bool:
    return "resourceSpans" in value or {"attributes", "context"} <= value.keys()


def _is_langfuse(value: _Object) -> bool:
    more = {"observations", "traceId", "sessionId", "projectId"}
    return {"input", "output"} <= value.keys() and not more.isdisjoint(value)


def _list_in(value: _Object) -> list[Any]:
    """Return the list in an answer of an API, or the requests of a batch, if their layout is known."""
    listed = (value.get(name) for name in ("data", "requests", "runs"))
    return next((one for one in listed if isinstance(one, list) and layout_of(get(one, 0))), [])


def _each(value: _Object) -> Iterator[Piece]:
    for one in _list_in(value):
        layout = layout_of(one)
        if layout is None:
            raise ValueError("holds objects of several kinds")
        yield from layout.read(one)


_LAYOUTS: Final = (
    Layout("a batch", _is_batch, of_batch),
    Layout("a batch of Bedrock", lambda v: "modelInput" in v, of_bedrock_batch),
    Layout("an invocation log of Bedrock", _is_invocation, of_invocation_log),
    Layout("a LangSmith run", lambda v: {"run_type", "inputs"} <= v.keys(), of_langsmith),
    Layout("a promptfoo evaluation", _is_promptfoo, of_promptfoo),
    Layout("an inspect log", lambda v: {"eval", "samples"} <= v.keys(), of_inspect),
    Layout("deepeval's conversations", _is_deepeval, of_deepeval),
    Layout("ShareGPT", _is_sharegpt, of_sharegpt),
    Layout("OpenTelemetry", _is_otel, of_otel),
    Layout("a trace of Langfuse", _is_langfuse, of_langfuse),
    Layout("a model's answer", _is_call, of_call),
    Layout("a list", lambda v: bool(_list_in(v)), _each),
)  # fmt: skip
