"""The layouts of exports, and how an object is known to have one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from pytest_personalens.core.dialogue.exports import evaluations, servers, traces
from pytest_personalens.core.dialogue.exports.pieces import Piece, get

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


def _is_response(value: _Object) -> bool:
    return "response" in (value.get("object"), get(value, "response", "object"))


def _is_promptfoo(value: _Object) -> bool:
    return (
        isinstance(get(value, "results", "results"), list) or {"prompt", "response", "vars"} <= value.keys()
    )


def _is_deepeval(value: _Object) -> bool:
    return "conversationalTestCases" in value or isinstance(get(value, "turns", 0, "role"), str)


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
    Layout("a batch", _is_batch, servers.of_batch),
    Layout("a batch of Bedrock", lambda v: "modelInput" in v, servers.of_bedrock_batch),
    Layout("an invocation log of Bedrock", _is_invocation, servers.of_invocation_log),
    Layout("a Responses object", _is_response, servers.of_response),
    Layout("a chat completion", lambda v: isinstance(v.get("choices"), list), servers.of_completion),
    Layout("a LangSmith run", lambda v: {"run_type", "inputs"} <= v.keys(), traces.of_langsmith),
    Layout("a promptfoo evaluation", _is_promptfoo, evaluations.of_promptfoo),
    Layout("an inspect log", lambda v: {"eval", "samples"} <= v.keys(), evaluations.of_inspect),
    Layout("deepeval's conversations", _is_deepeval, evaluations.of_deepeval),
    Layout("ShareGPT", lambda v: isinstance(v.get("conversations"), list), evaluations.of_sharegpt),
    Layout("OpenTelemetry", _is_otel, traces.of_otel),
    Layout("a trace of Langfuse", _is_langfuse, traces.of_langfuse),
    Layout("a list", lambda v: bool(_list_in(v)), _each),
)  # fmt: skip
