"""The entry point of all commands: their table, the parser, one runner with its errors and exit codes."""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from pytest_personalens.core.errors import PersonalensError, with_code
from pytest_personalens.core.files.destinations import ENDINGS, file_kind, refuse_shared_files, writable
from pytest_personalens.core.options.option_table import budget, letters, report
from pytest_personalens.core.safe_text import one_line

if TYPE_CHECKING:
    from pytest_personalens.datasets import Dataset

#: The exit status of a command with bad input, the same as pytest's for a bad option.
BAD_INPUT: Final = 4
#: The codes of a command line that cannot be read, and of a file that cannot be written.
UNREADABLE, UNWRITABLE = "PL102", "PL105"
_PROGRAM: Final = "personalens"
_Value = TypeVar("_Value")


class Parser(argparse.ArgumentParser):
    """A parser that reports a bad command in one line, and exits with the status that pytest has for it.

    `example` is the last line of its help. `usage` is the first line, where all options would take several.
    """

    def __init__(self, name: str, *, description: str, example: str, usage: str | None = None) -> None:
        super().__init__(
            prog=f"{_PROGRAM} {name}".rstrip(),
            usage=usage,
            description=description,
            epilog=f"example: {_PROGRAM} {example}",
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Print the error in one line and exit with 4."""
        self.exit(BAD_INPUT, with_code(one_line(f"error: {message}"), UNREADABLE) + "\n")


@cache
def commands() -> dict[str, dict[str, Any]]:
    """Return what ``commands.toml`` says of each command."""
    return tomllib.loads(files(__package__).joinpath("commands.toml").read_text(encoding="utf-8"))


def main(
    words: Sequence[str] | None = None, *, offered: Callable[[str], Dataset | None] = lambda spec: None
) -> int:
    """Run the command that the first word names, and return its exit code: 0, 4 for bad input, or its own.

    `offered` returns the dataset that a plugin or ``conftest.py`` offers under a name. A command is a
    function of its options in the module that the table names; an error of ours is one line.
    """
    parser = Parser(
        "",
        description=(
            "Commands for results, judges and datasets. `personalens COMMAND --help` explains one of them."
        ),
        example="report results.json --report page.html",
    )
    listed = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=argparse.ArgumentParser
    )
    for name, entry in commands().items():
        listed.add_parser(name, help=entry["help"], add_help=False)
    words = list(sys.argv[1:] if words is None else words)
    name, rest = parser.parse_args(words[:1]).command, words[1:]
    entry = commands()[name]
    # What a command passes on to pytest is read there.
    passes_on = entry.get("passes_on") and not {"-h", "--help"} & {*rest}
    options = argparse.Namespace(words=rest) if passes_on else _parser(name).parse_args(rest)
    options.offered = offered
    module = importlib.import_module(f"pytest_personalens.cli.{entry['module']}")
    try:
        status: int | None = getattr(module, name.replace("-", "_"))(options)
    except PersonalensError as error:
        return print_errors([one_line(str(error))], error.code)
    except OSError as error:  # from writing a result; a failure to read raises `DataError`
        if _is_closed_pipe(error):
            raise
        problem = one_line(f"{error.filename}: cannot be written: {error.strerror}")
        return print_errors([problem], UNWRITABLE)
    return status or 0


def _parser(name: str) -> Parser:
    entry = commands()[name]
    parser = Parser(
        name, description=entry["description"], example=entry["example"], usage=entry.get("usage")
    )
    types = {
        "int": int,
        "path": Path,
        "cap": argument_type(budget, "found"),
        "letters": argument_type(letters),
        "report": argument_type(report),
        "share": argument_type(_share, "found"),
    }
    for argument, keywords in entry["arguments"].items():
        keywords = dict(keywords)
        names = [keywords.pop("short"), argument] if "short" in keywords else [argument]
        if "type" in keywords:
            keywords["type"] = types[keywords["type"]]
        if "least" in keywords:
            keywords["type"] = at_least(keywords.pop("least"))
        if "kinds" in keywords:
            kinds, of = keywords.pop("kinds"), keywords.pop("words", [])
            keywords = {"metavar": "PATH", "action": "append", "default": [], **keywords}
            keywords["type"] = _report_type(kinds, of)
        parser.add_argument(*names, **keywords)
    return parser


def _report_type(kinds: Sequence[str], words: Sequence[str]) -> Callable[[str], str]:
    """Return the type of --report: the path of a file of one of the `kinds`, or one of the `words`."""
    endings = ", ".join(ending for ending, kind in ENDINGS.items() if kind in kinds)
    expected = " or ".join((f"a path that ends in {endings}", *map(repr, words)))

    def read(text: str) -> str:
        if text not in words and file_kind(text) not in kinds:
            raise ValueError(f"expected {expected}")
        return text

    return argument_type(read)


def argument_type(read: Callable[[str], _Value], word: str = "not") -> Callable[[str], _Value]:
    """Return `read`, whose ValueError says what it expected, as the type of an argument."""

    def convert(text: str) -> _Value:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{error}, {word} {text!r}") from None

    return convert


def at_least(least: int) -> Callable[[str], int]:
    """Return the type of an argument that is a whole number of at least `least`."""

    def read(text: str) -> int:
        number = least - 1
        with suppress(ValueError):
            number = int(text)
        if number < least:
            raise ValueError(f"expected a whole number of at least {least}")
        return number

    return argument_type(read, "found")


def _share(text: str) -> float:
    number = 0.0
    with suppress(ValueError):
        number = float(text)
    if not 0 < number < 1:
        raise ValueError("expected a number between 0 and 1")
    return number


def print_errors(problems: Sequence[str], code: str) -> int:
    """Print each problem on one line with its code, and return 4 if there is any, else 0."""
    for problem in problems:
        print(f"error: {with_code(problem, code)}", file=sys.stderr)
    return BAD_INPUT if problems else 0


def run(main: Callable[[], int]) -> NoReturn:
    """Exit with the result of `main`, or with 1 if the reader of the output has closed the pipe."""
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


def report_files(reports: Sequence[str], read: Mapping[str, Path]) -> list[Path]:
    """Return the paths of --report after checking that they may be written, and make their folders.

    Raise `SpecError` for a file that would replace one of the files in `read`, or a file of somebody else.
    """
    paths = [("--report", Path(text)) for text in reports]
    refuse_shared_files(paths, read)
    return [writable(path, flag, kind=str(file_kind(path))) for flag, path in paths]
