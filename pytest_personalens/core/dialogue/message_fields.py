"""Reads the fields of messages of any shape: mappings, and objects of any framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: The types of the parts of a content that hold what a model thought, and not what it says.
_THOUGHTS: Final = ("thinking", "redacted_thinking", "reasoning", "reasoning_text", "summary_text", "thought")


def is_message(value: object) -> bool:
    """True for a mapping or an object with a content or with tool calls."""
    if isinstance(value, (str, bytes, list, tuple, type)):
        return False
    return has(value, "content") or has(value, "tool_calls")


def has(value: object, name: str) -> bool:
    """True if a mapping has the key, or the class or instance defines the attribute, not invents it."""
    if isinstance(value, Mapping):
        return name in value
    return name in {*dir(type(value)), *getattr(value, "__dict__", {})}


def field(value: object, name: str) -> Any:
    """Return the value of a mapping's key or of an object's attribute, or None if there is none."""
    if isinstance(value, Mapping):
        return value.get(name)
    # A class may name an attribute, as slots do, that an object of it does not have.
    return getattr(value, name, None) if has(value, name) else None


def text_of(content: object) -> str | None:
    """Return the text of a content, which is a text or a list of parts; None for anything else."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, (list, tuple)):
        return "".join(filter(None, map(text_of_part, content)))
    return None


def has_thoughts(content: object) -> bool:
    """True if parts of a content hold what a model thought."""
    return isinstance(content, (list, tuple)) and any(map(is_thought, content))


def text_of_part(part: object) -> str:
    """Return the text of a part of a content; empty for a thought."""
    if is_thought(part):
        return ""
    text = part if isinstance(part, str) else field(part, "text") or field(part, "refusal")
    return text if isinstance(text, str) else ""


def is_thought(part: object) -> bool:
    """True for a part of a content that holds what a model thought."""
    return not isinstance(part, str) and (field(part, "type") in _THOUGHTS or field(part, "thought") is True)
