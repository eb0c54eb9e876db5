"""Files of results: read with their figures computed anew, and merged from shards."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_type_hints

from pydantic import TypeAdapter, ValidationError

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.jsonfile import first_problem
from pytest_personalens.core.options.option_table import keys_of
from pytest_personalens.core.options.settings import Settings, check_expressions, with_groups
from pytest_personalens.results.comparison.baseline import (
    agents_of_run,
    mismatch_message,
    read_baseline,
    terms_of,
)
from pytest_personalens.results.comparison.pairs import controls_of, trials_of
from pytest_personalens.results.gates.check import check_again
from pytest_personalens.results.summarize import FACTS, NODE_IDS, conclude, summarize
from pytest_personalens.results.values.results import read_results, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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


def last_run(folder: Path, advice: str) -> tuple[Path, Path]:
    """Return the root folder of the last run, this one or one above, and the file with its results; raise
    `SpecError` with the `advice` without one.
    """
    for place in (folder, *folder.parents):
        if (path := place / _CACHE / _NAME).is_file():
            return place, path
    raise SpecError(
        f"no last run is kept in {folder} or above (pytest's cache is off or elsewhere, or the run had more"
        f" than {MOST_KEPT:,} items); {advice}",
        code="PL106",
    )


#: Figures that depend only on the items.
_FIGURES: Final = (
    "overall", "domains", "kinds", "uncounted", "turns", "by_turn", "user_audit", "usage", "unfound_quotes",
    "slices", "unsupported",
)  # fmt: skip
#: No item holds the usage of adopting or checking a judge.
_OF_ANCHORS: Final = "anchor "


def read_computed(path: Path) -> Results:
    """Return the results in a JSON file of ``--personalens-report``, with figures computed from its items.

    The figures in the file do not count: another version may have had another method, and a hand may have
    changed them. No item holds dollars, the usage of adopting or checking a judge, or the scores of a
    baseline, so these stay as they are. Raise `DataError` if the file cannot be read.
    """
    stored = read_results(path)
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
    if stored.controls:
        update["controls"] = controls_of(stored.items, stored.of_suite)
    computed = stored.model_copy(update=update)
    return computed.model_copy(update={"gates": tuple(check_again(computed, gate) for gate in stored.gates)})


#: The most hours that may lie between two shards of one run.
_MOST_HOURS: Final = 12
#: Settings in which shards may differ: how each is run, how much it may spend, and the place of the dataset
#: on its machine. The name and version of the dataset must be the same.
_OWN: Final = ("shard", "data", "reset", *keys_of("execution", "record"))


class Shard(NamedTuple):
    """The results of part `number` of `of`, with their file."""

    number: int
    of: int
    path: Path
    results: Results

    def facts(self) -> dict[str, Any]:
        """Return the facts that all shards of a run share, by name."""
        r = self.results
        shared = {name: value for name, value in r.settings.items() if name not in _OWN}
        parts = {"number of shards": self.of, "dataset": r.dataset}
        return {**parts, **shared, **r.origin, "requested": r.requested, "drawn": r.drawn}


def read_shards(paths: Sequence[Path]) -> list[Shard]:
    """Return the shards in result files by number; raise `PersonalensError` unless they are of one run."""
    shards = sorted((_read_shard(path) for path in paths), key=lambda shard: shard.number)
    for one, other in pairwise(shards):
        both, facts, others = f"{one.path} and {other.path}", one.facts(), other.facts()
        for name in {**facts, **others}:
            if facts.get(name) != others.get(name):
                was = f"{name} is {facts.get(name)!r} in the first, {others.get(name)!r} in the second"
                raise SpecError(f"{both} are not of one run: {was}", code="PL206")
        if one.number == other.number:
            raise SpecError(f"{both} are both shard {one.number}/{one.of}; give one of them", code="PL206")
    _refuse_other_agents(shards)
    _refuse_old(shards)
    holders: dict[str, Shard] = {}
    for shard in shards:
        r = shard.results
        for nodeid in (*(item.nodeid for item in r.items), *r.lost, *r.unevaluated):
            if (holder := holders.setdefault(nodeid, shard)) is not shard:
                both = f"{holder.path} and {shard.path} both hold {nodeid!r}"
                raise SpecError(f"{both}: they are not shards of one sample", code="PL206")
    return shards


def _refuse_other_agents(shards: Sequence[Shard]) -> None:
    """Raise `SpecError` if another judge judged one of the shards, or another user spoke in it.

    The settings may be the same: an agent of a plugin has an identity of its own, a prompt its content.
    """
    first: dict[str, tuple[Shard, str]] = {}
    for shard, item in [(one, item) for one in shards for item in one.results.items]:
        for role, here in agents_of_run(item, shard.results.of_suite).items():
            holder, there = first.setdefault(role, (shard, here))
            if here != there:
                both = f"{holder.path} and {shard.path} are not of one run"
                was = f"{role} is {there!r} in the first, {here!r} in the second"
                raise SpecError(f"{both}: {was}", code="PL206")


def _refuse_old(shards: Sequence[Shard]) -> None:
    """Raise `SpecError` if one file is much older: probably of an earlier run, so the shard died in this."""
    by_age = sorted(shards, key=lambda shard: shard.path.stat().st_mtime)
    hours = (by_age[-1].path.stat().st_mtime - by_age[0].path.stat().st_mtime) / 3600
    if hours > _MOST_HOURS:
        raise SpecError(
            f"{by_age[0].path} was written {hours:.0f} hours before {by_age[-1].path}: is it of an earlier"
            " run? Run its shard again, or touch the file if it is of this one",
            code="PL206",
        )


def merge(
    shards: Sequence[Shard],
    replaced: Mapping[str, Any],
    *,
    partial: bool = False,
    save_baseline: Path | None = None,
) -> Results:
    """Return the results of the run as if it had not been divided; dollars up to the rounding in each shard.

    `replaced` holds settings of the run to replace, by name: its gates and its baseline. If the run is to
    overwrite its baseline with `save_baseline`, it is not compared with it.

    Raise `SpecError` if shards are missing or were stopped, unless `partial`. In that case no gate is
    decided, as in a run that was stopped.
    """
    first, every = shards[0], [shard.results for shard in shards]
    stopped = [shard for shard in shards if not shard.results.complete]
    missing = first.of - len(shards)
    report = "--partial for a report without gates"
    if missing and not partial:
        absent = next(n for n in range(1, first.of + 1) if n not in {shard.number for shard in shards})
        more = f" (and {missing - 1} more)" if missing > 1 else ""
        raise SpecError(
            f"shard {absent}/{first.of}{more} is missing: give its results too, or {report}", code="PL206"
        )
    if stopped and not partial:
        raise SpecError(
            f"{stopped[0].path}: its run was stopped; run the shard again, or give {report}", code="PL206"
        )
    ids = {name: [nodeid for results in every for nodeid in getattr(results, name)] for name in NODE_IDS}
    items = [item for results in every for item in results.items]
    if not items and not ids["lost"] and not ids["unevaluated"]:
        raise SpecError(f"no item in {len(shards)} results: did the runs collect any test?", code="PL106")
    whole = {**first.results.settings, "shard": None}
    settings = _settings({**whole, **replaced}, first.path)
    facts = {name: getattr(first.results, name) for name in FACTS} | ids
    facts["settings"] = {**whole, **{name: getattr(settings, name) for name in replaced}}
    facts["missing_by_group"] = sum((Counter(results.missing_by_group) for results in every), Counter())
    facts["left_out"] = sum(results.left_out for results in every)
    facts["complete"] = not missing and not stopped
    purposes = sorted({purpose for results in every for purpose in results.usd})
    scenarios = {id_: scenario for results in every for id_, scenario in results.scenarios.items()}
    side_by_side = max(r.latency.side_by_side if r.latency is not None else 1 for r in every)
    results = summarize(items, **facts, side_by_side=side_by_side).model_copy(
        update={
            "usd": {p: round(sum(results.usd.get(p, 0.0) for results in every), 6) for p in purposes},
            "scenarios": dict(sorted(scenarios.items())),
            "provenance": first.results.provenance,
        }
    )
    settings = settings._replace(save_baseline=None if save_baseline is None else str(save_baseline))
    check_expressions(settings)
    baseline, path = None, None if settings.baseline is None else Path(settings.baseline)
    if path not in (None, save_baseline) and results.complete and results.own:
        baseline = read_baseline(path)
        if changed := baseline.mismatch(terms_of(results)):
            raise SpecError(mismatch_message(str(settings.baseline), changed), code="PL202")
    domains = {domain for item in items for domain in item.evaluation.domains} | set(results.of_suite.domains)
    gates = with_groups(settings.gate, sorted(domains), results.of_suite.kinds)
    return conclude(results, settings._replace(gate=gates), baseline)


def _settings(named: Mapping[str, Any], path: Path) -> Settings:
    """Return the settings of a run from those in its results, with defaults for missing ones."""
    values = {**Settings._field_defaults}
    # Each setting is read alone, because pydantic 2.9 cannot read the types of a NamedTuple in a module with
    # postponed annotations.
    for name, kind in get_type_hints(Settings).items():
        if name not in named and name not in values:
            raise DataError(path, "the setting is missing", field=f"settings.{name}")
        if name in named:
            try:
                values[name] = TypeAdapter(kind).validate_python(named[name])
            except ValidationError as error:
                raise DataError(path, first_problem(error)[1], field=f"settings.{name}") from None
    return Settings(**values)


def _read_shard(path: Path) -> Shard:
    results, here = read_computed(path), version("pytest-personalens")
    if results.plugin != here:
        written = f"written by pytest-personalens {results.plugin!r}, this is {here!r}"
        raise DataError(path, f"{written}; use one version in all jobs", code="PL206")
    if results.settings.get("shard") is None:
        no_shard = "the results of a whole run and not of a shard (--personalens-shard K/N)"
        raise DataError(path, f"{no_shard}: there is nothing to merge", code="PL108")
    part, of = _settings(results.settings, path).shard or (0, 0)
    if not 1 <= part <= of:
        raise DataError(path, f"there is no shard {part}/{of}", field="settings.shard", code="PL206")
    return Shard(part, of, path, results)
