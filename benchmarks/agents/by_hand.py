"""How the embedded judge reads assistants whose replies were written live, by kind of assistant.

``python benchmarks/agents/by_hand.py [FILE.jsonl ...]`` reads ``by-hand-held``, ``by-hand-user5`` and ``by-
hand-user6`` of ``data/agreement``. Their dialogues were written by authors who know neither user agent nor
judge, and labelled by two annotators, all of them language models. TC of the annotators is 1 where both say
so, and P the lower of the two medians.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge
from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.errors import NotJudged
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.judge_quality.agreement import cohen

if TYPE_CHECKING:
    from collections.abc import Callable


DATA = Path(__file__).resolve().parents[2] / "data"


class Row(NamedTuple):
    """A dialogue: its assistant, the planned mistake, and what annotators and judge say."""

    assistant: str
    mistake: str
    wanted: tuple[int, int]
    judged: tuple[int | None, int]
    facts: float | None


def read(line: str) -> Row | None:
    """Return the row of a line, or None if nobody judged the whole dialogue."""
    entry: dict[str, Any] = json.loads(line)
    labels = list(entry["labels"].values())
    if not labels:
        return None
    messages = tuple(Message(**message) for message in entry["dialogue"])
    dialogue = Dialogue(messages=messages, end=entry["end"])
    scenario, judge = Scenario.model_validate(entry["whole"]), EmbeddedJudge()

    def score(dimension: Dimension) -> float | None:
        try:
            return judge.verdict(scenario, dialogue, dimension).score
        except NotJudged:
            return None

    tc, p = score(Dimension.TASK_COMPLETION), score(Dimension.PERSONALIZATION)
    wanted = min(x["task_completion"] for x in labels), min(x["personalization"] for x in labels)
    judged = (None if tc is None else int(tc)), int(p or 0)
    return Row(entry["assistant"], entry["mistake"], wanted, judged, score(Dimension.FACTS))


def share(rows: list[Row]) -> str:
    """Return ``12 of 29 (41 %)``: the dialogues that the judge completes."""
    done = sum(bool(row.judged[0]) for row in rows)
    return f"{done} of {len(rows)} ({done / len(rows):.0%})" if rows else "none"


def order(groups: dict[tuple[str, str], list[Row]], wanted: int, of: Callable[[Row], float | None]) -> str:
    """Return how many pairs of assistants that annotators set apart by 0.1 a figure orders right."""
    right, pairs = 0.0, 0
    for one, other in combinations(sorted(groups), 2):
        apart = mean(r.wanted[wanted] for r in groups[one]) - mean(r.wanted[wanted] for r in groups[other])
        means = [mean(v for r in groups[key] if (v := of(r)) is not None) for key in (one, other)]
        if abs(apart) >= 0.1 - 1e-9:
            pairs += 1
            right += 0.5 if means[0] == means[1] else float((means[0] > means[1]) == (apart > 0))
    return f"{right:g} of {pairs}"


def main() -> None:
    """Print a row for each kind of assistant, and the figures over all."""
    folder = DATA / "agreement"
    held = [folder / f"by-hand-{name}.jsonl" for name in ("held", "user5", "user6")]
    paths = [Path(arg) for arg in sys.argv[1:]] or held
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if row := read(line):
                groups[path.stem.rstrip("56"), row.assistant].append(row)
    rows = [row for group in groups.values() for row in group]
    print(f"{'assistant':40} {'n':>3} {'TC':>6} {'judge':>6} {'facts':>6} {'P':>6} {'judge':>6}")
    for (file, kind), part in sorted(groups.items()):
        tc, p = (mean(row.wanted[i] for row in part) for i in (0, 1))
        done = mean(bool(row.judged[0]) for row in part)
        stand = mean(row.facts for row in part if row.facts is not None)
        points = mean(row.judged[1] for row in part)
        print(
            f"{f'{file}, {kind}':40} {len(part):3} {tc:6.2f} {done:6.2f} {stand:6.2f} {p:6.2f} {points:6.2f}"
        )
    judged = [(row.wanted[0], row.judged[0]) for row in rows if row.judged[0] is not None]
    print(f"TC, kappa: {cohen(judged):.2f} over {len(judged)}; not judged {len(rows) - len(judged)}")
    p_pairs = [(row.wanted[1], row.judged[1]) for row in rows]
    print(f"P, weighted kappa: {cohen(p_pairs, quadratic=True):.2f}")
    if len(groups) > 1:
        by_p, by_facts, by_tc = (
            order(groups, 1, lambda r: r.judged[1]),
            order(groups, 0, lambda r: r.facts),
            order(groups, 0, lambda r: r.judged[0]),
        )
        print(f"pairs of assistants in the right order by P: {by_p}; by facts: {by_facts}; by TC: {by_tc}")
    standing = [row for row in rows if row.mistake != "none" and not row.wanted[0]]
    print(f"planned mistakes that stand, TC 1: {share(standing)}")
    print(f"flawless dialogues, TC 1: {share([r for r in rows if r.mistake == 'none' and r.wanted[0]])}")


if __name__ == "__main__":
    main()
