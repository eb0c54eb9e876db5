"""A judge of many dialogues, such as labelled ones, each with a tape of its own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import JudgeFault, RecordError
from pytest_personalens.engine.records.on_tape import copy_traits, dialogue_digest
from pytest_personalens.models.tape import Tape, TapeRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.judging.measure import Measure
    from pytest_personalens.core.judging.verdict import Judge, Verdict
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.models.call_log import CallLog


class JudgeByCase:
    """A judge whose readings are in the `log`, where each dialogue is a case; several threads may use it.

    `open_judge` returns the judge of a tape. Without `may_spend`, it asks nothing that costs money. With
    `anew`, it uses only what this run bought. If `strict`, a damaged line of the log is an error.
    """

    def __init__(
        self,
        open_judge: Callable[[Tape], Judge],
        log: CallLog | None,
        *,
        may_spend: bool,
        anew: bool = False,
        strict: bool = False,
    ) -> None:
        judge = open_judge(Tape())
        self.identity, self.paid = judge.identity, judge.paid
        self.parallel = getattr(judge, "parallel", False)
        copy_traits(judge, self)
        self._open, self._log, self._strict = open_judge, log, strict
        self._rules = TapeRules(may_spend=may_spend, anew=anew, run=log.run if log is not None else "")
        self._judges: dict[str, Judge] = {}
        self._lock = threading.Lock()
        self._unkept: RecordError | None = None

    def knows(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> bool:
        """True if the reading costs nothing; only without `may_spend`."""
        try:
            self.verdict(scenario, dialogue, dimension)
        except JudgeFault:
            return True  # the answer is there, and cannot be read
        except RecordError:
            if self._strict:
                self._refuse_damaged(scenario, dialogue)
            return False
        return True

    def verdict(self, scenario: BaseScenario, dialogue: Dialogue, dimension: Measure) -> Verdict:
        """Return the verdict that is known, or that of the judge."""
        with self._lock:
            if self._unkept is not None:
                raise RecordError(str(self._unkept))
            case = _case_of(scenario, dialogue)
            if case not in self._judges:
                calls = self._log.case(case, anew=self._rules.anew) if self._log is not None else None
                self._judges[case] = self._open(Tape(self._rules, calls=calls, unkept=self._stop))
            judge = self._judges[case]
        return judge.verdict(scenario, dialogue, dimension)

    def _stop(self, error: RecordError) -> None:
        self._unkept = error

    def _refuse_damaged(self, scenario: BaseScenario, dialogue: Dialogue) -> None:
        assert self._log is not None
        calls = self._log.case(_case_of(scenario, dialogue))
        calls.rows()
        if calls.damaged:
            raise RecordError(
                f"{calls.file}: line {calls.damaged[0]} was edited or is cut off; delete it to have the"
                " dialogue read anew"
            ) from None


def _case_of(scenario: BaseScenario, dialogue: Dialogue) -> str:
    return f"{scenario.id}+{dialogue_digest(dialogue)}"
