"""Evaluates an item, with those of this process that come next, and says how to repeat it."""

from __future__ import annotations

import os
import time
from bisect import bisect_right
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from pytest_personalens.core.errors import PersonalensError
from pytest_personalens.core.judging.evaluation import empty_evaluation
from pytest_personalens.core.names import MEMORY, PARAM, STATE, STORE
from pytest_personalens.core.runtime import Threads
from pytest_personalens.core.safe_text import redact, shell_line
from pytest_personalens.engine.assistant.side_by_side import UsersMixed
from pytest_personalens.engine.assistant.team_fixtures import knows_whose
from pytest_personalens.engine.engine import EvaluationQueue, work
from pytest_personalens.engine.job import Job, JobResult
from pytest_personalens.engine.record import OtherRecords
from pytest_personalens.models.tape import TapeRules, unkept
from pytest_personalens.plugin.options.marks import STRATUM
from pytest_personalens.plugin.pytest_internals import fixtures_of, without_capture
from pytest_personalens.plugin.running.items import Given, dialogue_of, is_scenario_item, spec_of
from pytest_personalens.plugin.running.keys import is_worker
from pytest_personalens.plugin.running.xdist import share_of
from pytest_personalens.plugin.stored.record_snapshots import RecordStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.engine.participants import Participants
    from pytest_personalens.models.call_log import CaseCalls
    from pytest_personalens.models.meter import Total
    from pytest_personalens.models.retry import Limiter
    from pytest_personalens.plugin.running.run import Run

#: Options that a command for writing records leaves out, because it must not accept the team's snapshots too.
_SNAPSHOTS = ("--snapshot-update", "--snapshot-update-new-only")
_RECORD = "--personalens-record"


def job_of(item: pytest.Item, run: Run, store: RecordStore, context: Context, content: str = "") -> Job:
    """Return the job of the item, or raise `RecordError` if its record cannot be used."""
    spec, scenario, case = spec_of(item), store.scenario, store.case
    settings = spec.settings
    anew = settings.record == "all"
    return Job(
        scenario=scenario,
        context=context,
        dimensions=settings.of_suite.measures_of(scenario, settings.readings),
        thresholds=settings.thresholds,
        max_turns=settings.max_turns,
        turn_timeout=settings.turn_timeout,
        rules=TapeRules(
            where=str(store.path),
            may_spend=settings.may_spend,
            anew=anew,
            keeps_all=run.settings.resume,
            writes=store.writes,
            run=run.state.id,
            item=item.nodeid,
        ),
        record=store.load(),
        case=case,
        content=content,
        elsewhere=OtherRecords(str(item.config.rootpath), str(store.path), case)
        if run.participants.paid and not anew
        else None,
        resumable=run.settings.resume,
        stored=None if run.stored is None else run.stored_dialogue(spec),
        manner=spec.manner,
    )


def rerun_command(config: pytest.Config, nodeids: Iterable[str], words: Sequence[str] = ()) -> str:
    """Return the command that runs these items alone, with the options that shape them, and more `words`."""
    from pytest_personalens.reports.content.findings import ITEM_OPTIONS, selection

    def path(file: str) -> str:
        return os.path.relpath(config.rootpath / file, config.invocation_params.dir)

    line = ["pytest", *_configuration(config)]
    for o in ITEM_OPTIONS:
        setting = config.getoption(o.ini, None)
        if o.flag:
            line += [o.long] if setting else []
            continue
        for value in setting if isinstance(setting, list) else [setting] if setting is not None else []:
            line += [o.long, str(value)]
    return redact(shell_line([*line, *words, *selection(nodeids, path)]))


def record_command(config: pytest.Config) -> str:
    """Return the command of this run, changed to write missing and stale records."""
    words: list[str] = []
    arguments = iter(str(arg) for arg in config.invocation_params.args)
    for word in arguments:
        if word == _RECORD:
            next(arguments, None)
        elif word not in _SNAPSHOTS and not word.startswith(f"{_RECORD}="):
            words.append(word)
    end = words.index("--") if "--" in words else len(words)
    return redact(shell_line(["pytest", *words[:end], _RECORD, "new", *words[end:]]))


def _configuration(config: pytest.Config) -> list[str]:
    """Return the words of the command line that replace values of the configuration."""
    file = config.getoption("inifilename", default=None)
    values = config.getoption("override_ini", default=None) or []
    # pytest 9 turns --strict-markers and its like into such values; they make no other run.
    shaping = [str(value) for value in values if not str(value).startswith("strict")]
    return [*(["-c", str(file)] if file else []), *(word for value in shaping for word in ("-o", value))]


