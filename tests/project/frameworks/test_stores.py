"""The adapters of memory stores, each with the real package, where it is installed, and an arc that needs it.

`make test-frameworks FRAMEWORKS=stores` installs them. The stores of mem0, LangGraph and chromadb run here; Zep
and AgentCore are services, whose clients are real and whose answers are written below.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_personalens import MemoryStore, adapters

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ADA = SimpleNamespace(user="ada+1")
#: More than any of the stores gives without a number.
MANY = 60


@pytest.fixture(params=["stores"], autouse=True)
def _of_make(request: pytest.FixtureRequest) -> str:
    """The word by which make selects these tests."""
    return str(request.param)


def embed(text: str) -> list[float]:
    """A vector by words, the same in every process."""
    vector = [0.01] * 64
    for word in text.lower().split():
        vector[hashlib.sha256(word.strip("?.").encode()).digest()[0] % 64] += 1.0
    return vector


def needs(module: str) -> pytest.MarkDecorator:
    reason = f"{module} is not installed here (make test-frameworks FRAMEWORKS=stores)"
    return pytest.mark.skipif(find_spec(module.partition(".")[0]) is None, reason=reason)


def read(store: MemoryStore, question: str) -> list[str]:
    assert store.read is not None
    return list(store.read(ADA, question))


def every(store: MemoryStore) -> list[str]:
    assert store.all is not None
    return list(store.all(ADA))


def check(store: MemoryStore, put: Callable[[str, str], Any]) -> None:
    """What was put is found and counted, without a cap, and nothing of another user."""
    for number in range(MANY):
        put(ADA.user, f"note {number}")
    put(ADA.user, "my flatmate is called Keane")
    put("bo", "my cat is called Mog")
    assert any("Keane" in text for text in read(store, "my flatmate is called what?"))
    assert len({text for text in every(store) if "note " in text}) == MANY
    assert not any("Mog" in text for text in [*every(store), *read(store, "cat called")])


@needs("langgraph")
def test_langgraph_in_memory() -> None:
    from langgraph.store.memory import InMemoryStore

    kept = InMemoryStore(index={"dims": 64, "embed": lambda texts: [embed(text) for text in texts]})
    store = adapters.langgraph_store(kept, lambda user: (user, "notes"))
    check(store, lambda user, text: kept.put((user, "notes"), text, {"text": text}))
    assert len(read(store, "note")) == 10, "what an assistant gets that gives no limit"


@needs("langgraph.store.sqlite")
def test_langgraph_sqlite_gives_nothing_that_has_expired(tmp_path: Path) -> None:
    pytest.importorskip("langgraph.store.sqlite")
    from langgraph.store.sqlite import SqliteStore

    with SqliteStore.from_conn_string(str(tmp_path / "store.db")) as kept:
        kept.setup()
        store = adapters.langgraph_store(kept)
        for number in range(MANY):
            kept.put((ADA.user,), f"n{number}", {"text": f"note {number}"})
        assert len(every(store)) == MANY
        kept.put((ADA.user,), "old", {"text": "Keane"}, ttl=0.0001)
        time.sleep(1.1)  # its clock has seconds
        assert "old" in [item.key for item in kept.search((ADA.user,), limit=MANY * 2)], "what a guess reads"
        assert not any("Keane" in text for text in every(store))


@needs("chromadb")
def test_chromadb(tmp_path: Path) -> None:
    chromadb = import_module("chromadb")

    def opened() -> Any:
        client = chromadb.PersistentClient(str(tmp_path), chromadb.Settings(anonymized_telemetry=False))
        return client.get_or_create_collection("notes", embedding_function=None)

    kept = opened()

    def put(user: str, text: str) -> None:
        kept.add(ids=f"{user} {text}", documents=text, embeddings=[embed(text)], metadatas={"user": user})

    store = adapters.chromadb_store(opened, embed=embed)
    check(store, put)
    assert len(read(store, "note")) == 10
    kept.delete(where={"user": ADA.user})
    assert every(store) == []


@needs("mem0")
def test_mem0_tells_what_a_deletion_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = str(tmp_path / "home")
    for name, value in {"MEM0_TELEMETRY": "False", "MEM0_DIR": home, "OPENAI_API_KEY": "none"}.items():
        monkeypatch.setenv(name, value)
    for module in [name for name in sys.modules if name.partition(".")[0] == "mem0"]:
        monkeypatch.delitem(sys.modules, module)
    memory = import_module("mem0").Memory

    vectors = {"path": str(tmp_path / "qdrant"), "embedding_model_dims": 64}
    provided = {"provider": "qdrant", "config": vectors}
    kept = memory.from_config({"vector_store": provided, "history_db_path": str(tmp_path / "history.db")})
    kept.embedding_model = SimpleNamespace(
        embed=lambda text, *more, **named: embed(text),
        embed_batch=lambda texts, *more, **named: [embed(text) for text in texts],
        config=SimpleNamespace(embedding_dims=64),
    )
    store = adapters.mem0_store(kept)

    def put(user: str, text: str) -> None:
        kept.add([{"role": "user", "content": text}], user_id=user, infer=False)

    check(store, put)
    assert len(read(store, "note")) == 20
    # With a model, what it extracted is stored (here nothing), and the message itself as well.
    kept.llm = SimpleNamespace(generate_response=lambda *given, **named: '{"memory": []}')
    kept.add([{"role": "user", "content": "I drink rooibos"}], user_id=ADA.user)
    kept.delete_all(user_id=ADA.user)
    assert every(store) == ["I drink rooibos"], "the raw messages, which go into the next prompt"
    kept.reset()
    assert every(store) == []


@needs("zep_cloud")
def test_zep_by_its_client() -> None:
    httpx, zep = import_module("httpx"), import_module("zep_cloud").Zep

    processed, asked = [False], []

    def answer(request: Any) -> Any:
        asked.append(request.url.path)
        fact = {"uuid": "e", "fact": "ADA lives with Keane"}
        episode = {"uuid": "p", "content": "my flatmate is Keane", "processed": processed[0]}
        body = {"items": [episode if "episodes" in request.url.path else fact]}
        return httpx.Response(200, json=body)

    client = zep(api_key="none", httpx_client=httpx.Client(transport=httpx.MockTransport(answer)))
    store = adapters.zep_store(client, lambda user: "graph-of-ada")
    assert store.settled is not None
    assert store.settled(ADA) is False
    processed[0] = True
    assert store.settled(ADA) is True
    assert read(store, "Who is my flatmate?") == ["ADA lives with Keane"]
    assert every(store) == ["ADA lives with Keane", "my flatmate is Keane"]
    assert all("/graphs/graph-of-ada/" in path for path in asked)


def test_agentcore_by_its_client() -> None:
    import boto3
    from botocore.awsrequest import AWSResponse

    class Raw(io.BytesIO):
        def stream(self, **named: Any) -> Any:
            yield self.read()

    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none"}
    client = boto3.client("bedrock-agentcore", region_name="us-east-1", **keys)
    record = {"memoryRecordId": "r", "content": {"text": "lives with Keane"}, "memoryStrategyId": "s", "namespaces": [], "createdAt": 0}  # fmt: skip
    told = {"conversational": {"content": {"text": "my flatmate is Keane"}, "role": "USER"}}
    event, last = {"payload": [told, {"blob": {}}]}, {"memoryRecordSummaries": [record]}
    pages: dict[str, list[Any]] = {
        "memoryRecords": [{**last, "nextToken": "2"}, last],
        "retrieve": [last],
        "sessions": [{"sessionSummaries": [{"sessionId": "s1", "actorId": "ada-1", "createdAt": 0}]}],
        "s1": [{"events": [event]}],
    }  # fmt: skip
    asked: list[str] = []

    def answer(request: Any, **named: Any) -> AWSResponse:
        path = request.url.partition("/memories/")[2]
        asked.append(path)
        body = json.loads(request.body or "{}")
        page = pages[path.rpartition("/")[2]][1 if body.get("nextToken") else 0]
        return AWSResponse(request.url, 200, {}, Raw(json.dumps(page).encode()))

    client.meta.events.register("before-send.bedrock-agentcore", answer)
    store = adapters.agentcore_store(client, "notes-0123456789", lambda user: f"/facts/{user}/", still=0.01)
    assert store.settled is not None
    store.settled(ADA)
    assert read(store, "Who is my flatmate?") == ["lives with Keane"]
    assert every(store) == ["lives with Keane", "lives with Keane", "my flatmate is Keane"]
    assert "notes-0123456789/actor/ada-1/sessions/s1" in asked
