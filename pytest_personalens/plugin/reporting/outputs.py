"""The files of a run: the results, reports and baseline that it writes, and the baseline that it reads."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.errors import PersonalensError, SpecError
from pytest_personalens.core.options.option_table import BY_KEY, OPTIONS
from pytest_personalens.reports.write_reports import Files, check_files, write_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.core.options.option_table import Option
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.plugin.running.run import Run
    from pytest_personalens.reports.write_reports import WrittenFiles
    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.values.results import Results

_BASELINE = BY_KEY["baseline"]


class Outputs:
    """The files that options ask for.

    Raise `SpecError` before any test runs if one of them could not be written at the end.
    """

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._settings, self._root = settings, config.rootpath
        # The files that the run reads, or writes apart from reports.
        read = {
            o.called: path_of(config, settings, o)
            for o in OPTIONS
            if o.path and o.shapes in ("gate", "judge check") and getattr(settings, o.key) is not None
        }
        for text in settings.dialogues:
            read[f"{BY_KEY['dialogues'].long}={text}"] = config.invocation_params.dir / text
        baseline = read.pop(BY_KEY["save_baseline"].called, None)
        files = Files.of(settings.report, save_baseline=baseline)
        self._files = check_files(files, "--personalens-", read=read)

    def set_aside(self) -> None:
        """Move the files of the last run away, so that nobody takes them for this one's if it dies.

        Those of a shard are removed. A folder or a device in the way is no report, and stays.
        """
        for path in filter(Path.is_file, self._reports()):
            with suppress(OSError):
                if self._settings.shard is not None:
                    path.unlink()
                else:
                    path.replace(_set_aside(path))

    def put_back(self) -> None:
        """Restore the files of the last run that this run, at its end, has not replaced."""
        for path in self._reports():
            if (before := _set_aside(path)).is_file():
                with suppress(OSError):
                    if path.exists():
                        before.unlink()
                    else:
                        before.replace(path)

    def _reports(self) -> Iterator[Path]:
        # Neither the baseline, which another run should have written, nor a file that a CI service keeps.
        step = os.path.realpath(os.environ.get("GITHUB_STEP_SUMMARY") or os.devnull)
        for path in self._files.reports:
            # A link stays a link: the file that it points to is used.
            if (real := os.path.realpath(path)) != step:
                yield Path(real)

    def keep(self, results: Results) -> None:
        """Write the results early, because later steps may fail; `write` reports a problem with the file."""
        from pytest_personalens.results.values.results import write_json

        for path in self._files.kind("json"):
            with suppress(OSError):
                write_json(results, path)

    def write(self, results: Results) -> WrittenFiles:
        """Write the files that the options ask for."""
        written = write_files(results, self._files, root=self._root)
        self.put_back()
        return written


def _set_aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.before")


def path_of(config: pytest.Config, settings: Settings, option: Option) -> Path:
    """Return the path of an option, from the working directory or, in the configuration, the root folder."""
    on_command_line = config.getoption(option.ini, None) is not None
    try:
        path = Path(str(getattr(settings, option.key))).expanduser()
    except RuntimeError as error:  # the home folder of an unknown user
        raise SpecError(f"{option.long if on_command_line else option.ini}: {error}") from None
    return (config.invocation_params.dir if on_command_line else config.rootpath) / path


def baseline_of_run(config: pytest.Config, settings: Settings) -> Baseline | None:
    """Return the baseline in the file of the option, or None; raise `SpecError` if it is none."""
    if settings.baseline is None:
        return None
    from pytest_personalens.results.comparison.baseline import read_baseline

    path = path_of(config, settings, _BASELINE)
    if settings.save_baseline is not None and path_of(config, settings, BY_KEY["save_baseline"]) == path:
        return None  # a file that this run replaces is not compared, even the first time
    try:
        return read_baseline(path)
    except PersonalensError as error:
        source = _BASELINE.long if config.getoption(_BASELINE.ini) is not None else _BASELINE.ini
        raise SpecError(f"{source}: {error}", code=error.code) from None


def refuse_baseline(baseline: Baseline, run: Run) -> None:
    """Raise `SpecError` if this run cannot be compared with the baseline."""
    from pytest_personalens.results.comparison.baseline import mismatch_message

    why = baseline.mismatch(run.terms())
    if not why:
        # A dataset may change without a change of its name and version. The changed scenarios are left out of
        # the comparison. If they are too many for it, the user learns this before the run spends anything.
        changed, both = baseline.changed_scenarios(run.contents())
        if both - len(changed) < run.settings.valid_floor * both:
            why = (
                f"the content of {len(changed)} of its {both} {run.suite.item}s in this sample changed in the"
                f" dataset, such as {changed[0]}"
            )
    if why:
        told = mismatch_message(str(run.settings.baseline), why)
        raise SpecError(f"{_BASELINE.long}: {told}", code="PL202")
