"""Does jobs: simulates and judges one dialogue with all that is said on its tape, or replays its record."""

from __future__ import annotations

import sys
import time
from concurrent.futures import wait
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.frozen import clean
from pytest_personalens.core.judging.evaluation import evaluate, evaluation_of, judge_dialogue
from pytest_personalens.core.judging.usage import add_usage
from pytest_personalens.core.suite import get_suite
from pytest_personalens.engine.agents_on_tape import RecordedJudge, ResumedAssistant
from pytest_personalens.engine.assistant.assistant import Stopwatch, guarded
from pytest_personalens.engine.assistant.team_fixtures import StoreVisit
from pytest_personalens.engine.job import JobResult
from pytest_personalens.engine.record import why_stale
from pytest_personalens.engine.telemetry import SDK, dialogue_span
from pytest_personalens.models.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor, Future

    from pytest_personalens.core.dialogue.dialogue import UserAgent
    from pytest_personalens.core.dialogue.message import AssistantMessages
    from pytest_personalens.core.dialogue.state import MemoryStore
    from pytest_personalens.core.facts import StoreLook
    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.engine.assistant.team_fixtures import StateSource, UserPast
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
    running = participants.running  # dialogues beside this one

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
        return timed if own is None else running.watched(participants.pace.paced(timed), own)

    with (
        running.dialogue(job.scenario, job.context, job.case) if running.several else nullcontext() as own,
        dialogue_span(job) if SDK in sys.modules else nullcontext() as describe,
    ):
        kind, manner = job.scenario.kind, job.manner
        if (state, past, store, direct) == (None, None, None, None) and job.record is not None:
            alone = guard(participants.named or assistant, job.context)
            replayed = replay(job, participants.without_prompts(kind, manner), alone, replies)
            if replayed is not None:
                if describe is not None:
                    describe(replayed)
                took, mixed = time.perf_counter() - started, "" if own is None else own.mixed
                return JobResult(watch.timing(replayed), (), replayed=True, seconds=took, mixed=mixed)
        record = job.record.restored(job.scenario) if job.record is not None else None
        tape = Tape(
            job.rules,
            record=record.rows if record is not None else (),
            calls=calls,
            elsewhere=tuple if job.elsewhere is None else partial(job.elsewhere.rows, job.scenario),
            before=participants.go_on,
            unkept=participants.stop_buying,
            why_stale=partial(why_stale, record, job.scenario),
        )
        agents = participants.agents(job.context, job.thresholds, kind, tape, manner)
        judge: Judge = agents.judge
        by_model = any(role.startswith("judge") for role in participants.models())
        if record is not None and not (by_model or judge.paid or job.rules.anew):
            # The tape has no rows of a judge that calls no model; it would read the same dialogue again.
            judge = RecordedJudge(judge, record)
        loop, before = participants.loop, participants.go_on
        take_state = state and state.taker(job.context, timeout=job.turn_timeout, loop=loop, before=before)
        visit = None
        if store is not None:
            visit = StoreVisit(store, timeout=job.turn_timeout, loop=loop, before=before)
        takes = take_state is not None or visit is not None
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
                under_test = timed if own is None else running.watched(timed, own)
            if replies:
                under_test = repeating(replies, under_test)
            if past is not None:
                under_test = past.first(under_test)
            return under_test if resumed is None else resumed.called(under_test, session)

        def look_into_store() -> StoreLook | None:
            assert visit is not None
            return visit.look if resumed is None else resumed.look(visit.look)

        def in_session(name: str) -> Assistant:
            context = job.scenario.in_session(job.context, name)
            if visit is not None and not (resumed is not None and resumed.repeats):
                visit.begin_session(job.scenario, context)
            return called_with(context, name)

        if job.stored is not None:
            start = job.start(judge.identity)
            evaluation = (
                start if job.stored.judge else judge_dialogue(start, job.scenario, judge, job.dimensions)
            )
        else:
            evaluation = evaluate(
                job.scenario,
                called_with(job.context),
                agents.user_agent if direct is None else direct(agents.user_agent),
                judge,
                dimensions=job.dimensions,
                max_turns=job.max_turns,
                progress=None if resumed is None or agents.played is not None else resumed.note,
                state=take_state if take_state is None or resumed is None else resumed.state(take_state),
                store=None if visit is None else look_into_store,
                in_session=in_session,
            )
        if describe is not None:
            describe(evaluation)
    measured: dict[str, object] = {}
    simulated = job.stored is None or job.stored.user_agent
    suite = get_suite(job.scenario.suite)
    if evaluation.scored and simulated and suite.auditor:
        measured["user_faults"] = suite.audit(job.scenario, evaluation.dialogue)
    if visit is not None and visit.waited:
        measured["waited"] = tuple(visit.waited)
    if usage := add_usage(tape.spent, agents.meter.usage):
        measured["usage"] = usage
    return JobResult(
        watch.timing(evaluation, measured),
        tuple(tape.rows),
        seconds=time.perf_counter() - started,
        exception=raised[-1] if evaluation.cause == "assistant" and raised else None,
        mixed="" if own is None else own.mixed,
    )


