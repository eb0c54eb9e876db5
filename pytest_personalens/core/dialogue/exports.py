"""Dialogues in the exports of servers, of tracing and of other test tools, as messages in OpenAI's format."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_personalens.core.dialogue.vendor_messages import Messages, plain_messages
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import Value, read_json_values


def read_values(file: Path) -> list[Value]:
    """Return the values of an export, with the problems of bad lines.

    The values of a list that is alone count as those of the file, if they are no messages.
    """
    values = read_json_values(file)
    if len(values) == 1 and _is_list_of_dialogues(listed := values[0].value):
        return [Value(f"dialogue {n}", n, value) for n, value in enumerate(listed, 1)]
    return values


def _is_list_of_dialogues(value: object) -> bool:
    """True for a list of objects, or of lists of messages, that are no messages themselves."""
    if not isinstance(value, list) or not value:
        return False
    first = value[0]
    return isinstance(first, list) or (isinstance(first, dict) and not {"role", "from"} & first.keys())


class Piece(NamedTuple):
    """A dialogue of an export, or a part of one: one half of a batch, or the turn of one trace.

    Pieces of one `group` belong together, in the order of `time`. `scenario` is what the metadata says of it.
    It is the id where nothing is said. A call has the name `span`; one of a trace names that and the span
    around it, and is only a link if it has no messages.
    """

    messages: Messages
    id: str = ""
    scenario: object = None
    assistant: str = ""
    group: str = ""
    time: str = ""
    half: str = ""
    trace: str = ""
    span: str = ""
    parent: str = ""
    #: Where it stands: the file, the line or the place in a list, and the number of that.
    file: Path = Path()
    where: str = ""
    number: int = 0
    layout: str = ""


def _get(value: object, path: str) -> Any:
    """Return what stands at a path of keys and places, such as ``choices.0.message``, or None."""
    for step in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and len(value) > int(step):
            value = value[int(step)]
        else:
            return None
    return value


def _first(value: object, *names: str) -> str:
    """Return what stands under the first of these names that holds something, as a text."""
    held = value if isinstance(value, Mapping) else {}
    return next((str(held[name]) for name in names if held.get(name)), "")


def _metadata(value: object) -> dict[str, Any]:
    """Return what an object says of itself under any name for metadata, also one inside another."""
    found: dict[str, Any] = {}
    for name in ("metadata", "requestMetadata", "additional_metadata", "additionalMetadata", "extra", "vars"):
        inner = _decoded(_get(value, name))
        for one in (_get(inner, "metadata"), inner):
            found = {**(one if isinstance(one, Mapping) else {}), **found}
    return found


def _decoded(value: object) -> Any:
    """Return what an export holds as a text of JSON, or the value itself."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError):
            return json.loads(value)
    return value


def _sides(messages: object) -> Messages:
    """Return all messages of a list, or of a list of lists, in OpenAI's format."""
    listed = messages if isinstance(messages, list) else [messages]
    flat = (one for each in listed for one in (each if isinstance(each, list) else [each]))
    return [plain for raw in flat for plain in plain_messages(raw) if isinstance(plain, dict)]


#: Where what was asked and what was answered may stand; the first that holds something counts.
_ASKED: Final = ("messages", "message", "input", "question", "query", "content")
_ANSWERED: Final = (
    "choices.0.message", "messages", "message", "generations.0.0.message", "generations.0.message", "output",
    "answer", "content",
)  # fmt: skip


def _said(value: object, *, reply: bool) -> Messages:
    """Return the messages of what was asked, or of what was answered, wherever they stand in it."""
    value = _decoded(value)
    if isinstance(value, str):
        return [{"role": "assistant" if reply else "user", "content": value}] if value else []
    if isinstance(value, list):
        return _sides(value)
    found = _sides(value)
    if any(message.get("role") for message in found):
        return found
    inner = next((held for path in (_ANSWERED if reply else _ASKED) if (held := _get(value, path))), None)
    return [] if inner is None else _said(inner, reply=reply)


