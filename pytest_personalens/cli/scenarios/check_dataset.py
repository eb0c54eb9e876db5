"""The command ``check-dataset``: measures datasets of any suite, ours or any other."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import command, report_files
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.suite import other_suites
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.core.text.safe_text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.suite import DataCheck
    from pytest_personalens.datasets import Dataset
    from pytest_personalens.datasets.quality import Quality

_STDOUT: Final = "-"


@command("check-dataset")
def main(options: argparse.Namespace, *, offered: Callable[[str], Dataset | None] = lambda spec: None) -> int:
    """Return 0, 1 if there are findings and no table was asked for, or 4 if a dataset does not exist."""
    from pytest_personalens.datasets.quality import assess, read_corpus  # after the check of the arguments
    from pytest_personalens.datasets.quality.measures import data_check
    from pytest_personalens.reports.tables.assistants import data_table

    files = report_files([text for text in options.report if text != _STDOUT], {})
    qualities: list[Quality] = []  # of the first suite
    checks: list[DataCheck] = []
    for spec in options.dataset:
        check = _check_of_other_suite(spec, options.words)
        if check is None:
            qualities.append(assess(read_corpus(spec, offered=offered), words=options.words))
            check = data_check(qualities[-1])
        elif options.table:
            raise DataError(spec, "has none of these tables; leave out --table", code="PL108")
        checks.append(check)
    text = json.dumps([check.report for check in checks], indent=2, ensure_ascii=False) + "\n"
    for path in files:
        write_atomically(path, text)
    if _STDOUT in options.report:
        sys.stdout.write(text)
    elif options.table:
        print("\n".join(data_table(options.table, quality).text() for quality in qualities), end="")
        return 0
    else:
        _print(checks, details=options.details, every=options.all)
    return int(any(check.findings for check in checks))


def _check_of_other_suite(spec: str, words: int) -> DataCheck | None:
    """Return the check of the suite whose data it is, by its content; None for the first suite's."""
    checks = (suite.check_data(spec, words) for suite in other_suites(FIRST_SUITE))
    return next((check for check in checks if check is not None), None)


def _print(checks: Sequence[DataCheck], *, details: bool, every: bool) -> None:
    from pytest_personalens.datasets.quality.measures import finding_lines, overview

    same: dict[tuple[str, ...], list[DataCheck]] = {}
    for check in checks:
        same.setdefault(tuple(label for label, _, _ in check.rows), []).append(check)
    print("\n\n".join("\n".join(overview(together)) for together in same.values()))
    for check in checks:
        for lines in (check.summary, check.details if details else (), check.every if every else ()):
            if lines:
                print("", *map(one_line, (check.dataset, *lines)), sep="\n")
        print("", *finding_lines(check, every=every), sep="\n")
