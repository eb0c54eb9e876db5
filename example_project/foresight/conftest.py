"""Hands the predictor over to pytest-personalens."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from foresight.predictor import foretell


@pytest.fixture(scope="session")
def personalens_assistant() -> Callable[..., str]:
    """The predictor. It knows nothing but the request, so every user meets the same one."""
    return foretell
