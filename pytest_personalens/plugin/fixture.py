"""The fixture object `personalens`, which runs, judges and asserts one item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from pytest_personalens.core.dialogue import own_place
from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.evaluation import Evaluation, unscored
from pytest_personalens.core.safe_text import harmless
from pytest_personalens.engine.assistant import own_traceback, takes_context
from pytest_personalens.engine.record import earlier_by, first_difference
from pytest_personalens.engine.state import StateSource
from pytest_personalens.engine.work import work
from pytest_personalens.plugin.failures import ItemFailed, ItemFailure, traceback_style
from pytest_personalens.plugin.items import asks_for_context, spec_of, test_of
from pytest_personalens.plugin.keys import EVALUATED, ITEM_KEY, SECONDS
from pytest_personalens.plugin.prefetch import prefetcher_of
from pytest_personalens.plugin.prepare import job_of, rerun_command, store_of
from pytest_personalens.reports.failure_layout import error_lines
from pytest_personalens.reports.transcript import difference_lines, failure_headline, failure_lines
from pytest_personalens.results.item import Item
from pytest_personalens.results.shortfalls import shortfalls_of, uncounted_by

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.scenario import BaseScenario, Context
    from pytest_personalens.plugin.run import Run


class Personalens:
    """One scenario to run against the assistant under test.

    `check()` simulates, judges and asserts the thresholds. `evaluate()` only simulates and judges, and
    returns the `Evaluation` for your own asserts. Both run the dialogue once, and repeated calls return the
    same result.

    `control` is empty for the run itself. Otherwise it says what the assistant knew instead of this user's
    context ("none", "swapped"). The scores of a control are only for comparison, and `check()` then asserts
    no threshold.
    """

    def __init__(
        self,
        *,
        item: pytest.Item,
        run: Run,
        scenario: BaseScenario,
        context: Context,
        assistant: Callable[[list[dict[str, str]]], object],
        state: Any,
    ) -> None:
        #: A `Scenario`, or the class that the suite of the run uses instead.
        self.scenario: Any = scenario
        self._context = context
        self._spec = spec_of(item)
        self._settings = self._spec.settings
        self.control = self._spec.control
        self._item, self._run, self._assistant = item, run, assistant
        self._state = None if state is None else StateSource(state, run.state_fields)
        self._evaluation: Evaluation | None = None
        #: The first difference between the dialogue and its record, as lines.
        self._difference: list[str] = []
        self._raised: Exception | None = None

    def evaluate(self) -> Evaluation:
        """Simulate the dialogue and judge it, or replay its record.

        A low score raises no error.
        """
        if self._evaluation is None:
            result = self._item.stash[ITEM_KEY] = self._result_of_item()
            self._evaluation = self._item.config.stash[EVALUATED] = result.evaluation
            self._item.ihook.pytest_personalens_evaluated(
                item=self._item, scenario=self.scenario, evaluation=self._evaluation
            )
        return self._evaluation

    def check(self) -> Evaluation:
        """Evaluate the item, then fail if a score is below its threshold.

        If a gate of the run decides, a low item passes and is listed.

        An item that could not be scored never passes. It fails if the assistant or its record is at fault. It
        is skipped if the user agent or the judge is at fault and a gate checks the share of scored items. It
        is also skipped if nothing may fail the run.
        """
        __tracebackhide__ = True
        evaluation = self.evaluate()
        result = self._item.stash[ITEM_KEY]
        if result.status == "uncounted":
            if evaluation.cause == "budget":
                pytest.skip(f"not run to its end: {harmless(evaluation.detail)}")
            cause, detail = uncounted_by(evaluation)
            spared = {"item": (), "gate": ("user-agent", "judge"), "nothing": (cause,)}[
                self._settings.fails_on
            ]
            # What was answered and cannot be read is decided by the gates, as a low score is.
            answered = evaluation.answer is not None and self._settings.fails_on == "gate"
            if cause in spared or answered:
                pytest.skip(f"not scored: {cause}: {harmless(detail)}")
            if evaluation.cause == "record":
                raise ItemFailed(ItemFailure(harmless(evaluation.detail), self._record_lines))
            self._fail(result)
        if result.status == "low" and self._settings.fails_on == "item" and not self.control:
            self._fail(result)
        return evaluation

    def _fail(self, result: Item) -> NoReturn:
        # A debugger (--pdb) opens at the end of the traceback, in the assistant's own code if there is any.
        # The traceback is printed only if the user asks for it.
        __tracebackhide__ = True
        trace = own_traceback(self._raised) if self._raised is not None else None
        shown = trace is not None and (
            traceback_style(self._item.config) == "long" or self._item.config.getoption("fulltrace", False)
        )
        evaluation, scenario, rerun = result.evaluation, self.scenario, rerun_command(self._item)

        def lines(width: int, brief: bool) -> list[str]:
            printed = failure_lines(
                evaluation, scenario, result.shortfalls, result.earlier, rerun, width=width, brief=brief
            )
            return printed if trace is None else [*printed, "trace:  add --tb=long"]

        headline = failure_headline(evaluation, result.shortfalls, scenario)
        frame, line = (own_place(self._raised) if self._raised is not None else None) or (None, 0)
        place = None if frame is None else (frame.f_code.co_filename, line)
        raise ItemFailed(ItemFailure(headline, lines, place), pytrace=shown).with_traceback(trace)

    def _record_lines(self, width: int, brief: bool) -> list[str]:
        detail = self._item.stash[ITEM_KEY].evaluation.detail
        return [*error_lines(detail, width), *(f"    {line}" for line in self._difference)]

    def _result_of_item(self) -> Item:
        store = store_of(self._item, self._run, self.scenario)
        try:
            job = job_of(self._item, self._run, store, self._context)
        except RecordError as error:
            return self._result(self._broken(str(error)))
        self._run.tally.see_context(bool(self._settings.control) and self._sees_context())
        ahead = prefetcher_of(self._item, self._run)
        if ahead is not None:
            done = ahead.evaluation(self._item, job, store.keeper, self._assistant, self._state)
        else:
            done = work(job, self._run.participants, self._assistant, store.keeper, self._state)
        self._item.stash[SECONDS] = done.seconds
        stored = store.stored and store.stored.restored(self.scenario)
        if done.evaluation.cause == "record" and stored is not None:
            departs = first_difference(stored.dialogue.messages, done.evaluation.dialogue.messages)
            self._difference = difference_lines(departs.before, departs.now) if departs is not None else []
        self._raised = done.raised
        try:
            record = store.settle(done)
        except RecordError as error:
            lost = {"verdicts": (), "cause": "record", "detail": str(error)}
            return self._result(done.evaluation.model_copy(update=lost))
        root, file = self._item.config.rootpath, store.path
        result = self._result(
            done.evaluation,
            record,
            (file.relative_to(root) if file.is_relative_to(root) else file).as_posix(),
        )
        if record == "replayed":
            return result
        return result.model_copy(update={"earlier": earlier_by(stored, done.evaluation)})

    def _sees_context(self) -> bool:
        if self._run.suite.controls_request(self._settings._asdict()):
            return True
        agents = self._run.participants.agents(self._context, self._settings.thresholds, self.scenario.kind)
        if agents.played is not None:  # a model gets the context in its prompt
            return True
        if agents.service is not None:
            return agents.service.tells_context
        return takes_context(agents.assistant or self._assistant) or (
            agents.assistant is None and asks_for_context(self._item)
        )

    def _broken(self, detail: str) -> Evaluation:
        agents = self._run.participants.agents(self._context, self._settings.thresholds, self.scenario.kind)
        return unscored(
            self.scenario, agents.user_agent.identity, agents.judge.identity, cause="record", detail=detail
        )

    def _result(self, evaluation: Evaluation, record: str = "none", file: str = "") -> Item:
        fault = evaluation.lost_to_user if evaluation.scored else None
        if fault is not None and self._settings.lost_to_user == "unscored":
            lost = {"cause": "user-agent", "detail": f"lost to the user, who {fault.text}"}
            evaluation = evaluation.model_copy(update=lost)
        shortfalls = shortfalls_of(evaluation, self._settings.thresholds)
        undecided = any(measure in self._settings.thresholds for measure in evaluation.unread)
        status = (
            "uncounted"
            if not evaluation.scored
            else "low"
            if shortfalls
            else "uncounted"
            if undecided
            else "passed"
        )
        return Item.model_validate(
            {
                "nodeid": self._item.nodeid,
                "evaluation": evaluation,
                "status": status,
                "shortfalls": shortfalls,
                "record": record,
                "record_file": file if record in ("replayed", "stale", "written") else "",
                "trial": self._spec.trial,
                "arm": self._spec.control,
                "max_turns": self._settings.max_turns,
                "content": self.scenario.digest,
                "test": test_of(self._item),
                "given": self._spec.given,
                "given_user": (other.user if (other := self._run.other_user(self._spec)) is not None else ""),
            }
        )
