"""Readers of the texts of options and ini keys.

Each reader turns a text into a value. It raises ValueError with what it expected if it cannot.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.suite_names import SUITES
from pytest_personalens.core.text.parse import BILLION, choice, number

if TYPE_CHECKING:
    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.suite.suite import Suite

_CAP: Final = re.compile(r"(?P<dollars>\$\s*)?(?P<number>[\d._]+)\s*(?P<unit>calls?|usd)?", re.IGNORECASE)


def executor(text: str) -> str:
    """Return the address of a Dask scheduler, from ``dask=ADDRESS``."""
    kind, _, address = text.partition("=")
    if kind != "dask" or not re.fullmatch(r"(?:tcp|tls|ws|wss|ucx)://[^/\s]+:\d+", address.strip()):
        raise ValueError("expected dask=tcp://HOST:PORT, the address of a Dask scheduler")
    return address.strip()


def suite_name(text: str) -> str:
    """Return the name of a suite."""
    return choice(*SUITES)(text)


def threshold(text: str, suite: Suite) -> tuple[str, float]:
    """Read ``MEASURE>=SCORE`` or ``MEASURE=SCORE`` as (measure, score).

    The sign is ``<=`` if low scores are good.
    """
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
    """Return the long name of a measure, or ``all``."""
    return "all" if text.strip().lower() == "all" else suite.measure(text).value


def gate(text: str, suite: Suite) -> GateExpression | None:
    """Read ``[GROUP:] METRIC >= VALUE``.

    Return None for ``none``, which means that no gate counts.
    """
    from pytest_personalens.core.options.gate_expression import read_gate

    return None if text.strip().lower() == "none" else read_gate(text, suite)


def control(text: str, suite: Suite) -> tuple[str, ...]:
    """Return the controls that a word stands for.

    A word stands for one control, or for several that belong together.
    """
    by_word = suite.arms_by_word()
    by_lower_word, word = {name.lower(): arms for name, arms in by_word.items()}, text.strip().lower()
    if word not in by_lower_word:
        now = suite.gone_words.get(word)
        raise ValueError(f"write {now}" if now else f"expected one of: {', '.join(by_word)}")
    return by_lower_word[word]


def context(text: str, suite: Suite) -> str:
    """Return the part of the context that the assistant may know."""
    return suite.read_context(text)


def kind(text: str, suite: Suite) -> str:
    """Read ``all``, a kind of the suite, or several kinds with commas."""
    named = [part.strip().lower() for part in text.split(",")]
    if not set(named) <= {*suite.kinds, "all"}:
        raise ValueError(f"expected one of: {', '.join((*suite.kinds, 'all'))}")
    wanted = [name for name in suite.kinds if name in named]
    return "all" if "all" in named or len(wanted) == len(suite.kinds) else ",".join(wanted)


def protocol(text: str, suite: Suite) -> str:
    """Return the name of a protocol of the suite."""
    return choice(*suite.protocols)(text)


def budget(text: str) -> tuple[str, float]:
    """Read ``200calls`` or ``5usd`` as (unit, cap).

    Dollars may also be ``$5`` or ``5 USD``.
    """
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
    """Return the path of a report, or the word ``github``.

    Raise ValueError if the ending of the path is not that of a report.
    """
    from pytest_personalens.core.files.destinations import ENDINGS, GITHUB, file_kind

    if text.strip().lower() == GITHUB:
        return GITHUB
    if file_kind(text) is None:
        raise ValueError(f"expected a path that ends in {', '.join(ENDINGS)}, or the word {GITHUB}")
    return text


def margin(text: str, suite: Suite) -> tuple[str, float]:
    """Read ``DIMENSION=X`` as (dimension, X).

    X is a difference of means. For task completion it is a difference of shares.
    """
    name, _, value = text.partition("=")
    metric = suite.metric(name.strip().lower())
    measure = metric.measure if metric is not None and metric.measure is not None else suite.measure(name)
    span = None if measure.low is None or measure.high is None else measure.high - measure.low
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
