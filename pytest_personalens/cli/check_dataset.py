"""How good a dataset is, ours or anybody's."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import Parser, at_least, errors_told
from pytest_personalens.core.destinations import writable
from pytest_personalens.core.jsonfile import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.datasets import Dataset
    from pytest_personalens.datasets.quality import Quality

_STDOUT: Final = Path("-")


@errors_told
def main(arguments: Sequence[str] | None = None, *, offered: Callable[[str], Dataset | None] = lambda spec: None) -> int:
    """Run the command. Returns 0 when nothing was found, 1 when something was, 4 where there is no such dataset."""
    options = _parser().parse_args(arguments)
    from pytest_personalens.datasets.quality import assess, read_corpus  # only once the arguments are good

    if options.json is not None and options.json != _STDOUT:
        writable(options.json, "--json")  # before all is measured; a file of somebody else's is not replaced
    measured = [assess(read_corpus(spec, offered=offered), words=options.words) for spec in options.dataset]
    text = json.dumps([m.model_dump(mode="json") for m in measured], indent=2, ensure_ascii=False) + "\n"
    if options.json == _STDOUT:
        sys.stdout.write(text)
    else:
        if options.json:
            write_atomically(options.json, text)
        _print(measured, details=options.details, every=options.all)
    return int(any(m.findings for m in measured))


def _print(measured: Sequence[Quality], *, details: bool, every: bool) -> None:
    from pytest_personalens.datasets.quality import render

    print(*render.overview(measured), sep="\n")
    for data in measured:
        if details:
            print(f"\n{data.dataset}", *render.details(data), sep="\n")
        print("", *render.findings(data, every=every), sep="\n")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens check-dataset",
        description="Measure one or several datasets, side by side, and find what is inconsistent. Exit code 1 if anything is.",
    )
    parser.add_argument(
        "dataset",
        nargs="+",
        help="'embedded', a folder in the embedded layout, PersonaLens data, or the name of a dataset that conftest.py offers",
    )
    parser.add_argument("--details", action="store_true", help="every domain, preference type and demographic category")
    parser.add_argument("--all", action="store_true", help="every finding instead of a few of each rule")
    parser.add_argument("--words", type=at_least(1000), default=50_000, metavar="N", help="compare the texts over N words (default: 50000)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON; '-': to standard output, without the tables")
    return parser
