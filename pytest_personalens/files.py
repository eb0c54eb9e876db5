"""The files that results are written to: checked before anything is run, and written so that each fails alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.errors import PersonalensError, SpecError
from pytest_personalens.jsonfile import schema_of, write_atomically
from pytest_personalens.results import write_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_personalens.results import Results


#: Those of `Files` that replace nothing but a file of ours.
_READ_AGAIN: Final = ("json", "save_baseline")


class Files(NamedTuple):
    """Where results, reports and baseline are to go, each named as its option; None for what is not asked for."""

    json: Path | None = None
    markdown: Path | None = None
    html: Path | None = None
    save_baseline: Path | None = None


@dataclass
class Written:
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


def write_files(results: Results, files: Files, *, before: Results | None = None) -> Written:
    """Write all that is asked for. The reports hold the results against another run, `before`, if it is given."""
    written = Written()
    if (path := files.json) is not None:
        written.attempt("results", path, lambda: write_json(results, path))
    if (summary := files.markdown) is not None:
        from pytest_personalens.reports.markdown import markdown

        written.attempt("summary", summary, lambda: summary.write_text(markdown(results, before=before), encoding="utf-8"))
    if (page := files.html) is not None:
        from pytest_personalens.reports.html import write_html

        written.attempt("report", page, lambda: write_html(results, page, before=before))
    if (baseline := files.save_baseline) is not None:
        from pytest_personalens.baseline import baseline_of, unfit

        if why := unfit(results):
            written.problems.append(f"the baseline {baseline} was not written: {why}")
        else:
            failed = ", ".join(gate.name for gate in results.gates if not gate.passed)
            what = f"baseline (of a run that failed: {failed})" if failed else "baseline"
            written.attempt(what, baseline, lambda: write_atomically(baseline, baseline_of(results).text()))
    return written


def checked(files: Files, flag: Callable[[str], str]) -> Files:
    """The same files, their folders made. `flag` gives the option by its name. Raises `SpecError` for one that could not be written."""
    if files.html is not None:
        from pytest_personalens.reports.html import require_html

        try:
            require_html()
        except SpecError as error:
            raise SpecError(f"{flag('html')}: {error}") from None
    for name, path in files._asdict().items():
        if path is not None:
            writable(path, flag(name), ours=name in _READ_AGAIN)
    return files


def writable(path: Path, flag: str, *, ours: bool = False) -> Path:
    """The path, with its folder made. `flag` is the option that it was given by.

    Raises `SpecError` for what cannot be written, or is a file of somebody else's and to be replaced by one of `ours`.
    """
    if path.name == "-":
        raise SpecError(f"{flag}: give the path of a file, not '-'")
    if path.is_dir():
        raise SpecError(f"{flag}: {path} is a folder; give the path of a file")
    if path.exists() and not path.is_file():
        raise SpecError(f"{flag}: {path} is no file; give the path of one")
    if ours and path.exists() and path.stat().st_size and not schema_of(path).startswith("personalens-"):
        raise SpecError(f"{flag}: {path} was not written by this plugin; give another path, or remove it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"{flag}: cannot write to {path.parent}: {error.strerror}") from None
    return path