_ASSISTANT: Final = "personalens_assistant"
#: Seconds between two lines of progress.
_MINUTE: Final = 60.0
#: Fixtures that decide what an evaluation is about. If one is overridden, only the item itself knows its
#: value.
_OURS: Final = ("personalens", "personalens_scenario", "personalens_context")
PREFETCHER: pytest.StashKey[Prefetcher] = pytest.StashKey()
_HOMES: Final[dict[str, type[pytest.Collector]]] = {
    "session": pytest.Session,
    "package": pytest.Package,
    "module": pytest.Module,
}


class Prefetcher:
    """Keeps dialogues running side by side; each item takes its own when its turn comes."""

    def __init__(self, session: pytest.Session, run: Run) -> None:
        self._items, self._run = session.items, run
        self._places = {item: place for place, item in enumerate(session.items)}
        self._seen = -1
        executor = run.cluster if run.cluster is not None else Threads(run.at_once)
        self._queue = EvaluationQueue(executor, run.cluster.places if run.cluster else run.at_once)
        #: An assistant that an option names serves all items alike.
        self._named = run.settings.names_assistant
        self._progress = _Progress(session, run.suite.dialogue)
        share = share_of(getattr(session.config, "workerinput", None))
        #: The places of the items that this process runs, in order. A worker may only run its own.
        self._coming = (
            range(len(session.items)) if share is None else share.of([i.nodeid for i in session.items])
        )
        self._imported = False
        self._in_turn = run.cluster is None and share is not None and share.replaces

    def takes(self, item: pytest.Item, given: Given) -> bool:
        """True if the dialogue of `item` may run beside others, by what the team says or by its assistant."""
        run = self._run
        if run.cluster is not None:
            return True
        allowed = run.settings.must_share or run.stored is not None
        may_serve = allowed or run.participants.may_serve_several(given.assistant)
        told = given.state is None or knows_whose(given.state.given)
        return may_serve and told and self._assistant_of(item) is not None

    def evaluation(self, item: pytest.Item, job: Job, given: Given) -> JobResult:
        """Return the evaluation of `item`; start it and those of the next items if they do not run yet."""
        self._run.tally.side_by_side = self._queue.size
        if item.nodeid not in self._queue:
            self._submit(item, job, given)
        for other in self._after(item):
            with suppress(PersonalensError):  # the item itself reports the problem at its turn
                scenario = self._run.scenario(spec_of(other))
                store = RecordStore(other, scenario, spec_of(other).id, self._run.settings.record)
                context = self._run.context(spec_of(other), scenario, dialogue_of(other))
                self._submit(other, job_of(other, self._run, store, context), given)
        participants = self._run.participants

        def idle() -> None:
            self._import_ahead()
            self._refuse_mixed()
            own = [participants.pace.limiter] if participants.pace.limiter.throttled else []
            self._progress.print_each_minute(
                self._queue.done, participants.total, [*participants.called.limiters(), *own]
            )

        try:
            done = self._queue.take(item.nodeid, idle)
            self._refuse_mixed(done.mixed)
            return done
        except Exception as error:
            if self._run.cluster is None or isinstance(error, UsersMixed):
                raise
            what = self._run.suite.dialogue
            detail = " ".join(f"the cluster gave this {what} up: {type(error).__name__}: {error}".split())
            return JobResult(empty_evaluation(job.scenario, cause="lost", detail=detail))

    def _import_ahead(self) -> None:
        """Import what the end of a dialogue, and of the run, needs, while the first calls wait."""
        if self._imported:
            return
        self._imported = True
        if self._run.suite.auditor:
            from pytest_personalens.agents.embedded.reader import statements  # noqa: F401
        from pytest_personalens.results import reasons  # noqa: F401
        from pytest_personalens.results.values import item  # noqa: F401

        if not is_worker(self._run.config):
            import_the_end()

    def _refuse_mixed(self, found: str = "") -> None:
        """Raise `UsersMixed` as soon as any dialogue got what only the user of another one has."""
        if mixed := found or self._run.participants.running.mixed:
            raise UsersMixed(mixed)

    def close(self) -> None:
        """Abandon all running evaluations."""
        self._queue.close()

    def _submit(self, item: pytest.Item, job: Job, given: Given) -> None:
        participants, cluster = self._run.participants, self._run.cluster
        team = self._run.team(item, given, job.context)
        if cluster is None:
            self._queue.submit(item.nodeid, work, job, participants, *team)
            return
        from pytest_personalens.engine.dask import work_there

        recipe = participants.recipe._replace(side_by_side=cluster.widest)
        calls, past = team.calls, team.past
        known = () if calls is None else tuple(calls.rows())
        sent = () if past is None else (past.memory.name, self._run.state.id, past.past())
        self._queue.submit(
            item.nodeid, work_there, recipe, job, known, *sent, ended=partial(_keep, participants, calls)
        )

    def _assistant_of(self, item: pytest.Item) -> tuple[object, ...] | None:
        """Return a value that is equal for two items if one assistant serves both; None if it has its own."""
        if any(len(fixtures_of(item).get(name, ())) != 1 for name in _OURS):
            return None
        names = (STATE, MEMORY, STORE) if self._named else (STATE, MEMORY, STORE, _ASSISTANT)
        shared = [_shared(item, name) for name in names]
        return None if None in shared else tuple(shared)

    def _after(self, item: pytest.Item) -> Iterator[pytest.Item]:
        """Yield the coming items, each once, up to the first with another assistant, while there is room."""
        if self._in_turn:
            return
        here = self._assistant_of(item)
        after = max(self._seen, self._places[item])
        for place in self._coming[bisect_right(self._coming, after) :] if here is not None else ():
            other = self._items[place]
            if not self._queue.room or (is_scenario_item(other) and self._assistant_of(other) != here):
                return
            self._seen = max(self._seen, place)
            if (
                is_scenario_item(other)
                and other.nodeid not in self._queue
                and spec_of(other).ref.stratum != STRATUM
                and not any(other.iter_markers("skip"))
            ):
                yield other


