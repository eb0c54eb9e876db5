"""Readers of short texts; each returns a value, or raises ValueError with what it expected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

CONTEXT_LETTERS: Final = "DIHS"


#: A larger number must be a typing error, and the run would never end.
BILLION: Final = 1_000_000_000


def number(low: float, high: float | None = None, kind: type[int | float] = float) -> Callable[[str], Any]:
    """Return a reader of a number between `low` and `high`, both included."""

    def read(text: str) -> int | float:
        span = f"{low:g} or more" if high is None or high >= BILLION else f"from {low:g} to {high:g}"
        what = "a whole number" if kind is int else "a number"
        try:
            value = kind(text)
        except ValueError:
            raise ValueError(f"expected {what} {span}") from None
        # `not (a <= b)` instead of `a > b`: NaN must not pass.
        if not low <= value or (high is not None and not value <= high):
            raise ValueError(f"expected {what} {span}")
        return value

    return read


#: The value of "all". It is more than any dataset has, so that a draw takes every scenario.
ALL: Final = BILLION + 1


def sample(text: str) -> int:
    """Return the size of a sample: a whole number, or `ALL` for "all"."""
    if text.strip().lower() == "all":
        return ALL
    try:
        size: int = number(1, BILLION, kind=int)(text)
    except ValueError as error:
        raise ValueError(f"{error}, or all") from None
    return size


def size_text(size: int) -> str:
    """Return the size of a sample as the user writes it: "all" for `ALL`."""
    return "all" if size == ALL else str(size)


_OF_READING: Final = re.compile(r"([A-Za-z_-]+)=(.*)", re.DOTALL)


def judge_specs(text: str) -> dict[str, str]:
    """Return the specs of the judges in a text such as ``tc=SPEC,SPEC``, by the reading that each gives.

    The judge of all other readings has an empty name. Raise ValueError if there is none, or two for one.

    >>> judge_specs("tc=bedrock:a, bedrock:b?temperature=1")
    {'tc': 'bedrock:a', '': 'bedrock:b?temperature=1'}
    """
    parts = [part.strip() for part in text.split(",")]
    if not any(map(_OF_READING.fullmatch, parts)):
        if not text.strip():
            raise ValueError("expected a model spec")
        return {"": text.strip()}  # a provider's own spec may hold commas
    specs: dict[str, str] = {}
    for part in parts:
        of_reading = _OF_READING.fullmatch(part)
        name, spec = (of_reading[1].lower(), of_reading[2].strip()) if of_reading else ("", part)
        if not spec:
            raise ValueError("expected a model spec, or READING=SPEC,SPEC")
        if name in specs:
            raise ValueError(f"two judges of {name or 'all other readings'}; give one")
        specs[name] = spec
    if "" not in specs:
        raise ValueError("no judge of the other readings; add its spec, such as tc=SPEC,SPEC")
    return specs


def judge_spec(text: str) -> str:
    """Check the text of an option that names one judge or several, as `judge_specs` does."""
    judge_specs(text)
    return text.strip()


def choice(*choices: str) -> Callable[[str], str]:
    """Return a reader that accepts one of a few words."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"expected one of: {', '.join(choices)}")
        return text

    return read


def some(what: str) -> Callable[[str], str]:
    """Return a reader that accepts any text that is not blank."""

    def read(text: str) -> str:
        if not text.strip():
            raise ValueError(f"expected {what}")
        return text.strip()

    return read


def letters(text: str) -> str:
    """Return context letters, in the order D, I, H, S."""
    parts = "" if text.lower() == "none" else text.upper().replace("+", "").replace(",", "")
    if (
        (not parts and text.lower() != "none")
        or set(parts) - set(CONTEXT_LETTERS)
        or len(set(parts)) != len(parts)
    ):
        raise ValueError(
            "expected 'none' or any of the letters D (demographics), I (interactions), H (past sessions), S"
            " (situation), each once"
        )
    return "".join(c for c in CONTEXT_LETTERS if c in parts)


def shard(text: str) -> tuple[int, int]:
    """Read ``K/N`` as (K, N): part K of N."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError("expected K/N, such as 3/10: the part K, from 1 to N, of N")
    if int(match[2]) == 1:
        raise ValueError("expected at least two parts; one is the whole run, so leave the option out")
    return int(match[1]), int(match[2])


def odd(high: int) -> Callable[[str], int]:
    """Return a reader of an odd number from 1 to `high`; an odd number of votes cannot tie."""

    def read(text: str) -> int:
        value: int = number(1, high, kind=int)(text)
        if value % 2 == 0:
            raise ValueError("expected an odd number, so that votes cannot tie")
        return value

    return read


def list_parts(text: str) -> list[str]:
    """Return the parts of a list that are not blank, split at commas outside parentheses."""
    texts, depth = [""], 0
    for letter in text:
        depth = max(0, depth + (letter == "(") - (letter == ")"))
        if letter == "," and not depth:
            texts.append("")
        else:
            texts[-1] += letter
    return [part for part in texts if part.strip()]
