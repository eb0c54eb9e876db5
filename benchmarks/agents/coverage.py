"""Simulated coverage of the 95 % interval of a corrected task completion rate.

``python benchmarks/agents/coverage.py --runs 1000`` draws labels and dialogues for judges of several
qualities, corrects the rate that each judge reads, and prints in how many runs the interval holds the true
rate, how wide it is, and the mean of the corrected rate. With ``--same``,
the labelled dialogues are some of the run's own.
"""

from __future__ import annotations

import argparse
import random
from statistics import fmean

from pytest_personalens.results.values.calibration import Found, correct

#: Sensitivity and specificity of the judges, true rates, and (dialogues, labels).
JUDGES = ((0.95, 0.9), (0.85, 0.8), (0.95, 0.7), (0.71, 0.64))
RATES = (0.5, 0.7, 0.9)
SIZES = ((100, 60), (100, 120), (300, 200))


def simulate(
    rate: float, judge: tuple[float, float], sizes: tuple[int, int], rng: random.Random, *, same: bool
) -> tuple[float, float, float] | None:
    """Return the ends and the value of one simulated correction; None where labels lack a class."""

    def dialogue() -> tuple[bool, bool]:
        done = rng.random() < rate
        return done, rng.random() < (judge[0] if done else 1 - judge[1])

    run = [dialogue() for _ in range(sizes[0])]
    labelled = run[: sizes[1]] if same else [dialogue() for _ in range(sizes[1])]
    of_true, of_false = ([read is done for done, read in labelled if done is kind] for kind in (True, False))
    if not of_true or not of_false:
        return None
    read = fmean(read for _, read in run)
    found = correct(read, len(run), *(Found(sum(right), len(right)) for right in (of_true, of_false)))
    return (0.0, 1.0, read) if found is None else (found.low, found.high, found.value)


def main() -> None:
    """Print a row for each judge, true rate and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--same", action="store_true", help="label some of the run's own dialogues")
    options = parser.parse_args()
    print("sensitivity specificity  rate  dialogues  labels  coverage  width  mean")
    every = []
    for judge in JUDGES:
        for rate in RATES:
            for sizes in SIZES:
                if options.same and sizes[1] > sizes[0]:
                    continue
                rng = random.Random(f"{judge} {rate} {sizes}")
                runs = (simulate(rate, judge, sizes, rng, same=options.same) for _ in range(options.runs))
                known = [found for found in runs if found is not None]
                covered = fmean(low <= rate <= high for low, high, _ in known)
                width, mean = fmean(h - low for low, h, _ in known), fmean(value for *_, value in known)
                every.append(covered)
                print(
                    f"{judge[0]:11.2f} {judge[1]:11.2f} {rate:5.2f} {sizes[0]:10} {sizes[1]:7}"
                    f" {covered:9.3f} {width:6.2f} {mean:5.2f}"
                )
    print(f"coverage {min(every):.3f} to {max(every):.3f}, mean {fmean(every):.3f}")


if __name__ == "__main__":
    main()
