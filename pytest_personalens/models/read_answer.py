"""The one reader of answers: what any service sent becomes an `Answer` without thoughts, also a form."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.dialogue.events import end_of
from pytest_personalens.core.dialogue.events import error_in as stream_error
from pytest_personalens.core.dialogue.message import Function, ToolCall, has_thoughts, text_of
from pytest_personalens.core.dialogue.reply import Stream
from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.models.model import Answer, problem_in, read_events, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


#: A text may hold line breaks within JSON texts, which small models write.
_JSON: Final = json.JSONDecoder(strict=False)
#: Places in a text at which an object is looked for, and how deep a form may lie in wrappers such as
#: ``{"name": "answer", "arguments": {...}}``.
_MOST_PLACES, _DEEPEST = 400, 4
_WRAPPERS: Final = (
    "arguments", "parameters", "input", "answer", "function", "properties", "result", "verdict",
)  # fmt: skip


def finished(answer: Answer, form: Mapping[str, Any] | None) -> Answer:
    """Return the answer without thoughts in its text, and with the `form` filled in as `data`.

    `form` is a JSON schema. Two forms that differ are no answer: `data` is None, and the text shows both.
    """
    if not isinstance(answer, Answer):  # a model of the team's own may return anything
        raise ModelError(f"the model returned {type(answer).__name__}; it must return an Answer")
    text = without_thoughts(answer.text)
    if text != answer.text:
        answer = answer.model_copy(update={"text": text, "thinks": True})
    if form is None or answer.data is not None:
        return answer
    called = [(call, read_object(call.function.arguments, form)) for call in answer.calls]
    found = [filled for _, filled in called if filled is not None] or list(_in_text(text, form))
    if not found:
        return answer
    others = tuple(call for call, filled in called if filled is None)
    if all(filled == found[0] for filled in found):
        return answer.model_copy(update={"data": found[0], "calls": others})
    shown = text if text.strip() else "\n".join(json.dumps(each, ensure_ascii=False) for each in found)
    return answer.model_copy(update={"text": shown})


def read_object(text: str, form: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the form in the arguments of a call, which may be JSON in JSON or Python, or None."""
    try:
        return _unwrapped(_JSON.decode(text), form)
    except (ValueError, RecursionError):
        pass
    try:
        return _unwrapped(ast.literal_eval(text), form)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return next(_in_text(text, form), None)


def _in_text(text: str, form: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each form in a text: bare, in a fence, in tags, or among words."""
    place = text.find("{")
    for _ in range(_MOST_PLACES):
        if place < 0:
            return
        try:
            value, end = _JSON.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if (filled := _unwrapped(value, form)) is not None:
                yield filled
        place = text.find("{", end)


def _unwrapped(value: Any, form: Mapping[str, Any], depth: int = 0) -> dict[str, Any] | None:
    """Return the object that has at least half of the form's fields, from the wrappers around it."""
    if depth > _DEEPEST:
        return None
    if isinstance(value, str) and "{" in value:
        try:
            return _unwrapped(_JSON.decode(value), form, depth + 1)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, list) and len(value) == 1:
        return _unwrapped(value[0], form, depth + 1)
    if not isinstance(value, dict):
        return None
    fields = form.get("properties", {})
    if fields and 2 * len(fields.keys() & value.keys()) >= len(fields):
        return {str(key): part for key, part in value.items()}
    inner = (_unwrapped(value[name], form, depth + 1) for name in _WRAPPERS if name in value)
    return next((filled for filled in inner if filled is not None), None)


#: Words of an error without a code that say that it may pass.
_PASSES: Final = re.compile(
    r"overload|rate.?limit|throttl|too many|time.?out|timed out|temporar|try again|unavailable|busy|capacity",
    re.IGNORECASE,
)
_END_OF_STREAM: Final = re.compile(r"\s*(?:data:\s*\[DONE\]\s*)*\Z")
_THOUGHTS: Final = ("reasoning_content", "reasoning", "thinking", "reasoning_details")


def read_body(body: bytes, content_type: str, server: str) -> Answer:
    """Return the answer in the body of a response with status 200, which may be a stream of events.

    Raise `ModelBusy` for what may pass, such as a body that breaks off, and `ModelError` for what will not,
    such as a page of HTML. `server` is the word for who sent it.
    """
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    kind, begin = content_type.partition(";")[0].strip().lower(), text.lstrip()[:200].lower()
    if not begin:
        raise ModelBusy(f"{server} answered with the status 200 and an empty body")
    if kind == "text/html" or begin.startswith(("<!doctype", "<html")):
        raise ModelError(
            f"{server} answered with the status 200 and a page (HTML): {short(text)[:80]}; check the address"
            " (it ends in /v1), and whether a proxy asks to log in"
        )
    if kind == "text/event-stream" or begin.startswith(("data:", "event:", ":")):
        return read_stream(read_events(text), server)
    try:
        data, end = json.JSONDecoder(strict=False).raw_decode(text.lstrip())
    except (ValueError, RecursionError) as error:
        shown = short(text)[:80]
        raise ModelBusy(
            f"{server}'s answer (status 200) is no JSON or breaks off ({error}): {shown}"
        ) from error
    if not _END_OF_STREAM.match(text.lstrip(), end):
        raise ModelBusy(
            f"{server}'s answer (status 200) has more behind its JSON: {short(text.lstrip()[end:])[:80]}"
        )
    return read_answer(data, server)


