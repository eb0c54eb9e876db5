"""Hands the predictor over to pytest-personalens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from foresight.predictor import foretell
from pytest_personalens import Context


@pytest.fixture(scope="session")
def personalens_assistant() -> Callable[..., str]:
    """The predictor. It knows nothing but the request and the context, so every user meets the same one."""

    def assistant(messages: Sequence[Mapping[str, str]], context: Context) -> str:
        past = context.interactions.values()  # empty, unless personalens_history is "context"
        return foretell([{"content": "\n".join([*past, messages[-1]["content"]])}])

    return assistant
