"""Language models: what one must offer, ours for Bedrock and the OpenAI protocol, and what keeps their calls in order."""

from __future__ import annotations

from pytest_personalens.models.base import Completion, Model, Request
from pytest_personalens.models.meter import Budget, Meter, Price, price_of, read_prices
from pytest_personalens.models.reliable import Reliable
from pytest_personalens.models.specs import open_model, read_parameters, read_spec

__all__ = [
    "Budget", "Completion", "Meter", "Model", "Price", "Reliable", "Request", "open_model", "price_of", "read_parameters", "read_prices",
    "read_spec",
]  # fmt: skip
