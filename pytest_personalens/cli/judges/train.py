"""Trains the embedded judge on labelled dialogues.

Without --write it tells how well such judges agree with the labels.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.weights import words
from pytest_personalens.cli.command import command
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
from pytest_personalens.judge_quality.training.train import cross_validate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
#: A voice has a row of its own from this number of dialogues on.
_ENOUGH: Final = 30


@command("train")
def main(options: argparse.Namespace) -> int:
    """Return 0, or 4 if the labels cannot be read or are too few to learn from."""
    files = [(path.stem, read_labels(path)) for path in options.labels]
    labelled = [one for _, part in files for one in part]
    statements = tagged_statements(options.statements) if options.statements else []
    if options.write is None:
        by_dialogue = {id(e.labelled): e for e in examples(labelled)}
        print(_report([(name, [by_dialogue[id(one)] for one in part]) for name, part in files], statements))
        return 0
    if options.reading is not None:
        statements = [*statements, *tagged_statements(options.reading)]
        wordings = read_wordings(data_folder() / "wordings")
        tables = train_reading(labelled, statements, EmbeddedDataset(), wordings)
    else:
        for name, words_of_list in word_lists(labelled).items():
            write_atomically(options.write / f"{name}.txt", "\n".join(words_of_list) + "\n")
        # If these are the lists of the package itself, the features of the dialogues depend on them.
        words.cache_clear()
        tables = train(examples(labelled), statements).tables
    for name, table in tables.items():
        write_atomically(options.write / f"{name}.tsv", table.render())
    return 0


def _report(files: Sequence[tuple[str, Sequence[Example]]], statements: Sequence[Tagged]) -> str:
    """Return the agreement of judges that are trained without the dialogues that they score, as a table."""
    every = [example for _, part in files for example in part]
    scores = cross_validate(every, statements)
    own_scores = {id(example): own for example, (own, _) in zip(every, scores, strict=True)}
    by_voice: dict[str, list[Example]] = defaultdict(list)
    for example in every:
        by_voice[example.labelled.voice].append(example)
    voices = [(v, of) for v, of in sorted(by_voice.items()) if v and len(of) >= _ENOUGH]
    groups: list[tuple[str, Sequence[Example], Sequence[Dimension]]]
    groups = [(name, part, SCORED) for name, part in [*files, ("all", every)]]
    groups += [(f"voice: {voice}", of_voice, (TC, P)) for voice, of_voice in voices]
    rows = [f"{'labels':24} {'reading':14} {'n':>5}  kappa  weighted"]
    for name, part, dimensions in groups:
        for dimension in dimensions:
            labels = [(e.labelled.majority(dimension), own_scores[id(e)][dimension]) for e in part]
            if pairs := [(a, b) for a, b in labels if a is not None]:
                kappas = (cohen(pairs), cohen(pairs, quadratic=True))
                cells = "  ".join("    -" if kappa is None else f"{kappa:5.2f}" for kappa in kappas)
                rows.append(f"{name:24} {dimension.short:14} {len(pairs):5}  {cells}")
    own, other = (sum(s[side][P] for s in scores) / len(scores) for side in (0, 1))
    return "\n".join([*rows, f"mean P: {own:.2f}, under a stranger's profile {other:.2f}"])
