"""The embedded judge: what statements do, what becomes of goals and preferences, and scores from both."""

from pytest_personalens.agents.embedded_judge.judge import EmbeddedJudge

__all__ = ["EmbeddedJudge"]
