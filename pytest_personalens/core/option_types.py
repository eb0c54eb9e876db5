"""How the text of an option or ini key is read: each reader turns a text into a value or raises ValueError
saying what it expected.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.parse import BILLION, number

if TYPE_CHECKING:
    from pytest_personalens.core.controls import ControlName
    from pytest_personalens.core.gate import GateExpression

_CAP: Final = re.compile(r"(?P<dollars>\$\s*)?(?P<number>[\d._]+)\s*(?P<unit>calls?|usd)?", re.IGNORECASE)


def executor(text: str) -> str:
    """The address of a Dask scheduler, from ``dask=ADDRESS``."""
    kind, _, address = text.partition("=")
    if kind != "dask" or not re.fullmatch(r"(?:tcp|tls|ws|wss|ucx)://[^/\s]+:\d+", address.strip()):
        raise ValueError("expected dask=tcp://HOST:PORT, the address of a Dask scheduler")
    return address.strip()


def threshold(text: str) -> tuple[str, int]:
    """``DIMENSION>=SCORE``, or ``DIMENSION=SCORE``, as (dimension, score)."""
    from pytest_personalens.core.verdict import dimension

    match = re.fullmatch(r"\s*([\w-]+)\s*(?:>=|=)\s*(\d+)\s*", text)
    if match is None:
        raise ValueError("expected DIMENSION=SCORE, such as p=3")
    dim = dimension(match[1])
    low, high = dim.scale
    if not low <= int(match[2]) <= high:
        raise ValueError(f"{dim.short} is scored {low} to {high}")
    return dim.value, int(match[2])


def dimension_name(text: str) -> str:
    """A dimension by its long name, or ``all``."""
    from pytest_personalens.core.verdict import dimension as named

    return "all" if text.strip().lower() == "all" else named(text).value


def gate(text: str) -> GateExpression | None:
    """``[GROUP:] METRIC >= VALUE``; None for ``none``, by which no gate counts."""
    from pytest_personalens.core.gate_expression import read_gate

    return None if text.strip().lower() == "none" else read_gate(text)


def control(text: str) -> tuple[ControlName, ...]:
    """The controls of a word: that of one, or ``ablation``."""
    from pytest_personalens.core.controls import CONTROL_WORDS, REPLACED_CONTROLS

    known = {word.lower(): controls for word, controls in CONTROL_WORDS.items()}
    word = text.strip().lower()
    if word not in known:
        now = REPLACED_CONTROLS.get(word)
        raise ValueError(f"write {now}" if now else f"expected one of: {', '.join(CONTROL_WORDS)}")
    return known[word]


def budget(text: str) -> tuple[str, float]:
    """``200calls`` or ``5usd`` as (unit, cap); dollars also as ``$5`` and ``5 USD``."""
    match = _CAP.fullmatch(text.strip())
    if (
        match is None
        or bool(match["dollars"]) + bool(match["unit"]) == 0
        or (match["dollars"] and "call" in (match["unit"] or "").lower())
    ):
        raise ValueError("expected a number of calls or of dollars, such as 200calls or 5usd")
    if match["unit"] and "call" in match["unit"].lower():
        return "calls", number(1, BILLION, kind=int)(match["number"])
    return "usd", number(0.000001, BILLION)(match["number"])


def report(text: str) -> str:
    """The path of a report, by its ending, or the word ``github``."""
    from pytest_personalens.core.destinations import ENDINGS, GITHUB, file_kind

    if text.strip().lower() == GITHUB:
        return GITHUB
    if file_kind(text) is None:
        raise ValueError(f"expected a path that ends in {', '.join(ENDINGS)}, or the word {GITHUB}")
    return text


def margin(text: str) -> tuple[str, float]:
    """``DIMENSION=X`` as (dimension, X): a mean difference, of shares for task completion."""
    from pytest_personalens.core.verdict import dimension

    name, _, value = text.partition("=")
    dim = dimension("tc" if name.strip().lower() == "tcr" else name)
    low, high = dim.scale
    try:
        least = float(number(0, high - low)(value.strip()))
    except ValueError:
        raise ValueError(
            f"expected DIMENSION=X, X from 0 to less than {high - low}, such as tc=0.02"
        ) from None
    if least >= high - low:
        raise ValueError(
            f"no drop of {dim.short} is larger than {high - low}, so a margin of that lets everything pass;"
            " give less"
        )
    return dim.value, least
