"""The embedded judge: it checks facts, tool calls, states and preferences. Prose needs a model."""

from pytest_personalens.agents.embedded.judge.judge import EmbeddedJudge

__all__ = ["EmbeddedJudge"]
