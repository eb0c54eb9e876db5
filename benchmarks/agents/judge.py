"""What a verdict of the embedded judge costs: milliseconds a dialogue on one core, beside reading the same
dialogues from their file.
"""

from __future__ import annotations

import time
from pathlib import Path

from pytest_personalens.agents import EmbeddedJudge
from pytest_personalens.core.judging.verdict import READINGS
from pytest_personalens.judge_quality import read_labels

#: The four readings that the embedded judge gives of the paper's six.
GIVEN = [d for d in READINGS if d in EmbeddedJudge.dimensions]
LABELS = Path(__file__).resolve().parents[2] / "data/agreement/calibration.jsonl"
#: Milliseconds a dialogue, all of its readings.
GOAL = 20.0


def main() -> int:
    """Measure and print; 1 if the goal is missed."""
    judge = EmbeddedJudge()
    start = time.perf_counter()
    dialogues = read_labels(LABELS)
    read = time.perf_counter() - start
    judge.verdict(dialogues[0].scenario, dialogues[0].dialogue, GIVEN[0])  # loads the weights
    start = time.process_time()
    for one in dialogues:
        for dimension in GIVEN:
            judge.verdict(one.scenario, one.dialogue, dimension)
    each = (time.process_time() - start) / len(dialogues) * 1000
    ratio = each / (read / len(dialogues) * 1000)
    print(
        f"{len(GIVEN)} readings of a dialogue: {each:.1f} ms, goal {GOAL:.0f}; {ratio:.0f} times reading it"
        " from its file"
    )
    return 0 if each <= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
