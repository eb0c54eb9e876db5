"""Does a job: simulates and judges one dialogue, with all that is said on its tape."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from pytest_personalens.core.judging.evaluation import evaluate, judge_dialogue
from pytest_personalens.core.judging.usage import add_usage
from pytest_personalens.engine.assistant.assistant import Stopwatch, guarded
from pytest_personalens.engine.assistant.store import StoreVisit
from pytest_personalens.engine.job import JobResult
from pytest_personalens.engine.records.on_tape import ResumedAssistant, audited, scenario_digest
from pytest_personalens.engine.records.record import why_stale
from pytest_personalens.engine.replay import again, replay
from pytest_personalens.engine.telemetry import SDK, dialogue_span
from pytest_personalens.models.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.dialogue.dialogue import UserAgent
    from pytest_personalens.core.dialogue.state import MemoryStore
    from pytest_personalens.core.facts import StoreLook
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.engine.assistant.memory import UserPast
    from pytest_personalens.engine.assistant.state import StateSource
    from pytest_personalens.engine.job import Assistant, Job
    from pytest_personalens.engine.participants import Participants
    from pytest_personalens.models.tape import Calls


def work(
    job: Job,
    participants: Participants,
    assistant: Assistant,
    calls: Calls | None = None,
    state: StateSource | None = None,
    past: UserPast | None = None,
    store: MemoryStore | None = None,
    direct: Callable[[UserAgent], UserAgent] | None = None,
) -> JobResult:
    """Do a job.

    `calls` is the log in which everything that is paid for is kept before it is used; None if nothing is.
    `state` says what the team's system holds after the dialogue, and `past` what its memory has before.
    `store` is waited for and looked into between sessions. `direct` puts the orders of a test before the user
    agent.
    """
    started, raised, watch, replies = time.perf_counter(), list[Exception](), Stopwatch(), list[object]()
    running = participants.running

    def guard(who: Assistant, context: Context, session: str = "") -> Assistant:
        called = guarded(
            who,
            timeout=job.turn_timeout,
            loop=participants.loop,
            context=context,
            before=participants.go_on,
            raised=raised,
            began=watch.piece,
        )
        timed = watch.timed(called, session)
        return timed if mine is None else running.watched(participants.pace.paced(timed), mine)

    with (
        running.dialogue(job.scenario, job.context, job.case) if running.several else nullcontext() as mine,
        dialogue_span(job) if SDK in sys.modules else nullcontext() as describe,
    ):
        kind, manner = job.scenario.kind, job.manner
        special = (state, past, store, direct) != (None, None, None, None)
        if not special and (identities := participants.without_prompts(kind, manner)) is not None:
            alone = guard(participants.named or assistant, job.context)
            if (replayed := replay(job, identities, alone, replies)) is not None:
                if describe is not None:
                    describe(replayed)
                mixed = "" if mine is None else mine.mixed
                return JobResult(watch.timing(replayed), seconds=time.perf_counter() - started, mixed=mixed)
        tape = tape_of(job, participants, calls)
        agents = participants.agents(job.context, job.thresholds, kind, tape, manner)
        take = state and state.taker(
            job.context, timeout=job.turn_timeout, loop=participants.loop, before=participants.go_on
        )
        visit = None
        if store is not None:
            loop, before = participants.loop, participants.go_on
            visit = StoreVisit(store, timeout=job.turn_timeout, loop=loop, before=before)
        takes = take is not None or visit is not None
        resumed = ResumedAssistant(tape, takes_state=takes) if job.resumable else None

        def called_with(context: Context, session: str = "") -> Assistant:
            if agents.played is not None:
                # A model answers from the tape, too; a reply without a live call has no time.
                watch.live = lambda: tape.bought["assistant"]
                return watch.timed(agents.played, session)
            if agents.service is None:
                under_test = guard(agents.assistant or assistant, context, session)
            else:
                service = agents.service.told(context) if session else agents.service
                timed = watch.timed(partial(service.reply, timeout=job.turn_timeout), session)
                under_test = timed if mine is None else running.watched(timed, mine)
            if replies:
                under_test = again(replies, under_test)
            if past is not None:
                under_test = past.first(under_test)
            return under_test if resumed is None else resumed.called(under_test, session)

        def looked() -> StoreLook | None:
            assert visit is not None
            return visit.look if resumed is None else resumed.look(visit.look)

        def in_session(name: str) -> Assistant:
            context = job.scenario.in_session(job.context, name)
            if visit is not None and not (resumed is not None and resumed.repeats):
                visit.begin_session(job.scenario, context)
            return called_with(context, name)

        if job.stored is not None:
            start = job.start(agents.judge.identity)
            evaluation = (
                start
                if job.stored.judge
                else judge_dialogue(start, job.scenario, agents.judge, job.dimensions)
            )
        else:
            evaluation = evaluate(
                job.scenario,
                called_with(job.context),
                agents.user_agent if direct is None else direct(agents.user_agent),
                agents.judge,
                dimensions=job.dimensions,
                max_turns=job.max_turns,
                progress=None if resumed is None or agents.played is not None else resumed.note,
                state=take if take is None or resumed is None else resumed.state(take),
                store=None if visit is None else looked,
                in_session=in_session,
            )
        if describe is not None:
            describe(evaluation)
    beside: dict[str, object] = {}
    simulated = job.stored is None or job.stored.user_agent
    if evaluation.scored and simulated:
        beside["user_faults"] = audited(job.scenario, evaluation.dialogue, tape)
    if visit is not None and visit.waited:
        beside["waited"] = tuple(visit.waited)
    if usage := add_usage(tape.spent, agents.meter.usage):
        beside["usage"] = usage
    return JobResult(
        watch.timing(evaluation, beside),
        tuple(tape.rows),
        tape.questions,
        time.perf_counter() - started,
        raised[-1] if evaluation.cause == "assistant" and raised else None,
        mixed="" if mine is None else mine.mixed,
    )


def tape_of(job: Job, participants: Participants, calls: Calls | None) -> Tape:
    """Return the tape of a job."""
    scenario, elsewhere = job.scenario, job.elsewhere
    record = job.record.restored(scenario) if job.record is not None else None
    tape = Tape(
        job.rules,
        record=record.rows if record is not None else (),
        calls=calls,
        elsewhere=lambda: elsewhere.rows(scenario) if elsewhere is not None else (),
        before=participants.go_on,
        unkept=participants.stop_buying,
        why_stale=lambda role, asked, heard: (
            "" if record is None else why_stale(record, scenario, role, asked, heard)
        ),
    )
    if job.content:
        tape.knows(scenario_digest, scenario, job.content)
    return tape
