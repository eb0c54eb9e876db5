"""Batches, logs and replies of servers of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_personalens.core.dialogue.exports.pieces import (
    Piece,
    asked_of,
    get,
    metadata_of,
    piece_of,
    reply_of,
    whole,
)


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


def of_response(value: Mapping[str, Any]) -> Iterator[Piece]:
    response = value if value.get("object") == "response" else value["response"]
    asked = asked_of({"input": value.get("input")}) or asked_of(value.get("request"))
    messages = whole(asked, reply_of(response))
    yield piece_of({**response, **value}, messages, str(response.get("id") or ""), response.get("model"))


def of_completion(value: Mapping[str, Any]) -> Iterator[Piece]:
    asked = asked_of(value) or asked_of(value.get("request"))
    messages = whole(asked, reply_of(value))
    yield piece_of(value, messages, str(value.get("id") or ""), value.get("model"))
