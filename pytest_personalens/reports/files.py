"""The files that results are written to: checked before anything is run, and written so that each fails alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.atomic_write import write_atomically
from pytest_personalens.core.destinations import refuse_shared_files, writable
from pytest_personalens.core.errors import PersonalensError, SpecError
from pytest_personalens.results.values import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_personalens.results.values import Results


class Files(NamedTuple):
    """Where results, reports and baseline are to go, each named as its option; None for what is not asked for."""

    json: Path | None = None
    markdown: Path | None = None
    html: Path | None = None
    save_baseline: Path | None = None


@dataclass
class WrittenFiles:
    """Lines that say what was written and what could not be, and the annotations for GitHub."""

    done: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    annotations: list[str] = field(default_factory=list)

    def attempt(self, what: str, path: Path | str, write: Callable[[], object]) -> None:
        """Write one file. Whatever is wrong with it, the others are not to suffer."""
        try:
            write()
        except Exception as error:
            known = error.strerror if isinstance(error, OSError) else str(error) if isinstance(error, PersonalensError) else None
            self.problems.append(f"{what} could not be written to {path}: {known or f'{type(error).__name__}: {error}'}")
        else:
            self.done.append(f"{what}: {path}")


def write_files(results: Results, files: Files, *, before: Results | None = None) -> WrittenFiles:
    """Write all that is asked for. The reports hold the results against another run, `before`, if it is given."""
    written = WrittenFiles()
    if (path := files.json) is not None:
        written.attempt("results", path, lambda: write_json(results, path))
    if (summary := files.markdown) is not None:
        from pytest_personalens.reports.markdown import markdown_report

        written.attempt("summary", summary, lambda: write_atomically(summary, markdown_report(results, before=before)))
    if (page := files.html) is not None:
        from pytest_personalens.reports.html import write_html

        written.attempt("report", page, lambda: write_html(results, page, before=before))
    if (baseline := files.save_baseline) is not None:
        from pytest_personalens.results.baseline import baseline_of, unfit

        if why := unfit(results):
            written.problems.append(f"the baseline {baseline} was not written: {why}")
        else:
            failed = ", ".join(gate.name for gate in results.gates if not gate.passed)
            what = f"baseline (of a run that failed: {failed})" if failed else "baseline"
            written.attempt(what, baseline, lambda: write_atomically(baseline, baseline_of(results).text()))
    return written


def checked(files: Files, flag: Callable[[str], str], *, read: Mapping[str, Path] = MappingProxyType({})) -> Files:
    """The same files, their folders made. `flag` gives the option by its name; `read` are the files that the command reads, by what
    they are called. Raises `SpecError` for one that could not be written, or would replace another or somebody else's.
    """
    if files.html is not None:
        from pytest_personalens.reports.html import require_html

        try:
            require_html()
        except SpecError as error:
            raise SpecError(f"{flag('html')}: {error}") from None
    wanted = {name: path for name, path in files._asdict().items() if path is not None}
    for name, path in wanted.items():
        writable(path, flag(name), kind=name)
    # A baseline may be replaced by the one that is saved: that is asked for in so many words.
    refuse_shared_files({flag(name): path for name, path in wanted.items()}, read, replaces=(flag("save_baseline"), flag("baseline")))
    return files