def _turn(asked: object, answer: object) -> Messages:
    """Return the messages of a call's or a trace's input and output; an output may repeat the input."""
    before, after = _said(asked, reply=False), _said(answer, reply=True)
    return after if before and after[: len(before)] == before else [*before, *after]


def _has_both_sides(messages: Messages) -> bool:
    return {"user", "assistant"} <= {m.get("role") for m in messages}


def _both_sides(asked: object, answer: object) -> Messages:
    """Return what was asked and answered; raise ValueError for a side that is missing."""
    if not _said(asked, reply=False):
        raise ValueError('the user\'s side is missing; add what was sent, as "input", beside it')
    if not _said(answer, reply=True):
        raise ValueError("it has no reply; remove it")
    return _turn(asked, answer)


def _call(value: object, messages: Messages, name: str, assistant: object = None, **more: Any) -> Piece:
    """Return the piece of a call or a trace, with the group that its metadata or its session name."""
    metadata = _metadata(value)
    names = ("conversation_id", "thread_id", "session_id", "sessionId")
    group = _first(metadata, *names) or _first(value, *names)
    of = (metadata.get("scenario"), str(assistant or ""), group)
    return Piece(messages, group or name, *of, span=name, **more)


def _of_batch(value: Mapping[str, Any]) -> Iterator[Piece]:
    name, body = str(value["custom_id"]), value.get("body", value.get("params"))
    if body is not None:
        asked = _both_sides(body, "-")[:-1]
        yield Piece(asked, name, _metadata(body).get("scenario"), group=name, half="request")
        return
    body = _get(value, "response.body") or _get(value, "result.message")
    if not (reply := _said(body, reply=True)):
        errors = (_get(value, "error.message"), _get(body, "error.message"))
        why = next(filter(None, errors), None) or _get(value, "result.type") or "no text"
        raise ValueError(f"the request {name!r} has no reply ({why}); remove the line")
    yield Piece(reply, name, assistant=_first(body, "model"), group=name, half="result")


def _of_bedrock_batch(value: Mapping[str, Any]) -> Iterator[Piece]:
    yield Piece(_both_sides(value["modelInput"], value.get("modelOutput")), _first(value, "recordId"))


def _of_invocation_log(value: Mapping[str, Any]) -> Iterator[Piece]:
    body = _get(value, "output.outputBodyJson")
    if isinstance(body, list):
        raise ValueError("a streamed InvokeModel, whose reply is in pieces; log calls of Converse")
    messages = _both_sides(_get(value, "input.inputBodyJson"), body)
    time = _first(value, "timestamp")
    yield _call(value, messages, _first(value, "requestId"), value.get("modelId"), time=time)


def _of_answer(value: Mapping[str, Any]) -> Iterator[Piece]:
    answer = value if _is_answer(value) else value["response"]
    sent = {name: value[name] for name in ("messages", "input") if value.get(name)}
    messages = _both_sides(sent or value.get("request"), answer)
    yield _call({**answer, **value}, messages, _first(answer, "id"), _first(answer, "model"))


def _of_langsmith(value: Mapping[str, Any]) -> Iterator[Piece]:
    messages, parent = _turn(value.get("inputs"), value.get("outputs")), _first(value, "parent_run_id")
    if not _has_both_sides(messages):
        if not parent:
            raise ValueError(f"no message of both sides in the run {value.get('name')!r}; remove it")
        messages = []
    without_project = {k: v for k, v in value.items() if k != "session_id"}
    places = {"trace": _first(value, "trace_id"), "parent": parent, "time": _first(value, "start_time")}
    yield _call(without_project, messages, _first(value, "id"), value.get("name"), **places)


