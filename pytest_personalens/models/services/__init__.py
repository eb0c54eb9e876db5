"""Assistants under test that are services: behind HTTP, an agent of Bedrock, a runtime of AgentCore."""

from __future__ import annotations

from typing import Final, NamedTuple

#: What names the assistant.
FLAG: Final = "--personalens-assistant"


class ServiceSettings(NamedTuple):
    """What the configuration says of the service: the request's template, the reply's path, headers."""

    request: str | None = None
    reply: str = ""
    headers: tuple[str, ...] = ()
