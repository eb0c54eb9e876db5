"""Has the judge of a run read the anchors, and compares it with its baseline, in the controlling process."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import reduce
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.destinations import writable
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.judging.usage import add_usage
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.options.option_table import BY_KEY
from pytest_personalens.core.scenario import Context
from pytest_personalens.engine.agents_on_tape import JudgeByCase
from pytest_personalens.judge_quality.drift import (
    AdoptedJudge,
    Scored,
    detect_drift,
    open_anchors,
    read_adopted,
    read_anchors,
)
from pytest_personalens.plugin.reporting.outputs import path_of
from pytest_personalens.results.values.figures import Drift, DriftOutcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from pytest_personalens.core.judging.usage import Usage
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.judge_quality.drift import Readings
    from pytest_personalens.models.meter import Meter
    from pytest_personalens.models.tape import Tape
    from pytest_personalens.plugin.running.run import Run
    from pytest_personalens.results.values.results import Results


class JudgeCheck:
    """``--personalens-adopt-judge`` or ``--personalens-check-judge``; a `PersonalensError` for bad input."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._settings = settings
        # What is compared by values is no model's opinion, and cannot drift.
        self._dimensions = [Dimension(d) for d in settings.dimensions if d != Dimension.FACTS]
        option = BY_KEY["adopt_judge" if settings.adopt_judge else "check_judge"]
        self._flag, self._path = option.long, path_of(config, settings, option)
        try:
            self.anchors = open_anchors(anchors_path(config, settings))
        except DataError as error:
            raise SpecError(f"personalens_anchors: {error}", code=error.code) from None
        self._then: AdoptedJudge | None = None
        if settings.adopt_judge:
            writable(self._path, self._flag)
        else:
            self._then = self._read()

    def admit(self, config: pytest.Config, run: Run) -> None:
        """Refuse, before any test runs, a judge that costs money in a run that may not spend."""
        idle = config.option.collectonly or self._settings.estimate
        if not (self._settings.may_spend or idle) and self._judge(run)[0].paid:
            raise SpecError(
                f"{self._flag}: {self._settings.judge_model} costs money: add --personalens-record live to"
                f" have it read {len(self.anchors.dialogues)} anchors on {len(self._dimensions)} dimensions",
                code="PL304",
            )

    def conclude(self, run: Run, results: Results) -> tuple[Drift, dict[str, Usage]]:
        """Read the anchors, compare or save the readings, and return the result and the usage."""
        judge, usage = self._judge(run)
        at_once = run.at_once if getattr(judge, "parallel", False) else 1
        readings = read_anchors(self.anchors, judge, self._dimensions, at_once=at_once)
        now = self._now(run, judge, readings, results)
        drift = self._unreadable(readings, now) or (
            self._adopt(now) if self._then is None else detect_drift(self._then, now)
        )
        notes = (*drift.notes, *(f"not read: {fault}" for fault in readings.faults))
        used = {f"anchor {purpose}": used for purpose, used in usage().items()}
        return drift.model_copy(update={"notes": notes}), used

    def _judge(self, run: Run) -> tuple[Judge, Callable[[], dict[str, Usage]]]:
        """Return the judge, whose readings are kept if this run is interrupted, and what they cost so far.

        Another run asks anew: the endpoint may have changed the model since.
        """
        meters: list[Meter] = []

        def opened(tape: Tape) -> Judge:
            agents = run.participants.agents(Context(user="anchors"), self._settings.thresholds, tape=tape)
            meters.append(agents.meter)
            return agents.judge

        judge = JudgeByCase(opened, run.state.log, may_spend=self._settings.may_spend, anew=True)
        return judge, lambda: reduce(add_usage, (meter.usage for meter in meters))

    def _now(self, run: Run, judge: Judge, readings: Readings, results: Results) -> AdoptedJudge:
        """Return the judge as it is in this run, with its readings of the anchors and its scores."""
        tests = Counter(key[:2] for key in {i.key for i in results.own})
        scores = {}
        for item in (i for i in results.own if i.evaluation.scored):
            e = item.evaluation
            # Several tests may have a scenario, each with its own settings.
            test = f" in {item.test}" if tests[item.scenario_key] > 1 else ""
            trial = f", trial {item.trial}" if item.trial > 1 else ""
            words = hashlib.sha256(e.dialogue.model_dump_json().encode()).hexdigest()[:16]
            read = {v.dimension: v.score for v in e.verdicts if v.dimension in self._dimensions}
            scores[f"{e.dataset}/{e.scenario}{test}{trial}"] = Scored(dialogue=words, scores=read)
        # Models vary a little from call to call. A custom judge can state that it does not, or that it does.
        by_model = judge.paid or any(role.startswith("judge") for role in run.participants.models())
        agents = [i.evaluation for i in results.items]
        ours = self._settings.assistant or "the fixture personalens_assistant"
        return AdoptedJudge(
            judge=judge.identity,
            exact=bool(getattr(judge, "deterministic", not by_model)),
            anchors=self.anchors.digest,
            verdicts=readings.verdicts,
            assistant=", ".join(sorted({e.assistant or ours for e in agents})),
            setup={
                "the user agent": ", ".join(sorted({e.user_agent for e in agents})),
                "the context": self._settings.context or "none",
                "the limit of turns": str(self._settings.max_turns or "the benchmark's"),
            },
            scores=scores,
        )

    def _unreadable(self, readings: Readings, now: AdoptedJudge) -> Drift | None:
        """Return a failure if too few readings succeeded to decide, else None."""
        wanted = len(self.anchors.dialogues) * len(self._dimensions) - readings.not_judged
        read, floor = sum(map(len, readings.verdicts.values())), self._settings.valid_floor
        if not readings.stopped and read and read >= floor * wanted:
            return None
        why = readings.stopped or f"the floor is {floor:.0%}; first: {readings.faults[0]}"
        coverage = f"{read} of {wanted} anchor verdicts were read ({why})"
        if self._then is not None:
            return _drift("the judge could not be checked", coverage, now)
        return _drift("the judge could not be adopted", f"{coverage}; {self._path.name} was not written", now)

    def _adopt(self, now: AdoptedJudge) -> Drift:
        try:
            write_atomically(self._path, now.text())
        except OSError as error:
            why = f"cannot write {self._path}: {error.strerror}"
            return _drift("the judge could not be adopted", why, now)
        content = f"{len(self.anchors.dialogues)} anchors and the scores of {len(now.scores)} scenarios"
        return _drift("the judge was adopted", f"{content} are in {self._settings.adopt_judge}", now)

    def _read(self) -> AdoptedJudge:
        try:
            then = read_adopted(self._path)
        except DataError as error:
            raise SpecError(f"{self._flag}: {error}", code=error.code) from None
        was = f"{self._flag}: {self._path.name} was adopted with"
        if then.anchors != self.anchors.digest:
            raise SpecError(
                f"{was} other anchors ({then.anchors}, these are {self.anchors.digest}); give them with"
                " personalens_anchors in the configuration, or adopt the judge again",
                code="PL604",
            )
        if set(then.verdicts) != set(self._dimensions):
            had, have = (
                ",".join(d.short for d in Dimension if d in of) for of in (then.verdicts, self._dimensions)
            )
            raise SpecError(
                f"{was} the dimensions {had}, this run reads {have}; give --personalens-dimensions {had}, or"
                " adopt the judge again",
                code="PL604",
            )
        return then


def _drift(outcome: DriftOutcome, why: str, now: AdoptedJudge) -> Drift:
    return Drift(outcome=outcome, sentence=f"{outcome}: {why}", judge=now.judge)


def anchors_path(config: pytest.Config, settings: Settings) -> Path | None:
    """Return the file of ``personalens_anchors``, or None for the embedded anchors."""
    return None if settings.anchors is None else path_of(config, settings, BY_KEY["anchors"])
