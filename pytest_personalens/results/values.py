"""All results of a run as one versioned value.

The JSON file holds this value, and every report is made from it.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from pytest_personalens.core.atomic_write import write_atomically
from pytest_personalens.core.evaluation import Cause, Evaluation
from pytest_personalens.core.gate import Direction
from pytest_personalens.core.jsonfile import read_versioned, text_of
from pytest_personalens.core.measure import Better, Measure, Score  # noqa: F401 (pydantic 2.9 reads `Shortfall` here)
from pytest_personalens.core.node_ids import without_parameters
from pytest_personalens.core.scenario import Frozen
from pytest_personalens.core.suite import Suite, suite_named
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.core.usage import Usage
from pytest_personalens.core.verdict import MeasureField, SuiteField
from pytest_personalens.results.drift import Drift
from pytest_personalens.results.earlier import Earlier
from pytest_personalens.results.first_version import OLD_SCHEMA, upgraded
from pytest_personalens.results.provenance import Provenance
from pytest_personalens.results.shortfalls import StoredShortfall

if TYPE_CHECKING:
    from pathlib import Path

RESULTS_SCHEMA: Final = "personalens-results/2"
_READ: Final[dict[str, tuple[type, ...]]] = {
    "shard": (list, tuple), "trials": (int,), "judge_votes": (int,), "max_turns": (int,), "context": (str,),
    "users": (list, tuple),
    "control": (list, tuple),
}  # fmt: skip


class Item(Frozen):
    """One test item: its evaluation, its outcome, and its record.

    `status` is "passed" or "low" (below a threshold) for a scored item, and "uncounted" for an item without
    scores. `failed` is the outcome of the test. It may differ from `status`: a low item passes if a gate
    decides, and a test may have its own asserts.
    """

    nodeid: str
    evaluation: Evaluation
    status: Literal["passed", "low", "uncounted"]
    failed: bool = False
    shortfalls: tuple[StoredShortfall, ...] = Field(
        default=(), description="What was below its threshold, such as 'p 1 < 2'."
    )
    record: Literal["none", "replayed", "stale", "written"] = "none"
    record_file: str = Field(
        default="", description="Where its record is, from the root folder; empty if it has none."
    )
    trial: int = Field(
        default=1, ge=1, description="Which run of its scenario this is, from 1 (--personalens-trials)."
    )
    arm: str = Field(
        default="", description="Empty for the run itself; else what the assistant knew instead (a control)."
    )
    given: str = Field(
        default="", description="What the assistant could know: letters of D, I, S; empty for nothing."
    )
    given_user: str = Field(default="", description="Whose context that was, where it was another user's.")
    max_turns: int = Field(default=0, description="The limit of turns; 0 for the benchmark's.")
    content: str = Field(
        default="",
        description="Digest of the scenario's content, by which a later run knows whether it is the same.",
    )
    test: str = Field(default="", description="The test: file, function and its own parameters.")
    usd: float | None = Field(
        default=None,
        description="US dollars of this run for it; null without a model whose price is known.",
    )
    earlier: Earlier | None = Field(
        default=None,
        description="What it was before, by the baseline or by a record that holds another dialogue.",
    )

    @property
    def key(self) -> tuple[str, ...]:
        """Return the user, the task and the test.

        All trials and arms of one scenario in one test share this key, in every run of any sample.
        """
        return (self.evaluation.user, self.evaluation.task, self.test or without_parameters(self.nodeid))

    @property
    def transcript_file(self) -> str:
        """Return the record that holds this dialogue, or an empty text.

        A stale record does not count, because it holds an older dialogue.
        """
        return "" if self.record == "stale" else self.record_file

    @property
    def scenario_key(self) -> tuple[str, str]:
        """Return the user and the task, without the test."""
        return (self.evaluation.user, self.evaluation.task)


class Mean(Frozen):
    """A mean over `count` scored items.

    If there are several trials, each scenario counts by its mean. `value` is null if there are no items.
    """

    value: float | None
    count: int = Field(ge=0)


class Figure(Mean):
    """A figure over `count` scored items.

    `better` says which end of its range is good. `low` to `high` is its 95 % interval. Only figures of the
    whole run or of a whole control have one, if it can be computed.
    """

    low: float | None = None
    high: float | None = None
    better: Better = "high"


class Group(Frozen):
    """The figures of a group of items.

    A multi-domain item counts in each of its domains. `items` is the number of all items, and `scored` is the
    number of those with scores. `figures` holds the mean of each measure, with task completion as a rate
    (TCR). It also holds the metrics that are no means, by their names.
    """

    name: str
    items: int
    scored: int
    figures: dict[str, Figure]


class Gate(Frozen):
    """A gate of the run: a value, its limit, and whether the gate passed.

    The value must reach the limit in the `direction` that is better. `low` to `high` is the 95 % interval of
    the value, if there is one.

    `kind` is "floor" for a metric, "valid" for the share of scored items, "regression" for a comparison with
    a baseline (its value is the change), "lift" for a comparison with a control, "drop" for the
    largest drop from a baseline that is not excluded, or "judge" for a check that
    the judge did not change since it was adopted.
    """

    name: str
    value: float | None
    limit: float
    passed: bool
    message: str
    kind: Literal["floor", "valid", "regression", "lift", "drop", "judge"] = "floor"
    direction: Direction = ">="
    low: float | None = None
    high: float | None = None


class Paired(Frozen):
    """One dimension in two runs of the same scenarios.

    `before` and `after` are the means over `pairs` scenarios. `low` to `high` is the 95 % interval of the
    mean change, null for fewer than three users. `better` and `worse` are numbers of scenarios, by their
    means over equally many trials on each side. If users have several scenarios, the interval and the test
    are over the users.
    """

    dimension: MeasureField
    pairs: int = Field(ge=1)
    users: int = Field(default=0, description="Users of these scenarios; 0 in files of earlier versions.")
    before: float
    after: float
    change: float
    low: float | None = None
    high: float | None = None
    better: int = 0
    worse: int = 0
    p: float = Field(
        default=1.0,
        description=(
            "One-sided, of the paired test for the direction that matters there: a drop from a baseline, a"
            " lift over a control."
        ),
    )

    @property
    def gain(self) -> tuple[float, float | None, float | None]:
        """Return the change and its interval, with positive numbers for improvements."""
        if self.dimension.better == "high":
            return self.change, self.low, self.high
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return -self.change, low, high


class Difference(Paired):
    """The change of one dimension since the baseline.

    `detectable` is the smallest true drop that this number of pairs finds with a probability of 0.8.
    Dimensions that are `gated` are tested together (Holm). The others are only shown.
    """

    gated: bool = False
    margin: float = 0.0
    judged: int = Field(
        default=0,
        description="Scenarios compared in which either run has a score on it; `pairs` of them in both.",
    )
    detectable: float | None = None
    decidable: bool = Field(
        default=True,
        description="False if these scenarios are so few that not even a fall of all would be significant.",
    )
    regressed: bool = False
    largest_drop: float | None = Field(
        default=None,
        description=(
            "The largest drop that is not excluded at the level (one-sided), where a gate asks for it; null"
            " for fewer than three users."
        ),
    )


class Flip(Frozen):
    """A scenario whose score changed.

    With several trials, the scores are means. `nodeids` are those of the items of the run. `records` are the
    files with their dialogues, without stale ones.
    """

    scenario: str
    user: str
    task: str
    dimension: MeasureField
    before: float
    after: float
    nodeids: tuple[str, ...] = ()
    records: tuple[str, ...] = ()

    @property
    def fell(self) -> bool:
        """True for a change for the worse."""
        return self.dimension.is_worse(self.after, self.before)


class Comparison(Frozen):
    """The comparison of the run with a baseline, by scenario."""

    baseline: str = Field(description="The file, as it was given.")
    level: float = Field(description="Chance of any false alarm, over all dimensions together (Holm).")
    compared: int = Field(description="Scenarios scored in both, on any of the same dimensions.")
    shared: int = Field(default=0, description="Scenarios that are in both, scored or not.")
    shared_by_test: int = Field(
        default=0,
        description=(
            "The same by test: scenarios that both have, each once for every test that has scores of it in"
            " the baseline."
        ),
    )
    compared_by_test: int = Field(
        default=0, description="Those of them that the same test ran and scored now."
    )
    differences: tuple[Difference, ...] = ()
    one_sided: dict[MeasureField, Literal["then", "now"]] = Field(
        default_factory=dict,
        description="Dimensions to be gated that only one of the two runs has scores on.",
    )
    flips: tuple[Flip, ...] = ()
    left_out: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Why they could not be compared -> scenarios: 'not run now', 'not scored then', ...",
    )


class Arm(Frozen):
    """A control: the same scenarios without the context, or with another user's.

    `lift` says how much better the run itself was.
    """

    name: str
    overall: Group
    kinds: tuple[Group, ...] = ()
    lift: tuple[Paired, ...] = Field(default=(), description="Before: this arm. After: the run itself.")


class Trials(Frozen):
    """The result of running each scenario several times.

    `pass_k` holds pass^1 to pass^K. Each is the probability that a scenario passes its thresholds in k of k
    trials (Yao et al. 2024, tau-bench). `spread` is the pooled standard deviation within a scenario, by
    dimension.
    """

    count: int
    pass_k: tuple[float | None, ...] = ()
    spread: dict[MeasureField, float] = Field(default_factory=dict)


class Results(Frozen):
    """All results of one run.

    They hold no clock times, so that equal runs give equal files. Every figure covers all trials of the run
    itself. `arms` holds the figures of its controls.
    """

    model_config = ConfigDict(populate_by_name=True)
    schema_version: Literal["personalens-results/2"] = Field(default=RESULTS_SCHEMA, alias="schema")
    plugin: str = Field(default_factory=lambda: version("pytest-personalens"))
    suite: SuiteField = Field(default=FIRST_SUITE, description="What was tested, by the name of its suite.")
    settings: dict[str, Any] = Field(description="The settings of the run, by option name.")
    dataset: str
    origin: dict[str, str] = Field(
        default_factory=dict,
        description=(
            "Of a shard: what all of its run have in common, the commit and the run of the CI service."
        ),
    )
    provenance: Provenance | None = Field(
        default=None, description="What was tested, by git and CI variables; no part of any comparison."
    )
    requested: int = Field(description="Size of the sample that was asked for, of all tests together.")
    drawn: int = Field(
        description="Size of the sample that there was; smaller than `requested` if the dataset has no more."
    )
    complete: bool = Field(
        default=True,
        description="False if the run was stopped before its end, or if shards of it are missing.",
    )
    lost: tuple[str, ...] = Field(
        default=(), description="Node ids of items whose worker died before they reported."
    )
    unevaluated: tuple[str, ...] = Field(
        default=(),
        description=(
            "Node ids of items whose test ended before their dialogue was evaluated: skipped, or failed on"
            " its own."
        ),
    )
    of_controls: tuple[str, ...] = Field(
        default=(), description="Node ids, of those lost or unevaluated, that belong to a control."
    )
    missing_by_group: dict[str, int] = Field(
        default_factory=dict,
        description=(
            "Domain or kind -> number of items of the run itself that brought no result, lost or unevaluated."
        ),
    )
    left_out: int = Field(
        default=0,
        description=(
            "Items of the sample that a selection left out of the tests it ran (-k, -m, --lf, node ids)."
        ),
    )
    items: tuple[Item, ...] = ()
    overall: Group
    domains: tuple[Group, ...] = ()
    kinds: tuple[Group, ...] = ()
    uncounted: dict[Cause, int] = Field(
        default_factory=dict, description="Cause -> number of items without scores."
    )
    turns: Mean | None = Field(
        description="User turns of a dialogue, over the scored items; null in a suite without them."
    )
    by_turn: tuple[Mean, ...] = Field(
        default=(),
        description=(
            "Mean personalization as it stood after each turn of the assistant, where p-turns was read"
            " (paper, Figure 5); its reply to the user's goodbye is left out."
        ),
    )
    unfound_quotes: int = Field(
        default=0, description="Quotes of a model judge that are not in the transcript and were dropped."
    )
    unsupported: int = Field(
        default=0, description="Verdicts of a model judge without any quote that is in the transcript."
    )
    usage: dict[str, Usage] = Field(
        default_factory=dict,
        description="Purpose -> what this run used for it, with all parts of one that was resumed.",
    )
    usd: dict[str, float] = Field(
        default_factory=dict, description="Purpose -> US dollars, for models with a known price."
    )
    trials: Trials | None = Field(default=None, description="Where each scenario was run several times.")
    arms: tuple[Arm, ...] = Field(default=(), description="The controls of the run, where it had any.")
    comparison: Comparison | None = Field(
        default=None, description="The run held against its baseline, where one was given."
    )
    gates: tuple[Gate, ...] = ()
    drift: Drift | None = Field(
        default=None, description="What adopting or checking the judge came to, where that was asked for."
    )
    scenarios: dict[str, Any] = Field(
        default_factory=dict,
        description="Scenario id -> who asked for what, in files that a report is to be made from.",
    )

    @field_validator("scenarios", mode="before")
    @classmethod
    def _of_suite(cls, scenarios: Any, known: ValidationInfo) -> Any:
        if not isinstance(scenarios, dict):
            return scenarios
        kind = suite_named(known.data.get("suite", FIRST_SUITE)).scenario
        return {
            id_: one if isinstance(one, kind) else kind.model_validate(one) for id_, one in scenarios.items()
        }

    @field_validator("settings")
    @classmethod
    def _readable(cls, settings: dict[str, Any]) -> dict[str, Any]:
        # Reports use these settings; they only show the others.
        for name, kind in _READ.items():
            if not isinstance(settings.get(name), (*kind, type(None))):
                raise ValueError(
                    f"{name} is {settings[name]!r:.40}, not {' or '.join(k.__name__ for k in kind)}"
                )
        shard = settings.get("shard")
        if shard is not None and not (len(shard) == 2 and all(isinstance(n, int) for n in shard)):
            raise ValueError(f"shard is {shard!r:.40}, not two whole numbers")
        return settings

    @property
    def of_suite(self) -> Suite:
        """Return the suite that was run."""
        return suite_named(self.suite)

    @property
    def valid_share(self) -> float:
        """Return the share of items that could be scored, 0 to 1.

        It is 0 if there are no items.
        """
        return self.overall.scored / self.expected if self.expected else 0.0

    @property
    def expected(self) -> int:
        """Return the number of items of the run itself.

        It includes items without a result: those lost with their worker, and those that were not evaluated.
        """
        return self.overall.items + sum(map(len, self.missing.values()))

    @property
    def missing(self) -> dict[Cause, tuple[str, ...]]:
        """Return the node ids of the run's own items without a result, by cause.

        A cause without items is left out.
        """
        by_cause: dict[Cause, tuple[str, ...]] = {"lost": self.lost, "unevaluated": self.unevaluated}
        controls = set(self.of_controls)
        own = {
            cause: tuple(nodeid for nodeid in nodeids if nodeid not in controls)
            for cause, nodeids in by_cause.items()
        }
        return {cause: nodeids for cause, nodeids in own.items() if nodeids}

    @property
    def report_only(self) -> bool:
        """True if the run only measures, and nothing in it fails.

        It is false if nothing could be scored, because then nothing was measured.
        """
        return self.settings.get("report_only") is True and bool(self.overall.scored)

    @property
    def unjudged(self) -> bool:
        """True if low items pass and no gate checks the scores.

        The gates then only ask that the scores exist.
        """
        return (
            not self.report_only
            and bool(self.gates)
            and all(gate.kind == "valid" and gate.passed for gate in self.gates)
        )

    @property
    def went_wrong(self) -> bool:
        """True if a score or the assistant made the run fail, or would have.

        An outdated record may then be better than the new dialogue.
        """
        gates = any(
            not gate.passed and gate.value is not None and gate.kind != "valid" for gate in self.gates
        )
        return gates or any(item.failed and item.evaluation.cause in ("", "assistant") for item in self.items)

    @property
    def own(self) -> tuple[Item, ...]:
        """Return the items of the run itself, without its controls."""
        return tuple(i for i in self.items if not i.arm)


def read_results(path: Path) -> Results:
    """Return the results in a file that `write_json` wrote, in this version or the last.

    Raise `DataError` with a text of one line if the file cannot be used.
    """
    return read_versioned(
        path,
        Results,
        RESULTS_SCHEMA,
        what="a results file",
        advice="fetch it or run its tests again",
        upgrade={OLD_SCHEMA: upgraded},
    )


def write_json(results: Results, path: Path) -> None:
    """Write the results to `path`, whose folder must exist.

    The format is the JSON schema of ``docs/reference/results.schema.json``.
    """
    write_atomically(path, text_of(results))


def json_schema() -> dict[str, Any]:
    """Return the published JSON schema of the results file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": RESULTS_SCHEMA,
        **Results.model_json_schema(by_alias=True),
    }
