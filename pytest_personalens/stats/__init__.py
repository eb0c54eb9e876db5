"""What the scores of few scenarios can carry: intervals, tests of a drop, and how small a drop a test can find."""

from pytest_personalens.stats.intervals import bootstrap, wilson
from pytest_personalens.stats.paired import Test, effect_interval, holm, mcnemar, sign_flip
from pytest_personalens.stats.power import Noise, detectable, smallest_drop
from pytest_personalens.stats.trials import pass_hat, spread

__all__ = [
    "Noise",
    "Test",
    "bootstrap",
    "detectable",
    "effect_interval",
    "holm",
    "mcnemar",
    "pass_hat",
    "sign_flip",
    "smallest_drop",
    "spread",
    "wilson",
]
