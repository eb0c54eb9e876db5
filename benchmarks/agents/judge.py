"""What a verdict of the embedded judge costs: milliseconds of CPU a dialogue for TC and P.

``python benchmarks/agents/judge.py [DIALOGUES]`` reads ``data/agreement/by-hand-held.jsonl``. To compare
two builds, run it with each in front of ``PYTHONPATH``, one after the other on the same machine.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path

from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.errors import PersonalensError
from pytest_personalens.core.judging.verdict import DEFAULT_DIMENSIONS
from pytest_personalens.core.scenario import Scenario

LABELS = Path(__file__).resolve().parents[2] / "data/agreement/by-hand-held.jsonl"


def main() -> None:
    """Measure and print."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else None
    entries = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()[:most]]
    pairs = [
        (
            Scenario.model_validate(entry["whole"]),
            Dialogue(messages=tuple(Message(**m) for m in entry["dialogue"]), end=entry["end"]),
        )
        for entry in entries
    ]
    judge, start = EmbeddedJudge(), 0.0
    for number, (scenario, dialogue) in enumerate(pairs):
        if number == 1:  # the first one loads the modules
            start = time.process_time()
        for dimension in DEFAULT_DIMENSIONS:
            with contextlib.suppress(PersonalensError):
                judge.verdict(scenario, dialogue, dimension)
    each = (time.process_time() - start) / (len(pairs) - 1) * 1000
    print(f"TC and P of a dialogue: {each:.1f} ms of CPU, mean of {len(pairs) - 1}")


if __name__ == "__main__":
    main()
