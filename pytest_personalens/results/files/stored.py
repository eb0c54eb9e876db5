"""Results files, read with their figures computed anew, and the last run of a folder."""

from __future__ import annotations

from contextlib import suppress
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.results.comparison.compare import IN_PART, differences_of, flips_of
from pytest_personalens.results.comparison.pairs import controls_of, trials_of
from pytest_personalens.results.gates.check import check_again
from pytest_personalens.results.means import in_order, pair_means, scores_of
from pytest_personalens.results.summary import FACTS, summarize
from pytest_personalens.results.values.results import read_results, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.results.comparison.compare import Tested
    from pytest_personalens.results.means import Pairs
    from pytest_personalens.results.values.figures import Comparison
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
        f" than {MOST_KEPT:,} items); give --results RESULTS.json, of --personalens-report RESULTS.json",
        code="PL106",
    )


#: Figures that depend only on the items.
_FIGURES: Final = (
    "overall", "domains", "kinds", "uncounted", "turns", "by_turn", "user_audit", "usage", "unfound_quotes",
    "slices",
    "unsupported",
)  # fmt: skip
#: Values that depend on a method or a wording. Another version may have others, so reports show them as they
#: are computed now.
_BY_METHOD: Final = frozenset(
    {"low", "high", "p", "users", "message", "detectable", "largest_drop", "confidence"}
)
#: Stored figures are rounded to six decimals.
_ROUNDING: Final = 2e-6
#: No item holds the usage of adopting or checking a judge.
_OF_ANCHORS: Final = "anchor "


def read_computed(path: Path) -> Results:
    """Return the results in a JSON file of ``--personalens-report``, with figures computed from its items.

    Raise `DataError` if the file cannot be read, and for the first figure that does not follow from the
    items: means, counts, usage, trials, controls, the comparison and gates. No item holds dollars, so these
    stay as they are. A comparison stays too if the items do not hold all the baseline's scores that it is
    over. Its changes must still be the differences between its means.
    """
    stored = read_results(path)
    computed = _computed(stored)
    for place, was, follows in (*_wrong_changes(stored), *_wrong_figures(stored, computed)):
        difference = f"stored is {_shown(was)}, but {_shown(follows)} follows from its items"
        raise DataError(path, f"{difference}; restore the file, or run its tests again", field=place)
    return computed


def _wrong_figures(stored: Results, computed: Results) -> Iterator[tuple[str, Any, Any]]:
    for name in (*_FIGURES, "trials", "arms", "comparison", "gates"):
        sides = (results.model_dump(mode="json", include={name})[name] for results in (stored, computed))
        yield from _differences(name, *sides)


def _wrong_changes(stored: Results) -> Iterator[tuple[str, Any, Any]]:
    for d in stored.comparison.differences if stored.comparison is not None else ():
        if abs(d.after - d.before - d.change) > _ROUNDING:
            yield f"comparison.{d.dimension.short}.change", d.change, round(d.after - d.before, 6)


def _computed(stored: Results) -> Results:
    side_by_side = stored.latency.side_by_side if stored.latency is not None else 1
    facts = {name: getattr(stored, name) for name in FACTS}
    summary = summarize(stored.items, **facts, side_by_side=side_by_side)
    update: dict[str, Any] = {name: getattr(summary, name) for name in _FIGURES}
    update["usage"] |= {
        purpose: used for purpose, used in stored.usage.items() if purpose.startswith(_OF_ANCHORS)
    }
    # A shard has neither, because both belong to the whole run.
    if stored.trials is not None:
        update["trials"] = trials_of(stored.own, stored.trials.count, stored.of_suite)
    if stored.arms:
        update["arms"] = controls_of(stored.items, stored.of_suite)
    if (comparison := _compared_again(stored)) is not None:
        update["comparison"] = comparison
    computed = stored.model_copy(update=update)
    return computed.model_copy(update={"gates": tuple(check_again(computed, gate) for gate in stored.gates)})


def _compared_again(results: Results) -> Comparison | None:
    """Return the comparison, computed from what the items were by the baseline.

    Return None if they do not hold that, for a part of a scenario's trials or tests.
    """
    comparison, own = results.comparison, results.own
    if comparison is None or comparison.left_out.keys() & set(IN_PART) or len({i.test for i in own}) > 1:
        return None
    left_out = {scenario for scenarios in comparison.left_out.values() for scenario in scenarios}
    then = [
        (item.key, item.trial, item.earlier.scores)
        for item in own
        if item.earlier is not None
        and item.earlier.source == "baseline"
        and item.evaluation.scenario not in left_out
    ]
    if not then:
        return None
    pairs: dict[Tested, Pairs] = {}
    for d in comparison.differences:
        items = [item for item in own if d.kind in ("", item.evaluation.kind)]
        before = in_order(d.dimension, ((key, trial, s.get(d.dimension)) for key, trial, s in then))
        if means := pair_means(before, scores_of(items, d.dimension)):
            pairs[d.dimension, d.kind] = means
    kept = {(d.dimension, d.kind): d for d in comparison.differences if (d.dimension, d.kind) in pairs}
    gated = [one for one, d in kept.items() if d.gated]
    differences = differences_of(
        pairs,
        gated=gated,
        level=comparison.level,
        margins={d.dimension: d.margin for d in kept.values()},
        bounded={d.dimension for d in kept.values() if d.largest_drop is not None},
        judged={one: d.judged for one, d in kept.items()},
    )
    flips = flips_of(own, {dimension: pairs[dimension, kind] for dimension, kind in gated if not kind})
    return comparison.model_copy(update={"differences": differences, "flips": flips})


def _differences(place: str, stored: Any, computed: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the figures that differ, each as (place, stored value, computed value)."""
    if isinstance(stored, dict) and isinstance(computed, dict):
        for key in {**stored, **computed}:
            if key not in _BY_METHOD:
                yield from _differences(f"{place}.{key}", stored.get(key), computed.get(key))
    elif isinstance(stored, list) and isinstance(computed, list):
        for number, (one, other) in enumerate(zip_longest(stored, computed)):
            named = one if isinstance(one, dict) else other
            name = named.get("name") or named.get("dimension") if isinstance(named, dict) else None
            yield from _differences(f"{place}.{name or number}", one, other)
    elif not _alike(stored, computed):
        yield place, stored, computed


def _alike(stored: Any, computed: Any) -> bool:
    numbers = all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in (stored, computed)
    )
    return abs(stored - computed) <= _ROUNDING if numbers else bool(stored == computed)


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value)[:60]
