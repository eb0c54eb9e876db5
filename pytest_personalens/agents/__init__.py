"""The agents that play the user, the judge and the assistant.

Some are embedded, and language models play the others.
"""

from __future__ import annotations

from pytest_personalens.agents.embedded.judge import EmbeddedJudge
from pytest_personalens.agents.embedded.user.agent import EmbeddedUserAgent

__all__ = ["EmbeddedJudge", "EmbeddedUserAgent"]
