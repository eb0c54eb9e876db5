"""Imports the assistant that an option names as module:attribute."""

from __future__ import annotations

import importlib
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pytest_personalens.core.errors import SpecError, error_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def import_assistant(spec: str, base: Path) -> Callable[[Any], Any]:
    """Return the callable in ``module:attribute``, imported from the folder `base`, or raise `SpecError`."""
    module, colon, attribute = spec.partition(":")
    if not colon or not all(part.isidentifier() for part in [*module.split("."), *attribute.split(".")]):
        raise SpecError(
            f"--personalens-assistant: expected bedrock:MODEL, openai:MODEL, http:URL,"
            f" bedrock-agent:AGENT/ALIAS, agentcore:ARN or module:attribute, not {spec!r}"
        )
    if str(base) not in sys.path:
        sys.path.insert(0, str(base))
    try:
        assistant: Any = importlib.import_module(module)
    except Exception as error:  # an import may raise anything
        raise SpecError(
            f"--personalens-assistant: cannot import {module!r}: {error_text(error)}", code="PL307"
        ) from None
    place = module
    for name in attribute.split("."):
        if not hasattr(assistant, name):
            near = get_close_matches(name, dir(assistant), 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise SpecError(f"--personalens-assistant: {place} has no {name!r}{hint}", code="PL307")
        assistant, place = getattr(assistant, name), f"{place}.{name}"
    if not callable(assistant):
        raise SpecError(
            f"--personalens-assistant: {place} is {type(assistant).__name__}, which cannot be"
            f" called{how_to_call(assistant)}",
            code="PL307",
        )
    return assistant  # type: ignore[no-any-return]


def how_to_call(value: object) -> str:
    """Return a hint if a framework's agent has a method instead of a call."""
    for method in ("invoke", "run_sync", "run", "kickoff"):
        if callable(getattr(type(value), method, None)):
            return f"; write a function that calls its .{method}(...) and returns the reply's text"
    return ""
