"""A model endpoint on loopback, lean enough to be no part of what is measured: OpenAI's and Bedrock's
protocols after a set latency.

    python benchmarks/speed/fake_endpoint.py [--latency 0.2] [--refuse-every 20]

prints its address and serves until it is terminated; ``GET /stats`` tells what was asked of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import unquote

LATENCY = 0.2
#: User turns of a dialogue, each with a reply. Our user agent ends a dialogue in its last turn, which the
#: assistant still answers.
TURNS = 4
#: A refusal comes sooner than an answer.
REFUSED_AFTER = 0.25
ASKS = (
    "I need a table for two on Friday, please.",
    "Somewhere quiet, and not too far.",
    "Eight o'clock would suit me.",
    "Lovely, book it.",
)


#: What is answered where the prompt alone says what to fill in: the probabilities of a grade's tokens are
#: asked of a judge only.
GRADE = {"type": "object", "properties": {"reason": {"type": "string"}, "score": {"enum": [10]}}}
CERTAIN = {
    "token": "10",
    "logprob": 0.0,
    "bytes": None,
    "top_logprobs": [{"token": "10", "logprob": 0.0, "bytes": None}],
}


#: A phrase of every reply of the assistant: a judge that quotes nothing of them is asked once more.
SERVED = "a quiet table for two near you"
#: The text of a prediction of the suite personaconv, as long as a reply of a thread.
PREDICTED = (
    "I had the same trouble with mine last spring, and what helped in the end was to take the whole thing"
    " apart, dry it for two days, and only then put a thin layer of glue on both sides of the crack."
)


class Asked(NamedTuple):
    """What both protocols say, in one shape."""

    model: str
    system: str
    texts: list[str]
    schema: dict[str, Any] | None
    as_text: bool


class Endpoint:
    """The state that the connections share."""

    def __init__(self, latency: float, refuse_every: int) -> None:
        self.latency, self.refuse_every = latency, refuse_every
        self.asked = self.refused = self.in_flight = self.most = 0
        self.calls: Counter[str] = Counter()

    def stats(self) -> bytes:
        """Calls answered, by role and in all; calls refused; most in flight; CPU seconds of this process."""
        found = {
            "calls": self.calls.total(),
            "roles": self.calls,
            "refused": self.refused,
            "most": self.most,
            "cpu": time.process_time(),
        }
        return _http(200, json.dumps(found).encode())

    def answer(self, path: str, body: bytes) -> tuple[float, bytes]:
        """(Seconds until the answer, the answer)."""
        bedrock = path.startswith("/model/") and path.endswith("/converse")
        if not bedrock and not path.endswith("/chat/completions"):
            return 0.0, _http(404, b'{"error":{"message":"there are chat/completions and converse only"}}')
        self.asked += 1
        if self.refuse_every and self.asked % self.refuse_every == 0:
            self.refused += 1
            return self.latency * REFUSED_AFTER, _refusal(bedrock)
        sent = json.loads(body)
        asked = _of_bedrock(path, sent) if bedrock else _of_openai(sent)
        role, text, data = play(asked)
        self.calls[role] += 1
        return self.latency, _http(
            200, json.dumps((_bedrock if bedrock else _openai)(asked, text, data)).encode()
        )


def play(asked: Asked) -> tuple[str, str, Any]:
    """(Role, text, data): the judge fills in the schema or gives a grade, the user asks, the assistant does
    as asked.
    """
    role = role_of(asked)
    if predicted := (asked.schema or {}).get("properties", {}).get("answer"):
        return role, "", {"answer": PREDICTED if predicted == {"type": "string"} else fill(predicted, {})}
    if role == "judge":
        return (
            role,
            "It was done as asked.\nGRADE: C",
            fill(asked.schema, asked.schema) if asked.schema else None,
        )
    if role == "assistant":
        return role, f"Done, step {len(asked.texts)}: {SERVED}, Friday at eight.", None
    # Our user agent sends the transcript in its prompt; others as the messages of a chat.
    said = max(asked.texts[-1].count('"role": "assistant"'), len(asked.texts) // 2)
    text = ASKS[said % TURNS] + (
        " TERMINATE" if said >= TURNS - 1 and "TERMINATE" in asked.system + asked.texts[-1] else ""
    )
    return role, text, dict.fromkeys(asked.schema["properties"], text) if asked.schema else None


def role_of(asked: Asked) -> str:
    """By the model's name where the caller gives each role its own, else by what is asked."""
    if asked.model in ("user", "assistant", "judge"):
        return asked.model
    if asked.system.startswith("You are acting the part") or "simulated_input" in (asked.schema or {}).get(
        "properties", ()
    ):
        return "user"
    predicts = "answer" in (asked.schema or {}).get("properties", ())
    return "judge" if asked.schema and not predicts else "assistant"


