"""All uses of private names of pytest: if an upgrade changes one, only this module must change."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _pytest._code.code import ReprEntry, ReprExceptionInfo, ReprFileLocation, ReprTraceback
from _pytest._io import TerminalWriter as TerminalWriter
from _pytest.main import wrap_session
from _pytest.outcomes import Failed as Failed

from pytest_personalens.core.names import PARAM

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pytest


def run_instead_of_tests(
    config: pytest.Config, run: Callable[[pytest.Config, pytest.Session], None]
) -> int | pytest.ExitCode:
    """Call `run` in a session of pytest, with its handling of errors, and return the exit status."""
    return wrap_session(config, run)


def written_value(config: pytest.Config, key: str) -> object:
    """Return the value of a key as it stands in the configuration file, of whatever type."""
    entry = _written(config)[key]
    return getattr(entry, "value", entry)


def written_keys(config: pytest.Config) -> list[str]:
    """Return every key of the configuration file and of ``-o``, known or not."""
    return list(dict.fromkeys((*_written(config), *overridden_keys(config))))


def overridden_keys(config: pytest.Config) -> list[str]:
    """Return every key of ``-o``, known or not."""
    words = config.getoption("override_ini", None) or ()
    return [str(word).partition("=")[0].strip() for word in words]


def is_on_command_line(config: pytest.Config, key: str) -> bool:
    """True if the option that pytest keeps under `key` is given, or the key with ``-o``."""
    return config.getoption(key, None) not in (None, False) or key in overridden_keys(config)


def _written(config: pytest.Config) -> Mapping[str, Any]:
    written: Mapping[str, Any] | None = getattr(config, "_inicfg", None)
    return config.inicfg if written is None else written


def fixtures_of(item: pytest.Item) -> Mapping[str, Sequence[Any]]:
    """Return the fixtures that an item sees, by name; it gets the last of each, and need not be set up."""
    names: Mapping[str, Sequence[Any]] = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]  # noqa: SLF001
    return names


def arguments_of(item: pytest.Item) -> Sequence[str]:
    """Return the fixtures that the test function itself names."""
    names: Sequence[str] = item._fixtureinfo.argnames  # type: ignore[attr-defined]  # noqa: SLF001
    return names


def files_not_collected(config: pytest.Config) -> int:
    """Return how many files ``--lf`` did not collect because they had no failure."""
    return getattr(config.pluginmanager.get_plugin("lfplugin"), "_skipped_files", 0)


def without_capture(config: pytest.Config) -> AbstractContextManager[object]:
    """Return a context in which pytest does not capture output, so that it reaches the terminal."""
    capture = config.pluginmanager.getplugin("capturemanager")
    suspended: AbstractContextManager[object] = (
        nullcontext() if capture is None else capture.global_and_fixture_disabled()
    )
    return suspended


def terminal_writer(reporter: Any) -> Any:
    """Return the writer of a terminal reporter, which can leave a line unfinished."""
    return reporter._tw  # noqa: SLF001


def terminal_width(config: pytest.Config) -> int | None:
    """The columns of the terminal that pytest reports to; None where it reports to none."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    return None if reporter is None else int(terminal_writer(reporter).fullwidth)


def failed_at(
    report: pytest.TestReport,
    lines: Sequence[str],
    headline: str,
    *,
    brief: bool,
    place: bool,
    raised_at: tuple[str, int] | None = None,
) -> None:
    """Make `lines` what the report of a failure prints, and `headline` its line in the short summary.

    The place is `raised_at`, or the line of the test in pytest's own report. Where it is to be shown, it
    stands first in a `brief` report, as pytest has it, and else last.
    """
    crash = getattr(report.longrepr, "reprcrash", None)
    path, number = (crash.path, crash.lineno) if crash is not None else (report.location[0], 0)
    path, number = raised_at or (path, number)
    # The built-in suite is no file of the repository's.
    ours = Path(__file__).parent in Path(path).parents
    shown = ReprFileLocation(_from_here(path), number, "Failed") if place and not ours else None
    style: Any = "short" if brief else "value"
    entry = ReprEntry([*lines], None, None, shown, style)
    report.longrepr = ReprExceptionInfo(
        ReprTraceback([entry], None, style), ReprFileLocation(path, number, headline)
    )


def _from_here(path: str) -> str:
    try:
        return os.path.relpath(path)
    except (OSError, ValueError):  # the working directory is gone, or on another drive
        return path


class _Coloured(ReprEntry):
    """Lines in the colours of their marks; `others` counts items with the same fault, not printed."""

    others = 0

    def _write_entry_lines(self, tw: TerminalWriter) -> None:
        from pytest_personalens.reports.terminal.transcript import ERROR, style_of

        wrong = sum(line.startswith(ERROR) for line in self.lines)
        for number, line in enumerate(self.lines, 1):
            tw.line(line, **style_of(line))
            if number == wrong and self.others:
                tw.line(f"    (and {self.others} more item{'s' * (self.others > 1)})")


class PrintedFailures:
    """The failures of items that were printed: each fault of the assistant once, and `most` in full."""

    def __init__(self, most: int | None) -> None:
        self._most, self._full = most, 0
        self._by_fault: dict[str, _Coloured] = {}
        self._repeated: list[Any] = []

    def colour(self, report: pytest.TestReport) -> None:
        """Colour the report of `failed_at`, where it is printed: only pytest's own entries may travel.

        What was printed of another item without scores is not printed again. Of failures after the first
        `most`, only what is wrong is printed.
        """
        from pytest_personalens.reports.terminal.transcript import ERROR, NOT_SCORED

        traceback: Any = getattr(report.longrepr, "reprtraceback", None)
        entries = traceback.reprentries if isinstance(traceback, ReprTraceback) else ()
        if len(entries) != 1 or not entries[0].lines or not entries[0].lines[0].startswith(ERROR):
            return
        (one,) = entries
        lines, place = one.lines, getattr(one, "reprfileloc", None)
        wrong = [line for line in lines if line.startswith(ERROR)]
        fault = "\n".join(wrong)
        first = self._by_fault.get(fault) if fault.startswith(NOT_SCORED) else None
        if first is not None:
            first.others += 1
            self._repeated.append(report.longrepr)
            lines, place = ["    (as above)"], None
            if not report.sections:  # what it printed itself is shown
                report._pdbshown = True  # type: ignore[attr-defined]  # noqa: SLF001  # as pytest marks what was shown
        elif self._most is not None and self._full >= self._most:
            note = f"    ({self._most} dialogues are printed in full; -v prints all)"
            lines, place = [*wrong, *([note] if self._full == self._most else [])], None
        self._full += first is None
        coloured = _Coloured([*lines], None, None, place, one.style)
        self._by_fault.setdefault(fault, coloured)
        traceback.reprentries = [coloured]

    def shorten_repeated(self) -> None:
        """Say of each fault but the first of its kind who is at fault, before pytest's short summary."""
        for failure in self._repeated:
            failure.reprcrash.message = f"{failure.reprcrash.message.partition(':')[0]} (as above)"


def shorten_crash(report: pytest.TestReport) -> None:
    """Cut the text of a failure in the short summary to its first line, without the exception's name.

    In CI, pytest repeats the whole text. Elsewhere, the name would take the space of the message.
    """
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        crash.message = crash.message.partition("\n")[0].removeprefix("Failed: ")


def asks_for_ours(item: pytest.Item) -> bool:
    """True for a test that asks for a fixture of this plugin, also one that takes no parameter (unittest)."""
    return PARAM in getattr(item, "fixturenames", ())
