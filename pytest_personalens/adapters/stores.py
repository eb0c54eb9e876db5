"""Memory stores of others, as a `MemoryStore`: which call waits, which finds, and which gives all.

Nothing is imported for them. What they do where a guess would go wrong was tried with mem0 2.2, LangGraph
1.2, chromadb 1.5, zep-cloud 4.0 and boto3 1.44; docs/how-to/assistant/memory-stores.md says how.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from pytest_personalens.core.dialogue.state import MemoryStore

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
