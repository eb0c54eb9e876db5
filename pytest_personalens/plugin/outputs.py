"""What a run leaves behind beside its terminal output: results, reports and baseline, each of which fails
alone.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.options import BY_KEY, OPTIONS
from pytest_personalens.reports.files import Files, checked, write_files
from pytest_personalens.results.values import write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.core.options import Option
    from pytest_personalens.core.settings import Settings
    from pytest_personalens.reports.files import WrittenFiles
    from pytest_personalens.results.values import Results


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.before")


class Outputs:
    """The files that options ask for.

    Raises `pytest.UsageError` for one that could not be written in the end, before anything is run.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._settings, self._root = settings, config.rootpath
        # What the run reads, or writes by itself.
        read = {
            o.called: path_of(config, settings, o)
            for o in OPTIONS
            if o.path and o.shapes in ("gate", "judge check") and getattr(settings, o.key) is not None
        }
        baseline = read.pop(BY_KEY["save_baseline"].called, None)
        try:
            self._files = checked(
                Files.of(settings.report, save_baseline=baseline), "--personalens-", read=read
            )
        except SpecError as error:
            raise pytest.UsageError(str(error)) from None

    @property
    def tells_who(self) -> bool:
        """True if a file is wanted that tells who asked for what, and not only the scores."""
        return bool(self._settings.report)

    @property
    def is_kept(self) -> bool:
        """True if a file is wanted that is read after the run, and so tells what was tested."""
        return bool(self._settings.report) or self._settings.save_baseline is not None

    def set_aside(self) -> None:
        """Move what an earlier run wrote out of the way: if this one dies, it is not to be taken for its own.
        Of a shard, it is removed.

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
        for path in self._files.reports:
            # A link keeps pointing where it does.
            if (real := os.path.realpath(path)) != step:
                yield Path(real)

    def keep(self, results: Results) -> None:
        """Write the results before more is asked of anybody: what follows may fail.

        What is wrong with the file is told in the end.
        """
        for path in self._files.kind("json"):
            with suppress(OSError):
                write_json(results, path)

    def write(self, results: Results, lines: Mapping[str, int]) -> WrittenFiles:
        """Write all that was asked for. `lines` are those of the tests in their files, by node id, from 1."""
        written = write_files(results, self._files, root=self._root, lines=lines)
        self.put_back()
        return written


def path_of(config: pytest.Config, settings: Settings, option: Option) -> Path:
    """Where a path option points: from the working directory on the command line, from the root folder in the
    configuration.
    """
    on_command_line = config.getoption(option.ini, None) is not None
    try:
        path = Path(str(getattr(settings, option.key))).expanduser()
    except RuntimeError as error:  # the home of a user that there is not
        raise pytest.UsageError(f"{option.long if on_command_line else option.ini}: {error}") from None
    return (config.invocation_params.dir if on_command_line else config.rootpath) / path
