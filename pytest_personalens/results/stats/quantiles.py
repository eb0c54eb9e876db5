"""Quantiles of the beta distribution and of Student's t, without SciPy."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from typing import Final

#: The most steps of the continued fraction, which needs about the square root of the larger parameter.
_STEPS: Final = 10_000
_ENOUGH: Final = 1e-15
#: Replaces a zero in the continued fraction.
_TINY: Final = 1e-300
#: The number of halvings of 0 to 1, after which both ends are the same float or nearly so.
_HALVINGS: Final = 60


def beta_share(x: float, a: float, b: float) -> float:
    """Return the share of a beta distribution, with `a` and `b` above 0, below `x`: 0 to 1.

    It is computed from the continued fraction by Lentz's method (Press et al., Numerical Recipes, 6.4).
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, _inverse(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, _STEPS):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = _inverse(1 + step * d)
            c = 1 + step / c or _TINY
            fraction *= c * d
        if abs(c * d - 1) < _ENOUGH:
            break
    return front * fraction


@lru_cache(maxsize=1024)
def beta_quantile(share: float, a: float, b: float) -> float:
    """Return the `x` below which a `share`, 0 to 1, of the beta distribution lies."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if beta_share(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def t_quantile(level: float, freedom: float) -> float:
    """Return the t with a share `level` of Student's distribution between -t and t.

    `level` is between 0 and 1. `freedom`, the degrees of freedom, is 1 or more and need not be whole.

    >>> round(t_quantile(0.95, 30), 3)
    2.042
    """
    x = beta_quantile(level, 0.5, freedom / 2)
    return sqrt(freedom * x / (1 - x))


def _inverse(value: float) -> float:
    return 1 / (value or _TINY)
