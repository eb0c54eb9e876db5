"""All results of a run as one versioned value: what the JSON file holds and every report is made from."""

from __future__ import annotations

import json
from collections import Counter
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import ConfigDict, Field, ValidationError

from pytest_personalens.drift.values import Drift
from pytest_personalens.errors import DataError
from pytest_personalens.evaluation import Evaluation, Usage
from pytest_personalens.scenario import Frozen
from pytest_personalens.verdict import Dimension

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.models.meter import Price

SCHEMA: Final = "personalens-results/1"


class Item(Frozen):
    """One test item: its evaluation, what became of it, and how much of it was replayed from its record.

    `status` is "passed" or "low" (below a threshold) for a scored item; "uncounted" for one without scores. `failed` is what
    the test made of it: a low item passes where a gate decides, and a test may have asserts of its own.
    """

    nodeid: str
    evaluation: Evaluation
    status: Literal["passed", "low", "uncounted"]
    failed: bool = False
    shortfalls: tuple[str, ...] = Field(default=(), description="What was below its threshold, such as 'p 1 < 2'.")
    record: Literal["none", "replayed", "stale", "written"] = "none"


class Mean(Frozen):
    """A mean over the scored items; `value` is null when there are none."""

    value: float | None
    count: int = Field(ge=0)


class Group(Frozen):
    """The figures of a group of items; a multi-domain item counts in each of its domains.

    `items` are all, `scored` those with scores; `means` is keyed by dimension, task completion as a rate (TCR).
    """

    name: str
    items: int
    scored: int
    means: dict[str, Mean]


class Gate(Frozen):
    """A gate of the run: the value that was measured against its floor."""

    name: str
    value: float | None
    floor: float
    passed: bool
    message: str


class Results(Frozen):
    """Everything about one run. Holds no clock times, so that equal runs give equal files."""

    model_config = ConfigDict(populate_by_name=True)
    schema_version: Literal["personalens-results/1"] = Field(default=SCHEMA, alias="schema")
    plugin: str = Field(default_factory=lambda: version("pytest-personalens"))
    settings: dict[str, Any] = Field(description="The settings of the run, by option name.")
    dataset: str
    requested: int = Field(description="Size of the sample that was asked for, of all tests together.")
    drawn: int = Field(description="Size of the sample that there was; smaller than `requested` if the dataset has no more.")
    complete: bool = Field(default=True, description="False if the run was stopped before its end, or if shards of it are missing.")
    lost: tuple[str, ...] = Field(default=(), description="Node ids of items whose worker died before they reported.")
    items: tuple[Item, ...] = ()
    overall: Group
    domains: tuple[Group, ...] = ()
    kinds: tuple[Group, ...] = ()
    uncounted: dict[str, int] = Field(default_factory=dict, description="Cause -> number of items without scores.")
    turns: Mean = Field(description="User turns of a dialogue, over the scored items.")
    by_turn: tuple[Mean, ...] = Field(
        default=(),
        description="Mean personalization as it stood after each turn of the assistant, where p-turns was read (paper, Figure 5).",
    )
    usage: dict[str, Usage] = Field(default_factory=dict, description="Purpose -> what this run used for it.")
    usd: dict[str, float] = Field(default_factory=dict, description="Purpose -> US dollars, for models with a known price.")
    gates: tuple[Gate, ...] = ()
    drift: Drift | None = Field(default=None, description="What adopting or checking the judge came to, where that was asked for.")

    @property
    def valid_share(self) -> float:
        """Share of items that could be scored, 0 to 1; 0 for none at all."""
        total = self.overall.items + len(self.lost)
        return self.overall.scored / total if total else 0.0


