"""User agents and judges: the embedded ones, and those that a language model plays."""

from __future__ import annotations

from pytest_personalens.agents.embedded_judge import EmbeddedJudge
from pytest_personalens.agents.embedded_user.agent import EmbeddedUserAgent

__all__ = ["EmbeddedJudge", "EmbeddedUserAgent"]
