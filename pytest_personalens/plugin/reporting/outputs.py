"""The files that a run writes: results, reports and baseline.

If one cannot be written, the others still are.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.options.options import BY_KEY, OPTIONS
from pytest_personalens.reports.files import Files, check_files, write_files
from pytest_personalens.results.values.results import write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.core.options.options import Option
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.reports.files import WrittenFiles
    from pytest_personalens.results.values.results import Results


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.before")


class Outputs:
    """The files that options ask for.

    Raise `pytest.UsageError` before any test runs if one of them could not be written at the end.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._settings, self._root = settings, config.rootpath
        # The files that the run reads, or writes apart from reports.
        read = {
            o.called: path_of(config, settings, o)
            for o in OPTIONS
            if o.path and o.shapes in ("gate", "judge check") and getattr(settings, o.key) is not None
        }
        baseline = read.pop(BY_KEY["save_baseline"].called, None)
        try:
            self._files = check_files(
                Files.of(settings.report, save_baseline=baseline), "--personalens-", read=read
            )
        except SpecError as error:
            raise pytest.UsageError(str(error)) from None

    @property
    def tells_who(self) -> bool:
        """True if a wanted file names users and their wishes, and not only scores."""
        return bool(self._settings.report)

    @property
    def is_kept(self) -> bool:
        """True if a wanted file is read after the run.

        Such a file states what was tested.
        """
        return bool(self._settings.report) or self._settings.save_baseline is not None

    def set_aside(self) -> None:
        """Move the files of an earlier run away.

        If this run dies, nobody must take them for its own. The files of a shard are removed. A folder or a
        device in the way is no report, and stays.
        """
        for path in filter(Path.is_file, self._reports()):
            with suppress(OSError):
                if self._settings.shard is not None:
                    path.unlink()
                else:
                    path.replace(_aside(path))

    def put_back(self) -> None:
        """Restore the earlier files that this run did not replace.

        This happens when the run has come to its end.
        """
        for path in self._reports():
            if (before := _aside(path)).is_file():
                with suppress(OSError):
                    if path.exists():
                        before.unlink()
                    else:
                        before.replace(path)

    def _reports(self) -> Iterator[Path]:
        # The baseline is not included, because an earlier run should have written it. Neither is a file that
        # a CI service keeps for its jobs.
        step = os.path.realpath(os.environ.get("GITHUB_STEP_SUMMARY") or os.devnull)
        for path in self._files.reports:
            # A link stays a link: the file that it points to is used.
            if (real := os.path.realpath(path)) != step:
                yield Path(real)

    def keep(self, results: Results) -> None:
        """Write the results early, because later steps may fail.

        A problem with the file is reported at the end.
        """
        for path in self._files.kind("json"):
            with suppress(OSError):
                write_json(results, path)

    def write(self, results: Results, lines: Mapping[str, int]) -> WrittenFiles:
        """Write all files that the options ask for.

        `lines` holds the line of each test in its file, by node id, from 1.
        """
        written = write_files(results, self._files, root=self._root, lines=lines)
        self.put_back()
        return written


def path_of(config: pytest.Config, settings: Settings, option: Option) -> Path:
    """Return the path of a path option.

    It starts at the working directory on the command line, and at the root folder in the configuration.
    """
    on_command_line = config.getoption(option.ini, None) is not None
    try:
        path = Path(str(getattr(settings, option.key))).expanduser()
    except RuntimeError as error:  # the home folder of an unknown user
        raise pytest.UsageError(f"{option.long if on_command_line else option.ini}: {error}") from None
    return (config.invocation_params.dir if on_command_line else config.rootpath) / path