def summarize(
    items: Iterable[Item],
    *,
    settings: dict[str, Any],
    dataset: str,
    requested: int,
    drawn: int,
    lost: Sequence[str] = (),
    prices: Mapping[str, Price] = MappingProxyType({}),
    complete: bool = True,
) -> Results:
    """The results of `items`, in a fixed order whatever order they arrived in. `prices` are those of the roles' models."""
    ordered = tuple(sorted(items, key=lambda i: i.nodeid))
    scored = [i for i in ordered if i.evaluation.scored]
    names = sorted({d for i in ordered for d in i.evaluation.domains})
    kinds = sorted({i.evaluation.kind for i in ordered}, reverse=True)
    causes: Counter[str] = Counter(i.evaluation.cause for i in ordered if not i.evaluation.scored)
    if lost:
        causes["lost"] += len(lost)
    usage: dict[str, Usage] = {}
    for item in ordered:
        for purpose, used in item.evaluation.usage.items():
            usage[purpose] = usage.get(purpose, Usage()) + used
    return Results(
        settings=settings,
        dataset=dataset,
        requested=requested,
        drawn=drawn,
        complete=complete,
        lost=tuple(sorted(lost)),
        items=ordered,
        overall=_group("overall", ordered),
        domains=tuple(_group(d, [i for i in ordered if d in i.evaluation.domains]) for d in names),
        kinds=tuple(_group(k, [i for i in ordered if i.evaluation.kind == k]) for k in kinds),
        uncounted=dict(sorted(causes.items())),
        turns=_mean([i.evaluation.dialogue.user_turns for i in scored]),
        by_turn=_by_turn(scored),
        usage=dict(sorted(usage.items())),
        usd=_dollars(usage, prices),
    )


def with_drift(results: Results, drift: Drift, usage: Mapping[str, Usage], *, prices: Mapping[str, Price]) -> Results:
    """The results with what adopting or checking the judge came to and used."""
    total = dict(sorted({**results.usage, **usage}.items()))
    return results.model_copy(update={"drift": drift, "usage": total, "usd": _dollars(total, prices)})


def role_of(purpose: str) -> str:
    """Who a purpose belongs to: ``judge`` for ``judge tc`` and ``anchor judge tc``; ``user agent`` and ``assistant`` are roles."""
    return "judge" if purpose.startswith(("judge ", "anchor judge ")) else purpose


def read_results(path: Path) -> Results:
    """The results in a file that `write_json` wrote. Raises `DataError` saying in one line what is wrong with it."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise DataError(path, f"not valid JSON ({error}); fetch it or run its tests again") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise DataError(path, f"not a results file of this version: its schema is {str(schema)[:60]!r}, not {SCHEMA!r}")
    try:
        return Results.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise DataError(path, first["msg"], field=".".join(str(p) for p in first["loc"])) from None


def write_json(results: Results, path: Path) -> None:
    """Write the results to `path`, whose folder exists; the format is the JSON schema of ``docs/reference/results.schema.json``."""
    text = json.dumps(results.model_dump(mode="json", by_alias=True), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def json_schema() -> dict[str, Any]:
    """The published JSON schema of the results file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA, **Results.model_json_schema(by_alias=True)}


def _group(name: str, items: Sequence[Item]) -> Group:
    scored = [i.evaluation for i in items if i.evaluation.scored]
    means = {}
    for dimension in Dimension:
        scores = [s for s in (e.score(dimension) for e in scored) if s is not None]
        if scores:
            means[dimension.value] = _mean(scores)
    return Group(name=name, items=len(items), scored=len(scored), means=means)


def _dollars(usage: Mapping[str, Usage], prices: Mapping[str, Price]) -> dict[str, float]:
    return {p: round(prices[role_of(p)].of(used), 6) for p, used in sorted(usage.items()) if role_of(p) in prices}


def _by_turn(scored: Sequence[Item]) -> tuple[Mean, ...]:
    read = [v.turns for i in scored for v in i.evaluation.verdicts if v.turns]
    return tuple(_mean([turns[n] for turns in read if n < len(turns)]) for n in range(max(map(len, read), default=0)))


def _mean(values: Sequence[float]) -> Mean:
    # Rounded, so that the last bits of a sum do not depend on the platform.
    return Mean(value=round(sum(values) / len(values), 6) if values else None, count=len(values))
