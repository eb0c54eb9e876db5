"""What others return, in the form that this package reads: replies of frameworks, and memory stores.

Each function `from_...` gives the replies of a framework, with the tool calls in them, as OpenAI-shaped
messages: it takes what a framework returned for one turn and returns a list of messages, the last of which
is what the assistant says. LangChain and CrewAI need no function:
`langchain_core.messages.convert_to_openai_messages(messages)` and `output.messages` are such lists.

Each function `..._store` gives a `MemoryStore` for the fixture `personalens_memory_store`: which call waits,
which finds, and which gives all. What the stores do where a guess would go wrong was tried with mem0 2.2,
LangGraph 1.2, chromadb 1.5, zep-cloud 4.0 and boto3 1.44; docs/how-to/assistant/memory-stores.md says how.

Nothing is imported for any of them: objects are read by their attributes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_personalens.core.dialogue.state import MemoryStore

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


#: More entries than a user has: without a number of its own, a store gives 10 or 20 of them.
_EVERY: Final = 1_000_000


def mem0_store(memory: Any, *, top_k: int = 20) -> MemoryStore:
    """Reach into a `Memory` of mem0, which keys what it keeps by ``user_id=context.user``.

    `top_k` is the number of memories that your assistant searches for. All are the memories of the user, also
    the expired ones, and the raw messages, which outlive a deletion and go into mem0's next prompt.
    """

    def read(context: Any, question: str) -> list[str]:
        found = memory.search(question, top_k=top_k, filters={"user_id": context.user})
        return [one["memory"] for one in found["results"]]

    def every(context: Any) -> list[str]:
        filters = {"user_id": context.user}
        kept = memory.get_all(filters=filters, top_k=_EVERY, show_expired=True)["results"]
        db = getattr(memory, "db", None)  # the hosted one has none
        escaped = context.user.replace("%", "%25").replace("&", "%26").replace("=", "%3D")
        raw = db.get_last_messages(f"user_id={escaped}", limit=_EVERY) if db is not None else []
        return [*(one["memory"] for one in kept), *(message["content"] or "" for message in raw)]

    return MemoryStore(read=read, all=every)


def langgraph_store(
    store: Any, namespace: Callable[[str], Sequence[str]] = lambda user: (user,), *, limit: int = 10
) -> MemoryStore:
    """Reach into a store of LangGraph, whose items of a user are below ``namespace(context.user)``.

    `limit` is the number of items that your assistant searches for. What has expired is swept away first,
    because a search gives it until then. An item is read as its value in JSON.
    """

    def texts(context: Any, most: int, query: str | None = None) -> list[str]:
        if (sweep := getattr(store, "sweep_ttl", None)) is not None:
            sweep()
        found = store.search(tuple(namespace(context.user)), query=query, limit=most)
        return [json.dumps(item.value, ensure_ascii=False, default=str) for item in found]

    return MemoryStore(
        read=lambda context, question: texts(context, limit, question),
        all=lambda context: texts(context, _EVERY),
    )


def chromadb_store(
    collection: Any,
    where: Callable[[str], Mapping[str, Any]] = lambda user: {"user": user},
    *,
    embed: Callable[[str], Sequence[float]] | None = None,
    n_results: int = 10,
) -> MemoryStore:
    """Reach into a collection of chromadb, whose documents of a user fit ``where(context.user)``.

    If another process writes it, give a function that opens a client and returns the collection: a client
    that is open already gets new documents, and never finds them in a query. `embed` makes the vector of a
    question, if the collection has no embedding function.
    """

    def opened() -> Any:
        return collection() if callable(collection) else collection

    def read(context: Any, question: str) -> list[str]:
        asked = {"query_texts": [question]} if embed is None else {"query_embeddings": [embed(question)]}
        found = opened().query(**asked, n_results=n_results, where=dict(where(context.user)))
        return [text or "" for text in found["documents"][0]]

    def every(context: Any) -> list[str]:
        return [text or "" for text in opened().get(where=dict(where(context.user)))["documents"]]

    return MemoryStore(read=read, all=every)


def zep_store(client: Any, graph_of: Callable[[str], str], *, page_size: int = 10) -> MemoryStore:
    """Reach into the graph of a user in Zep; ``graph_of(context.user)`` is its UUID, or that of the user.

    It has settled when every episode is processed. All are the facts, also those that have stopped being
    true, and the raw episodes. `page_size` is the number of facts that your assistant searches for.
    """

    def settled(context: Any) -> bool:
        return all(e.processed for e in client.graph.episode.list(graph_of(context.user), page_size=100))

    def read(context: Any, question: str) -> list[str]:
        found = client.graph.search_edges(graph_of(context.user), query=question, page_size=page_size)
        return [edge.fact or "" for edge in found.items]

    def every(context: Any) -> list[str]:
        graph, uuid = client.graph, graph_of(context.user)
        facts = [edge.fact or "" for edge in graph.edge.list(uuid, page_size=100)]
        return facts + [e.content or "" for e in graph.episode.list(uuid, page_size=100)]

    return MemoryStore(settled=settled, read=read, all=every, within=600)


def agentcore_store(
    client: Any,
    memory: str,
    namespace: Callable[[str], str],
    *,
    actor: Callable[[str], str] = lambda user: user.replace("+", "-"),
    top_k: int = 3,
    still: float = 60.0,
) -> MemoryStore:
    """Reach into a memory of AgentCore, by a client ``boto3.client("bedrock-agentcore")``.

    `memory` is its id, ``namespace(context.user)`` that of the user's records, exactly, and
    ``actor(context.user)`` the id of the actor, which may have no plus sign.

    No call tells that extraction has ended, so it counts as settled when the records have been the same for
    `still` seconds. All are the records and the raw events, which a deletion of records leaves. `top_k` is
    the number of records that your assistant asks for.
    """

    def pages(call: Callable[..., Any], key: str, **given: Any) -> Iterator[Any]:
        token: dict[str, str] = {}
        while True:
            page = call(memoryId=memory, **given, **token)
            yield from page[key]
            if not (next_token := page.get("nextToken")):
                return
            token = {"nextToken": next_token}

    def records(context: Any) -> list[str]:
        given = {"namespace": namespace(context.user), "maxResults": 100}
        found = pages(client.list_memory_records, "memoryRecordSummaries", **given)
        return [one["content"]["text"] for one in found]

    def settled(context: Any) -> None:
        before, since = records(context), time.monotonic()
        while time.monotonic() - since < still:
            time.sleep(min(5.0, still))
            if (now := records(context)) != before:
                before, since = now, time.monotonic()

    def read(context: Any, question: str) -> list[str]:
        asked = {"searchQuery": question, "topK": top_k}
        found = client.retrieve_memory_records(
            memoryId=memory, namespace=namespace(context.user), searchCriteria=asked, maxResults=top_k
        )
        return [one["content"]["text"] for one in found["memoryRecordSummaries"]]

    def every(context: Any) -> list[str]:
        texts, own = records(context), actor(context.user)
        for session in pages(client.list_sessions, "sessionSummaries", actorId=own):
            given = {"actorId": own, "sessionId": session["sessionId"], "includePayloads": True}
            for event in pages(client.list_events, "events", **given):
                spoken = (piece.get("conversational", {}) for piece in event.get("payload", ()))
                texts += [said["content"]["text"] for said in spoken if "text" in said.get("content", {})]
        return texts

    return MemoryStore(settled=settled, read=read, all=every, within=900)
