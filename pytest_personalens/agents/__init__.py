"""The agents that play the user, the judge and the assistant.

Some are embedded, and language models play the others. A run in which models play all roles imports no embedded
one before its first call.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_personalens.agents.embedded.judge import EmbeddedJudge
    from pytest_personalens.agents.embedded.user import EmbeddedUserAgent

__all__ = ["EmbeddedJudge", "EmbeddedUserAgent"]


def __getattr__(name: str) -> Any:
    place = {"EmbeddedJudge": "judge", "EmbeddedUserAgent": "user"}.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.embedded.{place}"), name)
