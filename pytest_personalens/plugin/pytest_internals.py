"""All uses of private names of pytest and syrupy, each in a function.

If an upgrade of theirs changes such a name, only this module must change.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from _pytest.main import wrap_session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pytest


def run_instead_of_tests(
    config: pytest.Config, run: Callable[[pytest.Config, pytest.Session], None]
) -> int | pytest.ExitCode:
    """Call `run` in a session of pytest, with its handling of errors.

    Return the exit status.
    """
    return wrap_session(config, run)


def fixtures_of(item: pytest.Item) -> Mapping[str, Sequence[Any]]:
    """Return the fixtures that the item sees, by name.

    The last one of each name is the one that the item gets. The item need not be set up.
    """
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
    """Return a context in which output reaches the terminal.

    pytest does not capture it as an item's output.
    """
    capture = config.pluginmanager.getplugin("capturemanager")
    suspended: AbstractContextManager[object] = (
        nullcontext() if capture is None else capture.global_and_fixture_disabled()
    )
    return suspended


def terminal_writer(reporter: Any) -> Any:
    """Return the writer of a terminal reporter.

    It knows the width of the terminal, and can leave a line unfinished.
    """
    return reporter._tw  # noqa: SLF001


def write_beside(writer: Any, text: str) -> None:
    """Write text that does not move the cursor.

    The writer does not count it as a part of its current line.
    """
    writer._file.write(text)  # noqa: SLF001
    writer._file.flush()  # noqa: SLF001


def syrupy_session(config: pytest.Config) -> object:
    """Return the session in syrupy's private attribute.

    Return None if this version of syrupy has no such attribute.
    """
    return getattr(config, "_syrupy", None)


def shorten_crash(report: pytest.TestReport) -> None:
    """Cut the text of a failure in the short summary to its first line.

    The exception's name is removed too. In CI, pytest repeats the whole text. Elsewhere, the name would take
    the space of the message.
    """
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        crash.message = crash.message.partition("\n")[0].removeprefix("Failed: ")
