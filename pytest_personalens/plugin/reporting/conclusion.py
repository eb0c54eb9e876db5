"""What a run comes to: its results from what was reported, and its exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.names import gate_id
from pytest_personalens.core.options.gate import INCONCLUSIVE_EXIT
from pytest_personalens.core.options.option_table import ALL, BY_KEY, keys_of, size_text
from pytest_personalens.core.safe_text import redact
from pytest_personalens.plugin.running.keys import RUN, SETTINGS
from pytest_personalens.plugin.stored.resume import origin

if TYPE_CHECKING:
    from collections.abc import Set

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.plugin.reporting.reported import Reported
    from pytest_personalens.results.comparison.baseline import Baseline
    from pytest_personalens.results.values.results import Results

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
