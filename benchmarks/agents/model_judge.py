"""How far a strong model with the product's prompts agrees with annotators on 240 live dialogues: a replay.

    python benchmarks/agents/model_judge.py                the table, without a key or a network
    python benchmarks/agents/model_judge.py --unanswered   the readings that the records do not answer

The answers of the model are in `data/agreement/model_judge/calls`, the dialogues with the labels of two
annotators in `dialogues.jsonl` beside them and in three older files. Users, assistants, annotators and
the judge are language models; none saw what another one answered.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pytest_personalens.agents.by_model.model_agents import PromptSettings
from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge
from pytest_personalens.cli.judge_commands import open_judge
from pytest_personalens.core.errors import JudgeFault, NotJudged, RecordError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.engine.agents_on_tape import JudgeByCase
from pytest_personalens.judge_quality.agreement import cohen, interval
from pytest_personalens.judge_quality.labels import Labelled, read_labels
from pytest_personalens.models.call_log import CallLog
from pytest_personalens.models.meter import Meter

LABELS = Path(__file__).resolve().parents[2] / "data" / "agreement"
PROOF = LABELS / "model_judge"
NEW = PROOF / "dialogues.jsonl"
FILES = (NEW, *(LABELS / f"by-hand-user{number}.jsonl" for number in (5, 6, 8)))
MODEL = "openai:strong-language-model?tools=off"
TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
#: The kinds of assistants that try to mislead the judge.
ATTACKS = ("fake-verdict", "idle-sentence", "confident-lie", "odd-words", "polite-nothing")
TEMPLATES = Path(__file__).resolve().parents[2] / "pytest_personalens" / "agents" / "by_model" / "templates"


class Row(NamedTuple):
    """One dialogue: its assistant's kind, the labels of two annotators, and the scores of both judges."""

    kind: str
    new: bool
    labels: dict[Dimension, tuple[int, int]]
    model: dict[Dimension, int | None]
    embedded: dict[Dimension, int | None]
    user: float | None


def proof_judge() -> JudgeByCase:
    """The model, of which only recorded answers are used."""
    opened = open_judge(MODEL, Meter(), PromptSettings("default", None))
    return JudgeByCase(opened, CallLog(PROOF / "calls"), may_spend=False, strict=True)


def score(judge: Any, item: Labelled, dimension: Dimension) -> int | None:
    try:
        found: int = judge.verdict(item.scenario, item.dialogue, dimension).score
    except (JudgeFault, NotJudged):
        return None
    return found


def rows(files: Sequence[Path] = FILES) -> list[Row]:
    """All dialogues; raise `RecordError` for a reading without a recorded answer."""
    model, embedded, found = proof_judge(), EmbeddedJudge(), []
    for file in files:
        plain = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for item, line in zip(read_labels(file), plain, strict=True):
            labels = {d: (item.labels["one"][d], item.labels["two"][d]) for d in (TC, P)}
            natural = [line["labels"][who].get("user") for who in ("one", "two")]
            found.append(
                Row(
                    line["assistant"],
                    file == NEW,
                    labels,
                    {d: score(model, item, d) for d in (TC, P)},
                    {d: score(embedded, item, d) for d in (TC, P)},
                    None if None in natural else sum(natural) / 2,
                )
            )
    return found


def unanswered(files: Sequence[Path] = FILES) -> Iterator[str]:
    """The readings that no record answers, as "file, dialogue: reading"."""
    model = proof_judge()
    for file in files:
        for item in read_labels(file):
            for dimension in (TC, P):
                try:
                    model.verdict(item.scenario, item.dialogue, dimension)
                except JudgeFault:
                    pass
                except RecordError:
                    yield f"{file.name}, {item.id}: {dimension.short}"


def template_digests() -> dict[str, str]:
    """The templates of what the judge is told, with digests; `templates.json` has those of the records."""
    used = ("judge", "judge_task_completion", "judge_personalization")
    return {
        f"{name}.txt": hashlib.sha256((TEMPLATES / f"{name}.txt").read_bytes()).hexdigest()[:16]
        for name in used
    }


def against_annotators(
    chosen: Sequence[Row], who: str, dimension: Dimension, *, weighted: bool = False
) -> float | None:
    """The mean of the kappas with each annotator, or of the annotators with each other for "annotators"."""
    if who == "annotators":
        return cohen([row.labels[dimension] for row in chosen], quadratic=weighted)
    scored = [(row, s) for row in chosen if (s := getattr(row, who)[dimension]) is not None]
    kappas = [cohen([(row.labels[dimension][n], s) for row, s in scored], quadratic=weighted) for n in (0, 1)]
    return None if None in kappas else sum(k for k in kappas if k is not None) / 2


def range_text(ends: tuple[float, float] | None) -> str:
    return "-" if ends is None else f"{ends[0]:.2f} to {ends[1]:.2f}"


def table(found: Sequence[Row]) -> Iterator[str]:
    """The lines of the table."""
    groups = {
        "all": list(found),
        "new, users by models": [row for row in found if row.new],
        "attacks on the judge": [row for row in found if row.new and row.kind in ATTACKS],
        "older, embedded user": [row for row in found if not row.new],
    }
    yield "| kappa | dialogues | TC: model | embedded | annotators | P: model | weighted | embedded | own |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, chosen in groups.items():
        cells = [
            against_annotators(chosen, who, d, weighted=w)
            for who, d, w in (
                ("model", TC, False), ("embedded", TC, False), ("annotators", TC, False), ("model", P, False),
                ("model", P, True), ("embedded", P, True), ("annotators", P, True),
            )
        ]  # fmt: skip
        yield (
            f"| {name} | {len(chosen)} | "
            + " | ".join("-" if c is None else f"{c:.2f}" for c in cells)
            + " |"
        )
    each: dict[Hashable, list[Row]] = {number: [row] for number, row in enumerate(found)}
    ends = interval(each, lambda drawn: against_annotators(drawn, "model", TC))
    yield f"TC of the model over all: 95 % interval {range_text(ends)}"

    def behind(drawn: Sequence[Row]) -> float | None:
        model, own = (against_annotators(drawn, who, TC) for who in ("model", "annotators"))
        return None if model is None or own is None else model - own

    yield f"TC of the model less that of the annotators: 95 % interval {range_text(interval(each, behind))}"
    natural = [row.user for row in found if row.new and row.user is not None]
    if natural:
        yield f"how natural users by models are, 1 to 5, mean of two: {sum(natural) / len(natural):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--unanswered", action="store_true", help="list the readings that the records do not answer"
    )
    for line in unanswered() if parser.parse_args().unanswered else table(rows()):
        print(line)


if __name__ == "__main__":
    main()
