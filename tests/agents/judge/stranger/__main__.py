"""Prints how the embedded judge reads the stranger's assistants: `python -m tests.agents.judge.stranger`."""

from __future__ import annotations

from pytest_personalens import Dimension
from tests.agents.judge.stranger.figures import DESERVED, evaluations, figures


def main() -> None:
    """A row for each assistant, then each verdict that is not the one it deserves."""
    print(f"{'assistant':12} {'TCR':>5} {'TC right':>9} {'P':>5} {'P right':>8} {'P 4':>5}")
    for assistant in DESERVED:
        found = figures(assistant)
        print(
            f"{assistant:12} {found.tcr:5.2f} {found.tc_right:9.0%} {found.p:5.2f} {found.p_right:8.0%} {found.fours:5.0%}"
        )
    for assistant, deserved in DESERVED.items():
        for scenario, evaluation in evaluations(assistant).items():
            wrong = [v for v in evaluation.verdicts if v.score not in deserved[Dimension(v.dimension)]]
            for verdict in wrong:
                print(
                    f"{assistant:12} {scenario:24} {verdict.dimension.short} {verdict.score}: {verdict.justification}"
                )


if __name__ == "__main__":
    main()
