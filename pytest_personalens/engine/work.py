"""Does a job: simulates and judges one dialogue, and keeps what is paid for."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import RecordError
from pytest_personalens.core.judging.evaluation import Evaluation, evaluate, judge_dialogue
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
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.engine.assistant.memory import UserPast
    from pytest_personalens.engine.assistant.state import StateSource
    from pytest_personalens.engine.job import Assistant, Job, Keep
    from pytest_personalens.engine.participants import Participants


def work(
    job: Job,
    participants: Participants,
    assistant: Assistant,
    keep: Keep | None = None,
    state: StateSource | None = None,
    past: UserPast | None = None,
) -> JobResult:
    """Do a job.

    `state` says what the team's system holds after the dialogue, and `past` what its memory has before.

    `keep` gets everything that was paid for so far, at its full cost, before the job pays for more.
    """
    started = time.perf_counter()
    agents = participants.agents(job.context, job.thresholds, job.scenario.kind, job.case)
    latest: list[Evaluation] = []
    raised: list[Exception] = []
    one_at_a_time = threading.RLock()  # readings vote at the same time

    # A record holds the cost of its content, whenever it was paid. An evaluation holds what this run spent.
    def cost(evaluation: Evaluation) -> dict[str, Usage]:
        return replay.cost(evaluation, agents.meter.usage)

    def spent() -> dict[str, Usage]:
        return add_usage(job.spent, agents.meter.usage)

    def save(unfinished: Evaluation) -> None:
        with one_at_a_time:
            latest[:] = [unfinished]
            # Only new results are kept: a replay must not replace what another run paid for.
            if keep is not None and replay.news:
                undecided = [v for v in replay.votes if unfinished.score(v.verdict.dimension) is None]
                try:
                    keep(unfinished.model_copy(update={"usage": cost(unfinished)}), spent(), undecided)
                except RecordError as error:
                    participants.stop_buying(error)
                    raise

    replay = Replay(
        job.scenario,
        job.records,
        may_spend=job.may_spend,
        where=job.where,
        elsewhere=job.elsewhere.records if job.elsewhere is not None else None,
        votes=job.votes,
        before=participants.go_on,
        voted=lambda: save(latest[0]) if latest else None,
    )
    broken_off = job.broken_off and job.broken_off.restore_texts(job.scenario)
    kept = broken_off.dialogue if broken_off is not None else None
    take = state and state.taker(
        job.context, timeout=job.turn_timeout, loop=participants.loop, before=participants.go_on
    )

    def restore_or_take(dialogue: Dialogue) -> State:
        """Return the state that a resumed run has kept of the same dialogue, or ask for it."""
        assert take is not None
        if kept is not None and kept.state is not None and kept.messages == dialogue.messages:
            return kept.state
        return take(dialogue)

    # A system that did not act in this process does not hold what was done: a dialogue without its state
    # begins anew.
    repeats = take is None or (kept is not None and kept.state is not None)

    def called_with(context: Context, session: str = "") -> Assistant:
        """Return the assistant under test as it is called in a session, or in all of the dialogue."""
        if agents.played is not None:
            return ReplayAssistant(agents.played, replay, session)
        if agents.service is not None:
            service = agents.service.told(context) if session else agents.service
            under_test: Assistant = partial(service.reply, timeout=job.turn_timeout)
        else:
            under_test = guarded(
                agents.assistant or assistant,
                timeout=job.turn_timeout,
                loop=participants.loop,
                context=context,
                before=participants.go_on,
                raised=raised,
            )
        under_test = participants.running.watched(under_test, mine)
        if past is not None:
            under_test = past.first(under_test)
        if job.resumable:
            return ResumedAssistant(under_test, replay, broken_off if repeats else None, session)
        return under_test

    with (
        participants.running.dialogue(job.scenario, job.context, job.case) as mine,
        dialogue_span(job) as describe,
    ):
        judge, progress = ReplayJudge(agents.judge, replay), save if keep is not None else None
        if job.stored is not None:
            start = job.start(judge.identity)
            save(start)
            evaluation = judge_dialogue(start, job.scenario, judge, job.dimensions, progress)
        else:
            evaluation = evaluate(
                job.scenario,
                called_with(job.context),
                ReplayUserAgent(agents.user_agent, replay),
                judge,
                dimensions=job.dimensions,
                max_turns=job.max_turns,
                progress=progress,
                state=restore_or_take if take is not None else None,
                in_session=lambda name: called_with(job.scenario.in_session(job.context, name), name),
            )
        try:
            save(evaluation)
        except RecordError as error:
            evaluation = evaluation.model_copy(
                update={"verdicts": (), "cause": "record", "detail": str(error)}
            )
        describe(evaluation)
    simulated = job.stored is None or job.stored.user_agent
    if evaluation.scored and simulated and (audit := get_suite(job.scenario.suite).audit) is not None:
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
        mine.mixed,
    )
