"""The door of every command, and how commands end."""

from __future__ import annotations

import argparse
import functools
import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn, ParamSpec

from pytest_personalens.core.errors import PersonalensError
from pytest_personalens.core.safe_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.datasets import Dataset

#: The exit status of a command that cannot be done, as pytest's own for an option that cannot be.
BAD_INPUT: Final = 4
Arguments = ParamSpec("Arguments")


#: Command -> its module in this folder, and what it does.
COMMANDS: Final = {
    "report": ("report", "make a summary, Markdown, a page or a table from stored results, of one run or two"),
    "merge": ("merge", "put the shards of a run together and decide its gates"),
    "agreement": ("agreement", "measure how far a judge agrees with labelled dialogues"),
    "check-dataset": ("check_dataset", "measure datasets of scenarios and find what is inconsistent"),
    "sample-size": ("sample_size", "tell how many scenarios a comparison needs"),
    "train": ("train", "train the embedded judge on labelled dialogues"),
    "robustness": ("robustness", "test the embedded judge with other words, other meanings and empty replies"),
}


#: Commands that open datasets by name.
_OPEN_DATASETS: Final = ("check-dataset",)


def main(arguments: Sequence[str] | None = None, *, offered: Callable[[str], Dataset | None] = lambda spec: None) -> int:
    """Run the command that the first argument names. Returns its exit code: 0 for success, 4 for bad input.

    `offered` gives the dataset that a plugin or ``conftest.py`` offers under a name.
    """
    parser = Parser(
        prog="personalens",
        description="Commands for results, judges and datasets. `personalens COMMAND --help` explains one of them.",
        epilog="example: personalens report results.json --html report.html",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (_, does) in COMMANDS.items():
        commands.add_parser(name, help=does, add_help=False)
    given = list(sys.argv[1:] if arguments is None else arguments)
    chosen = parser.parse_args(given[:1]).command
    more = {"offered": offered} if chosen in _OPEN_DATASETS else {}
    result: int = importlib.import_module(f"pytest_personalens.cli.{COMMANDS[chosen][0]}").main(given[1:], **more)
    return result


def errors_told(main: Callable[Arguments, int]) -> Callable[Arguments, int]:
    """A command's `main` that tells a fault of the input in one line and returns 4 for it."""

    @functools.wraps(main)
    def told(*args: Arguments.args, **kwargs: Arguments.kwargs) -> int:
        try:
            return main(*args, **kwargs)
        except BrokenPipeError:
            raise
        except PersonalensError as error:
            print(one_line(f"error: {error}"), file=sys.stderr)
        except OSError as error:  # of a result; what cannot be read is a `DataError`
            print(one_line(f"error: {error.filename}: cannot be written: {error.strerror}"), file=sys.stderr)
        return BAD_INPUT

    return told


def tell(problems: Sequence[str]) -> int:
    """Say what went wrong beside what was done, a line each. Returns 4 if anything did, else 0."""
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return BAD_INPUT if problems else 0


def run(main: Callable[[], int]) -> NoReturn:
    """Exit with what `main` returns, or with 1 when the reader of its output has gone."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a path or a name that the terminal cannot show
    try:
        sys.exit(main())
    except BrokenPipeError:
        # Somebody read as much as they wanted ("... | head"); Python would complain once more when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def at_least(least: int) -> Callable[[str], int]:
    """What reads a whole number of at least `least`, for an argument of a command."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"expected a whole number of at least {least}, found {text!r}")
        return number

    return read


def dollars(text: str) -> float:
    """Reads a sum above 0, for an argument of a command."""
    try:
        sum_ = float(text)
    except ValueError:
        sum_ = 0.0
    if not 0 < sum_ < float("inf"):
        raise argparse.ArgumentTypeError(f"expected US dollars above 0, found {text!r}")
    return sum_


class Parser(argparse.ArgumentParser):
    """One that tells a bad command in one line and exits with pytest's own status for it."""

    def error(self, message: str) -> NoReturn:
        """Exit with 4."""
        self.exit(BAD_INPUT, one_line(f"error: {message}") + "\n")
