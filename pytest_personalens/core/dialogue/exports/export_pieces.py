"""A piece of an export: a dialogue or a part of one, its metadata, and its messages in OpenAI's format."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

#: What other formats call the two sides and the tools.
_ROLES: Final = {
    "human": "user", "HumanMessage": "user", "gpt": "assistant", "ai": "assistant", "AIMessage": "assistant",
    "AIMessageChunk": "assistant", "model": "assistant", "function": "tool", "observation": "tool",
    "ToolMessage": "tool", "SystemMessage": "system",
}  # fmt: skip
_THOUGHTS: Final = (
    "thinking", "redacted_thinking", "reasoning", "reasoning_text", "summary_text", "thought",
    "reasoningContent",
)  # fmt: skip
_TEXTS: Final = ("text", "input_text", "output_text", "refusal")
#: Keys of a part that steer the server and hold nothing that is said.
_SILENT: Final = ("cachePoint", "step-start")


def plain_messages(raw: object) -> list[Any]:
    """Return a stored message as messages in OpenAI's format: one, or more where it holds results of tools.

    What no rule knows stays as it is, so that the reader of messages can name it. Thoughts are left out.
    """
    try:
        return _plain(raw) if isinstance(raw, Mapping) else [raw]
    except (AttributeError, IndexError, KeyError, TypeError):
        return [raw]


def _plain(raw: Mapping[str, Any]) -> list[dict[str, Any]]:
    message = _opened(raw)
    item = message.get("type")
    if item == "function_call":  # of the Responses API
        return [_calling("", [_call(message.get("call_id"), message.get("name"), message.get("arguments"))])]
    if item == "function_call_output":
        return [_result(message.get("call_id"), message.get("output"))]
    if item in _THOUGHTS:
        return []
    tools = message.pop("toolsCalled", None) or message.pop("tools_called", None)
    if isinstance(tools, list):  # deepeval names what was called before the reply
        return [*_called(tools), *_plain(message)]
    parts = message.get("parts", message.get("content"))
    said: list[Any] = []
    listed = message.get("tool_calls") or []
    calls = [_of_calls(call) for call in listed] if isinstance(listed, (list, tuple)) else listed
    results: list[dict[str, Any]] = []
    for part in parts if isinstance(parts, list) else ():
        _sort(part, said, calls, results)
    role = message.get("role")
    content: object = parts
    if role == "tool" and not results:
        return [_result(message.get("tool_call_id"), content)]
    if isinstance(parts, list):
        content = said if any(not isinstance(text, str) for text in said) else "".join(said)
    kept = {k: v for k, v in message.items() if k in ("steps", "left_out")}
    plain = {"role": role, "content": content, **kept, **({"tool_calls": calls} if calls else {})}
    return [*results, *([plain] if said or calls or not results else [])]


def _called(tools: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    calls = [
        _call(f"call-{n}", t.get("name"), t.get("inputParameters", t.get("input_parameters")))
        for n, t in enumerate(tools)
    ]
    results = [_result(f"call-{n}", t["output"]) for n, t in enumerate(tools) if t.get("output") is not None]
    return [_calling("", calls), *results]


def _opened(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message whose role and content have these names, out of what ShareGPT and LangChain write."""
    message = dict(raw)
    if message.get("type") == "constructor" and isinstance(message.get("kwargs"), Mapping):
        name = (message.get("id") or [""])[-1]
        message = {**message["kwargs"], "role": name}
    elif "role" not in message and "from" in message and "value" in message:
        message = {"role": message["from"], "content": message["value"]}
    elif "role" not in message and message.get("type") in _ROLES and "content" in message:
        message["role"] = message["type"]
    elif "role" not in message and isinstance(message.get("data"), Mapping) and message.get("type") in _ROLES:
        message = {**message["data"], "role": message["type"]}
    role = message.get("role")
    if isinstance(role, str):
        message["role"] = _ROLES.get(role, role)
    return message