def read_answer(data: Any, server: str = "the server") -> Answer:
    """Return the answer in a chat completion, a message, or what the Responses or Converse API gave."""
    if isinstance(data, list) and len(data) == 1:
        data = data[0]  # Gemini's compatible end puts errors into a list
    shape = repr(data)
    if isinstance(data, Mapping):
        if data.get("error") or data.get("type") == "error":
            raise error_in(data, server)
        for key, read in _READERS.items():
            answer = read(data, server) if isinstance(data.get(key), (list, dict)) else None
            if answer is not None:
                return answer
        shape = f"an object with the keys {', '.join(map(str, list(data)[:10]))}" if data else "{}"
    raise ModelError(
        f"{server} answered with the status 200 and {short(shape)}, which is no chat completion; check the"
        " address (it ends in /v1)"
    )


def read_stream(pieces: Iterable[Any], server: str) -> Answer:
    """Return the answer in the pieces of a stream. One that stops without an end is marked as broken off."""
    stream = Stream()
    for piece in pieces:
        if (error := stream_error(piece)) is not None:
            raise error_in(error, server, "a stream")
        stream.add(piece)
    message, word = stream.message(), stream.word_at_end()
    found = {"choices": [{"message": message, "finish_reason": word}], "usage": stream.usage}
    answer = read_answer(found, server)
    return answer.model_copy(update={"thinks": answer.thinks or stream.thinks})


def error_in(data: Any, server: str, place: str = "an answer of the status 200") -> ModelError:
    """Return the error that a body of status 200, or a part of a stream, tells; by its code, it may pass."""
    problem = problem_in(data)
    error = data.get("error", data) if isinstance(data, Mapping) else data
    code = str(error.get("code") or error.get("status") or "") if isinstance(error, Mapping) else ""
    throttled = code == "429" or bool(re.search(r"rate.?limit|throttl|too many", problem, re.IGNORECASE))
    passes = (
        int(code) in (408, 409, 425, 429) or int(code) >= 500
        if code.isdigit()
        else bool(_PASSES.search(problem))
    )
    if passes:
        return ModelBusy(f"{server} sent {place} with an error in it: {problem}", throttled=throttled)
    return ModelError(f"{server} sent {place} with an error in it: {problem}")


def _chat(data: Mapping[str, Any], server: str) -> Answer | None:
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if choice is None and isinstance(data.get("message"), Mapping):
        choice = {"message": data["message"], "finish_reason": data.get("done_reason")}  # Ollama's own form
    if not isinstance(choice, Mapping):
        return None
    if choice.get("error"):
        raise error_in(choice, server)
    message = choice.get("message") or {"content": choice.get("text")}
    if not isinstance(message, Mapping):
        return None
    word, content = choice.get("finish_reason") or "", message.get("content")
    refused = message.get("refusal") if not text_of(content) else None
    usage = data.get("usage") or {}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Answer(
        text=refused or text_of(content) or "",
        calls=tuple(_call(each) for each in message.get("tool_calls") or () if isinstance(each, Mapping)),
        end="refusal" if refused else end_of(word),
        word=str(word),
        thinks=has_thoughts(content) or any(message.get(name) for name in _THOUGHTS),
        input_tokens=max(0, _number(usage, "prompt_tokens", "input_tokens") - cached),
        output_tokens=_number(usage, "completion_tokens", "output_tokens"),
        cached_tokens=cached,
    )


def _response(data: Mapping[str, Any], server: str) -> Answer | None:
    """The Responses API."""
    output = data["output"]
    if not isinstance(output, list):
        return _converse(data, server)
    if data.get("status") == "failed":
        raise error_in(data, server)
    items = [item for item in output if isinstance(item, Mapping)]
    parts = [p for item in items for p in item.get("content") or () if item.get("type") == "message"]
    refused = any(isinstance(p, Mapping) and p.get("type") == "refusal" for p in parts)
    word = (data.get("incomplete_details") or {}).get("reason") or data.get("status") or ""
    usage = data.get("usage") or {}
    cached = (usage.get("input_tokens_details") or {}).get("cached_tokens") or 0
    return Answer(
        text=text_of(parts) or "",
        calls=tuple(_call(item) for item in items if item.get("type") == "function_call"),
        end="refusal" if refused else end_of(word),
        word=str(word),
        thinks=any(item.get("type") == "reasoning" for item in items),
        input_tokens=max(0, _number(usage, "input_tokens") - cached),
        output_tokens=_number(usage, "output_tokens"),
        cached_tokens=cached,
    )


