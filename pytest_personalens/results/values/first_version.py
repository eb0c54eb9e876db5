"""Converts results from version 1 of their schema to the present one.

Such results belong to the first suite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.suite_names import FIRST_SUITE

if TYPE_CHECKING:
    from collections.abc import Callable

OLD_SCHEMA: Final = "personalens-results/1"


def upgraded(data: dict[str, Any]) -> dict[str, Any]:
    """Return the same results with the names of version 2.

    Values that do not belong to version 1 stay; the later validation reports them.
    """
    settings = data.get("settings")
    return {
        **_with_groups(data),
        **_changed(data, "gates", lambda gate: _renamed(gate, "floor", "limit")),
        **_changed(data, "arms", _with_groups),
        **({"settings": {"suite": FIRST_SUITE, **settings}} if isinstance(settings, dict) else {}),
        "suite": FIRST_SUITE,
    }


def _with_groups(holder: Any) -> Any:
    if not isinstance(holder, dict):
        return holder
    overall = {"overall": _group(holder["overall"])} if "overall" in holder else {}
    return {**holder, **overall, **_changed(holder, "domains", _group), **_changed(holder, "kinds", _group)}


def _group(group: Any) -> Any:
    return _renamed(group, "means", "figures")


def _changed(holder: dict[str, Any], name: str, change: Callable[[Any], Any]) -> dict[str, Any]:
    values = holder.get(name)
    return {name: [change(value) for value in values]} if isinstance(values, list) else {}


def _renamed(value: Any, old: str, new: str) -> Any:
    if not isinstance(value, dict):
        return value
    return {new if name == old else name: held for name, held in value.items()}