def _sort(part: object, said: list[Any], calls: list[dict[str, Any]], results: list[dict[str, Any]]) -> None:
    """Add a part to what it is: a text, a call, or a result; what is unknown stands among the texts."""
    if not isinstance(part, Mapping):
        said.append(part)
        return
    kind = part.get("type") or next(iter(part), "")
    inner = part.get(str(kind))
    if kind in _THOUGHTS or kind in _SILENT or part.get("thought") is True:
        return
    if kind in _TEXTS:
        text = part.get("text", part.get("refusal", part.get("content")))
        said.append(text if isinstance(text, str) else dict(part))
    elif kind in ("tool_use", "server_tool_use"):
        calls.append(_call(part.get("id"), part.get("name"), part.get("input")))
    elif kind == "toolUse" and isinstance(inner, Mapping):
        calls.append(_call(inner.get("toolUseId"), inner.get("name"), inner.get("input")))
    elif kind == "tool_call":  # of OpenTelemetry
        calls.append(_call(part.get("id"), part.get("name"), part.get("arguments")))
    elif kind == "tool_call_response":
        results.append(_result(part.get("id"), part.get("response", part.get("result"))))
    elif kind == "toolResult" and isinstance(inner, Mapping):
        results.append(_result(inner.get("toolUseId"), inner.get("content")))
    elif "tool_use_id" in part:
        results.append(_result(part["tool_use_id"], part.get("content")))
    elif kind == "citationsContent" and isinstance(inner, Mapping):
        said.extend(text["text"] for text in inner.get("content") or () if isinstance(text, Mapping))
    elif kind == "guardContent" and isinstance(inner, Mapping) and isinstance(inner.get("text"), Mapping):
        said.append(inner["text"].get("text"))
    else:
        said.append(dict(part))


def _of_calls(call: object) -> Any:
    if not isinstance(call, Mapping):
        return call
    function = call.get("function")
    if isinstance(function, Mapping):
        return {
            **call,
            "id": call.get("id") or "",
            "function": {**function, "arguments": _as_text(function.get("arguments"))},
        }
    # LangChain writes the name and `args` at the top, inspect the name as `function`.
    name = function or call.get("name")
    return call if name is None else _call(call.get("id"), name, call.get("arguments", call.get("args")))


def _call(name: object, tool: object, arguments: object) -> dict[str, Any]:
    function: dict[str, Any] = {"arguments": _as_text(arguments)}
    if tool is not None:
        function["name"] = tool
    return {"id": name or "", "type": "function", "function": function}


