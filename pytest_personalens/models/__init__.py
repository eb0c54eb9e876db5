"""Language models: what one must offer; ours for Bedrock and the OpenAI protocol, and what keeps their calls in order, in the modules."""

from __future__ import annotations

from pytest_personalens.models.base import Completion, Model, Request

__all__ = ["Completion", "Model", "Request"]
