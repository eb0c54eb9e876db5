"""The least that 30 dialogues can take with asyncio: raw streams, 300 calls, nothing else.

What a tool takes beyond it is its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from typing import Any
from urllib.parse import urlsplit

DIALOGUES, TURNS, READINGS = 30, 4, 2
SCORE = {"type": "integer", "enum": [1, 2, 3, 4]}
SCHEMA = {"type": "object", "properties": {"justification": {"type": "string"}, "score": SCORE}}
TOOL = {"type": "function", "function": {"name": "answer", "parameters": SCHEMA}}


class Client:
    """Connections to one server, each used by one call at a time and then again."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port, self._path = parts.hostname or "", parts.port or 80, parts.path
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, model: str, messages: list[dict[str, str]], **more: Any) -> dict[str, Any]:
        """The message that comes back."""
        reader, writer = (
            self._idle.pop() if self._idle else await asyncio.open_connection(self._host, self._port)
        )
        body = json.dumps({"model": model, "messages": messages, **more}).encode()
        head = (
            f"POST {self._path}/chat/completions HTTP/1.1\r\nHost: {self._host}\r\nContent-Length:"
            f" {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        content = json.loads(await reader.readexactly(length))
        self._idle.append((reader, writer))
        return content["choices"][0]["message"]  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close the connections."""
        for _, writer in self._idle:
            writer.close()


async def dialogue(client: Client, turns: int, readings: int) -> None:
    """User and assistant in turn, then the readings side by side."""
    said: list[dict[str, str]] = []
    for _ in range(turns):
        transcript = "\n".join(f"{m['role']}: {m['content']}" for m in said)
        user = await client.ask(
            "user", [{"role": "user", "content": f"Say the user's next turn.\n{transcript}"}]
        )
        said.append({"role": "user", "content": user["content"]})
        reply = await client.ask("assistant", [{"role": "system", "content": "You are an assistant."}, *said])
        said.append({"role": "assistant", "content": reply["content"]})
    ask = [{"role": "user", "content": "Rate this conversation.\n" + json.dumps(said)}]
    for message in await asyncio.gather(*(client.ask("judge", ask, tools=[TOOL]) for _ in range(readings))):
        assert json.loads(message["tool_calls"][0]["function"]["arguments"])["score"] == 4


async def play(url: str, dialogues: int, turns: int, readings: int, concurrency: int) -> None:
    """All dialogues, so many at a time."""
    client, places = Client(url), asyncio.Semaphore(concurrency)

    async def one() -> None:
        async with places:
            await dialogue(client, turns, readings)

    await asyncio.gather(*(one() for _ in range(dialogues)))
    client.close()


def main() -> None:
    """Play against OPENAI_BASE_URL."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", type=int, default=DIALOGUES)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--readings", type=int, default=READINGS)
    parser.add_argument("--concurrency", type=int, default=DIALOGUES)
    o = parser.parse_args()
    asyncio.run(play(os.environ["OPENAI_BASE_URL"], o.dialogues, o.turns, o.readings, o.concurrency))


if __name__ == "__main__":
    main()
