"""Runs, traces and spans of tracing tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_personalens.core.dialogue.exports.messages import sides
from pytest_personalens.core.dialogue.exports.pieces import (
    Piece,
    decoded,
    get,
    has_both_sides,
    piece_of,
    turn_of,
)


def of_langsmith(value: Mapping[str, Any]) -> Iterator[Piece]:
    messages = turn_of(value, value.get("inputs"), value.get("outputs"))
    if value.get("parent_run_id"):
        return  # the run above it says the same
    if not has_both_sides(messages):
        raise ValueError(f"no message of both sides in the run {value.get('name')!r}; remove it")
    without_project = {k: v for k, v in value.items() if k != "session_id"}
    yield piece_of(
        without_project, messages, str(value.get("id") or ""), value.get("name"), value.get("start_time")
    )


def of_langfuse(value: Mapping[str, Any]) -> Iterator[Piece]:
    messages = turn_of(value, value.get("input"), value.get("output"))
    time = value.get("timestamp") or value.get("startTime")
    for seen in value.get("observations") or ():
        if not has_both_sides(messages) and get(seen, "type") == "GENERATION":
            messages = turn_of(seen, seen.get("input"), seen.get("output"))
    if not has_both_sides(messages):
        if value.get("type") not in (None, "GENERATION"):
            return  # a span or an event of a trace
        raise ValueError("no message of both sides in the input and output; remove it")
    yield piece_of(
        {**value, "metadata": decoded(value.get("metadata"))},
        messages,
        str(value.get("id") or ""),
        time=time,
    )


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
        asked, reply = (decoded(attributes.get(f"gen_ai.{side}.messages")) for side in ("input", "output"))
        if attributes.get("gen_ai.operation.name") not in (None, "chat", "invoke_agent", "generate_content"):
            continue
        if not any(name.startswith("gen_ai.") for name in attributes):
            continue
        if not asked or not reply:
            raise ValueError(
                "a span without gen_ai.input.messages and gen_ai.output.messages;"
                " let your instrumentation keep the content"
            )
        time = span.get("startTimeUnixNano") or span.get("start_time")
        name = str(get(span, "context", "span_id") or span.get("spanId") or "")
        scenario = attributes.get("scenario", attributes.get("gen_ai.conversation.scenario"))
        found = {"conversation_id": attributes.get("gen_ai.conversation.id"), "scenario": scenario}
        yield piece_of(
            {"metadata": found},
            [*sides(asked), *sides(reply)],
            name,
            attributes.get("gen_ai.request.model"),
            time,
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