def _message(data: Mapping[str, Any], server: str) -> Answer | None:
    """A message of Anthropic's protocol."""
    parts = [part for part in data["content"] if isinstance(part, Mapping)]
    usage, word = data.get("usage") or {}, data.get("stop_reason") or ""
    return Answer(
        text=text_of(parts) or "",
        calls=tuple(_call(part) for part in parts if part.get("type") == "tool_use"),
        end=end_of(word),
        word=str(word),
        thinks=has_thoughts(parts),
        input_tokens=_number(usage, "input_tokens"),
        output_tokens=_number(usage, "output_tokens"),
        cached_tokens=_number(usage, "cache_read_input_tokens"),
        written_tokens=_number(usage, "cache_creation_input_tokens"),
    )


def _converse(data: Mapping[str, Any], server: str) -> Answer | None:
    """An output of Bedrock's Converse API."""
    parts = [p for p in (data["output"].get("message") or {}).get("content") or () if isinstance(p, Mapping)]
    cited = [
        part["citationsContent"].get("content") if "citationsContent" in part else [part] for part in parts
    ]
    usage, word = data.get("usage") or {}, data.get("stopReason") or ""
    return Answer(
        text="".join(text_of(each) or "" for each in cited),
        calls=tuple(_call(part["toolUse"]) for part in parts if isinstance(part.get("toolUse"), Mapping)),
        end=end_of(word),
        word=str(word),
        thinks=any("reasoningContent" in part for part in parts),
        input_tokens=_number(usage, "inputTokens"),
        output_tokens=_number(usage, "outputTokens"),
        cached_tokens=_number(usage, "cacheReadInputTokens"),
        written_tokens=_number(usage, "cacheWriteInputTokens"),
    )


#: The field that tells the form of an answer -> its reader.
_READERS: Final = {"choices": _chat, "output": _response, "content": _message, "message": _chat}


def _call(call: Mapping[str, Any]) -> ToolCall:
    """A tool call of any service, which has its arguments as JSON or as data."""
    inner = call.get("function")
    function: Mapping[str, Any] = inner if isinstance(inner, Mapping) else call
    found = (function[name] for name in ("arguments", "input") if function.get(name) is not None)
    arguments = next(found, "")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    id_ = str(call.get("id") or call.get("toolUseId") or call.get("call_id") or "")
    return ToolCall(id=id_, function=Function(name=str(function.get("name") or ""), arguments=text))


def _number(usage: Mapping[str, Any], *names: str) -> int:
    """A count of tokens; 0 where the service reports none."""
    value = next((usage[name] for name in names if isinstance(usage.get(name), (int, float))), 0)
    return max(0, int(value))


#: Names of the tags that models write around their thoughts, such as ``<think>``.
_NAME: Final = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad)"
_OPEN: Final = re.compile(
    rf"<{_NAME}\b[^<>]*>|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>|<unused94>thought",
    re.IGNORECASE,
)
_CLOSE: Final = re.compile(
    rf"</{_NAME}\s*>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>|<unused95>", re.IGNORECASE
)
_PAIR: Final = re.compile(rf"(?:{_OPEN.pattern}).*?(?:{_CLOSE.pattern})", re.IGNORECASE | re.DOTALL)
#: The channels of gpt-oss: ``<|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final...``
_CHANNEL: Final = re.compile(
    r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>", re.IGNORECASE
)
_CHANNEL_END: Final = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
#: The same where a server has dropped the marks themselves and kept the names.
_BARE_CHANNELS: Final = re.compile(r"\A\s*analysis(?=[A-Z\W]).*assistant\s*final(?:\s*json)?\s*", re.DOTALL)
#: Marks of a chat template that may stand around a text.
_MARKS: Final = re.compile(
    r"<\|(?:START_RESPONSE|END_RESPONSE|begin_of_solution|end_of_solution|return|im_end|eot_id)\|>"
)


def without_thoughts(text: str) -> str:
    """Return what a model says, without what it thought before.

    Thoughts stand between tags, before a closing tag alone (the server's template writes the opening one), or
    after an opening tag that nothing closes (they were cut off).

    >>> without_thoughts("<think>A window seat?</think>Which seat?")
    'Which seat?'
    """
    if not any(mark in text for mark in "<[◁") and not text.lstrip().startswith("analysis"):
        return text  # nearly every text
    if _CHANNEL.search(text):
        return _final_channel(text)
    said = _MARKS.sub("", _PAIR.sub("", _BARE_CHANNELS.sub("", text, count=1)))
    closings = list(_CLOSE.finditer(said))
    if closings:
        said = said[closings[-1].end() :]
    if opening := _OPEN.search(said):
        said = said[: opening.start()]
    return text if said == text else said.strip()


def _final_channel(text: str) -> str:
    """Return the text of the last channel "final"; of a call's channel, where there is no final one."""
    spoken = ""
    for found in _CHANNEL.finditer(text):
        rest = text[found.end() :]
        end = _CHANNEL_END.search(rest)
        part = rest[: end.start()] if end else rest
        if found[1].lower() == "final" or (found[1].lower() == "commentary" and "to=" in found[0]):
            spoken = part
    return spoken.strip()