def _of_langfuse(value: Mapping[str, Any]) -> Iterator[Piece]:
    messages = _turn(value.get("input"), value.get("output"))
    for seen in value.get("observations") or ():
        if not _has_both_sides(messages) and _get(seen, "type") == "GENERATION":
            messages = _turn(seen.get("input"), seen.get("output"))
    if not _has_both_sides(messages):
        if value.get("type") in (None, "GENERATION"):
            raise ValueError("no message of both sides in the input and output; remove it")
        messages = []  # a span or an event of a trace
    places = {"trace": _first(value, "traceId"), "parent": _first(value, "parentObservationId")}
    yield _call(value, messages, _first(value, "id"), time=_first(value, "timestamp", "startTime"), **places)


def _of_otel(value: Mapping[str, Any]) -> Iterator[Piece]:
    scopes = [s for r in value.get("resourceSpans") or () for s in _get(r, "scopeSpans") or ()]
    spans = [span for scope in scopes for span in _get(scope, "spans") or ()]
    for span in spans if "resourceSpans" in value else [value]:
        attributes = _attributes(span.get("attributes"))
        for event in span.get("events") or ():  # the content may stand in an event of the span
            of_event = _attributes(_get(event, "attributes"))
            attributes |= {k: v for k, v in of_event.items() if k.endswith(".messages")}
        context = span.get("context") or {}
        found = {
            "conversation_id": _first(attributes, "gen_ai.conversation.id", "session.id"),
            "scenario": attributes.get("scenario", attributes.get("gen_ai.conversation.scenario")),
        }
        yield _call(
            {"metadata": found},
            _of_span(attributes),
            _first(context, "span_id") or _first(span, "spanId"),
            _first(attributes, "gen_ai.request.model", "llm.model_name"),
            time=_first(span, "startTimeUnixNano", "start_time"),
            trace=_first(context, "trace_id") or _first(span, "traceId"),
            parent=_first(span, "parent_id", "parentSpanId"),
        )


def _of_span(attributes: Mapping[str, Any]) -> Messages:
    """Return the messages of a span of GenAI, of an agent of pydantic-ai, or of OpenInference.

    Raise `ValueError` for a call of a model whose content was not kept.
    """
    operation = attributes.get("gen_ai.operation.name", attributes.get("openinference.span.kind"))
    if operation not in (None, "chat", "generate_content", "invoke_agent", "LLM"):
        return []
    pairs = (("gen_ai.input.messages", "gen_ai.output.messages"), ("input.value", "output.value"))
    for asked, answer in (map(attributes.get, pair) for pair in pairs):
        if asked and answer:
            return _turn(asked, answer)
    if every := attributes.get("pydantic_ai.all_messages"):
        return _said(every, reply=True)
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
    return {str(_get(one, "key")): _any_value(_get(one, "value")) for one in listed}


def _any_value(value: object) -> Any:
    if (listed := _get(value, "arrayValue")) is not None:
        return [_any_value(one) for one in _get(listed, "values") or ()]
    if (mapping := _get(value, "kvlistValue")) is not None:
        return _attributes(_get(mapping, "values"))
    return next(iter(value.values()), None) if isinstance(value, Mapping) else value


def _of_promptfoo(value: Mapping[str, Any]) -> Iterator[Piece]:
    for n, result in enumerate(_get(value, "results.results") or [value]):
        said = _get(result, "response.metadata.messages") or _get(result, "metadata.messages")
        output = _get(result, "response.output")
        if not said and output is None:
            why = _get(result, "error") or "no reason given"
            raise ValueError(f"the result {n} has no output ({why}); remove it")
        messages = _sides(said) if said else _turn(_get(result, "prompt.raw"), output)
        found = {**_metadata(_get(result, "testCase")), **_metadata(result)}
        provider = _get(result, "provider.id") or _get(result, "provider")
        yield Piece(messages, str(_get(result, "id") or n), found.get("scenario"), str(provider or ""))


