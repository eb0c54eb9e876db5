"""Stored messages of any vendor as those of OpenAI's format, and as a dialogue's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from pytest_personalens.core.dialogue.message import THOUGHTS, Message
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import first_problem

if TYPE_CHECKING:
    from pathlib import Path

Messages = list[dict[str, Any]]
#: What other formats call the two sides and the tools.
_ROLES: Final = {
    "human": "user", "HumanMessage": "user", "gpt": "assistant", "ai": "assistant", "AIMessage": "assistant",
    "AIMessageChunk": "assistant", "model": "assistant", "function": "tool", "observation": "tool",
    "ToolMessage": "tool", "SystemMessage": "system",
}  # fmt: skip
_TEXTS: Final = ("text", "input_text", "output_text", "refusal")
#: The types of parts that hold nothing that is said: thoughts, and what steers the server.
_SILENT: Final = (*THOUGHTS, "reasoningContent", "cachePoint", "step-start")
#: The type of a part that calls a tool -> the keys of the call's id, of the tool and of its arguments.
_CALLS: Final[dict[str, tuple[str, ...]]] = {
    "tool_use": ("id", "name", "input"), "server_tool_use": ("id", "name", "input"),
    "toolUse": ("toolUseId", "name", "input"), "tool_call": ("id", "name", "arguments"),
    "function_call": ("call_id", "name", "arguments"),
}  # fmt: skip
#: The type of a part that is a result -> the keys of the call's id and of what the tool returned.
_RESULTS: Final[dict[str, tuple[str, ...]]] = {
    "toolResult": ("toolUseId", "content"), "tool_call_response": ("id", "response", "result"),
    "function_call_output": ("call_id", "output"),
}  # fmt: skip
#: What a message may hold beside its role and its text.
_MORE: Final = ("tool_calls", "tool_call_id", "steps", "left_out")


def read_messages(
    value: object, file: Path, where: str, *, lenient: bool = False
) -> list[tuple[int, Message]]:
    """Return the messages of user, assistant and tools, each with its place in the list.

    The messages may be those of any vendor: OpenAI, Anthropic, Bedrock, LangChain, ShareGPT or OpenTelemetry.
    System messages are left out. With `lenient`, so is all but the texts of user and assistant. Raise
    `DataError` for what is no text, such as an image, and for a side that is missing.
    """
    if not isinstance(value, list) or not value:
        problem = 'expected a list of messages, such as {"role": "user", "content": "..."}'
        raise DataError(file, problem, field=where)
    messages = list[tuple[int, Message]]()
    for n, raw in ((n, plain) for n, stored in enumerate(value) for plain in plain_messages(stored)):
        role = raw.get("role") if isinstance(raw, dict) else None
        if role in ("user", "assistant") or (role == "tool" and not lenient):
            message = _message(raw, file, f"{where}.{n}", () if lenient else _MORE)
            if message.content.strip() or not lenient:
                messages.append((n, message))
        elif role not in ("system", "developer") and not (lenient and role):
            problem = f"expected a message of user, assistant or tool, found {str(role or raw)[:40]!r}"
            raise DataError(file, problem, field=f"{where}.{n}")
    sides = {message.role for _, message in messages} - {"tool"}
    if len(sides) < 2:
        only = f"only messages of the {sides.pop()}" if sides else "no message of user or assistant"
        raise DataError(file, f"holds {only}; a dialogue has both sides", field=where)
    return messages


def _message(plain: dict[str, Any], file: Path, where: str, more: tuple[str, ...]) -> Message:
    content = plain.get("content") or ""
    if isinstance(content, list):
        odd = next((part for part in content if not isinstance(part, str)), None)
        kind = (odd.get("type") or next(iter(odd), None)) if isinstance(odd, dict) else type(odd).__name__
        advice = "only text is read: say in words what it holds, or leave the dialogue out"
        raise DataError(file, f"a part of the type {kind!r}; {advice}", field=f"{where}.content")
    if not isinstance(content, str):
        raise DataError(file, f"expected a text, found {type(content).__name__}", field=f"{where}.content")
    fields = {name: plain[name] for name in more if plain.get(name) or plain.get(name) == []}
    try:
        return Message.model_validate({"role": plain["role"], "content": content, **fields})
    except ValidationError as error:
        field, problem = first_problem(error)
        raise DataError(file, problem, field=f"{where}.{field}") from None


def plain_messages(raw: object) -> list[Any]:
    """Return a stored message as messages in OpenAI's format: one, or more where it holds results of tools.

    What no rule knows stays as it is, so that the reader of messages can name it. Thoughts are left out.
    """
    try:
        return _of_plain_mapping(raw) if isinstance(raw, Mapping) else [raw]
    except (AttributeError, IndexError, KeyError, TypeError):
        return [raw]


def _of_plain_mapping(raw: Mapping[str, Any]) -> Messages:
    message = _opened(raw)
    role, kind = message.get("role"), message.get("type")
    tools = message.pop("toolsCalled", None) or message.pop("tools_called", None)
    if isinstance(tools, list):  # deepeval names what was called before the reply
        return [*_called(tools), *_of_plain_mapping(message)]
    content = message.get("parts", message.get("content"))
    if kind in _CALLS or kind in _RESULTS:  # the Responses API has such parts beside its messages
        role, content = "assistant", [message]
    elif kind in THOUGHTS or str(kind).endswith("_call"):  # of the server's own tools, such as a search
        return []
    said, results = list[Any](), Messages()
    calls = message.get("tool_calls") or []
    if isinstance(calls, (list, tuple)):
        calls = [_of_calls(call) for call in calls]
    for part in content if isinstance(content, list) else ():
        _sort(part, said, calls, results)
    if role == "tool" and not results:
        return [_result(message.get("tool_call_id"), content)]
    if isinstance(content, list):
        content = "".join(said) if all(isinstance(text, str) for text in said) else said
    kept = {k: v for k, v in message.items() if k in ("steps", "left_out")}
    plain = {"role": role, "content": content, **kept, **({"tool_calls": calls} if calls else {})}
    return [*results, *([plain] if said or calls or not results else [])]


def _called(tools: list[Mapping[str, Any]]) -> Messages:
    calls = [
        _call(f"call-{n}", t.get("name"), t.get("inputParameters", t.get("input_parameters")))
        for n, t in enumerate(tools)
    ]
    results = [_result(f"call-{n}", t["output"]) for n, t in enumerate(tools) if t.get("output") is not None]
    return [{"role": "assistant", "content": "", "tool_calls": calls}, *results]


def _opened(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message whose role and content have these names, out of what ShareGPT and LangChain write."""
    message, kind = dict(raw), raw.get("type")
    if kind == "constructor" and isinstance(message.get("kwargs"), Mapping):
        message = {**message["kwargs"], "role": (message.get("id") or [""])[-1]}
    elif "role" not in message and "from" in message and "value" in message:
        message = {"role": message["from"], "content": message["value"]}
    elif "role" not in message and kind in _ROLES and "content" in message:
        message["role"] = kind
    elif "role" not in message and kind in _ROLES and isinstance(message.get("data"), Mapping):
        message = {**message["data"], "role": kind}
    role = message.get("role")
    return message | {"role": _ROLES.get(role, role)} if isinstance(role, str) else message


