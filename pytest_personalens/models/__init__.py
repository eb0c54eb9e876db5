"""Clients for language models on Bedrock and behind the OpenAI protocol, with one common call."""

from __future__ import annotations

from pytest_personalens.models.base import Answer, Model, Request

__all__ = ["Answer", "Model", "Request"]
