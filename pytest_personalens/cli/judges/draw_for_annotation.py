"""The command that draws dialogues of stored runs for people to label.

Its form is ``python -m pytest_personalens draw-for-annotation RESULTS.json...``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import Parser, at_least, errors_told
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.destinations import writable

if TYPE_CHECKING:
    from collections.abc import Sequence


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Return 0, or 4 if something cannot be read, drawn or written.
    """
    options = _parser().parse_args(arguments)
    from pytest_personalens.judge_quality.agreement import annotation
    from pytest_personalens.results.values.results import read_results

    annotators = list(dict.fromkeys(name.strip() for name in options.annotators.split(",") if name.strip()))
    if not annotators:
        raise SpecError("--annotators: expected names separated by commas, such as ann,bo,cy")
    if writable(options.write, "--write").exists():
        raise SpecError(
            f"--write: {options.write} is there already and may hold labels; give another path, or remove it"
        )
    drawn = annotation.draw_dialogues(
        [read_results(path) for path in options.results], options.count, seed=options.seed
    )
    write_atomically(options.write, annotation.label_lines(annotation.label_entries(drawn, annotators)))
    kinds = [sum(c.scenario.kind == kind for c in drawn) for kind in ("single", "multi")]
    print(
        f"{len(drawn)} dialogues are in {options.write}: {kinds[0]} single-domain and {kinds[1]} multi-domain"
        f" ones. Put the labels of {', '.join(annotators)} in the place of null, then: python -m"
        f" pytest_personalens agreement {options.write}"
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens draw-for-annotation",
        description=(
            "Draw dialogues of stored runs for people to label, stratified by run, kind of task, TC and P as"
            " the judge saw them. The file says nothing of what the judge thought."
        ),
        example="personalens draw-for-annotation results.json --write labels.jsonl",
    )
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULTS.json", help="JSON results of runs")
    parser.add_argument(
        "--write",
        type=Path,
        required=True,
        metavar="FILE",
        help="labelled dialogues to be, a JSON object a line",
    )
    parser.add_argument(
        "--count", type=at_least(1), default=100, metavar="N", help="how many (default: 100, as in the paper)"
    )
    parser.add_argument(
        "--annotators",
        default="ann,bo,cy",
        metavar="LIST",
        help="names of those who label (default: ann,bo,cy)",
    )
    parser.add_argument("--seed", default="personalens", metavar="TEXT", help="another text draws others")
    return parser
