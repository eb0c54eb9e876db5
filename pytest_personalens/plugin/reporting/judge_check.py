"""Has the judge of a run read the anchors, and compares it with its baseline, in the controlling process."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.destinations import writable
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.judging.usage import add_usage
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.options.option_table import BY_KEY
from pytest_personalens.core.scenario import Context
from pytest_personalens.engine.records.on_tape import JudgeByCase
from pytest_personalens.judge_quality.drift.anchors import (
    AdoptedJudge,
    Scored,
    open_anchors,
    read_adopted,
    read_anchors,
)
from pytest_personalens.judge_quality.drift.drift import detect_drift
from pytest_personalens.plugin.input_errors import input_error
from pytest_personalens.plugin.reporting.outputs import path_of
from pytest_personalens.results.values.figures import Drift

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.judging.usage import Usage
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.judge_quality.drift.anchors import Readings
    from pytest_personalens.models.meter import Meter
    from pytest_personalens.models.tape import Tape
    from pytest_personalens.plugin.running.run import Run
    from pytest_personalens.results.values.results import Results


class JudgeCheck:
    """``--personalens-adopt-judge`` or ``--personalens-check-judge``; `pytest.UsageError` for bad input."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._settings = settings
        # What is compared by values is no model's opinion, and cannot drift.
        self._dimensions = [Dimension(d) for d in settings.dimensions if d != Dimension.FACTS]
        option = BY_KEY["adopt_judge" if settings.adopt_judge else "check_judge"]
        self._flag, self._path = option.long, path_of(config, settings, option)
        self._then: AdoptedJudge | None = None
        try:
            self.anchors = open_anchors(anchors_path(config, settings))
        except DataError as error:
            raise input_error(f"personalens_anchors: {error}", code=error.code) from None
        try:
            if settings.adopt_judge:
                writable(self._path, self._flag)
            else:
                self._then = self._read()
        except SpecError as error:
            raise input_error(str(error), code=error.code) from None

    def admit(self, config: pytest.Config, run: Run) -> None:
        """Refuse, before any test runs, a judge that costs money in a run that may not spend."""
        idle = config.option.collectonly or self._settings.estimate
        if not (self._settings.may_spend or idle) and self._judge(run)[0].paid:
            raise input_error(
                f"{self._flag}: {self._settings.judge_model} costs money: add --personalens-record live to"
                f" have it read {len(self.anchors.dialogues)} anchors on {len(self._dimensions)} dimensions",
                code="PL304",
            )

    def conclude(self, run: Run, results: Results) -> tuple[Drift, dict[str, Usage]]:
        """Read the anchors, compare or save the readings, and return the result and the usage."""
        judge, usage = self._judge(run)
        at_once = run.at_once if getattr(judge, "parallel", False) else 1
        readings = read_anchors(self.anchors, judge, self._dimensions, at_once=at_once)
        now = self._baseline(run, judge, readings, results)
        drift = self._unreadable(readings, judge) or (
            self._adopt(now) if self._then is None else detect_drift(self._then, now)
        )
        drift = drift.model_copy(
            update={"notes": (*drift.notes, *(f"not read: {fault}" for fault in readings.faults))}
        )
        return drift, {f"anchor {purpose}": used for purpose, used in usage().items()}

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

    def _baseline(self, run: Run, judge: Judge, readings: Readings, results: Results) -> AdoptedJudge:
        scored = [i for i in results.own if i.evaluation.scored]
        tests = Counter(key[:2] for key in {i.key for i in results.own})
        scores = {}
        for item in scored:
            e = item.evaluation
            key = f"{e.dataset}/{e.scenario}"
            if tests[item.scenario_key] > 1:  # several tests have it, each with its own settings
                key += f" in {item.test}"
            if item.trial > 1:
                key += f", trial {item.trial}"
            words = hashlib.sha256(e.dialogue.model_dump_json().encode()).hexdigest()[:16]
            read = {v.dimension: v.score for v in e.verdicts if v.dimension in self._dimensions}
            scores[key] = Scored(dialogue=words, scores=read)
        # Models vary a little from call to call. A custom judge can state that it does not, or that it does.
        exact = getattr(
            judge,
            "deterministic",
            not judge.paid and not any(role.startswith("judge") for role in run.participants.models()),
        )
        assistants = {
            i.evaluation.assistant or self._settings.assistant or "the fixture personalens_assistant"
            for i in results.items
        }
        return AdoptedJudge(
            judge=judge.identity,
            exact=bool(exact),
            anchors=self.anchors.digest,
            verdicts=readings.verdicts,
            assistant=", ".join(sorted(assistants)),
            setup={
                "the user agent": ", ".join(sorted({i.evaluation.user_agent for i in results.items})),
                "the context": self._settings.context or "none",
                "the limit of turns": str(self._settings.max_turns or "the benchmark's"),
            },
            scores=scores,
        )

    def _unreadable(self, readings: Readings, judge: Judge) -> Drift | None:
        """Return a failure if too few readings succeeded to decide, else None."""
        wanted = len(self.anchors.dialogues) * len(self._dimensions) - readings.not_judged
        read = sum(map(len, readings.verdicts.values()))
        if not readings.stopped and read and read >= self._settings.valid_floor * wanted:
            return None
        why = (
            readings.stopped or f"the floor is {self._settings.valid_floor:.0%}; first: {readings.faults[0]}"
        )
        coverage = f"{read} of {wanted} anchor verdicts were read ({why})"
        if self._then is not None:
            problem = f"the judge could not be checked: {coverage}"
            return Drift(outcome="the judge could not be checked", sentence=problem, judge=judge.identity)
        return self._not_adopted(f"{coverage}; {self._path.name} was not written", judge.identity)

    def _adopt(self, now: AdoptedJudge) -> Drift:
        try:
            write_atomically(self._path, now.text())
        except OSError as error:
            return self._not_adopted(f"cannot write {self._path}: {error.strerror}", now.judge)
        content = (
            f"{len(self.anchors.dialogues)} anchors and the scores of {len(now.scores)} scenarios are in"
            f" {self._settings.adopt_judge}"
        )
        return Drift(
            outcome="the judge was adopted", sentence=f"the judge was adopted: {content}", judge=now.judge
        )

    def _not_adopted(self, why: str, judge: str) -> Drift:
        return Drift(
            outcome="the judge could not be adopted",
            sentence=f"the judge could not be adopted: {why}",
            judge=judge,
        )

    def _read(self) -> AdoptedJudge:
        try:
            then = read_adopted(self._path)
        except DataError as error:
            raise input_error(f"{self._flag}: {error}", code=error.code) from None
        if then.anchors != self.anchors.digest:
            raise input_error(
                f"{self._flag}: {self._path.name} was adopted with other anchors ({then.anchors}, these are"
                f" {self.anchors.digest}); give them with personalens_anchors in the configuration, or adopt"
                " the judge again",
                code="PL604",
            )
        if set(then.verdicts) != set(self._dimensions):
            had, have = (
                ",".join(d.short for d in Dimension if d in of) for of in (then.verdicts, self._dimensions)
            )
            raise input_error(
                f"{self._flag}: {self._path.name} was adopted with the dimensions {had}, this run reads"
                f" {have}; give --personalens-dimensions {had}, or adopt the judge again",
                code="PL604",
            )
        return then


def anchors_path(config: pytest.Config, settings: Settings) -> Path | None:
    """Return the file of ``personalens_anchors``, or None for the embedded anchors."""
    if settings.anchors is None:
        return None
    return path_of(config, settings, BY_KEY["anchors"])
