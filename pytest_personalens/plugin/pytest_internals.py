"""What pytest and syrupy have no public way to ask or do, each by a plain name: an upgrade of theirs is met
here.
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
    """Call `run` in a session as pytest makes one, with its handling of errors; returns the exit status."""
    return wrap_session(config, run)


def fixtures_of(item: pytest.Item) -> Mapping[str, Sequence[Any]]:
    """Name -> the fixtures of that name that the item sees, the one that it gets last;
    before it is set up.
    """
    names: Mapping[str, Sequence[Any]] = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]  # noqa: SLF001
    return names


def arguments_of(item: pytest.Item) -> Sequence[str]:
    """The fixtures that the test function itself names."""
    names: Sequence[str] = item._fixtureinfo.argnames  # type: ignore[attr-defined]  # noqa: SLF001
    return names


def files_not_collected(config: pytest.Config) -> int:
    """How many files ``--lf`` did not collect, because nothing failed in them."""
    return getattr(config.pluginmanager.get_plugin("lfplugin"), "_skipped_files", 0)


def without_capture(config: pytest.Config) -> AbstractContextManager[object]:
    """A context in which what is written reaches the terminal, and is not captured as an item's output."""
    capture = config.pluginmanager.getplugin("capturemanager")
    suspended: AbstractContextManager[object] = (
        nullcontext() if capture is None else capture.global_and_fixture_disabled()
    )
    return suspended


def terminal_writer(reporter: Any) -> Any:
    """What a terminal reporter writes through: it knows the width, and can leave a line unfinished."""
    return reporter._tw  # noqa: SLF001


def write_beside(writer: Any, text: str) -> None:
    """Write what moves no cursor, so that the writer does not take it for a part of its current line."""
    writer._file.write(text)  # noqa: SLF001
    writer._file.flush()  # noqa: SLF001


def syrupy_session(config: pytest.Config) -> object:
    """The session that syrupy keeps for itself; None if it is another version's."""
    return getattr(config, "_syrupy", None)


def shorten_crash(report: pytest.TestReport) -> None:
    """Cut what the short summary says of a failure down to its first line, without the exception's name.

    Where CI is set, pytest repeats all of it; where it is not, the name would take the room of what was
    wrong.
    """
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        crash.message = crash.message.partition("\n")[0].removeprefix("Failed: ")