def replay(
    job: Job,
    identities: tuple[str, str, str] | None,
    assistant: Callable[[AssistantMessages], object],
    replies: list[object],
) -> Evaluation | None:
    """Return the evaluation in the job's record if the assistant says the same; None if it cannot be used.

    `identities` are those of the user agent, the judge and the audit, which get no prompts: all that they see
    is the scenario and the dialogue. While these are the same, the record holds their answers. In all other
    cases the dialogue runs with its tape, beginning with the `replies` that this function got, or what was
    raised.
    """
    record, scenario, rules = job.record, job.scenario, job.rules
    if record is None or identities is None or rules.anew or rules.writes or job.resumable or job.stored:
        return None
    data, (user_agent, judge, auditor) = record.data, identities
    # A record without faults, and of an assistant of the team's own, lacks the first three.
    known: dict[str, Any] = dict.fromkeys(("assistant", "cause", "unread"))
    known |= {"user_agent": user_agent, "judge": judge, "content": job.content or scenario.digest}
    audit = data.get("audit", {"by": "", "faults": None})
    given, gaps = {v["dimension"]: v for v in data["verdicts"]}, data.get("not_judged", {})
    asked = [measure.value for measure in job.dimensions]
    verdicts = [given[name] for name in asked if name in given]
    if (
        any(data.get(name) != value for name, value in known.items())
        or audit["by"] != auditor
        or not verdicts
        or any(name not in given and name not in gaps for name in asked)
        or scenario.takes_answers
        or scenario.unrecorded
    ):
        return None
    dialogue, limit = data["dialogue"], job.max_turns or scenario.rounds
    messages, end, rounds = dialogue["messages"], dialogue["end"], len(dialogue["messages"]) // 2
    # Recorded under another limit of turns.
    cut = rounds > limit or (rounds < limit and end == "limit")
    if dialogue.keys() != {"messages", "end"} or end == "fault" or cut:
        return None
    history: AssistantMessages = []
    for message in messages:
        if message.keys() != {"role", "content"}:
            return None  # with tool calls, or of a session
        if message["role"] == "assistant":
            try:
                replies.append(said := assistant(list(map(dict, history))))
            except Exception as error:  # it is raised again where its cause is found
                replies.append(error)
                return None
            if not isinstance(said, str) or clean(said).strip() != message["content"]:
                return None
        history.append(message)
    read = {"verdicts": verdicts, "not_judged": {name: gaps[name] for name in asked if name in gaps}}
    faults = audit["faults"]
    return evaluation_of(scenario, user_agent, judge, dialogue=dialogue, user_faults=faults, **read)


def repeating(
    replies: list[object], assistant: Callable[[AssistantMessages], object]
) -> Callable[[AssistantMessages], object]:
    """Return the assistant as one that begins with these replies, and raises the errors among them."""
    left = iter(replies)

    def call(messages: AssistantMessages) -> object:
        for reply in left:
            if isinstance(reply, Exception):
                raise reply
            return reply
        return assistant(messages)

    return call


#: The interval in seconds at which a waiting item checks for its result.
TICK: Final = 0.2


class EvaluationQueue:
    """Evaluations that run or wait, by the node id of the item that will ask for each; used by one thread.

    `executor` runs `size` evaluations at the same time. More wait in the queue, to keep all places busy
    during the slowest dialogue.
    """

    def __init__(self, executor: Executor, size: int) -> None:
        self.size, self._executor = size, executor
        self._under_way: dict[str, Future[JobResult]] = {}
        self.done = 0

    @property
    def room(self) -> int:
        """Return how many more evaluations may be submitted now: the queue holds ten for each place."""
        return max(0, 10 * self.size - len(self._under_way))

    def __contains__(self, key: str) -> bool:
        return key in self._under_way

    def submit(
        self,
        key: str,
        task: Callable[..., JobResult],
        *args: Any,
        ended: Callable[[JobResult], None] | None = None,
    ) -> None:
        """Have `task` run for the item `key`, and then call `ended` with its result."""
        future = self._under_way[key] = self._executor.submit(task, *args)

        def finish(future: Future[JobResult]) -> None:
            if future.cancelled():
                return
            self.done += 1
            if ended is not None and future.exception() is None:
                ended(future.result())

        future.add_done_callback(finish)

    def take(self, key: str, idle: Callable[[], None]) -> JobResult:
        """Wait for the evaluation of the item `key`; call `idle` every `TICK` seconds, also at once."""
        future = self._under_way.pop(key)
        while not future.done():
            idle()
            wait([future], timeout=TICK)
        return future.result()

    def close(self) -> None:
        """Abandon all running evaluations."""
        self._executor.shutdown(wait=False, cancel_futures=True)
