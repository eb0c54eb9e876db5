"""What the processes of a run reported, the results that this comes to, and the exit status."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from pytest_personalens.core.names import gate_id, parse_case, skipped_id
from pytest_personalens.core.options.gate import INCONCLUSIVE_EXIT
from pytest_personalens.core.options.option_table import ALL, BY_KEY, keys_of, size_text
from pytest_personalens.core.safe_text import redact
from pytest_personalens.plugin.running.keys import RUN, SETTINGS
from pytest_personalens.plugin.running.run import Tally
from pytest_personalens.plugin.stored.resume import origin

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Set

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results


def scores_text(item: Item) -> str:
    """The scores of an item, by the names of its readings: `` (tc 1, p 3)``; empty where it has none."""
    verdicts = item.evaluation.verdicts if item.evaluation.scored else ()
    scores = ", ".join(f"{v.dimension.short} {v.score}" for v in verdicts)
    return f" ({scores})" if scores else ""


def junit_properties(item: Item) -> list[tuple[str, str]]:
    """Return the JUnit properties of an item: its scores or why it has none, and what else it tells."""
    evaluation = item.evaluation
    acting = [m for m in evaluation.dialogue.messages if m.steps is not None or m.tool_calls]
    scores = [
        (f"personalens_{v.dimension.value.partition(':')[0].replace(' ', '_')}", str(v.score))
        for v in evaluation.verdicts
        if evaluation.scored
    ]
    more = {
        "unread": " ".join(measure.short for measure in evaluation.unread),
        "not_judged": " ".join(measure.short for measure in evaluation.not_judged),
        "tool_calls": str(sum(m.calls for m in acting)) if acting else "",
        "trial": str(item.trial) if item.trial > 1 else "",
        "control": item.control,
    }
    if any(evaluation.latencies):
        from pytest_personalens.results.values.item import item_times

        more |= {name: f"{time:.1f}" for name, time in item_times(item).items()}
    return [
        *(scores or ([("personalens_cause", evaluation.cause)] if evaluation.cause else [])),
        *((f"personalens_{name}", text) for name, text in more.items() if text),
    ]


#: The name of the report property that carries an item's result from a worker to the controller.
PROPERTY: Final = "_personalens_item"
#: The property of an item that should have been evaluated but was not. Its value holds the item's control,
#: its kind and its domains.
UNEVALUATED: Final = "_personalens_unevaluated"


@dataclass(slots=True)
class Reported:
    """The reports of a run, by node id."""

    items: dict[str, Item] = field(default_factory=dict)
    finished: set[str] = field(default_factory=set)
    #: Items whose worker died.
    crashed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    #: Node id -> the item's control (if any), its kind and its domains.
    unevaluated: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: Workers that died.
    died: list[str] = field(default_factory=list)
    #: The counts of the draws as workers sent them.
    drawn: Tally | None = None

    def add(self, report: pytest.TestReport) -> None:
        """Take the report of a phase of an item."""
        if report.when == "teardown" or (report.when != "call" and report.failed):
            self.finished.add(report.nodeid)
        if report.when not in ("setup", "call", "teardown"):
            # xdist reports an item whose worker died with a phase of another name.
            self.crashed.add(report.nodeid)
        if report.failed:
            self.failed.add(report.nodeid)
        if report.skipped:
            self.skipped.add(report.nodeid)
        for name, value in report.user_properties:
            if name == UNEVALUATED:
                self.unevaluated[report.nodeid] = tuple(json.loads(str(value)))
            elif name == PROPERTY:
                # The key is the node id, because --dist=each runs every item on every worker.
                from pytest_personalens.results.values.item import Item

                try:
                    self.items[report.nodeid] = Item.model_validate_json(str(value))
                except ValueError:  # a property of another plugin
                    self.unevaluated.setdefault(report.nodeid, ("",))
        if report.failed and report.nodeid in self.items:
            self.items[report.nodeid] = self.items[report.nodeid].model_copy(update={"failed": True})

    def end_worker(self, worker: str, output: Mapping[str, Any], *, died: bool) -> None:
        """Take what a worker sent when it ended."""
        if died:
            self.died.append(worker)
        if "personalens" in output:
            drawn, so_far = Tally(**json.loads(output["personalens"])), self.drawn
            if so_far is not None:  # this worker may have had no item
                drawn.knows |= so_far.knows
                drawn.waited = max(drawn.waited, so_far.waited)
                drawn.waited_for = drawn.waited_for or so_far.waited_for
                drawn.side_by_side += so_far.side_by_side
                drawn.refused += so_far.refused
            self.drawn = drawn

    @property
    def died_unexplained(self) -> bool:
        """True if workers died after their last item, or by one of several items that ran side by side."""
        return bool(self.died) and not self.crashed

    def missing(
        self, refs: Mapping[str, ScenarioRef], ids: Collection[str], skipped_files: Iterable[str]
    ) -> Missing:
        """Return the items without a result, because they were lost with their worker or not evaluated.

        `refs` is the sample by id, and `ids` are the ids of all scenarios. A file that skipped itself has at
        least one test of the whole sample.
        """
        cases = {nodeid: parse_case(nodeid, ids) for nodeid in self.crashed - set(self.items)}
        lost = {
            nodeid: (case.control, *_groups_of(refs.get(case.scenario)))
            for nodeid, case in cases.items()
            if case is not None
        }
        others = {n: of for n, of in self.unevaluated.items() if n not in self.items and n not in lost}
        for file in skipped_files:
            others |= {skipped_id(file, ref.id): ("", *_groups_of(ref)) for ref in refs.values()}
        every = {**lost, **others}
        return Missing(
            lost=sorted(lost),
            unevaluated=sorted(others),
            skipped=sorted(others.keys() & self.skipped),
            of_controls=sorted(nodeid for nodeid, (control, *_) in every.items() if control),
            missing_by_group=Counter(
                group for control, *groups in every.values() if not control for group in groups
            ),
        )


class Missing(NamedTuple):
    """The node ids of items without a result, in the form for `summarize`."""

    lost: list[str]
    unevaluated: list[str]
    skipped: list[str]
    of_controls: list[str]
    missing_by_group: Counter[str]


def _groups_of(ref: ScenarioRef | None) -> tuple[str, ...]:
    return (ref.kind, *ref.domains) if ref is not None else ()


#: Settings that only decide which files a run writes: equal runs must give equal results.
_NOT_STORED: Final = frozenset({*keys_of("report"), "save_baseline", "adopt_judge"})
#: Causes of a missing score that say nothing about the assistant under test.
_INFRASTRUCTURE: Final = ("user-agent", "judge", "budget")


def results_of(
    config: pytest.Config,
    reported: Reported,
    gates: tuple[GateExpression, ...],
    baseline: Baseline | None,
    *,
    complete: bool,
    even_empty: bool,
) -> Results | None:
    """Return the results of a run from what was reported, with its gates decided; those of a shard without.

    None for a run that evaluated nothing, unless `even_empty`.
    """
    from pytest_personalens.results.summarize import conclude, summarize

    settings, run = config.stash[SETTINGS], config.stash[RUN]
    drawn = reported.drawn or run.drawn()
    refs = {ref.id: ref for ref in run.sample(settings).refs}
    missing = reported.missing(refs, {*run.ids, *drawn.ids}, drawn.skipped)
    if not (reported.items or any(missing) or even_empty or settings.shard is not None):
        return None
    drawn_from, excluded = run.suite.source(run.dataset)
    results = summarize(
        reported.items.values(),
        settings=_stored_settings(settings, config),
        dataset=f"{run.dataset.name} {run.dataset.version}",
        requested=drawn.requested,
        drawn=drawn.drawn,
        **missing._asdict(),
        left_out=drawn.left_out,
        elsewhere=drawn.elsewhere,
        prices=run.participants.role_prices(),
        complete=complete,
        drawn_from=drawn_from,
        excluded=excluded,
        calibration=run.calibration,
        side_by_side=max(1, drawn.side_by_side),
    )
    run.add_personas(drawn.personas)
    more: dict[str, Any] = {}
    if settings.shard is not None:
        more["origin"] = origin(config.rootpath)
    if settings.report:  # it names users and their wishes, and not only scores
        more["scenarios"] = run.scenarios(results.own)
    if settings.report or settings.save_baseline is not None:
        from pytest_personalens.results.values.results import provenance_of

        more["provenance"] = provenance_of(config.rootpath)
    results = results.model_copy(update=more)
    # A shard is only a part of a run. The merge of all parts draws the conclusions.
    if settings.shard is not None:
        return results
    return conclude(results, settings._replace(gate=gates), baseline)


def _stored_settings(settings: Settings, config: pytest.Config) -> dict[str, Any]:
    """Return the settings by name as the results hold them, without secrets.

    `reset` names those that ``-o`` sets back to their defaults, whatever the configuration says.
    """
    stored = settings._asdict()
    overridden = {word.partition("=")[0] for word in config.getoption("override_ini", None) or ()}
    stored["reset"] = [
        key for key, o in BY_KEY.items() if o.ini in overridden and stored.get(key) == o.default
    ]
    if stored["sample"] == ALL:
        stored["sample"] = size_text(ALL)
    return {
        name: redact(value) if isinstance(value, str) else value
        for name, value in stored.items()
        if name not in _NOT_STORED
    }


def exit_status(
    session: pytest.Session, reported: Reported, results: Results | None, *, broken: bool, unwritten: bool
) -> int:
    """Return the exit status of a run that pytest would end with ``session.exitstatus``: `broken` by an
    internal error, or with files `unwritten`.
    """
    status, settings = session.exitstatus, session.config.stash[SETTINGS]
    if settings.shard is not None and status == pytest.ExitCode.NO_TESTS_COLLECTED:
        # If -k or -m left nothing of this shard: the merge refuses shards without any item.
        drawn = reported.drawn or session.config.stash[RUN].drawn()
        status = pytest.ExitCode.OK if drawn.requested else status
    # If a worker cannot send its last report, xdist (3.8) prints INTERNALERROR and exits with 0.
    unreported = session.testscollected - len(reported.finished)
    stopped = session.shouldstop or session.shouldfail or session.config.option.collectonly
    broken = broken or (unreported > 0 and not stopped) or reported.died_unexplained
    if status == pytest.ExitCode.OK and (broken or unwritten):
        return pytest.ExitCode.INTERNAL_ERROR
    if status == pytest.ExitCode.TESTS_FAILED and not broken:
        if _only_inconclusive(results, reported.failed):
            return INCONCLUSIVE_EXIT
        if settings.exit_infra and only_infrastructure(results, reported.failed):
            return settings.exit_infra
    return status


def _only_inconclusive(results: Results | None, failed: Set[str]) -> bool:
    """True if all that `failed`, by node id, are gates that an interval does not decide."""
    if results is None or not failed:
        return False
    return failed <= {gate_id(gate.name) for gate in results.gates if gate.inconclusive}


def only_infrastructure(results: Results | None, failed: Set[str]) -> bool:
    """True if all that `failed`, by node id, has causes outside the assistant under test."""
    if results is None or not failed or not set(results.uncounted) <= set(_INFRASTRUCTURE):
        return False
    items = {
        i.nodeid
        for i in results.items
        if i.evaluation.cause in _INFRASTRUCTURE or (i.status == "uncounted" and i.evaluation.unread)
    }
    few = any(g.kind == "valid" and not g.passed for g in results.gates) or not results.overall.scored
    gates = {gate_id(g.name) for g in results.gates if g.kind == "valid" or (few and g.value is None)}
    return failed <= items | gates
