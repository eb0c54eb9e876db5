"""The command that measures the quality of datasets of any suite, ours or any other."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import Parser, at_least, errors_told, report_of
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.destinations import refuse_shared_files, writable
from pytest_personalens.core.suite.suite import other_suites
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.core.text.safe_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_personalens.core.suite.data_check import DataCheck
    from pytest_personalens.datasets import Dataset
    from pytest_personalens.datasets.quality import Quality

_STDOUT: Final = "-"


@errors_told
def main(
    arguments: Sequence[str] | None = None, *, offered: Callable[[str], Dataset | None] = lambda spec: None
) -> int:
    """Run the command.

    Return 0 if there are no findings or a table was asked for, 1 if there are findings, and 4 if a dataset
    does not exist.
    """
    options = _parser().parse_args(arguments)
    from pytest_personalens.datasets.quality import assess, read_corpus  # after the check of the arguments
    from pytest_personalens.datasets.quality.render import data_check
    from pytest_personalens.reports.tables.data_tables import data_table

    files = [Path(text) for text in options.report if text != _STDOUT]
    refuse_shared_files([("--report", path) for path in files], {})
    for path in files:
        writable(path, "--report")  # check early, before the datasets are measured; keep foreign files
    oracles = [line for spec in options.dataset for line in _oracle(spec, options.oracle)]
    measured: list[Quality] = []  # of the first suite
    checks: list[DataCheck] = []
    for spec in options.dataset:
        check = _of_other_suite(spec, options.words)
        if check is None:
            measured.append(assess(read_corpus(spec, offered=offered), words=options.words))
            check = data_check(measured[-1])
        elif options.table:
            raise DataError(spec, "has none of these tables; leave out --table")
        checks.append(check)
    text = json.dumps([check.report for check in checks], indent=2, ensure_ascii=False) + "\n"
    for path in files:
        write_atomically(path, text)
    if _STDOUT in options.report:
        sys.stdout.write(text)
    elif options.table:
        print("\n".join(data_table(options.table, m).text() for m in measured), end="")
        return 0
    else:
        _print(checks, details=options.details, every=options.all)
        print(*map(one_line, oracles), sep="\n", end="\n" * bool(oracles))
    return int(any(check.findings for check in checks))


def _oracle(spec: str, count: int) -> Iterator[str]:
    """Yield the table of an oracle and its mutants, played over `count` scenarios of the dataset."""
    if not count:
        return
    from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
    from pytest_personalens.datasets import draw, open_dataset
    from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
    from pytest_personalens.judge_quality.oracle import play, read_wordings, table

    dataset = open_dataset(spec)
    if not isinstance(dataset, EmbeddedDataset):
        raise DataError(spec, "has no facts, so no oracle can play it; leave out --oracle")
    wordings = read_wordings(dataset.root / "wordings")
    scenarios = [dataset.load(ref) for ref in draw(dataset, count, seed="oracle").refs]
    possible = {
        (name, kind): values.values or values.others
        for name in dataset.domains()
        for kind, values in dataset.domain(name).preferences.items()
    }
    for acts in (False, True):
        tallies = play(
            scenarios, wordings, EmbeddedUserAgent(), EmbeddedJudge(), possible=possible, held=True, acts=acts
        )
        yield ""
        yield (
            f"{dataset.name} {dataset.version}: an oracle and its mutants over {len(scenarios)} scenarios, "
            f"{'with tool calls' if acts else 'in words'}, in wordings that are kept for testing"
        )
        yield from table(tallies)


def _of_other_suite(spec: str, words: int) -> DataCheck | None:
    """Return the check of the suite whose data it is, by its content; None for the first suite's."""
    checks = (suite.check_data(spec, words) for suite in other_suites(FIRST_SUITE))
    return next((check for check in checks if check is not None), None)


def _print(checks: Sequence[DataCheck], *, details: bool, every: bool) -> None:
    from pytest_personalens.datasets.quality import render

    same: dict[tuple[str, ...], list[DataCheck]] = {}
    for check in checks:
        same.setdefault(tuple(label for label, _, _ in check.rows), []).append(check)
    print("\n\n".join("\n".join(render.overview(together)) for together in same.values()))
    for check in checks:
        for lines in (check.summary, check.details if details else (), check.every if every else ()):
            if lines:
                print("", *map(one_line, (check.dataset, *lines)), sep="\n")
        print("", *render.finding_lines(check, every=every), sep="\n")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens check-dataset",
        description=(
            "Measure one or several datasets, side by side, and find what is inconsistent. Exit code 1 if"
            " anything is."
        ),
        usage="%(prog)s [options] dataset [dataset ...]",
        example="personalens check-dataset embedded my-data/ --details",
    )
    parser.add_argument(
        "dataset",
        nargs="+",
        help=(
            "'embedded', a folder in the embedded layout, PersonaLens data, or the name of a dataset that"
            " conftest.py offers; 'personaconv', or a file or folder of posts"
        ),
    )
    parser.add_argument(
        "--details",
        action="store_true",
        help="every domain, preference type and demographic category; of posts, every domain",
    )
    parser.add_argument(
        "--oracle",
        type=at_least(1),
        default=0,
        metavar="N",
        help="play N scenarios with an assistant that is right and with others that each have one fault",
    )
    parser.add_argument(
        "--table",
        type=int,
        choices=(1, 6, 7, 8, 9),
        help=(
            "this table of the paper, and no findings: domains (1), demographics (6 and 7 together),"
            " preference types (8: the first ten domains, 9: the others)"
        ),
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="every finding instead of a few of each rule; of posts, each one that is left out",
    )
    parser.add_argument(
        "--words",
        type=at_least(1000),
        default=50_000,
        metavar="N",
        help="compare the texts over N words (default: 50000)",
    )
    parser.add_argument(
        "--report",
        type=report_of(("json",), _STDOUT),
        action="append",
        default=[],
        metavar="PATH|-",
        help="write everything as JSON (PATH.json; -: to standard output, without the tables)",
    )
    return parser
