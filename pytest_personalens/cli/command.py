"""The entry point of all commands, and their exit codes."""

from __future__ import annotations

import argparse
import errno
import functools
import importlib
import io
import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn, ParamSpec, TypeVar

from pytest_personalens.core.errors import PersonalensError
from pytest_personalens.core.files.destinations import ENDINGS, file_kind
from pytest_personalens.core.options.options import REPLACED
from pytest_personalens.core.text.safe_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.datasets import Dataset

#: The exit status of a command with bad input, the same as pytest's for a bad option.
BAD_INPUT: Final = 4
#: How a command is called in its help, as in the documentation.
_CALLED: Final = "python -m pytest_personalens"
_Arguments = ParamSpec("_Arguments")
_Value = TypeVar("_Value")


#: The module of each command in this folder, and the help text of the command.
COMMANDS: Final = {
    "report": (
        "runs.report",
        "make a summary, Markdown, a page or a table from stored results, of one run or two",
    ),
    "show": ("runs.show", "print the transcript, the scores and the reasons of one item"),
    "history": ("runs.history", "show several runs as a table, a page with lines of TCR and P, and a badge"),
    "comment": ("runs.comment", "write or update one comment on the pull request, with the results of a run"),
    "merge": ("runs.merge", "put the shards of a run together and decide its gates"),
    "agreement": ("judges.agreement", "measure how far a judge agrees with labelled dialogues"),
    "draw-for-annotation": (
        "judges.draw_for_annotation",
        "draw stored dialogues for people to label",
    ),
    "check-dataset": (
        "scenarios.check_dataset",
        "measure datasets and find what is inconsistent",
    ),
    "show-prompts": (
        "scenarios.show_prompts",
        "print what a model is sent when it plays the user, the judge or the assistant",
    ),
    "score": ("runs.score", "score stored outputs of PersonaConvBench"),
    "sample-size": ("scenarios.sample_size", "tell how many scenarios a comparison needs"),
    "train": ("judges.train", "train the embedded judge on labelled dialogues"),
    "robustness": (
        "judges.robustness",
        "test the embedded judge with other words, other meanings and empty replies",
    ),
}


#: Commands that open datasets by name.
_OPEN_DATASETS: Final = ("check-dataset",)


def main(
    arguments: Sequence[str] | None = None, *, offered: Callable[[str], Dataset | None] = lambda spec: None
) -> int:
    """Run the command that the first argument names, and return its exit code.

    The exit code is 0 for success and 4 for bad input. `offered` returns the dataset that a plugin or
    ``conftest.py`` offers under a name.
    """
    parser = Parser(
        prog="personalens",
        description=(
            "Commands for results, judges and datasets. `python -m pytest_personalens COMMAND --help`"
            " explains one of them."
        ),
        example="personalens report results.json --report page.html",
    )
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=argparse.ArgumentParser
    )
    for name, (_, does) in COMMANDS.items():
        commands.add_parser(name, help=does, add_help=False)
    words = list(sys.argv[1:] if arguments is None else arguments)
    chosen = parser.parse_args(words[:1]).command
    more = {"offered": offered} if chosen in _OPEN_DATASETS else {}
    result: int = importlib.import_module(f"pytest_personalens.cli.{COMMANDS[chosen][0]}").main(
        words[1:], **more
    )
    return result


def errors_told(main: Callable[_Arguments, int]) -> Callable[_Arguments, int]:
    """Return a `main` that reports an input error in one line and returns 4."""

    @functools.wraps(main)
    def told(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> int:
        try:
            return main(*args, **kwargs)
        except PersonalensError as error:
            print(one_line(f"error: {error}"), file=sys.stderr)
        except OSError as error:  # from writing a result; a failure to read raises `DataError`
            if _is_closed_pipe(error):
                raise
            print(one_line(f"error: {error.filename}: cannot be written: {error.strerror}"), file=sys.stderr)
        return BAD_INPUT

    return told


def tell(problems: Sequence[str]) -> int:
    """Print each problem on one line, and return 4 if there is any, else 0."""
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return BAD_INPUT if problems else 0


def run(main: Callable[[], int]) -> NoReturn:
    """Exit with the result of `main`.

    Exit with 1 if the reader of the output has closed the pipe.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # some terminals cannot show every path or name
    try:
        sys.exit(main())
    except OSError as error:
        if not _is_closed_pipe(error):
            raise
        # The reader closed the pipe early ("... | head"). Without this line Python would print another error
        # when it closes the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _is_closed_pipe(error: OSError) -> bool:
    """True if the reader of the output is gone. Windows calls that an invalid argument, without a file."""
    return isinstance(error, BrokenPipeError) or (error.errno == errno.EINVAL and error.filename is None)


def value_of(read: Callable[[str], _Value]) -> Callable[[str], _Value]:
    """Return `read` as the type of a command's argument.

    `read` raises ValueError, which says what it expected.
    """

    def told(text: str) -> _Value:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{error}, not {text!r}") from None

    return told


def report_of(kinds: Sequence[str], *words: str) -> Callable[[str], str]:
    """Return a function that reads the value of --report.

    The value is the path of a file of one of the `kinds`, known by its ending, or one of the `words`.
    """
    endings = ", ".join(ending for ending, kind in ENDINGS.items() if kind in kinds)
    expected = " or ".join((f"a path that ends in {endings}", *map(repr, words)))

    def read(text: str) -> str:
        if text not in words and file_kind(text) not in kinds:
            raise argparse.ArgumentTypeError(f"expected {expected}, not {text!r}")
        return text

    return read


def at_least(least: int) -> Callable[[str], int]:
    """Return a function that reads a whole number of at least `least` from an argument."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"expected a whole number of at least {least}, found {text!r}")
        return number

    return read


class _Refused(argparse.Action):
    """The action for an option that no longer exists."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        parser.error(str(self.const))
        raise AssertionError


class Parser(argparse.ArgumentParser):
    """A parser that reports a bad command in one line.

    It exits with the status that pytest has for a bad option. `example` is the last line of its help. `usage`
    is the first line, where all options would take several.
    """

    def __init__(self, *, prog: str, description: str | None, example: str, usage: str | None = None) -> None:
        super().__init__(
            prog=prog.replace("personalens", _CALLED, 1),
            usage=usage,
            description=description,
            epilog=f"example: {example.replace('personalens', _CALLED, 1)}",
            allow_abbrev=False,
        )

    def refuse(self, *names: str) -> None:
        """Declare options that no longer exist.

        The error message tells the user which option replaces the old one.
        """
        for name in names:
            new, value = REPLACED[name]
            now = f"--{name}: this option is gone; write --{new} {value}"
            self.add_argument(f"--{name}", nargs="?", action=_Refused, const=now, help=argparse.SUPPRESS)

    def error(self, message: str) -> NoReturn:
        """Print the error in one line and exit with 4."""
        self.exit(BAD_INPUT, one_line(f"error: {message}") + "\n")