def _sort(part: object, said: list[Any], calls: Messages, results: Messages) -> None:
    """Add a part to what it is: a text, a call, or a result; what is unknown stands among the texts."""
    if not isinstance(part, Mapping):
        said.append(part)
        return
    kind = str(part.get("type") or next(iter(part), ""))
    inner: Mapping[str, Any] = part[kind] if isinstance(part.get(kind), Mapping) else part
    if kind in _SILENT or part.get("thought") is True:
        return
    if kind in _TEXTS:
        text = part.get("text", part.get("refusal", part.get("content")))
        said.append(text if isinstance(text, str) else dict(part))
    elif keys := _CALLS.get(kind):
        calls.append(_call(*(inner.get(key) for key in keys)))
    elif keys := _RESULTS.get(kind):
        name, *contents = keys
        results.append(_result(inner.get(name), next((inner[key] for key in contents if key in inner), None)))
    elif "tool_use_id" in part:
        results.append(_result(part["tool_use_id"], part.get("content")))
    elif kind == "citationsContent":
        said.extend(text["text"] for text in inner.get("content") or () if isinstance(text, Mapping))
    elif kind == "guardContent" and isinstance(inner.get("text"), Mapping):
        said.append(inner["text"].get("text"))
    else:
        said.append(dict(part))


def _of_calls(call: object) -> Any:
    """A call of a message; LangChain has its name and `args` at the top, inspect its name as `function`."""
    if not isinstance(call, Mapping):
        return call
    function = call.get("function")
    if isinstance(function, Mapping):
        arguments = _as_text(function.get("arguments"))
        return {**call, "id": call.get("id") or "", "function": {**function, "arguments": arguments}}
    name = function or call.get("name")
    return call if name is None else _call(call.get("id"), name, call.get("arguments", call.get("args")))


def _call(name: object, tool: object, arguments: object) -> dict[str, Any]:
    function = {"arguments": _as_text(arguments)} | ({} if tool is None else {"name": tool})
    return {"id": name or "", "type": "function", "function": function}


def _result(name: object, content: object) -> dict[str, Any]:
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        texts = [part.get("text", part.get("json", part.get("output"))) for part in content]
        content = "\n".join(_as_text(text) for text in texts if text is not None)
    return {"role": "tool", "content": _as_text(content), "tool_call_id": name or ""}


def _as_text(value: object) -> str:
    """Return a text as it is, and data as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
