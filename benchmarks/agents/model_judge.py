"""How far a strong model, with the product's own prompts, agrees with annotators on 48 live dialogues.

    python benchmarks/agents/model_judge.py

Reads `data/agreement/by-hand-user8.jsonl`: `model` holds the model's two scores of each dialogue, `labels`
those of two annotators. All of them, and the assistants, are language models; none saw the others' answers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "data" / "agreement" / "by-hand-user8.jsonl"


def kappa(one: Sequence[int], two: Sequence[int], *, weighted: bool) -> float:
    """Cohen's kappa, with squared weights or none (Cohen 1960, 1968)."""
    widest = max(*one, *two) - min(*one, *two)

    def agreement(a: int, b: int) -> float:
        return 1 - ((a - b) / widest) ** 2 if weighted else float(a == b)

    observed = sum(map(agreement, one, two)) / len(one)
    first, second = Counter(one), Counter(two)
    by_chance = sum(agreement(a, b) * first[a] * second[b] for a in first for b in second) / len(one) ** 2
    return (observed - by_chance) / (1 - by_chance)


def main() -> None:
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    for dimension in ("task_completion", "personalization"):
        model = [row["model"][dimension] for row in rows]
        people = {name: [row["labels"][name][dimension] for row in rows] for name in ("one", "two")}
        pairs = {f"model, {name}": (model, labels) for name, labels in people.items()}
        pairs["one, two"] = (people["one"], people["two"])
        for names, (one, two) in pairs.items():
            plain, weighted = (kappa(one, two, weighted=how) for how in (False, True))
            print(f"{dimension}, {names}: plain {plain:.2f}, weighted {weighted:.2f}, {len(rows)} dialogues")


if __name__ == "__main__":
    main()
