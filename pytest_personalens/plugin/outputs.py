"""What a run leaves behind beside its terminal output: results, reports and baseline, each of which fails alone."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.reports.files import Files, checked, write_files
from pytest_personalens.results.values import write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.core.settings import Settings
    from pytest_personalens.reports.files import WrittenFiles
    from pytest_personalens.results.values import Results


#: Options whose files a run reads, or writes by itself.
_READ: Final = ("baseline", "check_judge", "adopt_judge", "anchors")


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.before")


class Outputs:
    """The files that options ask for. Raises `pytest.UsageError` for one that could not be written in the end, before anything is run."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._settings, self._root = settings, config.rootpath
        named = {name: path_of(config, settings, name) for name in (*Files._fields, *_READ) if getattr(settings, name) is not None}
        paths = {name: path for name, path in named.items() if name in Files._fields}
        read = {flag(name): path for name, path in named.items() if name in _READ}
        try:
            self._files = checked(Files(**paths), flag, read=read)
        except SpecError as error:
            raise pytest.UsageError(str(error)) from None
        if settings.github:
            from pytest_personalens.reports.github import summary_path

            try:
                summary_path()
            except DataError as error:
                raise pytest.UsageError(f"--personalens-github: {error}") from None

    @property
    def tells_who(self) -> bool:
        """True if a file is wanted that tells who asked for what, and not only the scores."""
        return bool(self._files.json or self._files.html or self._files.markdown or self._settings.github)

    def set_aside(self) -> None:
        """Move what an earlier run wrote out of the way: if this one dies, it is not to be taken for its own. Of a shard, it is removed.

        A folder or a device in the way is nobody's report, and stays.
        """
        for path in filter(Path.is_file, self._reports()):
            with suppress(OSError):
                if self._settings.shard is not None:
                    path.unlink()
                else:
                    path.replace(_aside(path))

    def put_back(self) -> None:
        """Where this run came to its end and wrote nothing, what was there before is there again."""
        for path in self._reports():
            if (before := _aside(path)).is_file():
                with suppress(OSError):
                    if path.exists():
                        before.unlink()
                    else:
                        before.replace(path)

    def _reports(self) -> Iterator[Path]:
        # Not the baseline, which an earlier run is to have written. Nor what a CI service keeps for its jobs.
        step = os.path.realpath(os.environ.get("GITHUB_STEP_SUMMARY") or os.devnull)
        for path in (self._files.json, self._files.html, self._files.markdown):
            # A link keeps pointing where it does.
            if path is not None and (real := os.path.realpath(path)) != step:
                yield Path(real)

    def keep(self, results: Results) -> None:
        """Write the results before more is asked of anybody: what follows may fail. What is wrong with the file is told in the end."""
        if self._files.json is not None:
            with suppress(OSError):
                write_json(results, self._files.json)

    def write(self, results: Results, lines: Mapping[str, int]) -> WrittenFiles:
        """Write all that was asked for. `lines` are those of the tests in their files, by node id, from 1."""
        written = write_files(results, self._files)
        self.put_back()
        if self._settings.github:
            self._tell_github(results, lines, written)
        return written

    def _tell_github(self, results: Results, lines: Mapping[str, int], written: WrittenFiles) -> None:
        from pytest_personalens.reports.github import annotation_lines, append_summary, link, root_in_repository, summary_path

        root, page = root_in_repository(self._root), summary_path()
        written.attempt("step summary", page, lambda: append_summary(results, page, link=link(root)))
        try:
            written.annotations.extend(annotation_lines(results, root=root, lines=lines))
        except Exception as error:  # as of every report
            written.problems.append(f"annotations could not be made: {type(error).__name__}: {error}")


def path_of(config: pytest.Config, settings: Settings, name: str) -> Path:
    """Where a path option points: from the working directory on the command line, from the root folder in the configuration."""
    on_command_line = config.getoption(f"personalens_{name}") is not None
    try:
        path = Path(str(getattr(settings, name))).expanduser()
    except RuntimeError as error:  # the home of a user that there is not
        raise pytest.UsageError(f"{flag(name)}: {error}") from None
    return (config.invocation_params.dir if on_command_line else config.rootpath) / path


def flag(name: str) -> str:
    """``--personalens-save-baseline`` for ``save_baseline``."""
    return f"--personalens-{name.replace('_', '-')}"
