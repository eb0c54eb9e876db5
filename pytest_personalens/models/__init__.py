"""Language models: what one must offer to play a user or to judge."""

from __future__ import annotations

from pytest_personalens.models.base import Completion, Model, Request

__all__ = ["Completion", "Model", "Request"]
