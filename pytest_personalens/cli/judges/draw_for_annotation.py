"""The command ``draw-for-annotation``: draws dialogues of stored runs for people to label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.cli.command import command
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.destinations import writable

if TYPE_CHECKING:
    import argparse


@command("draw-for-annotation")
def main(options: argparse.Namespace) -> int:
    """Return 0, or 4 if something cannot be read, drawn or written."""
    from pytest_personalens.judge_quality.agreement import annotation
    from pytest_personalens.results.values.results import read_results

    annotators = list(dict.fromkeys(name.strip() for name in options.annotators.split(",") if name.strip()))
    if not annotators:
        raise SpecError("--annotators: expected names separated by commas, such as ann,bo,cy")
    if writable(options.write, "--write").exists():
        raise SpecError(
            f"--write: {options.write} is there already and may hold labels; give another path, or remove it",
            code="PL105",
        )
    results = [read_results(path) for path in options.results]
    sample = annotation.draw_dialogues(results, options.count, seed=options.seed)
    write_atomically(options.write, annotation.label_lines(annotation.label_entries(sample, annotators)))
    single, multi = (sum(c.scenario.kind == kind for c in sample) for kind in ("single", "multi"))
    print(
        f"{len(sample)} dialogues are in {options.write}: {single} single-domain and {multi} multi-domain"
        f" ones. Put the labels of {', '.join(annotators)} in the place of null, then:"
        f" personalens agreement {options.write}"
    )
    return 0
