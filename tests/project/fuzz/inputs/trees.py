"""Nested data with one thing wrong in it, at a random place."""

from __future__ import annotations

import copy
import datetime as dt
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

Tree = Any
Place = tuple[Any, ...]

#: What stands where something else belongs.
ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 2, 7, 10**30, 10**400, -(10**400), 0.5, -0.0, 1e308, float("nan"), float("inf"), float("-inf"),
    "", " ", "\n", "0", "1", "none", "all", "x" * 70_000, "\ud83d", "\udfff", "\x00", "\x1b[31m", "\u202e", "\u2028", "\u0130",
    "é", "☃" * 300, "../../etc/passwd", "${HOME}", "$goal", "{user}", "%s", "<script>", "::error::x", "a\r\nb", "\ufeff", "²", "٣",
    [], {}, [[]], [None], [1, "a"], {"": None}, {"a": {"b": []}}, ["a"] * 3000, dt.date(2026, 1, 2),
)  # fmt: skip


def nested(depth: int) -> list[Any]:
    """Lists in lists."""
    tree: list[Any] = []
    for _ in range(depth):
        tree = [tree]
    return tree


def places(tree: Tree, here: Place = ()) -> Iterator[Place]:
    """Where something stands in it: keys and indexes from the root, which is the empty place."""
    yield here
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        yield from places(value, (*here, key))


def at(tree: Tree, place: Place) -> Tree:
    """What stands there."""
    for key in place:
        tree = tree[key]
    return tree


def put(tree: Tree, place: Place, value: Tree) -> Tree:
    """The tree with something else there; it is changed in place unless its root is."""
    if not place:
        return value
    at(tree, place[:-1])[place[-1]] = value
    return tree


def changed(tree: Tree, rng: Random) -> tuple[Tree, str]:
    """A copy of the tree with one thing wrong in it, and what that is."""
    tree = copy.deepcopy(tree)
    # Each depth as often as any other: most values stand deep, and most of what is told apart stands near the
    # root.
    by_depth: dict[int, list[Place]] = {}
    for place in places(tree):
        by_depth.setdefault(len(place), []).append(place)
    place = rng.choice(by_depth[rng.choice(sorted(by_depth))])
    change = rng.choice(_CHANGES)
    told = f"{change.__name__.strip('_')} at {'.'.join(map(str, place))[:120] or 'the root'}"
    found = change(tree, place, rng)
    return found[0], f"{told}: {str(found[1])[:60]!r}" if found[1] != "" else told


def _replace(tree: Tree, place: Place, rng: Random) -> tuple[Tree, Any]:
    value = rng.choice(ODD)
    return put(tree, place, copy.deepcopy(value)), value if value != "" else "an empty text"


def _remove(tree: Tree, place: Place, rng: Random) -> tuple[Tree, Any]:
    if not place:
        return type(tree)(), ""
    del at(tree, place[:-1])[place[-1]]
    return tree, ""


def _add(tree: Tree, place: Place, rng: Random) -> tuple[Tree, Any]:
    value = copy.deepcopy(rng.choice(ODD))
    key = rng.choice(("", "extra", "schema", "\ud83d", "name", "0", "__class__", "x" * 5000))
    there = at(tree, place)
    if isinstance(there, dict):
        there[key] = value
    elif isinstance(there, list):
        there.insert(rng.randint(0, len(there)), value)
    else:
        return put(tree, place, [there, value]), "beside it"
    return tree, key


def _swap(tree: Tree, place: Place, rng: Random) -> tuple[Tree, Any]:
    other = rng.choice(list(places(tree)))
    if place[: len(other)] == other or other[: len(place)] == place:
        return _replace(tree, place, rng)
    here, there = at(tree, place), at(tree, other)
    return put(put(tree, place, there), other, here), f"with {other}"


def _rename(tree: Tree, place: Place, rng: Random) -> tuple[Tree, Any]:
    if not place or not isinstance(holder := at(tree, place[:-1]), dict):
        return _repeat(tree, place, rng)
    key = rng.choice(("", "x", "\ud83d", place[-1].upper(), f"{place[-1]} ", "\u202e", *holder))
    holder[key] = holder.pop(place[-1])
    return tree, key


def _repeat(tree: Tree, place: Place, rng: Random) -> tuple[Tree, Any]:
    if not place or not isinstance(holder := at(tree, place[:-1]), list):
        return _wrap(tree, place, rng)
    holder.insert(place[-1], copy.deepcopy(holder[place[-1]]))
    return tree, ""


def _wrap(tree: Tree, place: Place, rng: Random) -> tuple[Tree, Any]:
    there = at(tree, place)
    if isinstance(there, list) and there:
        return put(tree, place, there[0]), "the first of it"
    return put(tree, place, rng.choice(([there], {"x": there}, json.dumps(str(there))))), ""


def _empty(tree: Tree, place: Place, rng: Random) -> tuple[Tree, Any]:
    return put(tree, place, type(at(tree, place))() if at(tree, place) is not None else ""), ""


def _nudge(tree: Tree, place: Place, rng: Random) -> tuple[Tree, Any]:
    there = at(tree, place)
    if isinstance(there, bool) or not isinstance(there, (int, float, str)):
        return _replace(tree, place, rng)
    if isinstance(there, str):
        cut = rng.randint(0, len(there))
        odd = rng.choice(("\x00", "\ud83d", "\n", "\u2028", "é", '"', "$", "\x1b"))
        value: Any = there[:cut] + odd + there[cut:]
    else:
        value = rng.choice((there + 1, -there, there * 10**18, float(there), str(there), there - 1))
    return put(tree, place, value), value


def _deepen(tree: Tree, place: Place, rng: Random) -> tuple[Tree, Any]:
    return put(tree, place, nested(rng.choice((30, 300)))), ""


_CHANGES: Final[tuple[Callable[[Tree, Place, Random], tuple[Tree, Any]], ...]] = (
    _replace, _replace, _replace, _remove, _remove, _add, _swap, _rename, _repeat, _wrap, _empty, _nudge, _nudge, _deepen,
)  # fmt: skip
