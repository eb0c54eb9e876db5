"""Does a job: simulates and judges one dialogue, and keeps what is paid for."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.judging.evaluation import Evaluation, evaluate
from pytest_personalens.core.judging.usage import add_usage
from pytest_personalens.core.suite.suite import get_suite
from pytest_personalens.engine.assistant.assistant import guarded
from pytest_personalens.engine.job import JobResult
from pytest_personalens.engine.records.replay import (
    Replay,
    ReplayAssistant,
    ReplayJudge,
    ReplayUserAgent,
    ResumedAssistant,
)
from pytest_personalens.engine.telemetry import dialogue_span

if TYPE_CHECKING:
    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.dialogue.state import State
    from pytest_personalens.core.judging.usage import Usage
    from pytest_personalens.engine.assistant.state import StateSource
    from pytest_personalens.engine.job import Assistant, Job, Keep
    from pytest_personalens.engine.participants import Participants
    from pytest_personalens.engine.records.record import StoredVerdict


def work(
    job: Job,
    participants: Participants,
    assistant: Assistant,
    keep: Keep | None = None,
    state: StateSource | None = None,
) -> JobResult:
    """Do a job. `state` says what the team's system holds after the dialogue.

    The function calls `keep` with everything that was paid for so far, at its full cost, before it pays for
    more.
    """
    started = time.perf_counter()
    agents = participants.agents(job.context, job.thresholds, job.scenario.kind, job.case)
    other_records = job.elsewhere.records if job.elsewhere is not None else None
    latest: list[Evaluation] = []
    raised: list[Exception] = []
    one_at_a_time = threading.RLock()

    def cost(evaluation: Evaluation) -> dict[str, Usage]:
        # A record holds the cost of its content, whenever it was paid. An evaluation holds what this run
        # spent.
        return replay.cost(evaluation, agents.meter.usage)

    def spent() -> dict[str, Usage]:
        return add_usage(job.spent, agents.meter.usage)

    def bought(unfinished: Evaluation) -> None:
        with one_at_a_time:  # readings vote at the same time
            latest[:] = [unfinished]
            # Only new results are kept: a replay must not replace what an earlier run paid for.
            if keep is not None and replay.news:
                try:
                    keep(
                        unfinished.model_copy(update={"usage": cost(unfinished)}),
                        spent(),
                        undecided(unfinished),
                    )
                except RecordError as error:
                    participants.stop_buying(error)
                    raise

    def undecided(unfinished: Evaluation) -> list[StoredVerdict]:
        return [vote for vote in replay.votes if unfinished.score(vote.verdict.dimension) is None]

    def voted() -> None:
        if latest:
            bought(latest[0])

    replay = Replay(
        job.scenario,
        job.records,
        may_spend=job.may_spend,
        where=job.where,
        elsewhere=other_records,
        votes=job.votes,
        before=participants.go_on,
        voted=voted,
    )
    if agents.played is not None:
        under_test: Assistant = ReplayAssistant(agents.played, replay)
    elif agents.service is not None:
        under_test = partial(agents.service.reply, timeout=job.turn_timeout)
    else:
        callable_ = agents.assistant or assistant
        under_test = guarded(
            callable_,
            timeout=job.turn_timeout,
            loop=participants.loop,
            context=job.context,
            before=participants.go_on,
            raised=raised,
        )
    broken_off = job.broken_off and job.broken_off.restored(job.scenario)
    take = state and state.taker(
        job.context, timeout=job.turn_timeout, loop=participants.loop, before=participants.go_on
    )

    def kept_or_taken(dialogue: Dialogue) -> State:
        """Return the state that a resumed run has kept of the same dialogue, or ask for it."""
        assert take is not None
        kept = broken_off.dialogue if broken_off is not None else None
        same = kept is not None and kept.messages == dialogue.messages
        return kept.state if kept is not None and same and kept.state is not None else take(dialogue)

    # A system that did not act in this process does not hold what was done: a dialogue without its state
    # begins anew.
    repeats = take is None or (broken_off is not None and broken_off.dialogue.state is not None)
    if agents.played is None and job.resumable:
        under_test = ResumedAssistant(under_test, replay, broken_off if repeats else None)
    with dialogue_span(job) as tell:
        evaluation = evaluate(
            job.scenario,
            under_test,
            ReplayUserAgent(agents.user_agent, replay),
            ReplayJudge(agents.judge, replay),
            dimensions=job.dimensions,
            max_turns=job.max_turns,
            progress=bought if keep is not None else None,
            state=kept_or_taken if take is not None else None,
        )
        try:
            bought(evaluation)
        except RecordError as error:
            evaluation = evaluation.model_copy(
                update={"verdicts": (), "cause": "record", "detail": str(error)}
            )
        tell(evaluation)
    if evaluation.scored and (audit := get_suite(job.scenario.suite).audit) is not None:
        faults = audit(job.scenario, evaluation.dialogue)
        evaluation = evaluation.model_copy(update={"user_faults": faults})
    if usage := spent():
        evaluation = evaluation.model_copy(update={"usage": usage})
    return JobResult(
        evaluation,
        cost(evaluation),
        replay.questions,
        time.perf_counter() - started,
        raised[-1] if evaluation.cause == "assistant" and raised else None,
    )