def import_the_end() -> None:
    """Import what the end of a run needs: while the first calls wait, this costs nobody time."""
    from pytest_personalens.reports.terminal import summary_lines  # noqa: F401
    from pytest_personalens.results import shards, summarize  # noqa: F401


class _Progress:
    """Prints one line a minute on the terminal while items wait; none with ``-q`` and in a worker."""

    def __init__(self, session: pytest.Session, dialogue: str) -> None:
        self._config, self._dialogue = session.config, dialogue
        self._total = sum(map(is_scenario_item, session.items))
        self._began = self._printed = time.monotonic()

    def print_each_minute(self, done: int, used: Total, limiters: Iterable[Limiter]) -> None:
        """Print how many dialogues are done, their usage so far, and the limits of the providers."""
        now, reporter = time.monotonic(), self._config.pluginmanager.getplugin("terminalreporter")
        if now - self._printed < _MINUTE or reporter is None or self._config.get_verbosity() < 0:
            return
        self._printed, parts = now, [f"{done} of {self._total} {self._dialogue}s"]
        if done:
            left = round((now - self._began) / done * (self._total - done))
            parts.append(f"{left // 60}:{left % 60:02} left")
        if used.usage.calls:
            parts += [f"{used.usage.calls:,} calls", f"{used.usage.tokens:,} tokens"]
            parts += [f"${used.usd:.2f}"] if used.usd else []
        parts += [f"up to {one.limit} calls at once" for one in limiters]
        # While an item runs, pytest would capture this text as its output.
        with without_capture(self._config):
            reporter.ensure_newline()
            reporter.write_line(f"personalens: {', '.join(parts)}")


def shares_assistant(item: pytest.Item, settings: Settings) -> bool:
    """True if one assistant serves this item and others, by the scope of its fixture or by an option."""
    return settings.names_assistant or _shared(item, _ASSISTANT) is not None


def _keep(participants: Participants, calls: CaseCalls | None, done: JobResult) -> None:
    """Log what a machine of a cluster bought."""
    if calls is None or not done.bought:
        return
    try:
        calls.append(*done.bought)
    except OSError as error:
        participants.stop_buying(unkept(calls, error))


def prefetcher_of(item: pytest.Item, run: Run) -> Prefetcher:
    """Return the prefetcher of this process."""
    stash = item.session.stash
    if PREFETCHER not in stash:
        stash[PREFETCHER] = Prefetcher(item.session, run)
    return stash[PREFETCHER]


def _shared(item: pytest.Item, name: str) -> tuple[object, ...] | None:
    """Return what the fixture depends on, or None if each item gets its own value."""
    fixture = _fixture(item, name)
    if fixture is None or fixture.scope not in _HOMES:
        return None
    params = {name: value for name, value in item.callspec.indices.items() if name != PARAM}  # type: ignore[attr-defined]
    return fixture, item.getparent(_HOMES[fixture.scope]), sorted(params.items())


def _fixture(item: pytest.Item, name: str) -> Any:
    named = fixtures_of(item).get(name)
    return named[-1] if named else None
