"""The fixture object `personalens`: runs this item's scenario, judges it and asserts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.evaluation import Evaluation, unscored
from pytest_personalens.core.safe_text import harmless
from pytest_personalens.core.verdict import Dimension, dimension
from pytest_personalens.engine.assistant import own_traceback, takes_context
from pytest_personalens.engine.job import work
from pytest_personalens.engine.record import first_difference
from pytest_personalens.plugin.items import asks_for_context, test_of
from pytest_personalens.plugin.keys import ITEM_KEY, SECONDS
from pytest_personalens.plugin.prefetch import prefetcher_of
from pytest_personalens.plugin.prepare import prepare, rerun
from pytest_personalens.reports.transcript import difference_lines, failure_text
from pytest_personalens.results.values import Item

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.session import SnapshotSession

    from pytest_personalens.core.scenario import Context, Scenario
    from pytest_personalens.plugin.items import ItemSpec
    from pytest_personalens.plugin.run import Run


class Personalens:
    """One scenario to be run against the assistant under test.

    `check()` simulates, judges and asserts the thresholds; `evaluate()` only simulates and judges, and returns
    the `Evaluation` for asserts of your own. Both run the dialogue once; calling them again gives the same. `control` is
    empty, or says what the assistant was given to know instead of this user's context ("none", "swapped"): then scores are
    only to be compared with, and `check()` asserts no threshold.
    """

    def __init__(
        self,
        *,
        item: pytest.Item,
        session: Run,
        case: ItemSpec,
        scenario: Scenario,
        context: Context,
        assistant: Callable[[list[dict[str, str]]], object],
        syrupy: SnapshotSession,
    ) -> None:
        self.scenario = scenario
        self._context = context
        self.control = case.arm
        self._case, self._settings = case, case.settings
        self._item, self._session, self._assistant = item, session, assistant
        self._syrupy = syrupy
        self._evaluation: Evaluation | None = None
        #: Where the dialogue departs from its record, as lines.
        self._difference: list[str] = []
        self._raised: Exception | None = None

    def evaluate(self) -> Evaluation:
        """Simulate the dialogue and judge it, or replay what the record holds; never raises for a low score."""
        if self._evaluation is None:
            self._evaluation, record, file = self._run()
            self._item.stash[ITEM_KEY] = self._result(self._evaluation, record, file)
            self._item.ihook.pytest_personalens_evaluated(item=self._item, scenario=self.scenario, evaluation=self._evaluation)
        return self._evaluation

    def check(self) -> Evaluation:
        """Evaluate, then fail below a threshold; where a gate of the run decides, a low item passes and is listed.

        An item that could not be scored never passes: it fails if the assistant or its record is at fault, and
        is skipped where the user agent or the judge is and a gate watches over the share of scored items, or where nothing is to
        fail the run.
        """
        evaluation = self.evaluate()
        result = self._item.stash[ITEM_KEY]
        if result.status == "uncounted":
            message = failure_text(evaluation, self.scenario, result.shortfalls, self._rerun())
            if evaluation.cause == "budget":
                pytest.skip(f"not run to its end: {harmless(evaluation.detail)}")
            spared = {"item": (), "gate": ("user-agent", "judge"), "nothing": (evaluation.cause,)}[self._settings.fails_on]
            if evaluation.cause in spared:
                pytest.skip(f"not scored: {evaluation.cause}: {harmless(evaluation.detail)}")
            if evaluation.cause == "record":
                pytest.fail("\n".join([harmless(evaluation.detail), *self._difference]), pytrace=False)
            self._fail(message)
        if result.status == "low" and self._settings.fails_on == "item" and not self.control:
            pytest.fail(failure_text(evaluation, self.scenario, result.shortfalls, self._rerun()), pytrace=False)
        return evaluation

    def _fail(self, message: str) -> NoReturn:
        # A debugger (--pdb) opens at the end of the traceback: in the assistant's own code, where there is some. It is
        # shown where it is asked for.
        __tracebackhide__ = True
        trace = own_traceback(self._raised) if self._raised is not None else None
        shown = trace is not None and (self._item.config.option.tbstyle == "long" or self._item.config.option.fulltrace)
        raise pytest.fail.Exception(message, pytrace=shown).with_traceback(trace)

    def _run(self) -> tuple[Evaluation, str, str]:
        prepared = prepare(self._item, self._session, self._settings, self.scenario, self._context)
        if isinstance(prepared, str):
            return self._broken(prepared), "none", ""
        self._session.knows = self._session.knows or (bool(self._settings.control) and self._sees_context())
        ahead = prefetcher_of(self._item, self._session)
        if ahead is not None:
            done = ahead.evaluation(self._item, prepared, self._assistant)
        else:
            done = work(prepared.job, self._session.participants, self._assistant, prepared.keep)
        self._item.stash[SECONDS] = done.seconds
        stored = prepared.store.stored
        if done.evaluation.cause == "record" and stored is not None:
            departs = first_difference(stored.dialogue.messages, done.evaluation.dialogue.messages)
            self._difference = difference_lines(departs.before, departs.now) if departs is not None else []
        self._raised = done.raised
        try:
            became = prepared.store.settle(self._syrupy, done.evaluation, self.scenario, cost=done.cost, asked=done.asked)
        except RecordError as error:
            lost = {"verdicts": (), "cause": "record", "detail": str(error)}
            return done.evaluation.model_copy(update=lost), "none", ""
        root = self._item.config.rootpath
        file = prepared.store.path
        return done.evaluation, became, (file.relative_to(root) if file.is_relative_to(root) else file).as_posix()

    def _sees_context(self) -> bool:
        agents = self._session.participants.agents(self._context, self._settings.thresholds)
        if agents.played is not None:  # a model, which is told
            return True
        return takes_context(agents.assistant or self._assistant) or (agents.assistant is None and asks_for_context(self._item))

    def _broken(self, detail: str) -> Evaluation:
        agents = self._session.participants.agents(self._context, self._settings.thresholds)
        return unscored(self.scenario, agents.user_agent.identity, agents.judge.identity, cause="record", detail=detail)

    def _result(self, evaluation: Evaluation, record: str, file: str) -> Item:
        shortfalls = []
        if evaluation.scored:
            for name, least in self._settings.thresholds.items():
                dim = dimension(name)
                score = evaluation.score(dim)
                if score is not None and score < least:
                    shortfalls.append("task not completed" if dim is Dimension.TASK_COMPLETION else f"{dim.short} {score} < {least}")
        status = "uncounted" if not evaluation.scored else "low" if shortfalls else "passed"
        return Item.model_validate(
            {
                "nodeid": self._item.nodeid,
                "evaluation": evaluation,
                "status": status,
                "shortfalls": tuple(shortfalls),
                "record": record,
                "record_file": file if record in ("replayed", "stale", "written") else "",
                "trial": self._case.trial,
                "arm": self._case.arm,
                "max_turns": self._settings.max_turns,
                "content": self.scenario.digest,
                "test": test_of(self._item),
                "given": self._case.given,
                "given_user": self._session.strangers.of(self._case.ref).user if self._case.arm == "swapped" else "",
            }
        )

    def _rerun(self) -> str:
        return rerun(self._item)
