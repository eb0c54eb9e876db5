"""How far a strong model, with the product's own prompts, agrees with annotators on 48 live dialogues.

    python benchmarks/agents/model_judge.py

Reads `data/agreement/by-hand-user8.jsonl`: `model` holds the model's two scores of each dialogue, `labels`
those of two annotators. All of them, and the assistants, are language models; none saw the others' answers.
"""

from __future__ import annotations

import json
from pathlib import Path

from pytest_personalens.judge_quality.agreement.kappa import cohen

FILE = Path(__file__).resolve().parents[2] / "data" / "agreement" / "by-hand-user8.jsonl"


def main() -> None:
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    for dimension in ("task_completion", "personalization"):
        model = [row["model"][dimension] for row in rows]
        people = {name: [row["labels"][name][dimension] for row in rows] for name in ("one", "two")}
        pairs = {f"model, {name}": (model, labels) for name, labels in people.items()}
        pairs["one, two"] = (people["one"], people["two"])
        for names, raters in pairs.items():
            plain, weighted = (cohen([*zip(*raters, strict=True)], quadratic=how) for how in (False, True))
            print(f"{dimension}, {names}: plain {plain:.2f}, weighted {weighted:.2f}, {len(rows)} dialogues")


if __name__ == "__main__":
    main()
