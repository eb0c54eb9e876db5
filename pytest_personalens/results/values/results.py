"""All results of a run as one versioned value, with its origin, from which every report is made."""

from __future__ import annotations

import os
import re
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from pytest_personalens.core.files.jsonfile import json_parts, read_versioned
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.evaluation import Cause
from pytest_personalens.core.judging.measure import get_measure
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.names import FIRST_SUITE
from pytest_personalens.core.options.gate import control_of, is_gate, parse_gate_name
from pytest_personalens.core.runtime import git
from pytest_personalens.core.suite import Suite, SuiteField, get_suite
from pytest_personalens.results.values.calibration import Calibration
from pytest_personalens.results.values.figures import (
    Comparison,
    ControlFigures,
    Drift,
    Gate,
    Group,
    Latency,
    Mean,
    Slice,
    Trials,
    UserAudit,
)
from pytest_personalens.results.values.item import Item

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


#: Field -> the variables of CI services that hold it, in the order in which they are read. The branch of a
#: pull request comes before the name of its merge.
_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "project": ("GITHUB_REPOSITORY", "CI_PROJECT_PATH"),
    "branch": (
        "GITHUB_HEAD_REF", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME",
    ),
    "commit": ("GITHUB_SHA", "CI_COMMIT_SHA"),
    "committed": ("CI_COMMIT_TIMESTAMP",),
    "pull_request": ("CI_MERGE_REQUEST_IID",),
    "url": ("CI_PIPELINE_URL",),
}  # fmt: skip
_PULL_REQUEST: Final = re.compile(r"refs/pull/(\d+)/")
#: The owner and name at the end of a remote's address. The part before them is left out, because it may hold
#: a password.
_PROJECT: Final = re.compile(r"([^/:@]+/[^/:@]+?)(?:\.git)?/?\s*\Z")
_HEAD: Final = ("log", "-1", "--format=%H%x00%cI%x00%D", "--decorate=full", "--no-show-signature")
#: All files except records, which a run itself may write.
_SOURCES: Final = (":(top)", ":(top,exclude,glob)**/__personalens__/**")
_BRANCH: Final = "HEAD -> refs/heads/"


class Provenance(Frozen):
    """The origin of a run, as far as git and CI variables know it.

    It holds no clock time, so that equal runs of a commit are equal. GitHub Actions tests a pull request
    after its merge, and `commit` is the commit of that merge.
    """

    project: str = Field(default="", description="Owner and name of the repository.")
    branch: str = ""
    commit: str = ""
    committed: str = Field(default="", description="When the commit was made, as ISO 8601.")
    changed: bool = Field(default=False, description="True if files of the commit had been changed.")
    pull_request: str = Field(default="", description="Number of the pull request or merge request.")
    url: str = Field(default="", description="Page of the run of the CI service.")

    @field_validator("committed")
    @classmethod
    def _date(cls, text: str) -> str:
        if text and datetime.fromisoformat(text).tzinfo is None:
            raise ValueError(f"expected a date with its time zone, found {text!r:.40}")
        return text

    @property
    def instant(self) -> datetime:
        """The time of the commit; raises ValueError if it is unknown."""
        return datetime.fromisoformat(self.committed)

    @property
    def day(self) -> str:
        """The day of the commit, such as ``2026-11-22``, or an empty text."""
        return self.committed[:10]

    @property
    def short(self) -> str:
        """The first 9 characters of the commit, with ``+`` for changed files."""
        return self.commit[:9] + "+" * self.changed


def provenance_of(root: Path, environment: Mapping[str, str] = os.environ) -> Provenance | None:
    """Return the origin of the checkout at `root`, or None without git and CI variables.

    Git comes first for the commit and its date, CI variables for the branch and the project.
    """
    fields = {name: next(filter(None, map(environment.get, names)), "") for name, names in _VARIABLES.items()}
    if request := _PULL_REQUEST.match(environment.get("GITHUB_REF", "")):
        fields["pull_request"] = request[1]
    if run := environment.get("GITHUB_RUN_ID"):
        fields["url"] = f"{environment.get('GITHUB_SERVER_URL')}/{fields['project']}/actions/runs/{run}"
    if (head := git(root, *_HEAD)) is None:
        return Provenance(**fields) if any(fields.values()) else None
    fields["commit"], fields["committed"], refs = head.strip().split("\0")
    branches = (ref.removeprefix(_BRANCH) for ref in refs.split(", ") if ref.startswith(_BRANCH))
    fields["branch"] = fields["branch"] or next(branches, "")
    if not fields["project"]:
        project = _PROJECT.search(git(root, "config", "--get", "remote.origin.url") or "")
        fields["project"] = project[1] if project else ""
    changed = bool(git(root, "status", "--porcelain", "--untracked-files=no", "--", *_SOURCES))
    return Provenance(**fields, changed=changed)


