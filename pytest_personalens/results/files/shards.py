"""Merges the results of a run's shards and checks the gates of the run."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.jsonfile import first_problem
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.options.gate import GateExpression
from pytest_personalens.core.options.options import keys_of
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.results.comparison.baseline import mismatch_message, read_baseline, terms_of
from pytest_personalens.results.conclusion import Requirements, conclude
from pytest_personalens.results.files.stored import read_computed
from pytest_personalens.results.gates.gate_expressions import with_groups
from pytest_personalens.results.summary import summarize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.values.results import Results

#: The most hours that may lie between two shards of one run.
_MOST_HOURS: Final = 12


#: Settings in which shards may differ: how each is run, how much it may spend, and the place of the dataset
#: on its machine. The name and version of the dataset must be the same.
_OWN: Final = ("shard", "data", *keys_of("execution", "record"))


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
        return {
            "number of shards": self.of,
            "dataset": r.dataset,
            **shared,
            **r.origin,
            "requested": r.requested,
            "drawn": r.drawn,
        }


def read_shards(paths: Sequence[Path]) -> list[Shard]:
    """Return the shards in result files, by number.

    Raise `PersonalensError` unless they are different parts of one run.
    """
    shards = sorted((_read_shard(path) for path in paths), key=lambda shard: shard.number)
    for one, other in pairwise(shards):
        facts, others = one.facts(), other.facts()
        for name in {**facts, **others}:
            if facts.get(name) != others.get(name):
                was = f"{name} is {facts.get(name)!r} in the first, {others.get(name)!r} in the second"
                raise SpecError(f"{one.path} and {other.path} are not of one run: {was}")
        if one.number == other.number:
            raise SpecError(
                f"{one.path} and {other.path} are both shard {one.number}/{one.of}; give one of them"
            )
    _refuse_old(shards)
    holders: dict[str, Shard] = {}
    for shard in shards:
        for nodeid in (
            *(item.nodeid for item in shard.results.items),
            *shard.results.lost,
            *shard.results.unevaluated,
        ):
            holder = holders.setdefault(nodeid, shard)
            if holder is not shard:
                raise SpecError(
                    f"{holder.path} and {shard.path} both hold {nodeid!r}: they are not shards of one sample"
                )
    return shards


def _refuse_old(shards: Sequence[Shard]) -> None:
    """Raise `SpecError` if one file is much older than another.

    Such a file is probably from an earlier run, and the shard died in this run.
    """
    by_age = sorted(shards, key=lambda shard: shard.path.stat().st_mtime)
    hours = (by_age[-1].path.stat().st_mtime - by_age[0].path.stat().st_mtime) / 3600
    if hours > _MOST_HOURS:
        raise SpecError(
            f"{by_age[0].path} was written {hours:.0f} hours before {by_age[-1].path}: is it of an earlier"
            " run? Run its shard again, or touch the file if it is of this one"
        )


def merge(
    shards: Sequence[Shard],
    replaced: Mapping[str, Any],
    *,
    partial: bool = False,
    save_baseline: Path | None = None,
) -> Results:
    """Return the results of the run as if it had not been divided.

    Its dollars are exact up to the rounding in each shard.

    `replaced` holds settings of the run to replace, by name: its gates and its baseline. If the run is to
    overwrite its baseline with `save_baseline`, it is not compared with it.

    Raise `SpecError` if shards are missing or were stopped, unless `partial`. In that case no gate is
    decided, as in a run that was stopped.
    """
    first = shards[0]
    stopped = [shard for shard in shards if not shard.results.complete]
    missing = first.of - len(shards)
    if not partial:
        if missing:
            absent = next(n for n in range(1, first.of + 1) if n not in {shard.number for shard in shards})
            more = f" (and {missing - 1} more)" if missing > 1 else ""
            raise SpecError(
                f"shard {absent}/{first.of}{more} is missing: give its results too, or --partial for a report"
                " without gates"
            )
        if stopped:
            raise SpecError(
                f"{stopped[0].path}: its run was stopped; run the shard again, or give --partial for a report"
                " without gates"
            )
    items = [item for shard in shards for item in shard.results.items]
    lost = [nodeid for shard in shards for nodeid in shard.results.lost]
    unevaluated = [nodeid for shard in shards for nodeid in shard.results.unevaluated]
    if not items and not lost and not unevaluated:
        raise SpecError(f"no item in {len(shards)} results: did the runs collect any test?")
    settings = _settings({**first.results.settings, "shard": None, **replaced}, first.path)
    results = summarize(
        items,
        settings={
            **first.results.settings,
            "shard": None,
            **{name: getattr(settings, name) for name in replaced},
        },
        dataset=first.results.dataset,
        requested=first.results.requested,
        drawn=first.results.drawn,
        lost=lost,
        unevaluated=unevaluated,
        skipped=[nodeid for shard in shards for nodeid in shard.results.skipped],
        of_controls=[nodeid for shard in shards for nodeid in shard.results.of_controls],
        missing_by_group=sum((Counter(shard.results.missing_by_group) for shard in shards), Counter()),
        left_out=sum(shard.results.left_out for shard in shards),
        complete=not missing and not stopped,
        drawn_from=first.results.drawn_from,
        excluded=first.results.excluded,
    )
    scenarios = {id_: scenario for shard in shards for id_, scenario in shard.results.scenarios.items()}
    results = results.model_copy(
        update={
            "usd": _dollars(shards),
            "scenarios": dict(sorted(scenarios.items())),
            "provenance": first.results.provenance,
        }
    )
    settings = settings._replace(save_baseline=None if save_baseline is None else str(save_baseline))
    demands = Requirements.of(settings, _baseline(settings, results) if results.complete else None)
    domains = {domain for item in items for domain in item.evaluation.domains} | set(results.of_suite.domains)
    gates = with_groups(demands.gates, sorted(domains), results.of_suite.kinds)
    return conclude(results, demands._replace(gates=gates))


def _baseline(settings: Settings, results: Results) -> Baseline | None:
    replaced = (
        settings.save_baseline is not None
        and settings.baseline is not None
        and Path(settings.save_baseline) == Path(settings.baseline)
    )
    if settings.baseline is None or replaced or not results.own:
        return None
    baseline = read_baseline(Path(settings.baseline))
    if changed := baseline.mismatch(terms_of(results)):
        raise SpecError(mismatch_message(settings.baseline, changed))
    return baseline


def _settings(named: dict[str, Any], path: Path) -> Settings:
    """Return the settings of a run from those in its results.

    A missing setting has its default.
    """
    values = {**Settings._field_defaults}
    # Each setting is read alone, because pydantic 2.9 cannot read the types of a NamedTuple in a module with
    # postponed annotations.
    for name, kind in get_type_hints(Settings).items():
        if name in named:
            try:
                values[name] = TypeAdapter(kind).validate_python(named[name])
            except ValidationError as error:
                raise DataError(path, first_problem(error)[1], field=f"settings.{name}") from None
        elif name not in values:
            raise DataError(path, "the setting is missing", field=f"settings.{name}")
    return Settings(**values)


def _dollars(shards: Sequence[Shard]) -> dict[str, float]:
    purposes = sorted({purpose for shard in shards for purpose in shard.results.usd})
    return {p: round(sum(shard.results.usd.get(p, 0.0) for shard in shards), 6) for p in purposes}


class _Divided(Frozen):
    model_config = ConfigDict(extra="ignore")
    shard: tuple[int, int]
    gate: tuple[GateExpression, ...]


def _read_shard(path: Path) -> Shard:
    results = read_computed(path)
    version_here = version("pytest-personalens")
    if results.plugin != version_here:
        raise DataError(
            path,
            f"written by pytest-personalens {results.plugin!r}, this is {version_here!r}; use one version in"
            " all jobs",
        )
    if results.settings.get("shard") is None:
        raise DataError(
            path,
            "the results of a whole run and not of a shard (--personalens-shard K/N): there is nothing to"
            " merge",
        )
    try:
        divided = _Divided.model_validate(results.settings)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise DataError(path, problem, field=f"settings.{field}") from None
    part, of = divided.shard
    if not 1 <= part <= of:
        raise DataError(path, f"there is no shard {part}/{of}", field="settings.shard")
    return Shard(part, of, path, results)
