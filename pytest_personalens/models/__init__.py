"""Language models behind one call: Bedrock and the OpenAI protocol, with retries, rate limits and usage."""

from __future__ import annotations

from pytest_personalens.models.base import Completion, Model, Request

__all__ = ["Completion", "Model", "Request"]