def _calling(content: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": calls}


def _result(name: object, content: object) -> dict[str, Any]:
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        texts = [part.get("text", part.get("json", part.get("output"))) for part in content]
        content = "\n".join(_as_text(text) for text in texts if text is not None)
    return {"role": "tool", "content": _as_text(content), "tool_call_id": name or ""}


def _as_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def sides(messages: object) -> list[dict[str, Any]]:
    """Return all messages of a list in OpenAI's format; a lone text is one of the user."""
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    listed = messages if isinstance(messages, list) else [messages]
    return [plain for raw in _flat(listed) for plain in plain_messages(raw) if isinstance(plain, dict)]


def _flat(listed: list[Any]) -> Iterator[Any]:
    for one in listed:  # LangSmith keeps a list of lists
        yield from one if isinstance(one, list) else [one]


Messages = list[dict[str, Any]]
_METADATA: Final = (
    "metadata",
    "requestMetadata",
    "additional_metadata",
    "additionalMetadata",
    "extra",
    "vars",
)
_CONVERSATIONS: Final = ("conversation_id", "thread_id", "session_id", "sessionId")


class Piece(NamedTuple):
    """A dialogue of an export, or a part of one: one half of a batch, or the turn of one trace.

    Pieces of one `group` belong together, in the order of `time`. `scenario` is what the metadata says of it.
    A call has the name `span`; one of a trace names that and the span around it, and is only a link if it has
    no messages.
    """

    messages: Messages
    id: str = ""
    scenario: object = None
    assistant: str = ""
    group: str = ""
    time: str = ""
    half: Literal["", "request", "result"] = ""
    trace: str = ""
    span: str = ""
    parent: str = ""


def get(value: object, *path: str | int) -> Any:
    """Return what stands at a path of keys and places, or None."""
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and len(value) > step:
            value = value[step]
        else:
            return None
    return value


def metadata_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an object says of itself under any name for metadata, also one inside another."""
    found: dict[str, Any] = {}
    for name in _METADATA:
        inner = get(value, name)
        deeper = get(inner, "metadata")
        for one in (deeper, inner):
            found = {**(one if isinstance(one, Mapping) else {}), **found}
    return found


def reply_of(body: object) -> Messages | None:
    """Return the reply of a server of any protocol, or None if the object has none."""
    if (message := get(body, "choices", 0, "message")) is not None:
        return sides(message)
    if (message := get(body, "output", "message")) is not None:  # Converse
        return sides(message)
    output = get(body, "output")
    if isinstance(output, list):  # the Responses API
        return sides([item for item in output if get(item, "type") in ("message", "function_call")])
    if isinstance(get(body, "content"), list) and get(body, "role") == "assistant":  # Anthropic
        return sides(body)
    return None


def asked_of(body: object) -> Messages | None:
    """Return the messages of a request of any protocol, or None if the object has none."""
    for name in ("messages", "input"):
        value = get(body, name)
        if isinstance(value, (list, str)) and value:
            return sides(value)
    return None


def whole(asked: Messages | None, reply: Messages | None) -> Messages:
    """Return what was asked and answered; raise ValueError for a side that is missing."""
    if not asked:
        raise ValueError('the user\'s side is missing; add what was sent, as "input", beside it')
    if not reply:
        raise ValueError("it has no reply; remove it")
    return [*asked, *reply]


def piece_of(
    value: Mapping[str, Any], messages: Messages, name: str, assistant: object = None, time: object = None
) -> Piece:
    """Return the piece of a call or a trace, with the group that its metadata or its session name."""
    metadata = metadata_of(value)
    group = next((str(found[k]) for k in _CONVERSATIONS for found in (metadata, value) if found.get(k)), "")
    scenario, played = metadata.get("scenario"), str(assistant or "")
    return Piece(messages, group or name, scenario, played, group, str(time or ""), span=name)


def decoded(value: object) -> Any:
    """Return what an export holds as a text of JSON, or the value itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def said_in(value: object, *, reply: bool) -> Messages:
    """Return the messages of the input or the output of a trace, wherever frameworks put them."""
    value = decoded(value)
    if isinstance(value, str):
        return [{"role": "assistant" if reply else "user", "content": value}]
    if isinstance(value, list):
        return sides(value)
    for name in (
        "messages",
        "message",
        "generations",
        "input",
        "question",
        "query",
        "output",
        "answer",
        "content",
    ):
        inner = get(value, name)
        if name == "generations":  # LangChain: a list of lists, each with a message
            inner = get(inner, 0, 0, "message") or get(inner, 0, "message")
        if name == "content" and get(value, "role"):
            return sides(value)
        if inner:
            return sides(inner) if isinstance(inner, Mapping) else said_in(inner, reply=reply)
    return (reply_of(value) or []) if reply else []


def turn_of(value: Mapping[str, Any], asked: object, answer: object) -> Messages:
    """Return the messages of a trace's input and output; an output may repeat the input."""
    before, after = said_in(asked, reply=False), said_in(answer, reply=True)
    return after if before and after[: len(before)] == before else [*before, *after]


def has_both_sides(messages: Messages) -> bool:
    return {"user", "assistant"} <= {m.get("role") for m in messages}
