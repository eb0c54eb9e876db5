"""How the embedded judge and user do with assistants whose replies were written live, by kind of assistant.

``python benchmarks/agents/by_hand.py [FILE.jsonl ...]`` reads ``data/agreement/by-hand-held.jsonl``. Its
dialogues were written by authors who know neither user agent nor judge, and labelled by two annotators, all
of them language models. TC of the annotators is 1 where both say so, and P the lower of the two medians.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from pytest_personalens.agents import EmbeddedJudge
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.judge_quality.agreement.kappa import cohen


class Row(NamedTuple):
    """A dialogue: its assistant, the planned mistake, and what annotators and judge say."""

    assistant: str
    mistake: str
    wanted: tuple[int, int]
    judged: tuple[int, int]
    natural: float


def read(line: str) -> Row | None:
    """Return the row of a line, or None if nobody judged the whole dialogue."""
    entry: dict[str, Any] = json.loads(line)
    labels = list(entry["labels"].values())
    if not labels:
        return None
    messages = tuple(Message(**message) for message in entry["dialogue"])
    dialogue = Dialogue(messages=messages, end=entry["end"])
    scenario, judge = Scenario.model_validate(entry["whole"]), EmbeddedJudge()
    tc, p = (
        int(judge.verdict(scenario, dialogue, dimension).score)
        for dimension in (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
    )
    wanted = min(x["task_completion"] for x in labels), min(x["personalization"] for x in labels)
    return Row(entry["assistant"], entry["mistake"], wanted, (tc, p), mean(x["user"] for x in labels))


def share(rows: list[Row]) -> str:
    """Return ``12 of 29 (41 %)``: the dialogues that the judge completes."""
    done = sum(row.judged[0] for row in rows)
    return f"{done} of {len(rows)} ({done / len(rows):.0%})" if rows else "none"


def main() -> None:
    """Print a row for each kind of assistant, and the figures over all."""
    held = data_folder() / "agreement" / "by-hand-held.jsonl"
    paths = [Path(arg) for arg in sys.argv[1:]] or [held]
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for line in lines if (row := read(line))]
    kinds: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        kinds[row.assistant].append(row)
    print(f"{'assistant':24} {'n':>3} {'TC':>6} {'judge':>6} {'P':>6} {'judge':>6} {'user':>5}")
    for kind, part in sorted(kinds.items()):
        tc, p = (mean(row.wanted[i] for row in part) for i in (0, 1))
        judged = [mean(row.judged[i] for row in part) for i in (0, 1)]
        natural = mean(row.natural for row in part)
        print(f"{kind:24} {len(part):3} {tc:6.2f} {judged[0]:6.2f} {p:6.2f} {judged[1]:6.2f} {natural:5.1f}")
    tc_pairs, p_pairs = ([(row.wanted[i], row.judged[i]) for row in rows] for i in (0, 1))
    print(f"TC, kappa: {cohen(tc_pairs):.2f}; P, weighted kappa: {cohen(p_pairs, quadratic=True):.2f}")
    print(f"naturalness of the user, 1 to 5: {mean(row.natural for row in rows):.1f}")
    standing = [row for row in rows if row.mistake != "none" and not row.wanted[0]]
    print(f"planned mistakes that stand, TC 1: {share(standing)}")
    print(f"flawless dialogues, TC 1: {share([r for r in rows if r.mistake == 'none' and r.wanted[0]])}")


if __name__ == "__main__":
    main()
