"""The results of the last run, which pytest's cache keeps for the command `show`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.results.values.results import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: A larger run is not kept, because writing it would take longer than a replay.
MOST_KEPT: Final = 1000
_NAME: Final = "last.json"
_CACHE: Final = ".pytest_cache/d/personalens"


def keep_last(
    folder: Path, results: Results, scenarios: Callable[[Iterable[Item]], dict[str, BaseScenario]]
) -> None:
    """Keep the results of a run in its cache folder, with the `scenarios` of its items.

    A run that is too large leaves nothing there, also not that of an earlier one. A problem with the file
    ends no run. Raise the errors of `scenarios`.
    """
    with suppress(OSError):
        (folder / _NAME).unlink(missing_ok=True)
        if len(results.items) <= MOST_KEPT:
            whole = results.model_copy(update={"scenarios": scenarios(results.items)})
            write_json(whole, folder / _NAME)


def last_run(folder: Path) -> Path:
    """Return the file with the last run's results, of this folder or one above; raise `SpecError` without."""
    for place in (folder, *folder.parents):
        if (path := place / _CACHE / _NAME).is_file():
            return path
    raise SpecError(
        f"no last run is kept in {folder} or above (pytest's cache is off or elsewhere, or the run had more"
        f" than {MOST_KEPT:,} items); give --results RESULTS.json, of --personalens-report RESULTS.json"
    )
