"""The fixture object `personalens`: runs this item's scenario, judges it and asserts."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from pytest_personalens.assistants import guarded
from pytest_personalens.errors import RecordError
from pytest_personalens.evaluation import Evaluation, evaluate
from pytest_personalens.options import OPTIONS
from pytest_personalens.replay import Replay, ReplayAssistant, ReplayJudge, ReplayUserAgent
from pytest_personalens.reports.transcript import failure_text, harmless
from pytest_personalens.results import Item
from pytest_personalens.verdict import Dimension, dimension

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

    from pytest_personalens.options import Settings
    from pytest_personalens.scenario import Context, Scenario
    from pytest_personalens.session import Session

ITEM_KEY: pytest.StashKey[Item] = pytest.StashKey()


class Personalens:
    """One scenario to be run against the assistant under test.

    `check()` simulates, judges and asserts the thresholds; `evaluate()` only simulates and judges, and returns
    the `Evaluation` for asserts of your own. Both run the dialogue once; calling them again gives the same.
    """

    def __init__(
        self,
        *,
        item: pytest.Item,
        session: Session,
        settings: Settings,
        scenario: Scenario,
        context: Context,
        assistant: Callable[[list[dict[str, str]]], object],
        snapshot: SnapshotAssertion,
        journal_folder: Path | None,
    ) -> None:
        self.scenario = scenario
        self._context = context
        self._item, self._session, self._settings, self._assistant = item, session, settings, assistant
        self._snapshot, self._journal_folder = snapshot, journal_folder
        self._evaluation: Evaluation | None = None

    def evaluate(self) -> Evaluation:
        """Simulate the dialogue and judge it, or replay what the record holds; never raises for a low score."""
        if self._evaluation is None:
            self._evaluation, record = self._run()
            self._item.stash[ITEM_KEY] = self._result(self._evaluation, record)
            self._item.ihook.pytest_personalens_evaluated(item=self._item, scenario=self.scenario, evaluation=self._evaluation)
        return self._evaluation

    def check(self) -> Evaluation:
        """Evaluate, then fail below a threshold; where a gate of the run decides, a low item passes and is listed.

        An item that could not be scored never passes: it fails if the assistant or its record is at fault, and
        is skipped where the user agent or the judge is and a gate watches over the share of scored items.
        """
        evaluation = self.evaluate()
        result = self._item.stash[ITEM_KEY]
        if result.status == "uncounted":
            message = failure_text(evaluation, self.scenario, result.shortfalls, self._rerun())
            if evaluation.cause == "budget":
                pytest.skip(f"not run to its end: {harmless(evaluation.detail)}")
            if evaluation.cause in ("user-agent", "judge") and self._settings.fails_on == "gate":
                pytest.skip(f"not scored: {evaluation.cause}: {harmless(evaluation.detail)}")
            if evaluation.cause == "record":
                pytest.fail(harmless(evaluation.detail), pytrace=False)
            pytest.fail(message, pytrace=False)
        if result.status == "low" and self._settings.fails_on == "item":
            pytest.fail(failure_text(evaluation, self.scenario, result.shortfalls, self._rerun()), pytrace=False)
        return evaluation

    def _run(self) -> tuple[Evaluation, str]:
        from pytest_personalens.records import RecordStore

        settings, scenario = self._settings, self.scenario
        agents = self._session.agents(self._context, self._settings)
        store = RecordStore(self._snapshot, self._item, self._journal_folder)
        try:
            record = store.load()
        except RecordError as error:
            return self._broken(str(error)), "none"
        if record is not None and record.scenario != scenario.id:
            return self._broken(f"{store.path}: the record belongs to scenario {record.scenario!r}"), "none"
        paid = agents.user_agent.paid or agents.judge.paid or (agents.played is not None and agents.played.paid)
        may_spend = settings.live or store.writes
        journal = store.load_journal() if paid and may_spend else None
        replay = Replay(
            [r for r in (record, journal) if r is not None],
            may_spend=may_spend,
            where=str(store.path),
            command=self._rerun("--snapshot-update"),
        )

        def whole(evaluation: Evaluation) -> Evaluation:
            # A record tells what its content cost, whenever that was; an evaluation, what this run spent.
            return evaluation.model_copy(update={"usage": replay.cost(evaluation, scenario, agents.meter.usage)})

        def keep(unfinished: Evaluation) -> None:
            # Only what was bought just now: a replay must not push out what an earlier run paid for.
            if paid and may_spend and replay.asked:
                store.keep(whole(unfinished), scenario)

        evaluation = evaluate(
            scenario,
            ReplayAssistant(agents.played, replay)
            if agents.played is not None
            else guarded(agents.assistant or self._assistant, timeout=settings.turn_timeout, loop=self._session.loop),
            ReplayUserAgent(agents.user_agent, replay),
            ReplayJudge(agents.judge, replay),
            dimensions=[Dimension(d) for d in settings.dimensions],
            max_turns=settings.max_turns,
            progress=keep,
        )
        evaluation = evaluation.model_copy(update={"usage": agents.meter.usage})
        keep(evaluation)
        return evaluation, store.settle(whole(evaluation), scenario, asked=replay.asked)

    def _broken(self, detail: str) -> Evaluation:
        from pytest_personalens.dialogue import Dialogue

        agents, s = self._session.agents(self._context, self._settings), self.scenario
        return Evaluation(
            scenario=s.id, user=s.user, task=s.task.id, kind=s.kind, domains=s.domains, dataset=s.dataset,
            user_agent=agents.user_agent.identity, judge=agents.judge.identity,
            dialogue=Dialogue(end="fault"), cause="record", detail=detail,
        )  # fmt: skip

    def _result(self, evaluation: Evaluation, record: str) -> Item:
        shortfalls = []
        if evaluation.scored:
            for name, least in self._settings.thresholds.items():
                dim = dimension(name)
                score = evaluation.score(dim)
                if score is not None and score < least:
                    shortfalls.append("task not completed" if dim is Dimension.TASK_COMPLETION else f"{dim.short} {score} < {least}")
        status = "uncounted" if not evaluation.scored else "low" if shortfalls else "passed"
        return Item.model_validate(
            {"nodeid": self._item.nodeid, "evaluation": evaluation, "status": status, "shortfalls": tuple(shortfalls), "record": record}
        )

    def _rerun(self, *extra: str) -> str:
        """The command that runs this item alone, with the options of this run that shape it."""
        config = self._item.config
        words = ["pytest"]
        for o in OPTIONS:
            if o.key in ("shard", "json", "min_tcr", "min_p", "min_valid", "fail_on", "max_calls", "max_usd"):
                continue
            given = config.getoption(o.ini)
            for value in given if isinstance(given, list) else [given] if given is not None else []:
                words += [o.flag, str(value)]
        # By its id where that is enough: the built-in suite has no file that could be named.
        alone = f"[{self.scenario.id}]"
        words += ["-k", alone] if self._item.name.endswith(alone) else [self._item.nodeid]
        words += extra
        return shlex.join(words)
