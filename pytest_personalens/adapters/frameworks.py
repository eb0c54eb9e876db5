"""Converts what an agent framework returned for one turn to OpenAI-shaped messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

ReplyMessages = list[dict[str, Any]]


def from_adk(events: Iterable[Any]) -> ReplyMessages:
    """Convert the events of one run of a `Runner` of Google's Agent Development Kit.

    Pieces of a stream are left out, because the whole comes after them.
    """
    messages: ReplyMessages = []
    for event in events:
        parts = (event.content.parts or []) if event.content is not None and not event.partial else []
        text = "".join(part.text for part in parts if part.text and not part.thought)
        calls = [part.function_call for part in parts if part.function_call is not None]
        answers = [part.function_response for part in parts if part.function_response is not None]
        messages += [_result(answer.id, answer.response) for answer in answers]
        if calls:
            messages.append(_calls(*((call.id, call.name, call.args) for call in calls), text=text))
        elif text:
            messages.append(_text(text))
    return messages


def from_agent_framework(response: Any) -> ReplyMessages:
    """Convert the response of `agent.run` of Microsoft's agent-framework."""
    messages: ReplyMessages = []
    for content in (content for message in response.messages for content in message.contents):
        if content.type == "function_call":
            messages.append(_calls((content.call_id, content.name, content.arguments)))
        elif content.type == "function_result":
            messages.append(_result(content.call_id, content.result))
        elif content.type == "text" and content.text:
            messages.append(_text(content.text))
    return _with_output(messages, response.text)


def from_llama_index(output: Any) -> ReplyMessages:
    """Convert the output of `await agent.run(...)` of LlamaIndex."""
    messages: ReplyMessages = []
    for call in output.tool_calls:
        messages.append(_calls((call.tool_id, call.tool_name, call.tool_kwargs)))
        result = getattr(call, "tool_output", None)
        if result is not None:
            error = "Error: " if result.is_error else ""
            messages.append(_result(call.tool_id, f"{error}{result.content}"))
    return [*messages, _text(output.response.content or "")]


def from_openai_agents(result: Any) -> ReplyMessages:
    """Convert the result of a run of `Runner` of the OpenAI Agents SDK, with items of the Responses API."""

    def text_of(content: Any) -> Any:
        if not isinstance(content, list):
            return content
        return "".join(part.get("text") or part.get("refusal") or "" for part in content)

    messages: ReplyMessages = []
    for item in (item.to_input_item() for item in result.new_items):
        kind = item.get("type", "message")
        if kind == "function_call":
            messages.append(_calls((item["call_id"], item["name"], item["arguments"])))
        elif kind == "function_call_output":
            messages.append(_result(item["call_id"], text_of(item["output"])))
        elif kind == "message" and item.get("role") == "assistant":
            messages.append(_text(text_of(item["content"])))
    return _with_output(messages, result.final_output)


def from_pydantic_ai(result: Any) -> ReplyMessages:
    """Convert the new messages in the result of `agent.run` or `agent.run_sync` of Pydantic AI."""
    messages: ReplyMessages = []
    for part in (part for message in result.new_messages() for part in message.parts):
        kind = part.part_kind
        if kind == "tool-call":
            messages.append(_calls((part.tool_call_id, part.tool_name, part.args)))
        elif kind == "tool-return":
            messages.append(_result(part.tool_call_id, part.model_response_str()))
        elif kind == "retry-prompt" and part.tool_name is not None:
            messages.append(_result(part.tool_call_id, f"Error: {part.model_response()}"))
        elif kind == "text" and part.content:
            messages.append(_text(part.content))
    return _with_output(messages, result.output)


def from_strands(messages: Iterable[Mapping[str, Any]]) -> ReplyMessages:
    """Convert `agent.messages` of Strands, or other messages in the form of Bedrock's Converse API.

    The last user message begins the turn.
    """
    converted: ReplyMessages = []
    for message in messages:
        blocks = message["content"]
        text = "".join(block["text"] for block in blocks if "text" in block)
        uses = [block["toolUse"] for block in blocks if "toolUse" in block]
        results = [block["toolResult"] for block in blocks if "toolResult" in block]
        converted += [_result(result["toolUseId"], _strands_text(result)) for result in results]
        if uses:
            converted.append(_calls(*((u["toolUseId"], u["name"], u["input"]) for u in uses), text=text))
        elif message["role"] == "user" and not results:
            converted.append({"role": "user", "content": text})
        elif text:
            converted.append(_text(text))
    return converted


def _strands_text(result: Mapping[str, Any]) -> str:
    """Return the texts and data of a result; one that is a failure says so at its head."""
    text = "\n".join(block["text"] if "text" in block else _as_text(block) for block in result["content"])
    silent = result.get("status") == "error" and not text.lower().startswith("error")
    return f"Error: {text}" if silent else text


def _text(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def _calls(*calls: tuple[object, object, object], text: str = "") -> dict[str, Any]:
    """Return a message with calls of tools, each as id, name, and arguments as text or data."""
    tool_calls = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": _as_text(arguments)}}
        for id_, name, arguments in calls
    ]
    return {"role": "assistant", "content": text, "tool_calls": tool_calls}


def _result(id_: object, content: object) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": _as_text(content)}


def _as_text(value: object) -> str:
    """Return a text as it is, and data as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=_data)


def _data(value: object) -> Any:
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else str(value)


def _with_output(messages: ReplyMessages, output: object) -> ReplyMessages:
    """Return messages that end with something said: the framework's output if they end otherwise.

    Some frameworks have a model fill in a form by the call of a tool.
    """
    last = messages[-1] if messages else {"role": "", "content": ""}
    speaks = last["role"] == "assistant" and last["content"].strip()
    return messages if speaks else [*messages, _text(_as_text(output))]
