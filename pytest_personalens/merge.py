"""``python -m pytest_personalens.merge RESULTS.json...``: the shards of a run put together, under its gates and in one report."""

from __future__ import annotations

import argparse
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from pydantic import ConfigDict, Field, ValidationError

from pytest_personalens.commands import errors_told, run
from pytest_personalens.errors import DataError, SpecError
from pytest_personalens.gates import check_gates
from pytest_personalens.readers import number
from pytest_personalens.reports.terminal import summary_lines
from pytest_personalens.reports.transcript import harmless
from pytest_personalens.results import Results, read_results, summarize, write_json
from pytest_personalens.scenario import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_BAD_INPUT: Final = 4  # as pytest's own exit status for it
#: Settings in which shards may differ: what each may spend, and where its machine keeps the dataset, whose name and version count.
_OWN: Final = ("shard", "live", "max_calls", "max_usd", "data")


class Floors(Frozen):
    """The floors of a run; None asks for no gate."""

    model_config = ConfigDict(extra="ignore")
    min_tcr: float | None = Field(ge=0, le=1)
    min_p: float | None = Field(ge=1, le=4)
    min_valid: float = Field(ge=0, le=1)


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
        return {"number of shards": self.of, "dataset": r.dataset, **shared, "requested": r.requested, "drawn": r.drawn}


@errors_told(status=_BAD_INPUT)
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns 0, 1 when a gate or an item failed or not all of the run is there, or 4 for what cannot be merged."""
    options = _parser().parse_args(arguments)
    given = {name: value for name in Floors.model_fields if (value := getattr(options, name)) is not None}
    shards = read_shards(options.results)
    merged = merge(shards, given, partial=options.partial)
    if options.json is not None:
        write_json(merged, options.json)
    print(f"personalens: {len(shards)} of {shards[0].of} shards of a run over {merged.drawn} scenarios of {merged.dataset}")
    for text, _ in summary_lines(merged, verbose=options.verbose, json_path=options.json):
        print(harmless(text))
    failed = [item.nodeid for item in merged.items if item.failed]
    if failed:
        print(harmless(f"failed items: {len(failed)}, whose runs say why; the first is {failed[0]}"))
    return int(bool(failed or merged.lost or not merged.complete or not all(gate.passed for gate in merged.gates)))


def read_shards(paths: Sequence[Path]) -> list[Shard]:
    """The shards in result files, by number. Raises `PersonalensError` unless they are different parts of one run."""
    shards = sorted((_read(path) for path in paths), key=lambda shard: shard.number)
    for one, other in pairwise(shards):
        facts, others = one.facts(), other.facts()
        for name in {**facts, **others}:
            if facts.get(name) != others.get(name):
                was = f"{name} is {facts.get(name)!r} in the first, {others.get(name)!r} in the second"
                raise SpecError(f"{one.path} and {other.path} are not of one run: {was}")
        if one.number == other.number:
            raise SpecError(f"{one.path} and {other.path} are both shard {one.number}/{one.of}; give one of them")
    holders: dict[str, Shard] = {}
    for shard in shards:
        for nodeid in (*(item.nodeid for item in shard.results.items), *shard.results.lost):
            holder = holders.setdefault(nodeid, shard)
            if holder is not shard:
                raise SpecError(f"{holder.path} and {shard.path} both hold {nodeid!r}: they are not shards of one sample")
    return shards


def merge(shards: Sequence[Shard], floors: Mapping[str, float], *, partial: bool = False) -> Results:
    """The results that the run would have had undivided, its dollars to the rounding of each shard's.

    `floors` replace those that the run asked for. Raises `SpecError` if shards are missing or were stopped before their end,
    unless `partial`: then no gate is decided, as in a run that was stopped.
    """
    first = shards[0]
    stopped = [shard for shard in shards if not shard.results.complete]
    missing = first.of - len(shards)
    if not partial:
        if missing:
            absent = next(n for n in range(1, first.of + 1) if n not in {shard.number for shard in shards})
            more = f" (and {missing - 1} more)" if missing > 1 else ""
            raise SpecError(f"shard {absent}/{first.of}{more} is missing: give its results too, or --partial for a report without gates")
        if stopped:
            raise SpecError(f"{stopped[0].path}: its run was stopped; run the shard again, or give --partial for a report without gates")
    items = [item for shard in shards for item in shard.results.items]
    lost = [nodeid for shard in shards for nodeid in shard.results.lost]
    if not items and not lost:
        raise SpecError(f"no item in {len(shards)} results: did the runs collect any test?")
    settings = {**first.results.settings, "shard": None, **floors}
    results = summarize(
        items,
        settings=settings,
        dataset=first.results.dataset,
        requested=first.results.requested,
        drawn=first.results.drawn,
        lost=lost,
        complete=not missing and not stopped,
    )
    results = results.model_copy(update={"usd": _dollars(shards)})
    if not results.complete:
        return results
    return results.model_copy(update={"gates": check_gates(results, **Floors.model_validate(settings).model_dump())})


def _dollars(shards: Sequence[Shard]) -> dict[str, float]:
    purposes = sorted({purpose for shard in shards for purpose in shard.results.usd})
    return {p: round(sum(shard.results.usd.get(p, 0.0) for shard in shards), 6) for p in purposes}


class _Divided(Floors):
    shard: tuple[int, int]


def _read(path: Path) -> Shard:
    results = read_results(path)
    ours = version("pytest-personalens")
    if results.plugin != ours:
        raise DataError(path, f"written by pytest-personalens {results.plugin!r}, this is {ours!r}; use one version in all jobs")
    if results.settings.get("shard") is None:
        raise DataError(path, "the results of a whole run and not of a shard (--personalens-shard K/N): there is nothing to merge")
    try:
        divided = _Divided.model_validate(results.settings)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise DataError(path, first["msg"], field=".".join(str(p) for p in ("settings", *first["loc"]))) from None
    part, of = divided.shard
    if not 1 <= part <= of:
        raise DataError(path, f"there is no shard {part}/{of}", field="settings.shard")
    return Shard(part, of, path, results)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(_BAD_INPUT, f"error: {message}\n")


def _floor(low: float, high: float) -> Any:
    read = number(low, high)

    def floor(text: str) -> float:
        try:
            value: float = read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{error}, not {text!r}") from None
        return value

    return floor


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m pytest_personalens.merge",
        description="Put the results of all shards of a run together, decide its gates, report. Exit code 1 if a gate or an item failed.",
    )
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULTS.json", help="what --personalens-json wrote, a file a shard")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results of the whole run")
    parser.add_argument("--min-tcr", type=_floor(0, 1), metavar="X", help="floor of the task completion rate (default: the run's)")
    parser.add_argument("--min-p", type=_floor(1, 4), metavar="X", help="floor of mean personalization (default: the run's)")
    parser.add_argument("--min-valid", type=_floor(0, 1), metavar="X", help="floor of the share of scored items (default: the run's)")
    parser.add_argument(
        "--partial", action="store_true", help="report also if shards are missing or were stopped; without gates, exit code 1"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="every item below its threshold")
    return parser


if __name__ == "__main__":
    run(main)
