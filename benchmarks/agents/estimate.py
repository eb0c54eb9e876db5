"""The estimate of a run beside what it took: example_project/by_model, whose user and judge are a model.

    python benchmarks/agents/estimate.py

The dialogues on record are shorter than the paper's, so calls and tokens of a call are told apart.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from pytest_personalens.core.judging.usage import ASSISTANT, ROUNDS, USER, expected_call

ROOT = Path(__file__).resolve().parents[2]


def expected(role: str, kind: str) -> tuple[int, float]:
    """Return the calls for a dialogue, and the input tokens of one, in the mean."""
    rounds, said = ROUNDS[kind], USER + ASSISTANT
    reads = [n * said for n in range(rounds)] if role == "user agent" else [rounds * said]
    return len(reads), sum(expected_call(role, n, kind=kind).input_tokens for n in reads) / len(reads)


def main() -> int:
    """Print the table; 1 if a mean of input tokens is further than a third from what was expected."""
    calls, tokens, dialogues = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[str]()
    for file in sorted((ROOT / "example_project" / "by_model" / "__personalens__").rglob("*.json")):
        kind = "multi" if "[multi-" in file.name else "single"
        dialogues[kind] += 1
        for call in json.loads(file.read_text(encoding="utf-8"))["calls"]:
            if "tokens" in call:
                calls[call["role"], kind] += 1
                tokens[call["role"], kind] += call["tokens"]["input"]
    print(f"{'':18} {'calls of a dialogue':>24} {'input tokens of a call':>28}")
    print(f"{'':18} {'expected':>12} {'on record':>11} {'expected':>12} {'on record':>10} {'ratio':>6}")
    worst = 1.0
    for (role, kind), made in sorted(calls.items()):
        count, size = expected(role, kind)
        read = tokens[role, kind] / made
        worst = max(worst, size / read, read / size)
        print(
            f"{role:11} {kind:6} {count:12} {made / dialogues[kind]:11.1f} {size:12,.0f} {read:10,.0f}"
            f" {size / read:6.2f}"
        )
    return int(worst > 4 / 3)


if __name__ == "__main__":
    sys.exit(main())
