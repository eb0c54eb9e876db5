"""Tests the embedded judge with other words, other meanings and empty replies.

Its verdicts should stay if only the words change, and fall if the meaning changes. They should stay low for
empty replies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.agents import EmbeddedJudge
from pytest_personalens.cli.command import command
from pytest_personalens.datasets import draw, open_dataset
from pytest_personalens.judge_quality.agreement.labels import read_labels
from pytest_personalens.judge_quality.robustness.robustness import (
    constant_bots,
    sensitivity,
    sensitivity_to_faults,
    stability,
)

if TYPE_CHECKING:
    import argparse


@command("robustness")
def main(options: argparse.Namespace) -> int:
    """Return 0, or 4 if a file cannot be read."""
    labelled = [one for path in options.labels for one in read_labels(path)]
    judge, dataset = EmbeddedJudge(), open_dataset("embedded")
    print(f"{judge.identity}: {len(labelled)} dialogues")
    print(f"{'change of words':34} {'dialogues':>9}  TC kept   P kept")
    for (name, held), kept in sorted(stability(judge, labelled).items()):
        print(f"{name + (' *' if held else ''):34} {kept.dialogues:9}  {kept.tc:7.1%}  {kept.p:7.1%}")
    print("(*: kept out of training)")
    for dimension, fallen in sensitivity(judge, labelled).items():
        print(
            f"change of meaning, {dimension.short}: {fallen.pairs} pairs, "
            f"right score fell {fallen.right:.0%}, other moved {fallen.wrong:.0%}"
        )
    print(f"{'done otherwise than asked for':34} {'dialogues':>9}  TC falls  P moves")
    for name, fallen in sensitivity_to_faults(judge, labelled).items():
        print(f"{name:34} {fallen.pairs:9}  {fallen.right:8.0%}  {fallen.wrong:7.0%}")
    print(f"{'constant bot':34} {'scenarios':>9}  TC 1  P > 2")
    scenarios = [dataset.load(ref) for ref in draw(dataset, options.scenarios, seed="robustness").refs]
    for name, (count, completed, above) in constant_bots(judge, scenarios).items():
        print(f"{name:34} {count:9}  {completed:4}  {above:5}")
    return 0