def _of_inspect(value: Mapping[str, Any]) -> Iterator[Piece]:
    for sample in value.get("samples") or ():
        name, scenario = f"{sample.get('id')}-{sample.get('epoch', 1)}", sample.get("id")
        of = (_metadata(sample).get("scenario", scenario), str(_get(value, "eval.model") or ""))
        yield Piece(_sides(sample.get("messages") or []), name, *of)


def _of_deepeval(value: Mapping[str, Any]) -> Iterator[Piece]:
    for n, case in enumerate(value.get("conversationalTestCases") or [value]):
        scenario = _metadata(case).get("scenario", case.get("name"))
        yield Piece(_sides(case.get("turns") or []), str(case.get("name") or n), scenario)


def _of_sharegpt(value: Mapping[str, Any]) -> Iterator[Piece]:
    said = value.get("conversations", value.get("conversation"))
    yield Piece(_sides(said), _first(value, "id"), value.get("scenario"))


def _is_answer(value: object) -> bool:
    """True for an answer of a server of any protocol."""
    is_message = _get(value, "role") == "assistant" and isinstance(_get(value, "content"), list)
    known = any(_get(value, path) is not None for path in ("choices.0", "output.message", "output.0.type"))
    return is_message or known or _get(value, "object") == "response"


def _list_in(value: Mapping[str, Any]) -> list[Any]:
    """Return the list in an answer of an API, or the requests of a batch, if their layout is known."""
    names = (name for name in ("data", "requests", "runs") if _layout_of(_get(value, f"{name}.0")))
    return next((value[name] for name in names), [])


def _of_list(value: Mapping[str, Any]) -> Iterator[Piece]:
    for one in _list_in(value):
        layout = _layout_of(one)
        if layout is None:
            raise ValueError("holds objects of several kinds")
        yield from layout.read(one)


class _Layout(NamedTuple):
    """One layout: an object has it if `known` says so; `read` raises ValueError if it holds no dialogue."""

    name: str
    known: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], Iterator[Piece]]


def _with(*shapes: str) -> Callable[[Mapping[str, Any]], bool]:
    """Return what knows an object by one of these shapes: each of its words is a path, or several with |."""

    def has(value: Mapping[str, Any], paths: str) -> bool:
        return any(path in value or _get(value, path) is not None for path in paths.split("|"))

    return lambda value: any(all(has(value, paths) for paths in shape.split()) for shape in shapes)


#: The first that knows an object reads it: a span of OpenTelemetry has what a Langfuse trace has, and both
#: may look like a model's answer.
_LAYOUTS: Final = (
    _Layout("a batch", _with("custom_id body|params|response|result"), _of_batch),
    _Layout("a batch of Bedrock", _with("modelInput"), _of_bedrock_batch),
    _Layout("an invocation log of Bedrock", _with("modelId input.inputBodyJson"), _of_invocation_log),
    _Layout("a LangSmith run", _with("run_type inputs"), _of_langsmith),
    _Layout("a promptfoo evaluation", _with("results.results", "prompt response vars"), _of_promptfoo),
    _Layout("an inspect log", _with("eval samples"), _of_inspect),
    _Layout("deepeval's conversations", _with("conversationalTestCases", "turns.0.role"), _of_deepeval),
    _Layout("ShareGPT", _with("conversations.0|conversation.0"), _of_sharegpt),
    _Layout("OpenTelemetry", _with("resourceSpans", "attributes context"), _of_otel),
    _Layout("a Langfuse trace", _with("input output observations|traceId|sessionId|projectId"), _of_langfuse),
    _Layout("a model's answer", lambda v: _is_answer(v) or _is_answer(v.get("response")), _of_answer),
    _Layout("a list", lambda v: bool(_list_in(v)), _of_list),
)  # fmt: skip


def _layout_of(value: object) -> _Layout | None:
    if not isinstance(value, Mapping):
        return None
    return next((layout for layout in _LAYOUTS if layout.known(value)), None)


