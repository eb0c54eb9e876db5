"""What services send of an answer: why it ended, and the pieces of a stream, chunks of OpenAI's protocol or
events of Anthropic, the Responses API, Bedrock and the AI SDK.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal, NamedTuple

from pytest_personalens.core.dialogue.message import field, has

#: "end": the model had said all. "tool": it called a tool. "length": a limit of tokens cut it off. "refusal":
#: the model would not answer. "filter": a filter of the provider stopped it. "error": it is malformed, or its
#: stream broke off.
End = Literal["end", "length", "refusal", "filter", "error", "tool"]
#: The words of OpenAI, Azure, Mistral, DeepSeek, vLLM, Gemini, Anthropic, Ollama and Bedrock. Any other word
#: is "end".
_ENDS: Final[dict[End, str]] = {
    "tool": "tool_calls tool_use tool_call function_call",
    "length": "length max_tokens model_length max_output_tokens model_context_window_exceeded",
    "refusal": "refusal",
    "filter": "content_filter content_filtered guardrail_intervened content-filter safety recitation"
    " blocklist prohibited_content spii sensitive",
    "error": "error abort cancelled failed broken_off insufficient_system_resource malformed_model_output"
    " malformed_tool_use malformed_function_call",
}
#: Our word for a stream that stops without saying that it is at its end.
BROKEN_OFF: Final = "broken_off"
_WINDOW: Final = "model_context_window_exceeded"


def end_of(word: object) -> End:
    """Return why an answer ended, from a service's own word for it, in any case.

    >>> end_of("MAX_TOKENS")
    'length'
    """
    return next((end for end, words in _ENDS.items() if str(word).lower() in words.split()), "end")


def cut_text(end: End, word: str, tokens: int) -> str:
    """Return how an answer was cut or spoilt, such as "cut off at 4,000 tokens"; empty if it is whole.

    `word` is the service's own word, `tokens` the limit if it is known.
    """
    if end == "length" and word.lower() == _WINDOW:
        return "cut off: the model's context window is full"
    if end == "length":
        return f"cut off at {tokens:,} tokens" if tokens else "cut off at the limit of tokens"
    if end == "filter":
        return f"stopped by a content filter ({word})"
    if end == "error" and word == BROKEN_OFF:
        return "broken off: its stream stopped without an end"
    return f"spoilt by an error of the model ({word})" if end == "error" else ""


#: The events that begin a part, hold some of it, or are about something else, by the beginning of their type.
_EVENTS: Final = (
    *("response.", "message_", "content_block_", "text-", "reasoning-", "tool-input-", "tool-output-"),
    *("start-step", "finish-step", "data-"),
)
_ALONE: Final = ("ping", "error", "start", "finish", "abort")
_TEXTS: Final = ("response.output_text.delta", "response.refusal.delta", "text-delta")
_LAST: Final = ("message_stop", "response.completed", "response.incomplete", "finish")
#: Bedrock's stream names the kind of an event by its only key.
_BEDROCK: Final = (
    "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata",
)  # fmt: skip


class Delta(NamedTuple):
    """What a piece of a stream adds: a text or a part of a message; why the stream ends; tokens."""

    delta: object = None
    word: str = ""
    usage: dict[str, Any] = {}  # noqa: RUF012 (nobody changes it)
    is_last: bool = False
    in_chunk: bool = False
    thinks: bool = False


_chunk: Final = partial(Delta, in_chunk=True)


def is_event(piece: object) -> bool:
    """True for an event whose type tells what it holds."""
    kind = field(piece, "type") if not isinstance(piece, str) else None
    if isinstance(kind, str) and (kind.startswith(_EVENTS) or kind in _ALONE):
        return True
    return isinstance(piece, dict) and any(name in piece for name in _BEDROCK)


def error_in(piece: object) -> object | None:
    """Return the error that a piece of a stream tells, or None."""
    if isinstance(piece, str) or piece is None:
        return None
    kind = field(piece, "type")
    if kind == "response.failed":
        return field(field(piece, "response"), "error") or "the response failed"
    if kind in ("error", "abort"):
        found = (field(piece, name) for name in ("error", "errorText", "message"))
        return next((each for each in found if each), "no message")
    if isinstance(piece, dict) and len(piece) == 1 and (name := next(iter(piece))).endswith("Exception"):
        return {"code": name, "message": field(piece[name], "message") or name}
    error = field(piece, "error") if not has(piece, "content") else None
    choices = field(piece, "choices")
    if not error and isinstance(choices, (list, tuple)) and choices:
        error = field(choices[0], "error")
        if not error and field(choices[0], "finish_reason") == "error":
            error = "the model failed (finish_reason error)"
    return error or None


def delta_in(piece: object) -> Delta:
    """Return what a piece adds; a piece of no known kind is its own delta."""
    if has(piece, "choices"):
        return _of_chunk(piece)
    if isinstance(piece, dict) and any(name in piece for name in _BEDROCK):
        return _of_bedrock(piece)
    if is_event(piece):
        return _of_event(piece, str(field(piece, "type")))
    if has(piece, "done") and has(piece, "message"):  # Ollama's own form
        return _chunk(field(piece, "message"), str(field(piece, "done_reason") or ""))
    if has(piece, "delta"):
        return Delta(field(piece, "delta"))
    return Delta(piece)


def _of_chunk(piece: object) -> Delta:
    choices, usage = field(piece, "choices"), _mapping(field(piece, "usage"))
    if not choices:
        return _chunk(usage=usage)
    first = choices[0]
    delta = field(first, "delta") or field(first, "message") or field(first, "text")
    return _chunk(delta, str(field(first, "finish_reason") or ""), usage)


def _of_event(piece: object, kind: str) -> Delta:
    delta, index = field(piece, "delta"), field(piece, "index")
    if kind in _TEXTS:
        text = delta or field(piece, "textDelta") or field(piece, "text")
        return _chunk(text, "refusal" if "refusal" in kind else "")
    if kind == "content_block_delta":
        if field(delta, "type") == "text_delta":
            return _chunk(field(delta, "text"))
        part = field(delta, "partial_json")
        call = None if part is None else _call(index, None, None, part)
        return _chunk(call, thinks=field(delta, "type") == "thinking_delta")
    if kind == "content_block_start":
        block = field(piece, "content_block")
        if field(block, "type") == "tool_use":
            return _chunk(_call(index, field(block, "id"), field(block, "name"), ""))
        return _chunk(field(block, "text") if field(block, "type") == "text" else None)
    if kind == "response.output_item.done" and field(field(piece, "item"), "type") == "function_call":
        item, index = field(piece, "item"), field(piece, "output_index")
        return _chunk(_call(index, field(item, "call_id"), field(item, "name"), field(item, "arguments")))
    if kind == "tool-input-available":
        name = field(piece, "toolCallId")
        return _chunk(_call(name, name, field(piece, "toolName"), field(piece, "input")))
    response = field(piece, "response") or field(piece, "message")
    usage = _mapping(field(piece, "usage")) | _mapping(field(response, "usage"))
    why = field(field(response, "incomplete_details"), "reason")
    word = str(field(delta, "stop_reason") or why or field(piece, "finishReason") or "")
    return _chunk(None, word, usage, is_last=kind in _LAST, thinks="reasoning" in kind)


def _of_bedrock(piece: dict[str, Any]) -> Delta:
    delta = field(field(piece, "contentBlockDelta"), "delta")
    index = field(field(piece, "contentBlockDelta") or field(piece, "contentBlockStart"), "contentBlockIndex")
    used = field(field(field(piece, "contentBlockStart"), "start"), "toolUse")
    if used is not None:
        return _chunk(_call(index, field(used, "toolUseId"), field(used, "name"), ""))
    if field(delta, "toolUse") is not None:
        return _chunk(_call(index, None, None, field(field(delta, "toolUse"), "input")))
    word = str(field(field(piece, "messageStop"), "stopReason") or "")
    usage = _mapping(field(field(piece, "metadata"), "usage"))
    return _chunk(field(delta, "text"), word, usage, thinks=has(delta, "reasoningContent"))


def _call(index: object, name: object, called: object, arguments: object) -> dict[str, Any]:
    """A part of a tool call in OpenAI's form."""
    call = {"index": index, "id": name, "function": {"name": called, "arguments": arguments}}
    return {"content": None, "tool_calls": [call]}


def _mapping(usage: object) -> dict[str, Any]:
    return {str(name): value for name, value in usage.items()} if isinstance(usage, dict) else {}
