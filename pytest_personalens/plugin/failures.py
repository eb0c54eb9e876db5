"""Failures of items and gates as pytest prints its own: by ``--tb``, in colour, with the place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

import pytest

from pytest_personalens.core.errors import with_code
from pytest_personalens.plugin.pytest_internals import Failed, failed_at, terminal_width
from pytest_personalens.plugin.running.keys import STOPPED, is_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_personalens.plugin.pytest_internals import TerminalWriter

#: By this name a worker is told how wide the terminal is.
WIDTH: Final = "personalens_width"
_DEFAULT_WIDTH: Final = 80
#: Where the width is not known: of a failure that is no report.
_PLAIN_WIDTH: Final = 100


class ItemFailure(NamedTuple):
    """What is wrong with an item in one line, and the lines that it prints for a width, briefly or not.

    `place` is the file and the line of an assistant that raised an error.
    """

    headline: str
    lines: Callable[[int, bool], list[str]]
    place: tuple[str, int] | None = None


class ItemFailed(Failed):
    """Raised for an item that fails by its scores, or for want of them."""

    def __init__(self, failure: ItemFailure, *, pytrace: bool = False) -> None:
        from pytest_personalens.reports.terminal.transcript import ERROR

        # pytest marks the lines of an error itself, and the headline says what is wrong.
        lines = (line for line in failure.lines(_PLAIN_WIDTH, False) if not line.startswith(ERROR))
        super().__init__("\n".join((failure.headline, *lines)), pytrace=pytrace)
        self.failure = failure


def stop_run(item: pytest.Item, problem: str, code: str) -> NoReturn:
    """Fail the item and stop the run, whose other items cannot be trusted either."""
    text = with_code(problem, code)
    if is_worker(item.config):
        item.user_properties.append((STOPPED, text))  # the controller stops
    else:
        item.session.shouldfail = text
    pytest.fail(text, pytrace=False)


def traceback_style(config: pytest.Config) -> str:
    """Return the value of ``--tb``, an option of the terminal, or its default under ``-p no:terminal``."""
    return str(getattr(config.option, "tbstyle", "auto"))


def columns(config: pytest.Config) -> int:
    """The width of the terminal that is reported to, also in a worker; not to be asked in captured code."""
    width = getattr(config, "workerinput", {}).get(WIDTH)
    return int(width) if width else terminal_width(config) or _DEFAULT_WIDTH


def show_failure(config: pytest.Config, report: pytest.TestReport, failed: ItemFailed) -> None:
    """Make the report of a failed item what ``--tb`` asks for."""
    failure, style = failed.failure, traceback_style(config)
    lines = [] if style == "line" else failure.lines(columns(config), style == "short")
    failed_at(
        report, lines, failure.headline, brief=style == "short", place=bool(lines), raised_at=failure.place
    )


class GateFailure:
    """Why a gate failed, as pytest asks for it: lines for the terminal, and one for the short summary."""

    def __init__(self, gate_id: str, headline: str, lines: Callable[[int], list[str]]) -> None:
        self.reprcrash = _Crash(gate_id, 0, headline)
        self._lines = lines

    def toterminal(self, writer: TerminalWriter) -> None:
        """Write the lines, each in the colour of its mark."""
        from pytest_personalens.reports.terminal.transcript import style_of

        for line in self._lines(writer.fullwidth):
            writer.line(line, **style_of(line))

    def __str__(self) -> str:
        return "\n".join(self._lines(_PLAIN_WIDTH))


class RedGates(NamedTuple):
    """What the gates that failed print, by their names, and what to do next: a command, and the page."""

    failures: Mapping[str, GateFailure]
    next_steps: tuple[str, ...] = ()


class _Crash(NamedTuple):
    """Has what other plugins read of pytest's own: the id of a gate stands for a path."""

    path: str
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"
