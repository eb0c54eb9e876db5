"""The number of model calls and tokens, and their cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_MILLION: Final = 1_000_000


class Price(NamedTuple):
    """US dollars for a million tokens: input, output, input read from a cache, and input written to one."""

    input: float
    output: float
    cached: float
    written: float

    def of(self, usage: Usage) -> float:
        """Return the cost of `usage` in US dollars."""
        used = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.written_tokens)
        return sum(tokens * price for tokens, price in zip(used, self, strict=True)) / _MILLION


def read_prices(lines: Sequence[str]) -> dict[str, Price]:
    """Read lines ``MODEL = INPUT, OUTPUT[, CACHED[, WRITTEN]]``; the last two default to INPUT."""
    prices: dict[str, Price] = {}
    for line in lines:
        model, equals, numbers = line.rpartition("=")
        try:
            values = [float(n) for n in numbers.split(",")]
            known = all(0 <= v < float("inf") for v in values)
            if not (equals and model.strip() and 2 <= len(values) <= 4 and known):
                raise ValueError
        except ValueError:
            raise SpecError(
                "expected 'MODEL = INPUT, OUTPUT[, CACHED[, WRITTEN]]' in dollars for a million tokens,"
                f" found {line!r}"
            ) from None
        prices[model.strip()] = Price(*values, *[values[0]] * (4 - len(values)))
    return prices


def price_of(name: str, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a model by its name, with or without its parameters."""
    return prices.get(name) or prices.get(name.partition("?")[0])


def add_usage(first: Mapping[str, Usage], second: Mapping[str, Usage]) -> dict[str, Usage]:
    """Return the sum of both for each purpose, sorted by name."""
    return {
        purpose: first.get(purpose, Usage()) + second.get(purpose, Usage())
        for purpose in sorted({*first, *second})
    }


class Usage(Frozen):
    """Calls of models, with tokens at full price, read from a provider's cache, and written to it."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Number of all tokens."""
        return self.input_tokens + self.output_tokens + self.cached_tokens + self.written_tokens

    def __add__(self, other: Usage) -> Usage:
        names = Usage.model_fields
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in names})
