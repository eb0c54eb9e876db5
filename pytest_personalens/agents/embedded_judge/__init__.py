"""The embedded judge.

It reads the acts of statements, follows goals and preferences, and computes scores from both.
"""

from pytest_personalens.agents.embedded_judge.judge import EmbeddedJudge

__all__ = ["EmbeddedJudge"]
