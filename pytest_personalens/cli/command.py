"""How the commands of this package (``python -m pytest_personalens...``) end."""

from __future__ import annotations

import argparse
import functools
import io
import os
import sys
from typing import TYPE_CHECKING, Final, NoReturn, ParamSpec

from pytest_personalens.core.errors import PersonalensError
from pytest_personalens.core.safe_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: The exit status of a command that cannot be done, as pytest's own for an option that cannot be.
BAD_INPUT: Final = 4
Arguments = ParamSpec("Arguments")


def errors_told(*, status: int) -> Callable[[Callable[Arguments, int]], Callable[Arguments, int]]:
    """A command's `main`, with a fault of the input told in one line and `status` returned for it."""

    def telling(main: Callable[Arguments, int]) -> Callable[Arguments, int]:
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
            return status

        return told

    return telling


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


class Parser(argparse.ArgumentParser):
    """One that tells a bad command in one line and exits with pytest's own status for it."""

    def error(self, message: str) -> NoReturn:
        """Exit with 4."""
        self.exit(BAD_INPUT, one_line(f"error: {message}") + "\n")
