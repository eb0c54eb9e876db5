"""How the text of an option or ini key is read: each reader turns a text into a value or raises ValueError saying what it expected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_personalens.core.parse import number

if TYPE_CHECKING:
    pass


def executor(text: str) -> str:
    """The address of a Dask scheduler, from ``dask=ADDRESS``."""
    kind, _, address = text.partition("=")
    if kind != "dask" or not re.fullmatch(r"(?:tcp|tls|ws|wss|ucx)://[^/\s]+:\d+", address.strip()):
        raise ValueError("expected dask=tcp://HOST:PORT, the address of a Dask scheduler")
    return address.strip()


def threshold(text: str) -> tuple[str, int]:
    """``DIMENSION>=SCORE`` as (dimension, score)."""
    from pytest_personalens.core.verdict import dimension

    match = re.fullmatch(r"\s*([\w-]+)\s*(?:>=|=)\s*(\d+)\s*", text)
    if match is None:
        raise ValueError("expected DIMENSION>=SCORE, such as p>=3")
    dim = dimension(match[1])
    low, high = dim.scale
    if not low <= int(match[2]) <= high:
        raise ValueError(f"{dim.short} is scored {low} to {high}")
    return dim.value, int(match[2])


def dimension(text: str) -> str:
    """A list of dimensions, by their long names."""
    from pytest_personalens.core.verdict import dimensions

    return ",".join(d.value for d in dimensions(text.split(",")))


def floor(text: str) -> tuple[str, str, float]:
    """``[GROUP:] METRIC >= VALUE`` as (group, metric, value); the group, a domain or a kind, is empty for the whole run."""
    from pytest_personalens.results.gate_expressions import read_floor

    return read_floor(text)


def margin(text: str) -> tuple[str, float]:
    """``DIMENSION=X`` as (dimension, X): a mean difference, of shares for task completion."""
    from pytest_personalens.core.verdict import dimension

    name, _, value = text.partition("=")
    dim = dimension("tc" if name.strip().lower() == "tcr" else name)
    low, high = dim.scale
    try:
        found = float(number(0, high - low)(value.strip()))
    except ValueError:
        raise ValueError(f"expected DIMENSION=X, X from 0 to less than {high - low}, such as tc=0.02") from None
    if found >= high - low:
        raise ValueError(f"no drop of {dim.short} is larger than {high - low}, so a margin of that lets everything pass; give less")
    return dim.value, found
