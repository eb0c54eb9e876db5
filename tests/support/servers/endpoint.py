"""A model endpoint on loopback for Bedrock's and OpenAI's wire protocols, with every fault of a real one."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from pytest_personalens.models import Model, open_model
from pytest_personalens.models.retry import Reliable
from tests.support.servers.loopback import Handler, Loopback


@dataclass
class Reply:
    """One answer; `status` other than 200 is an error of that `code`, `fault` spoils the transport."""

    text: str = ""
    data: dict[str, Any] | None = None
    status: int = 200
    code: str = ""
    message: str = "as told"
    headers: dict[str, str] = field(default_factory=dict)
    fault: str = ""  # "drop", "half", "garbage", "hang"
    stop: str = ""
    delay: float = 0.0
    raw: Any = None  # a whole body in place of all this: JSON data, or bytes
    kind: str = "application/json"


@dataclass
class Call:
    """One request as it arrived, in a shape that both protocols share."""

    protocol: str
    model: str
    system: str
    prompt: str
    history: list[tuple[str, str]]
    body: dict[str, Any]
    headers: dict[str, str]


def environment(url: str) -> dict[str, str]:
    """What points boto3 and openai, unmodified, at a server on loopback."""
    services = ("BEDROCK_RUNTIME", "BEDROCK_AGENT_RUNTIME", "BEDROCK_AGENTCORE")
    return {
        **{f"AWS_ENDPOINT_URL_{service}": url for service in services},
        "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "test",
    }  # fmt: skip


class Endpoint(Loopback):
    """Answers from `replies` in turn, or by `answer` if they are used up."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.answer: Callable[[Call], Reply] = lambda call: Reply("ok")
        self.calls: list[Call] = []
        self.in_flight = self.most_in_flight = 0
        self._lock = threading.Lock()
        self._seen: list[str] = []
        self._opened: list[Reliable] = []
        super().__init__(self._handler())

    def close(self) -> None:
        while self._opened:
            self._opened.pop().close()
        super().close()

    def environment(self) -> dict[str, str]:
        """What points boto3 and openai, unmodified, at this endpoint."""
        return environment(self.url)

    def open(self, spec: str, **how: Any) -> Model:
        """Open the model of a spec; it is closed with the endpoint."""
        found = open_model(spec, **how)
        assert found is not None
        self._opened.append(Reliable(found))
        return found

    def reply_to(self, call: Call) -> Reply:
        with self._lock:
            self.calls.append(call)
            return self.replies.pop(0) if self.replies else self.answer(call)

    def tokens(self, call: Call) -> tuple[int, int]:
        """(full price, cached) words as tokens; a prefix seen before is cached from 16 words on."""
        text = "\n".join([call.system, *(t for _, t in call.history), call.prompt])
        words = text.split()
        with self._lock:
            cached = max((_common(words, earlier.split()) for earlier in self._seen), default=0)
            self._seen.append(text)
        cached = cached if cached >= 16 else 0
        return len(words) - cached, cached

    @contextmanager
    def flight(self) -> Iterator[None]:
        with self._lock:
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            yield
        finally:
            with self._lock:
                self.in_flight -= 1

    def _handler(self) -> type[Handler]:
        endpoint = self

        class Answering(Handler):
            def serve(self) -> None:
                body = self.read()
                call = _bedrock(self.path, body) if self.path.startswith("/model/") else _openai(body)
                call.headers = {k.lower(): v for k, v in self.headers.items()}
                with endpoint.flight():
                    reply = endpoint.reply_to(call)
                    time.sleep(reply.delay)
                    self.send(call, reply)

            def send(self, call: Call, reply: Reply) -> None:
                if reply.fault in ("drop", "hang"):
                    time.sleep(3 if reply.fault == "hang" else 0)
                    self.cut()
                    return
                content = reply.raw
                if content is None and reply.status == 200:
                    content = _content(call, reply, *endpoint.tokens(call))
                elif content is None:
                    content = _error(call, reply)
                payload = content if isinstance(content, bytes) else json.dumps(content).encode()
                payload = b"{not json" if reply.fault == "garbage" else payload
                error = (
                    {"x-amzn-ErrorType": reply.code}
                    if reply.status != 200 and call.protocol == "bedrock"
                    else {}
                )
                about = {"Content-Type": reply.kind, "Content-Length": str(len(payload)), **error}
                self.head(reply.status, **about, **reply.headers)
                self.wfile.write(payload[: len(payload) // 2] if reply.fault == "half" else payload)
                if reply.fault == "half":
                    self.cut()

        return Answering


def _bedrock(path: str, body: dict[str, Any]) -> Call:
    messages = [(m["role"], "".join(c.get("text", "") for c in m["content"])) for m in body["messages"]]
    system = "".join(s.get("text", "") for s in body.get("system", []))
    return Call("bedrock", unquote(path.split("/")[2]), system, messages[-1][1], messages[:-1], body, {})


def _openai(body: dict[str, Any]) -> Call:
    messages = [(m["role"], m["content"]) for m in body["messages"] if m["role"] != "system"]
    system = "".join(m["content"] for m in body["messages"] if m["role"] == "system")
    return Call("openai", body.get("model", ""), system, messages[-1][1], messages[:-1], body, {})


def _content(call: Call, reply: Reply, full: int, cached: int) -> dict[str, Any]:
    out = len(reply.text.split()) + (8 if reply.data else 0)
    if call.protocol == "bedrock":
        parts: list[dict[str, Any]] = [{"text": reply.text}] if reply.text else []
        if reply.data is not None:
            parts.append({"toolUse": {"toolUseId": "t1", "name": "answer", "input": reply.data}})
        return {
            "output": {"message": {"role": "assistant", "content": parts}},
            "stopReason": reply.stop or ("tool_use" if reply.data else "end_turn"),
            "usage": {
                "inputTokens": full, "outputTokens": out, "totalTokens": full + cached + out,
                "cacheReadInputTokens": cached, "cacheWriteInputTokens": 0,
            },
            "metrics": {"latencyMs": 1},
        }  # fmt: skip
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.data is not None:
        function = {"name": "answer", "arguments": json.dumps(reply.data)}
        message["tool_calls"] = [{"id": "t1", "type": "function", "function": function}]
    return {
        "id": "c1", "object": "chat.completion", "created": 0, "model": call.model,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.stop or "stop"}],
        "usage": {
            "prompt_tokens": full + cached, "completion_tokens": out, "total_tokens": full + cached + out,
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }  # fmt: skip


def play(call: Call) -> Reply:
    """A user who asks once and is content, a judge who is as well, an assistant who acts."""
    if "Give this reading:" in call.prompt and "tools" not in call.body:
        is_true = re.search("true.{1,6}false", call.prompt, re.IGNORECASE)
        return Reply(f"Justification: It fits.\nScore: {'true' if is_true else 3}")
    if "Give this reading:" in call.prompt:
        schema = call.body["tools"][0]["function"]["parameters"]["properties"]["score"]
        is_good = "Leak" not in call.prompt.rsplit(":", 1)[1]
        by_type = {"boolean": is_good, "array": [3] * schema.get("minItems", 0)}
        score = by_type.get(schema["type"], 3)
        return Reply(data={"evidence": [quote_of(call)], "justification": "It fits.", "score": score})
    if "You are acting the part" in call.system:
        is_first = "<transcript>" not in call.prompt
        return Reply("I need something done, please." if is_first else "Thanks! TERMINATE")
    return Reply("Done: it is booked for Thursday at 16:00.")


def quote_of(call: Call) -> dict[str, Any]:
    """How the first turn of the transcript that a judge was given begins, as evidence."""
    said = re.search(r'"content": "([^"\\]{1,30})', call.prompt)
    return {"turn": 0, "quote": said[1] if said else ""}


def _error(call: Call, reply: Reply) -> dict[str, Any]:
    if call.protocol == "bedrock":
        return {"message": reply.message, "__type": reply.code}
    return {"error": {"message": reply.message, "type": "error", "code": reply.code or None}}


def _common(a: list[str], b: list[str]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
