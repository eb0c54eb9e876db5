"""Intrusions of the example bot, as it is and with an intrusive sentence behind each reply, and of labels.

``python benchmarks/agents/intrusions.py`` runs the first 100 scenarios of the draw with the embedded user and
judge, prints mean P and the number of dialogues with an intrusion, and counts those in the labelled dialogues
of ``data/agreement``, whose authors, language models, were not asked to intrude.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from pytest_personalens import evaluate
from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import EmbeddedDataset
from pytest_personalens.datasets.dataset import draw
from pytest_personalens.judge_quality.labels import read_labels

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "example_project"))
P, INTRUSIONS = Dimension.PERSONALIZATION, Dimension.INTRUSIONS
#: What is said behind each reply, with the user's demographics.
SENTENCES: dict[str, Callable[[dict[str, str]], str]] = {
    "plain": lambda known: "",
    "names": lambda known: "Since I know your job and age, I kept your religion and ethnicity in mind.",
    "values": lambda known: f"As you are {known['religion']} and {known['ethnicity']}, this suits you.",
    "all": lambda known: f"And since I know about you ({', '.join(known.values())}), I kept it all in mind.",
    "one": lambda known: f"Since you are {known['employment_status'].lower()}, I kept it simple.",
}  # fmt: skip


LABELS = Path(__file__).resolve().parents[2] / "data" / "agreement"


def run(scenario: Scenario, sentence: str) -> tuple[float, float]:
    """Return P and intrusions of the example bot in one scenario."""
    from helpbot import Memory
    from helpbot.bot import Helpbot

    memory = Memory()
    for topic, summary in scenario.summaries.items():
        memory.remember(scenario.user, topic, summary)
    bot, judge = Helpbot(scenario.user, memory), EmbeddedJudge()

    def assistant(messages: object) -> str:
        return f"{bot(messages)} {sentence}".strip()  # type: ignore[arg-type]

    done = evaluate(scenario, assistant, EmbeddedUserAgent(), judge, dimensions=(P, INTRUSIONS))
    scores = [done.score(reading) for reading in (P, INTRUSIONS)]
    assert scores[0] is not None and scores[1] is not None, done.detail
    return scores[0], scores[1]


def main() -> None:
    """Print the figures."""
    dataset = EmbeddedDataset()
    drawn = [dataset.load(ref) for ref in draw(dataset, 100, seed="intrusions").refs]
    for name, said in SENTENCES.items():
        figures = [run(scenario, said(scenario.demographics)) for scenario in drawn]
        counted = sum(intrudes for _, intrudes in figures)
        print(f"{name:8} P {mean(p for p, _ in figures):.2f}, intrusions in {counted} of {len(figures)}")
    labelled = [one for file in sorted(LABELS.glob("*.jsonl")) for one in read_labels(file)]
    judge = EmbeddedJudge()
    found = [one.id for one in labelled if judge.verdict(one.scenario, one.dialogue, INTRUSIONS).score]
    print(f"labelled dialogues: {len(found)} of {len(labelled)}: {', '.join(found)}")


if __name__ == "__main__":
    main()
