"""Whatever interrupts a run, at whatever call: what follows equals the undisturbed run and pays nothing twice."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_personalens import Answer, Context, Dimension, Evaluation, Request, Scenario
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.core.runtime import SPARE
from pytest_personalens.core.safe_text import slug
from pytest_personalens.engine.engine import work
from pytest_personalens.engine.job import Job, ParticipantSpecs
from pytest_personalens.engine.participants import Participants
from pytest_personalens.models.call_log import CallLog
from pytest_personalens.models.tape import TapeRules
from pytest_personalens.plugin.stored.record_snapshots import RecordStore

DIMENSIONS = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
#: Calls of an undisturbed run: three turns of the user, a reading of P, and three votes on TC.
CALLS = 3 + 1 + 3


class Killed(BaseException):
    """The end of the process: nothing of ours may catch it."""


class World:
    """A model that plays user and judge, and dies with the process at given calls, before or after it answers."""

    name, paid = "m", True

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, float]] = []
        self.in_flight: list[tuple[str, str, float]] = []
        self.deaths: list[int] = []
        self.dead, self.readings = False, list[Future[Any]]()

    def submit(self, call: Callable[..., Any], *args: Any) -> Future[Any]:
        """Begin a reading beside others, in a thread that is kept for the next one."""
        self.readings.append(SPARE.submit(call, *args))
        return self.readings[-1]

    def bury(self) -> None:
        """Wait until nothing of the process that was killed runs any more."""
        assert not wait(self.readings, 60).not_done
        self.dead = False

    def complete(self, request: Request) -> Answer:
        call = (request.system, request.prompt, request.temperature)
        if self.dead:
            raise Killed
        self.asked.append(call)
        if len(self.asked) in self.deaths:
            self.dead = True
            self.in_flight.append(call)
            raise Killed
        if request.answer is None:
            turns = request.prompt.count('"turn"')
            text = f"I need thing {turns}. " + ("TERMINATE" if turns >= 4 else "")
            return Answer(text=text, input_tokens=7, output_tokens=5)
        score = False if request.answer["properties"]["score"]["type"] == "boolean" else 3
        quote = {"turn": 0, "quote": "I need thing 0."}
        data = {"evidence": [quote], "justification": "so", "score": score}
        return Answer(input_tokens=9, output_tokens=3, data=data)


class Run(NamedTuple):
    """What a run came to, and what its record holds."""

    evaluation: Evaluation
    record: bytes | None

    @property
    def outcome(self) -> Evaluation:
        """What it came to, whoever paid for it and however long it took."""
        return self.evaluation.model_copy(update={"usage": {}, "latencies": ()})


def play(
    world: World, scenario: Scenario, root: Path, mode: Any, run: str = "1", *, resume: bool = False
) -> Run:
    """One run of one item, as the plugin makes it."""

    def test_bot() -> None: ...

    name, config = "test_bot[train-1]", SimpleNamespace(rootpath=root, getoption=lambda *names: None)
    item: Any = SimpleNamespace(
        nodeid=f"test_bot.py::{name}", path=root / "test_bot.py", obj=test_bot, name=name, config=config
    )
    store = RecordStore(item, scenario, scenario.id, mode)
    keeps = mode != "none" or resume
    calls = CallLog(root / "cache", run).case(scenario.id, anew=mode == "all") if keeps else None
    buys: Any = {"keeps_all": resume, "writes": store.writes, "run": run, "item": "test_bot"}
    rules = TapeRules(str(store.path), mode != "none", mode == "all", **buys)
    specs = ParticipantSpecs(str(root), Settings.default(user_model="m", judge_model="m", judge_votes=3))
    participants = Participants(specs, added=lambda role, spec: world if role == "model" else None)
    job = Job(
        scenario, Context(user="Ada"), DIMENSIONS, {"task_completion": 1}, 0, 5.0, rules, store.load(), scenario.id,
        resumable=resume,
    )  # fmt: skip
    try:
        done = work(job, participants, lambda messages: f"reply {len(messages)}", calls)
        store.settle(done)
    finally:
        participants.close()
    return Run(done.evaluation, store.path.read_bytes() if store.path.exists() else None)


@pytest.mark.parametrize("mode", ["live", "new", "all"])
def test_an_interrupted_run_and_what_follows_equal_the_undisturbed_one(
    scenario: Scenario, mode: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = World()
    whole = play(world, scenario, tmp_path, mode)
    assert len(world.asked) == CALLS
    assert len({*world.asked}) == CALLS - 1, "two votes ask the same"

    @settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        deaths=st.lists(st.integers(1, 2 * CALLS), max_size=3, unique=True),
        cut=st.binary(max_size=40).filter(lambda content: b"\n" not in content),
    )
    def check(deaths: list[int], cut: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root, world = Path(folder), World()
            world.deaths = deaths
            monkeypatch.setattr("pytest_personalens.core.judging.evaluation.SPARE", world)
            while True:
                try:
                    last = play(world, scenario, root, mode, resume=mode == "all")
                    break
                except Killed:
                    world.bury()
                    for log in (root / "cache").glob("*.jsonl"):
                        log.write_bytes(log.read_bytes() + cut)  # a line that was being written
            assert (last.outcome, last.record) == (whole.outcome, whole.record)
            once = Counter(world.asked) - Counter(world.in_flight)
            assert sum(once.values()) == CALLS, "nothing is bought twice but what was in flight"
            bought = len(world.asked)
            for again in ("live", "new", *(["none"] if whole.record else [])):
                replayed = play(world, scenario, root, again, "2")
                assert replayed.evaluation.verdicts == whole.evaluation.verdicts
                assert replayed.evaluation.dialogue == whole.evaluation.dialogue
                assert replayed.evaluation.usage == {}
            assert len(world.asked) == bought, "a replay is free"

    check()


def test_what_a_replay_misses_is_said(scenario: Scenario, tmp_path: Path) -> None:
    world = World()
    play(world, scenario, tmp_path, "new")
    assert play(world, scenario, tmp_path, "none").evaluation.scored
    situation = scenario.situation.model_copy(update={"location": "York"})
    elsewhere = scenario.model_copy(update={"situation": situation})
    for name, played, why in (
        ("m", elsewhere, "its scenario has changed"),
        ("n", scenario, "the user agent was m, and is n now"),
    ):
        world.name = name
        missed = play(world, played, tmp_path, "none").evaluation
        assert missed.cause == "record"
        assert f"the record is stale ({why}); record it with --personalens-record new" in missed.detail
    assert len(world.asked) == CALLS


def test_runs_at_once_share_what_any_of_them_buys(scenario: Scenario, tmp_path: Path) -> None:
    world = World()
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda n: play(world, scenario, tmp_path, "live", str(n)), range(4)))
    assert len({run.outcome.model_dump_json() for run in done}) == 1
    assert len(world.asked) == CALLS


def test_what_was_bought_is_not_kept_behind_a_link(scenario: Scenario, tmp_path: Path) -> None:
    world = World()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / f"{slug(scenario.id)}.jsonl").symlink_to(tmp_path / "elsewhere")
    lost = play(world, scenario, tmp_path, "live").evaluation
    assert (lost.cause, len(world.asked)) == ("record", 1), "the buying ends"
    assert "what was bought cannot be kept" in lost.detail
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "link").symlink_to(tmp_path / "cache")
    with pytest.raises(OSError, match="a symbolic link"):
        CallLog(tmp_path / "link")