class Exports:
    """Dialogues of exports. A batch has its halves in two files; a dialogue may have several traces."""

    def __init__(self) -> None:
        self._found: list[Piece] = []

    def add(self, file: Path, where: str, number: int, value: Any) -> bool:
        """Take an object if it has a known layout; raise `DataError` for one that cannot be read."""
        try:
            layout = _layout_of(value)
        except (RecursionError, TypeError):
            return False
        if layout is None:
            return False
        try:
            for piece in layout.read(value):
                said = [message for message in piece.messages if message.get("role") != "system"]
                at = piece._replace(file=file, where=where, number=number, layout=layout.name)
                self._found.append(at._replace(messages=said))
        except ValueError as error:
            raise DataError(file, f"{layout.name}: {error}", field=where) from None
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError) as error:
            problem = f"it looks like {layout.name}, and is not as its format has it ({error})"
            raise DataError(file, problem, field=where) from None
        return True

    def dialogues(self) -> list[Piece]:
        """Return the dialogues in the order of the files; raise `DataError` for half of a batch."""
        groups: dict[object, list[Piece]] = {}
        halves: defaultdict[str, list[Piece]] = defaultdict(list)
        for found in self._found:
            if found.half:
                halves[found.group].append(found)
        for n, found in enumerate(_without_repeats(self._found)):
            grouped = found.group and not found.half
            groups.setdefault((found.layout, found.group) if grouped else n, []).append(found)
        whole = (_with_request(group, halves[group[0].group]) for group in groups.values())
        return [_joined(group) for group in whole if group]


def _with_request(group: list[Piece], halves: list[Piece]) -> list[Piece]:
    """Return a result of a batch with its request, one of `halves`, before it, and no request for itself."""
    (found, *_) = group
    if not found.half:
        return group
    # Two batches may give the same name to a request: then it stands in the file of the result.
    pairs = sorted((f for f in halves if f.half != found.half), key=lambda f: f.file == found.file)
    if not pairs:
        half, other = found.half, "results" if found.half == "request" else "requests"
        problem = f"the {half} {found.id!r} alone; name the file of the {other} beside this one"
        raise DataError(found.file, problem, field=found.where)
    return [] if found.half == "request" else [pairs[-1], found]


def _without_repeats(every: list[Piece]) -> list[Piece]:
    """Return what was found without calls that repeat others.

    Of nested spans the outermost is read, with the messages of the fullest that ends with the same reply: an
    agent's span may leave out its tools. A call that another goes on from is a part of the same dialogue.
    """
    spans = {(f.trace, f.span): f for f in every if f.span}
    kept: list[Piece] = []
    for found in every:
        outer, at, seen = found, (found.trace, found.parent), set[object]()
        while at in spans and at not in seen:
            seen.add(at)
            outer = spans[at] if spans[at].messages else outer
            at = (found.trace, spans[at].parent)
        if outer is not found:
            said, fuller = outer.messages, found.messages
            if fuller[-1:] == said[-1:] and len(fuller) > len(said):
                said[:] = fuller
        elif found.messages or not found.span:
            kept.append(found)
    calls: defaultdict[str, list[Messages]] = defaultdict(list)
    for messages in (f.messages for f in kept if f.span and not f.group):
        calls[str(messages[:2])].append(messages)

    def goes_on(found: Piece) -> bool:
        before = found.messages  # of a call in a log that does not say which dialogue it belongs to
        longer = (one for one in calls[str(before[:2])] if len(one) > len(before))
        return bool(found.span and not found.group) and any(one[: len(before)] == before for one in longer)

    return [found for found in kept if not goes_on(found)]


def _joined(group: list[Piece]) -> Piece:
    messages: Messages = []
    for found in sorted(group, key=lambda found: found.time):
        turn = found.messages
        # A trace holds either all that was said before, or its own turn only.
        messages = turn if turn[: len(messages)] == messages else [*messages, *turn]
    scenario = next((piece.scenario for piece in reversed(group) if piece.scenario), group[-1].id)
    return group[-1]._replace(messages=messages, scenario=scenario)
