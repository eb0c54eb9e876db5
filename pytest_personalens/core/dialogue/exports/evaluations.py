"""Results of other test tools, and datasets of dialogues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_personalens.core.dialogue.exports.messages import sides
from pytest_personalens.core.dialogue.exports.pieces import Piece, decoded, get, metadata_of, said_in


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
    yield Piece(sides(value["conversations"]), str(value.get("id") or ""), value.get("scenario"))
