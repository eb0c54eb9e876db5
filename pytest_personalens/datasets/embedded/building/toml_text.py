"""Writes tables as TOML, in the order in which they are given."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(table: Mapping[str, Any]) -> str:
    """Return a table of texts, numbers, switches, lists and tables as a TOML file; None is left out."""
    return "\n".join(_lines(table, ())).strip("\n") + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for key, value in table.items():
        if value is not None and not _has_lines(value, path):
            yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        if not _has_lines(value, path):
            continue
        here = (*path, key)
        name = ".".join(map(_key, here))
        for each in value if isinstance(value, (list, tuple)) else [value]:
            yield from ("", f"[[{name}]]" if isinstance(value, (list, tuple)) else f"[{name}]")
            yield from _lines(each, here)


def _has_lines(value: object, path: tuple[str, ...]) -> bool:
    """True for what gets a header: a table at the top or with others in it, and a list of tables."""
    if isinstance(value, dict):
        return not path or any(_has_lines(each, ()) for each in value.values())
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, dict) for v in value)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}" if value else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)
