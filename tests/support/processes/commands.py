"""Commands of the package, called in this process, and what one says when it cannot be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import pytest

from pytest_personalens.cli.command import main
from tests.support.repository import CODE


def command(name: str) -> Callable[[Sequence[str]], int]:
    return lambda words: main([name, *words])


agreement: Final = command("agreement")
check_dataset: Final = command("check-dataset")
label: Final = command("label")
report: Final = command("report")


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that ends with code 4 and prints nothing, and return its one line of error, without its code."""
    capsys.readouterr()
    try:
        code = main(words)
    except SystemExit as end:  # raised by the parser
        code = int(str(end.code))
    printed = capsys.readouterr()
    assert (code, printed.out) == (4, "")
    (line,) = printed.err.splitlines()
    return CODE.sub("", line)
