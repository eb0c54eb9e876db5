"""What a run leaves behind beside its terminal output: results, reports and baseline, each of which fails alone."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_personalens.errors import PersonalensError
from pytest_personalens.paths import output_path
from pytest_personalens.records import write_atomically
from pytest_personalens.results import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_personalens.results import Results
    from pytest_personalens.settings import Settings


class Written(NamedTuple):
    """Lines that say what was written and what could not be, and the annotations for GitHub."""

    done: list[str]
    problems: list[str]
    annotations: list[str]


class Outputs:
    """The files that options ask for. Raises `pytest.UsageError` for one that could not be written in the end, before anything is run."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._settings, self._root = settings, config.rootpath
        self._json = output_path(config, settings, "json", ours=True)
        self._html = output_path(config, settings, "html")
        self._markdown = output_path(config, settings, "markdown")
        self._baseline = output_path(config, settings, "save_baseline", ours=True)
        if self._html is not None:
            from pytest_personalens.reports.html import require_html

            _checked("--personalens-html", require_html)
        if settings.github:
            from pytest_personalens.reports.github import summary_path

            _checked("--personalens-github", summary_path)

    @property
    def tells_who(self) -> bool:
        """True if a file is wanted that tells who asked for what, and not only the scores."""
        return bool(self._json or self._html or self._markdown or self._settings.github)

    def keep(self, results: Results) -> None:
        """Write the results before more is asked of anybody: what follows may fail. What is wrong with the file is told in the end."""
        if self._json is not None:
            with suppress(OSError):
                write_json(results, self._json)

    def write(self, results: Results, lines: Mapping[str, int]) -> Written:
        """Write all that was asked for. `lines` are those of the tests in their files, by node id, from 1."""
        written = Written([], [], [])

        def attempt(what: str, path: Path | str, write: Callable[[], object]) -> None:
            try:
                write()
            except Exception as error:  # whatever is wrong with one report, the others are not to suffer
                known = error.strerror if isinstance(error, OSError) else str(error) if isinstance(error, PersonalensError) else None
                written.problems.append(f"{what} could not be written to {path}: {known or f'{type(error).__name__}: {error}'}")
            else:
                written.done.append(f"{what}: {path}")

        if self._json is not None:
            path = self._json
            attempt("results", path, lambda: write_json(results, path))
        if self._markdown is not None:
            from pytest_personalens.reports.markdown import markdown

            page = self._markdown
            attempt("summary", page, lambda: page.write_text(markdown(results), encoding="utf-8"))
        if self._html is not None:
            from pytest_personalens.reports.html import write_html

            report = self._html
            attempt("report", report, lambda: write_html(results, report))
        if self._baseline is not None:
            self._save(results, self._baseline, attempt, written)
        if self._settings.github:
            self._tell_github(results, lines, attempt, written)
        return written

    def _save(self, results: Results, path: Path, attempt: Callable[..., None], written: Written) -> None:
        from pytest_personalens.baseline import baseline_of, unfit

        if why := unfit(results):
            written.problems.append(f"the baseline {path} was not written: {why}")
            return
        attempt("baseline", path, lambda: write_atomically(path, baseline_of(results).text()))

    def _tell_github(self, results: Results, lines: Mapping[str, int], attempt: Callable[..., None], written: Written) -> None:
        from pytest_personalens.reports.github import annotation_lines, append_summary, link, root_in_repository, summary_path

        root, page = root_in_repository(self._root), summary_path()
        attempt("step summary", page, lambda: append_summary(results, page, link=link(root)))
        try:
            written.annotations.extend(annotation_lines(results, root=root, lines=lines))
        except Exception as error:  # as of every report
            written.problems.append(f"annotations could not be made: {type(error).__name__}: {error}")


def _checked(flag: str, check: Callable[[], object]) -> None:
    try:
        check()
    except PersonalensError as error:
        raise pytest.UsageError(f"{flag}: {error}") from None
