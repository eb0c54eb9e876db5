"""The results of a run's shards, put together and held against its gates."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.gate import GateExpression
from pytest_personalens.core.jsonfile import first_problem
from pytest_personalens.core.options import keys_of
from pytest_personalens.core.scenario import Frozen
from pytest_personalens.core.settings import Settings
from pytest_personalens.results.baseline import read_baseline, refusal, terms_of
from pytest_personalens.results.gate_expressions import with_groups
from pytest_personalens.results.gates import Requirements, conclude
from pytest_personalens.results.stored import read_computed
from pytest_personalens.results.summary import summarize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.results.baseline import Baseline
    from pytest_personalens.results.values import Results

#: So long may the shards of one run be apart.
_MOST_HOURS: Final = 12


#: Settings in which shards may differ: how each is run, what it may spend, and where its machine keeps the
#: dataset, whose name and version count.
_OWN: Final = ("shard", "data", *keys_of("execution", "record"))


class Shard(NamedTuple):
    """The results of part `number` of `of`, and the file they were in."""

    number: int
    of: int
    path: Path
    results: Results

    def facts(self) -> dict[str, Any]:
        """What all shards of a run have in common, by name."""
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
    """The shards in result files, by number.

    Raises `PersonalensError` unless they are different parts of one run.
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
    """Raise `SpecError` for a file so much older than another that it is likely to be of an earlier run,
    whose shard died in this one.
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
    """The results that the run would have had undivided, its dollars to the rounding of each shard's.

    `replaced` are the settings of the run that are replaced, by name: its gates and its baseline; one that is
    to be replaced (`save_baseline`) is not asked. Raises `SpecError` if shards are missing or were stopped
    before their end, unless `partial`: then no gate is decided, as in a run that was stopped.
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
        of_controls=[nodeid for shard in shards for nodeid in shard.results.of_controls],
        missing_by_group=sum((Counter(shard.results.missing_by_group) for shard in shards), Counter()),
        left_out=sum(shard.results.left_out for shard in shards),
        complete=not missing and not stopped,
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
    if changed := baseline.refuses(terms_of(results)):
        raise SpecError(refusal(settings.baseline, changed))
    return baseline


def _settings(named: dict[str, Any], path: Path) -> Settings:
    """The settings of a run from those by name in its results; what is not there has its default."""
    values = {**Settings._field_defaults}
    # One by one: pydantic 2.9 cannot read the types of a NamedTuple in a module with postponed annotations.
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