RESULTS_SCHEMA: Final = "personalens-results/2"
#: Settings that reports use, by the types that they may have.
_READ: Final[Mapping[tuple[type, ...], tuple[str, ...]]] = {
    (int,): ("trials", "judge_votes", "max_turns"),
    (str,): (
        "context", "prompts", "protocol", "assistant", "judge_model", "user_model", "embedding", "history",
        "suite", "baseline", "kind", "seed",
    ),
    (list, tuple): ("shard", "users", "control", "dialogues", "dimensions", "not_read", "threshold", "reset"),
}  # fmt: skip


class Results(Frozen):
    """All results of one run.

    They hold no clock times, so that equal runs give equal files. Every figure covers all trials of the run
    itself. `arms` holds the figures of its controls.
    """

    model_config = ConfigDict(populate_by_name=True)
    schema_version: Literal["personalens-results/2"] = Field(default=RESULTS_SCHEMA, alias="schema")
    plugin: str = Field(default_factory=lambda: version("pytest-personalens"))
    suite: SuiteField = Field(default=FIRST_SUITE, description="What was tested, by the name of its suite.")
    criteria: tuple[str, ...] = Field(
        default=(),
        description="Criteria of the team's own, as `criterion NAME: TEXT`, those in marks as well.",
    )
    settings: dict[str, Any] = Field(description="The settings of the run, by option name.")
    dataset: str
    origin: dict[str, str] = Field(
        default_factory=dict, description="What the shards of a run have in common."
    )
    provenance: Provenance | None = Field(default=None, description="What was tested; never compared.")
    requested: int = Field(description="Size of the sample that was asked for, of all tests together.")
    drawn: int = Field(description="Size of the sample that there was, at most as many as requested.")
    complete: bool = Field(
        default=True, description="False if the run was stopped, or if shards are missing."
    )
    lost: tuple[str, ...] = Field(default=(), description="Node ids of items whose worker died.")
    unevaluated: tuple[str, ...] = Field(
        default=(), description="Node ids of items whose test ended before their dialogue was evaluated."
    )
    skipped: tuple[str, ...] = Field(default=(), description="Those unevaluated whose test was skipped.")
    of_controls: tuple[str, ...] = Field(default=(), description="Those lost or unevaluated of a control.")
    missing_by_group: dict[str, int] = Field(
        default_factory=dict, description="Domain or kind -> items of the run itself that brought no result."
    )
    left_out: int = Field(
        default=0, description="Items of the sample, or files with such tests, that a selection left out."
    )
    elsewhere: int = Field(
        default=0, description="Scenarios that the domains of the configuration left out of a whole dataset."
    )
    drawn_from: dict[str, int] = Field(default_factory=dict, description="Kind -> items in the dataset.")
    excluded: dict[str, dict[str, int]] = Field(
        default_factory=dict, description="Kind -> why something in the data is no item of it -> how much."
    )
    leaks: dict[str, int] | None = Field(
        default=None, description="What requests give away of the true answer, if any -> number of requests."
    )
    calibration: Calibration | None = Field(
        default=None,
        description="How the judge of task completion read labels, by which its rate is corrected.",
    )
    items: tuple[Item, ...] = ()
    overall: Group
    domains: tuple[Group, ...] = ()
    kinds: tuple[Group, ...] = ()
    slices: tuple[Slice, ...] = Field(default=(), description="Groups of users, where the run has slices.")
    uncounted: dict[Cause, int] = Field(default_factory=dict, description="Cause -> items without scores.")
    user_audit: UserAudit | None = Field(default=None, description="Null in a suite without simulated users.")
    turns: Mean | None = Field(description="User turns of a scored dialogue; null in a suite without them.")
    by_turn: tuple[Mean, ...] = Field(
        default=(),
        description="Mean personalization after each turn of the assistant, where p-turns was read (paper,"
        " Figure 5); its reply to the user's goodbye is left out.",
    )
    latency: Latency | None = Field(
        default=None, description="Null where no reply was timed, or 95 % of them took less than 0.5 s."
    )
    unfound_quotes: int = Field(default=0, description="Quotes of a judge that are not in the transcript.")
    unsupported: int = Field(default=0, description="Verdicts of a judge without any quote that is in it.")
    usage: dict[str, Usage] = Field(default_factory=dict, description="Purpose -> what the run used for it.")
    usd: dict[str, float] = Field(
        default_factory=dict, description="Purpose -> US dollars, if it has a price."
    )
    trials: Trials | None = Field(default=None, description="Where each scenario was run several times.")
    controls: tuple[ControlFigures, ...] = Field(
        alias="arms", default=(), description="The controls of the run, where it had any."
    )
    comparison: Comparison | None = Field(default=None, description="With the baseline, where one was given.")
    gates: tuple[Gate, ...] = ()
    drift: Drift | None = Field(default=None, description="What adopting or checking the judge came to.")
    scenarios: dict[str, Any] = Field(
        default_factory=dict, description="Scenario id -> who asked for what, in files for a report."
    )

    @field_validator("scenarios", mode="before")
    @classmethod
    def _of_suite(cls, scenarios: Any, known: ValidationInfo) -> Any:
        if not isinstance(scenarios, dict):
            return scenarios
        kind = get_suite(known.data.get("suite", FIRST_SUITE)).scenario
        return {
            id_: one if isinstance(one, kind) else kind.model_validate(one) for id_, one in scenarios.items()
        }

    @field_validator("criteria")
    @classmethod
    def _are_criteria(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(get_measure(name).value for name in names)

    @field_validator("settings")
    @classmethod
    def _readable(cls, settings: dict[str, Any]) -> dict[str, Any]:
        for kinds, names in _READ.items():
            for name in names:
                if not isinstance(settings.get(name), (*kinds, type(None))):
                    named = " or ".join(kind.__name__ for kind in kinds)
                    raise ValueError(f"{name} is {settings[name]!r:.40}, not {named}")
        shard = settings.get("shard")
        if shard is not None and not (len(shard) == 2 and all(isinstance(n, int) for n in shard)):
            raise ValueError(f"shard is {shard!r:.40}, not two whole numbers")
        return settings

    @model_validator(mode="after")
    def _known_gates(self) -> Results:
        for gate in self.gates:
            expression = parse_gate_name(gate.name, gate.limit, gate.direction)
            on_figure = gate.kind not in ("regression", "judge")
            if on_figure and not is_gate(expression, self.of_suite):
                raise ValueError(f"the suite {self.suite} has no metric for the gate {gate.name[:60]!r}")
            if on_figure and expression.metric == "drop" and self.comparison is None:
                raise ValueError(f"there is no comparison for the gate {gate.name[:60]!r}")
            controls = self.settings.get("control") or ()
            if expression.metric == "lift" and control_of(expression, self.of_suite, controls) is None:
                raise ValueError(f"there is no control for the gate {gate.name[:60]!r}")
        return self

    @property
    def of_suite(self) -> Suite:
        return get_suite(self.suite).with_criteria(self.criteria)

    @property
    def own(self) -> tuple[Item, ...]:
        """The items of the run itself, without its controls."""
        return tuple(i for i in self.items if not i.control)

    @property
    def expected(self) -> int:
        """The number of items of the run itself, with those that brought no result."""
        return self.overall.items + sum(map(len, self.missing.values()))

    @property
    def missing(self) -> dict[Cause, tuple[str, ...]]:
        """The node ids of the run's own items without a result, by cause; no cause without items."""
        by_cause: dict[Cause, tuple[str, ...]] = {"lost": self.lost, "unevaluated": self.unevaluated}
        controls = set(self.of_controls)
        own = {cause: tuple(id_ for id_ in ids if id_ not in controls) for cause, ids in by_cause.items()}
        return {cause: nodeids for cause, nodeids in own.items() if nodeids}

    @property
    def report_only(self) -> bool:
        """True if nothing in the run fails; false if nothing could be scored, and so nothing was measured."""
        return self.settings.get("report_only") is True and bool(self.overall.scored)

    @property
    def unjudged(self) -> bool:
        """True if low items pass and no gate checks the scores, but only that the scores exist."""
        only_valid = all(gate.kind == "valid" and gate.passed for gate in self.gates)
        return not self.report_only and bool(self.gates) and only_valid

    @property
    def went_wrong(self) -> bool:
        """True if a score or the assistant made the run fail, or would have.

        An outdated record may then be better than the new dialogue.
        """
        gates = any(not g.passed and g.value is not None and g.kind != "valid" for g in self.gates)
        return gates or any(item.failed and item.evaluation.cause in ("", "assistant") for item in self.items)


def read_results(path: Path) -> Results:
    """Return the results in a file that `write_json` wrote; raise `DataError` if it cannot be used."""
    advice = "fetch it or run its tests again"
    return read_versioned(path, Results, RESULTS_SCHEMA, what="a results file", advice=advice)


def write_json(results: Results, path: Path) -> None:
    """Write the results to `path`, whose folder must exist, by ``docs/reference/results.schema.json``."""
    write_atomically(path, json_parts(results))


def json_schema() -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": RESULTS_SCHEMA,
        **Results.model_json_schema(by_alias=True),
    }
