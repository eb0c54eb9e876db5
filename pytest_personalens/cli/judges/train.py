"""Trains the embedded judge on labelled dialogues.

Without --write it tells how well such judges agree with the labels.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.weights import words
from pytest_personalens.cli.command import Parser, errors_told
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.datasets import EmbeddedDataset
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.judge_quality.agreement.kappa import cohen
from pytest_personalens.judge_quality.agreement.labels import read_labels
from pytest_personalens.judge_quality.oracle import read_wordings
from pytest_personalens.judge_quality.training.examples import (
    Example,
    examples,
    tagged_statements,
    word_lists,
)
from pytest_personalens.judge_quality.training.fitting import SCORED, Tagged, train
from pytest_personalens.judge_quality.training.reading_training import train_reading
from pytest_personalens.judge_quality.training.train import Scores, cross_validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
#: An example with its scores under its own profile and under another user's.
Scored = tuple[Example, tuple[Scores, Scores]]
#: A voice has a row of its own from this number of dialogues on.
_ENOUGH: Final = 30


def _report(named: Iterable[tuple[str, Sequence[Example]]], statements: Sequence[Tagged]) -> str:
    named = list(named)
    chosen = [e for _, part in named for e in part]
    scores = cross_validate(chosen, statements)
    scored = list(zip(chosen, scores, strict=True))
    rows: list[str] = []
    start = 0
    for name, part in named:
        rows += _rows(name, scored[start : start + len(part)], SCORED)
        start += len(part)
    rows += _rows("all", scored, SCORED)
    by_voice: dict[str, list[Scored]] = defaultdict(list)
    for one in scored:
        by_voice[one[0].labelled.voice].append(one)
    for voice, of_voice in sorted(by_voice.items()):
        if voice and len(of_voice) >= _ENOUGH:
            rows += _rows(f"voice: {voice}", of_voice, (TC, P))
    others = [s[1][P] for s in scores]
    own = [s[0][P] for s in scores]
    rows.append(
        f"mean P: {sum(own) / len(own):.2f}, under a stranger's profile {sum(others) / len(others):.2f}"
    )
    return "\n".join([f"{'labels':24} {'reading':14} {'n':>5}  kappa  weighted", *rows])


def _rows(name: str, scored: Sequence[Scored], dimensions: Iterable[Dimension]) -> Iterator[str]:
    for dimension in dimensions:
        pairs = [(e.labelled.majority(dimension), own[dimension]) for e, (own, _) in scored]
        both = [(a, b) for a, b in pairs if a is not None]
        if both:
            plain, weighted = cohen(both), cohen(both, quadratic=True)
            yield f"{name:24} {dimension.short:14} {len(both):5}  {_two(plain)}  {_two(weighted)}"


def _two(value: float | None) -> str:
    return "    -" if value is None else f"{value:5.2f}"


@errors_told
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Return 0, or 4 if the labels cannot be read or are too few to learn from.
    """
    parser = Parser(
        prog="personalens train",
        description=__doc__,
        example="personalens train data/agreement/calibration.jsonl",
    )
    parser.add_argument("labels", nargs="+", type=Path, help="labelled dialogues")
    parser.add_argument(
        "--statements",
        type=Path,
        metavar="FILE",
        help="single statements with tags, to learn acts from as well",
    )
    parser.add_argument(
        "--reading",
        type=Path,
        metavar="FILE",
        help="train only the reader of work, on these tagged statements too and on data/wordings/",
    )
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="train on all of them and write the tables here"
    )
    args = parser.parse_args(argv)
    everything = [(path.stem, read_labels(path)) for path in args.labels]
    labelled = [one for _, part in everything for one in part]
    if args.write is None:
        statements = tagged_statements(args.statements) if args.statements else []
        known = {id(e.labelled): e for e in examples(labelled)}
        print(_report(((name, [known[id(one)] for one in part]) for name, part in everything), statements))
        return 0
    if args.reading is not None:
        tagged = [one for file in (args.statements, args.reading) if file for one in tagged_statements(file)]
        wordings = read_wordings(data_folder() / "wordings")
        for name, table in train_reading(labelled, tagged, EmbeddedDataset(), wordings).items():
            write_atomically(args.write / f"{name}.tsv", table.render())
        return 0
    for name, listed in word_lists(labelled).items():
        write_atomically(args.write / f"{name}.txt", "\n".join(listed) + "\n")
    # If these are the lists of the package itself, the features of the dialogues depend on them.
    words.cache_clear()
    statements = tagged_statements(args.statements) if args.statements else []
    for name, table in train(examples(labelled), statements).tables.items():
        write_atomically(args.write / f"{name}.tsv", table.render())
    return 0
