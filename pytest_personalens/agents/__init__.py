"""Who plays the user, the judge and the assistant: embedded agents, and language models."""

from __future__ import annotations

from pytest_personalens.agents.embedded_judge import EmbeddedJudge
from pytest_personalens.agents.embedded_user.agent import EmbeddedUserAgent

__all__ = ["EmbeddedJudge", "EmbeddedUserAgent"]
