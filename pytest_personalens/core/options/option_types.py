"""Readers of the texts of options; each returns a value, or raises ValueError with what it expected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.text.parse import BILLION, number

if TYPE_CHECKING:
    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.suite import Suite

_CAP: Final = re.compile(
    r"(?P<calls>[\d._]+)\s*calls?|(?P<usd>[\d._]+)\s*usd|\$\s*(?P<dollars>[\d._]+)\s*(?:usd)?", re.IGNORECASE
)


def executor(text: str) -> str:
    """Return the address of a Dask scheduler, from ``dask=ADDRESS``."""
    kind, _, address = text.partition("=")
    if kind != "dask" or not re.fullmatch(r"(?:tcp|tls|ws|wss|ucx)://[^/\s]+:\d+", address.strip()):
        raise ValueError("expected dask=tcp://HOST:PORT, the address of a Dask scheduler")
    return address.strip()


def threshold(text: str, suite: Suite) -> tuple[str, float]:
    """Read ``MEASURE>=SCORE`` or ``MEASURE=SCORE``; the sign is ``<=`` if low scores are good."""
    match = re.fullmatch(r"\s*([\w-]+)\s*(>=|<=|=)\s*(-?\d+(?:\.\d+)?)\s*", text)
    if match is None:
        raise ValueError(f"expected DIMENSION=SCORE, such as {suite.main[-1].short}=3")
    measure, score = suite.measure(match[1]), float(match[3])
    way = ">=" if measure.better == "high" else "<="
    if match[2] not in (way, "="):
        raise ValueError(f"{measure.short} is better {measure.better}: write {measure.short}{way}{match[3]}")
    if not measure.holds(score):
        raise ValueError(f"{measure.short} is scored {measure.range_text()}")
    return measure.value, measure.on_grid(score)


def dimension_name(text: str, suite: Suite) -> str:
    return "all" if text.strip().lower() == "all" else suite.measure(text).value


def gate(text: str, suite: Suite) -> GateExpression | None:
    """Read ``[GROUP:] METRIC >= VALUE``; None for ``none``, which means that no gate counts."""
    from pytest_personalens.core.options.gate import read_gate

    return None if text.strip().lower() == "none" else read_gate(text, suite)


def control(text: str, suite: Suite) -> tuple[str, ...]:
    """Return the controls that a word stands for: one, or several that belong together."""
    by_word = suite.controls_by_word()
    by_lower_word, word = {name.lower(): names for name, names in by_word.items()}, text.strip().lower()
    if word not in by_lower_word:
        raise ValueError(f"expected one of: {', '.join(by_word)}")
    return by_lower_word[word]


def kind(text: str, suite: Suite) -> str:
    """Read ``all``, a kind of the suite, or several kinds with commas."""
    names = {part.strip().lower() for part in text.split(",")}
    if not names <= {*suite.kinds, "all"}:
        raise ValueError(f"expected one of: {', '.join((*suite.kinds, 'all'))}")
    kinds = [name for name in suite.kinds if name in names]
    return "all" if "all" in names or len(kinds) == len(suite.kinds) else ",".join(kinds)


def budget(text: str) -> tuple[str, float]:
    """Read ``200calls`` or ``5usd`` (also ``$5`` or ``5 USD``) as (unit, cap)."""
    if (match := _CAP.fullmatch(text.strip())) is None:
        raise ValueError("expected a number of calls or of dollars, such as 200calls or 5usd")
    if match["calls"]:
        return "calls", number(1, BILLION, kind=int)(match["calls"])
    return "usd", number(0.000001, BILLION)(match["usd"] or match["dollars"])


def parallel(text: str) -> bool | int:
    """Read ``true``, ``false``, or the most dialogues at once."""
    if (word := text.strip().lower()) in ("true", "false"):
        return word == "true"
    try:
        most: int = number(1, 10_000, kind=int)(text)
    except ValueError as error:
        raise ValueError(f"{error}, or true, or false") from None
    return most


def yes_or_no(text: str) -> bool:
    """Read ``true`` or ``false``."""
    if (word := text.strip().lower()) not in ("true", "false"):
        raise ValueError("expected true or false")
    return word == "true"


def report(text: str) -> str:
    """Return the path of a report, or the word ``github``."""
    from pytest_personalens.core.files.destinations import ENDINGS, GITHUB, file_kind

    if text.strip().lower() == GITHUB:
        return GITHUB
    if file_kind(text) is None:
        raise ValueError(f"expected a path that ends in {', '.join(ENDINGS)}, or the word {GITHUB}")
    return text


def margin(text: str, suite: Suite) -> tuple[str, float]:
    """Read ``DIMENSION=X`` as (dimension, X), a difference of means or, for task completion, of shares."""
    name, _, value = text.partition("=")
    metric = suite.metric(name.strip().lower())
    measure = metric.measure if metric is not None and metric.measure is not None else suite.measure(name)
    span = measure.span
    try:
        least = float(number(0, BILLION if span is None else span)(value.strip()))
    except ValueError:
        most = "" if span is None else f" to less than {span:g}"
        raise ValueError(
            f"expected DIMENSION=X, X from 0{most}, such as {suite.main[0].short}=0.02"
        ) from None
    if span is not None and least >= span:
        raise ValueError(
            f"no drop of {measure.short} is larger than {span:g}, so a margin of that lets everything pass;"
            " give less"
        )
    return measure.value, least