def fill(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """Some value of a JSON schema, the best of a scale."""
    if "$ref" in schema:
        return fill(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "anyOf" in schema:
        return fill(schema["anyOf"][0], root)
    if "enum" in schema:
        return schema["enum"][-1]
    kind = schema.get("type")
    if kind == "object":
        return {name: fill(part, root) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [fill(schema["items"], root)] * max(1, schema.get("minItems", 1))
    return {"boolean": True, "integer": 1, "number": 1}.get(str(kind), SERVED)


def _of_openai(sent: dict[str, Any]) -> Asked:
    texts = [(m["role"], _text(m["content"])) for m in sent["messages"]]
    system = next((t for role, t in texts if role in ("system", "developer")), "")
    schema, as_text = None, False
    if sent.get("tools"):
        schema = sent["tools"][0]["function"]["parameters"]
    elif "json_schema" in sent.get("response_format", {}):
        schema, as_text = sent["response_format"]["json_schema"]["schema"], True
    elif sent.get("logprobs"):
        schema, as_text = GRADE, True
    return Asked(
        sent["model"],
        system,
        [t for role, t in texts if role not in ("system", "developer")],
        schema,
        as_text,
    )


def _of_bedrock(path: str, sent: dict[str, Any]) -> Asked:
    texts = [_text(m["content"]) for m in sent["messages"]]
    tools = sent.get("toolConfig", {}).get("tools")
    schema = tools[0]["toolSpec"]["inputSchema"]["json"] if tools else None
    return Asked(unquote(path.split("/")[2]), _text(sent.get("system")), texts, schema, False)


def _text(content: str | list[dict[str, Any]] | None) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


def _openai(asked: Asked, text: str, data: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if data is not None and asked.as_text:
        message["content"] = json.dumps(data)
    elif data is not None:
        function = {"name": "answer", "arguments": json.dumps(data)}
        message |= {"content": None, "tool_calls": [{"id": "t1", "type": "function", "function": function}]}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 0,
        "model": asked.model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
                "logprobs": {"content": [CERTAIN]} if asked.schema is GRADE else None,
            }
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050},
    }


def _bedrock(_: Asked, text: str, data: Any) -> dict[str, Any]:
    part = (
        {"text": text} if data is None else {"toolUse": {"toolUseId": "t1", "name": "answer", "input": data}}
    )
    return {
        "output": {"message": {"role": "assistant", "content": [part]}},
        "stopReason": "end_turn" if data is None else "tool_use",
        "usage": {"inputTokens": 1000, "outputTokens": 50, "totalTokens": 1050},
        "metrics": {"latencyMs": 1},
    }


def _refusal(bedrock: bool) -> bytes:
    if bedrock:
        return _http(429, b'{"message":"Too many requests"}', b"x-amzn-ErrorType: ThrottlingException\r\n")
    return _http(
        429, b'{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}'
    )


def _http(status: int, body: bytes, headers: bytes = b"") -> bytes:
    return b"HTTP/1.1 %d .\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s" % (
        status,
        len(body),
        headers,
        body,
    )


class Connection(asyncio.Protocol):
    """One client's connection: a call at a time, kept open."""

    def __init__(self, endpoint: Endpoint, loop: asyncio.AbstractEventLoop) -> None:
        self._endpoint, self._loop = endpoint, loop
        self._data = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, body = self._data.partition(b"\r\n\r\n")
        if not found:
            return
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if len(body) < int(length or 0):
            return
        self._data = b""
        method, path, _ = head.partition(b"\r\n")[0].decode().split(" ")
        endpoint = self._endpoint
        if method == "GET":
            self._transport.write(endpoint.stats())
            return
        endpoint.in_flight += 1
        endpoint.most = max(endpoint.most, endpoint.in_flight)
        delay, answer = endpoint.answer(path, body)
        self._loop.call_later(delay, self._send, answer)

    def _send(self, answer: bytes) -> None:
        self._endpoint.in_flight -= 1
        self._transport.write(answer)


class Running(NamedTuple):
    """A server in a process of its own."""

    url: str

    def stats(self) -> dict[str, Any]:
        """What `Endpoint.stats` tells."""
        with urllib.request.urlopen(f"{self.url}/stats", timeout=10) as response:
            return json.load(response)  # type: ignore[no-any-return]

    def environment(self) -> dict[str, str]:
        """This process's environment, with what points boto3 and openai at the server.

        Python may keep bytecode, as that of an installed package: else each run would compile it anew.
        """
        return {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.url, "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_API_KEY": "test",
        }  # fmt: skip


@contextmanager
def running(latency: float = LATENCY, refuse_every: int = 0) -> Iterator[Running]:
    """A fresh server, counting from nothing."""
    command = [sys.executable, "-S", __file__, "--latency", str(latency), "--refuse-every", str(refuse_every)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Running(process.stdout.readline().strip())
        finally:
            process.terminate()


async def serve(latency: float, refuse_every: int) -> None:
    """Serve until terminated."""
    loop, endpoint = asyncio.get_running_loop(), Endpoint(latency, refuse_every)
    server = await loop.create_server(lambda: Connection(endpoint, loop), "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--latency", type=float, default=LATENCY, help="seconds until an answer")
    parser.add_argument(
        "--refuse-every", type=int, default=0, metavar="K", help="refuse every K-th call for its rate"
    )
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(options.latency, options.refuse_every))


if __name__ == "__main__":
    main()
