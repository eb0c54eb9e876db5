"""Dialogues on a real Dask cluster of several processes on loopback: the same results, whoever of them dies."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens import Dimension, Scenario
from pytest_personalens.core.options.settings import Settings
from pytest_personalens.engine.dask import work_there
from pytest_personalens.engine.job import Job, ParticipantSpecs
from tests.support.processes.runs import assert_usage_error, without_times
from tests.support.repository import ROOT, Repository, forget_calls
from tests.support.scripted_agents import TEST
from tests.support.servers.service import Service, json_answer

pytest.importorskip("distributed", reason="dask is an extra")
pytestmark = pytest.mark.slow

#: Named by its place, since a fixture cannot travel; it writes down in which process it answered.
BOT = """
    import os, time

    def reply(messages, context):
        time.sleep(float(os.environ.get("SLOWLY", "0.02")))
        with open(os.environ["SAID"], "a") as file:
            file.write(f"{os.getpid()} {context.user} {len(messages)}\\n")
        return f"I've booked it for 19:30, reference QX77. Seen to: {', '.join(context.interactions)}."
"""
REPORT = "--personalens-report=r.json"
ARGS = ("--personalens-sample=12", "--personalens-assistant=clusterbot:reply", REPORT, "-opersonalens_threshold=p>=1,tc>=0")  # fmt: skip


class Dask:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._processes = folder, list[subprocess.Popen[bytes]]()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        self._start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")

    def worker(
        self, threads: int = 3, *, revived: bool = False, **environment: str
    ) -> subprocess.Popen[bytes]:
        """A worker; `revived`: with a nanny that starts it again when it dies."""
        words = ("--nthreads", str(threads), "--nanny" if revived else "--no-nanny", "--no-dashboard")
        return self._start("worker", self.address, *words, **environment)

    def _start(self, kind: str, *args: str, **environment: str) -> subprocess.Popen[bytes]:
        # The workers find the assistant where it is installed; here, in the folder that they run in.
        path = os.pathsep.join(filter(None, [str(self._folder), os.environ.get("PYTHONPATH")]))
        env = {**os.environ, "PYTHONPATH": path, "SAID": str(self._folder / "said.log"), **environment}
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{kind}", *args],
            cwd=self._folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._processes.append(process)
        return process

    def close(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()


@pytest.fixture
def dask(empty_repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dask]:
    empty_repo.write(clusterbot=BOT, test_bot=TEST)
    monkeypatch.setenv("SAID", str(empty_repo.path / "said.log"))
    cluster = Dask(empty_repo.path)
    yield cluster
    cluster.close()


def on(dask: Dask) -> tuple[str, str]:
    """The option that runs dialogues on a cluster, once its workers are there."""
    time.sleep(2)
    return "-o", f"personalens_executor=dask={dask.address}"


def results(repo: Repository) -> dict[str, Any]:
    return without_times(repo.results("r.json"), "executor", "parallel")


def everywhere(repo: Repository, args: tuple[str, ...], items: int, *hows: tuple[str, ...]) -> dict[str, Any]:
    """The results of a run over so many items, which are those of the runs that are made otherwise."""
    repo.run(*args)
    alone = results(repo)
    assert [item["evaluation"]["cause"] for item in alone["items"]] == [""] * items
    for how in hows:
        (repo.path / "said.log").unlink(missing_ok=True)
        repo.run(*args, *how)
        assert results(repo) == alone, how
    return alone


def until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not reached():
        time.sleep(0.02)


def said(repo: Repository) -> list[list[str]]:
    log = repo.path / "said.log"
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def test_a_cluster_gives_and_replays_what_one_process_gives(empty_repo: Repository, dask: Dask) -> None:
    workers = {str(dask.worker().pid), str(dask.worker().pid)}
    everywhere(empty_repo, ARGS, 12, on(dask))
    assert {pid for pid, *_ in said(empty_repo)} <= workers
    empty_repo.run(*ARGS, "--personalens-record=new", *on(dask)).assert_outcomes(passed=12)
    replayed = everywhere(empty_repo, ARGS, 12, on(dask))
    assert {item["record"] for item in replayed["items"]} == {"replayed"}


#: Keep what their users say, or what their memory is filled with. REMEMBERED is where that is written down.
KEEPERS = """
    import os, sys
    sys.path.insert(0, {!r})
    from sessions.rememberer import BOTS

    KEEPER, NOTES = BOTS["remembers"](), {{}}

    def arc(messages, context):
        return KEEPER.reply(context.user, context.session, messages[-1]["content"])

    def question(messages, context):
        asked = set(messages[-1]["content"].lower().split())
        said = [(s.date, m["content"]) for s in context.sessions for m in s.messages]
        date, best = max(said, key=lambda m: len(asked & set(m[1].lower().split())), default=("", ""))
        return f"On {{date}}: {{best}}" if best else "I do not know that."

    def remember(user, sessions):
        NOTES[user] = len(sessions)
        with open(os.environ["SAID"], "a") as file:
            file.write(f"{{os.getpid()}} {{user}} {{len(sessions)}}\\n")

    def told(messages, context):
        assert context.sessions and not context.interactions
        return f"I've booked it for 19:30, reference QX77. I know {{NOTES.get(context.user)}} sessions."
"""
MEMORY = "import pytest\nfrom keepers import {name}\n\n@pytest.fixture(scope='session')\ndef personalens_memory():\n    return {name}\n"
HISTORY = ("-opersonalens_context=HS", "-opersonalens_users=amara,bartek", "--personalens-kind=single")


@pytest.mark.parametrize(
    ("bot", "items", "more"),
    [
        ("arc", 28, ("--personalens-suite=memory", "--personalens-control=alone")),
        ("question", 24, ("--personalens-suite=questions",)),
        ("told", 12, HISTORY),
    ],
)
def test_a_history_reaches_the_workers_of_xdist_and_of_a_cluster(
    empty_repo: Repository, dask: Dask, bot: str, items: int, more: tuple[str, ...]
) -> None:
    """Arcs of several sessions, questions over a history, and past sessions with a memory to fill."""
    empty_repo.write(keepers=KEEPERS.format(str(ROOT / "example_project")))
    if bot == "told":
        empty_repo.write(conftest=MEMORY.format(name="remember"))
    sample = f"--personalens-sample={items if bot == 'told' else items // 2}"
    args = (*more, sample, f"--personalens-assistant=keepers:{bot}", REPORT, "--personalens-gate=none")
    (dask.worker(), dask.worker())
    everywhere(empty_repo, args, items, ("-n", "2"), on(dask))
    if handed := said(empty_repo):
        assert {user for _, user, _ in handed} == {"amara", "bartek"}
        assert all(int(number) > 20 for *_, number in handed), "the whole past"
        assert len({(pid, user) for pid, user, _ in handed}) == len(handed), "once a process"
    assert bool(handed) == (bot == "told")


@pytest.mark.parametrize("memory", [MEMORY.format(name="KEEPER"), MEMORY.format(name="remember").replace("return remember", "return lambda user, sessions: None")])  # fmt: skip
def test_a_memory_that_cannot_travel(empty_repo: Repository, dask: Dask, memory: str) -> None:
    keeper = "\n    class Keeper:\n        def __call__(self, user, sessions): pass\n    KEEPER = Keeper()\n"
    empty_repo.write(keepers=KEEPERS.format(str(ROOT / "example_project")) + keeper, conftest=memory)
    dask.worker()
    result = empty_repo.run(*HISTORY, "--personalens-sample=2", "--personalens-assistant=keepers:told", *on(dask))  # fmt: skip
    told = "*the fixture personalens_memory: under personalens_executor, return a function of a module that workers can import*"
    result.stdout.fnmatch_lines([told])
    assert result.ret != 0


def test_workers_call_a_service(empty_repo: Repository, dask: Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOT_TOKEN", "s3cret-t0ken")
    service = Service()
    call = {"id": "1", "type": "function", "function": {"name": "book", "arguments": '{"people": 2}'}}
    steps = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "ok"},
    ]
    said = {"role": "assistant", "content": "I've booked it for 19:30, reference QX77."}
    service.answer = lambda asked: json_answer([*steps, said])
    dask.worker()
    key = ("-o", "personalens_assistant_headers=Authorization: Bearer ${BOT_TOKEN}")
    args = (*ARGS, "--personalens-assistant", f"http:{service.url}/chat", *key)
    try:
        alone = everywhere(empty_repo, args, 12, on(dask))
    finally:
        service.close()
    turns = [m for item in alone["items"] for m in item["evaluation"]["dialogue"]["messages"] if "steps" in m]
    assert {turn["steps"][0]["tool_calls"][0]["function"]["name"] for turn in turns} == {"book"}
    assert len(turns) == sum(item["evaluation"]["latencies"] for item in alone["items"])
    assert len(service.asked) == 2 * sum(item["evaluation"]["latencies"] for item in alone["items"])
    assert {one.headers["authorization"] for one in service.asked} == {"Bearer s3cret-t0ken"}
    assert "s3cret" not in json.dumps(alone)


def started(repo: Repository, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pytest", *args]
    return subprocess.Popen(command, cwd=repo.path, stdout=subprocess.PIPE, text=True)


def test_a_worker_that_dies_costs_its_running_dialogues_only(empty_repo: Repository, dask: Dask) -> None:
    alone = everywhere(empty_repo, ARGS, 12)
    (empty_repo.path / "said.log").unlink()
    doomed, _ = dask.worker(SLOWLY="0.3"), dask.worker(SLOWLY="0.3")
    run = started(empty_repo, *ARGS, *on(dask))
    until(lambda: str(doomed.pid) in {pid for pid, *_ in said(empty_repo)})
    doomed.send_signal(signal.SIGKILL)
    out, _ = run.communicate(timeout=600)
    assert run.returncode == 0, out
    assert results(empty_repo) == alone
    replies = [(user, number) for _, user, number in said(empty_repo)]
    twice = {user for user, number in replies if replies.count((user, number)) > 1}
    assert len(twice) <= 3, "the dialogues that the worker ran on its three threads"


def test_a_dialogue_that_no_worker_survives_is_not_scored(empty_repo: Repository, dask: Dask) -> None:
    empty_repo.write(
        deadly="""
        import os

        def reply(messages, context):
            if context.user == "tinashe":
                os._exit(1)
            return "I've booked it for 19:30, reference QX77."
        """
    )
    dask.worker(1, revived=True)
    args = ("--personalens-sample=4", "--personalens-assistant=deadly:reply", "--personalens-gate=tcr >= 0.5")
    result = empty_repo.run(*args, REPORT, *on(dask))
    outcomes = result.parseoutcomes()
    # The failures: the item, and both gates, for which too few are scored.
    assert (outcomes["passed"], outcomes["failed"]) == (3, 1 + 2)
    told = "E   not scored, lost: the cluster gave this dialogue up: *"
    result.stdout.fnmatch_lines([told, "not scored: 1, the worker died"])
    assert [i["evaluation"]["cause"] for i in results(empty_repo)["items"]].count("lost") == 1


def test_on_a_cluster_a_run_goes_on_where_it_was_killed(empty_repo: Repository, dask: Dask) -> None:
    dask.worker(SLOWLY="0.2")
    args = [*ARGS, *on(dask), "--personalens-resume"]
    forget_calls()
    run, kept = started(empty_repo, *args), Path(os.environ["PERSONALENS_CACHE_DIR"]) / "calls"
    until(lambda: len(list(kept.rglob("*.jsonl"))) >= 4)
    run.kill()
    run.communicate()
    finished = {json.loads(p.read_text().splitlines()[0])["case"] for p in kept.rglob("*.jsonl")}
    time.sleep(1)
    (empty_repo.path / "said.log").unlink()
    again = started(empty_repo, *args)
    out, _ = again.communicate(timeout=600)
    assert again.returncode == 0, out
    assert len({user for _, user, _ in said(empty_repo)}) == 12 - len(finished)
    assert len(finished) >= 4


@pytest.mark.usefixtures("endpoint")
def test_no_secret_travels(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a task is made of is the job and the recipe; keys are the workers' own business."""
    models = {"user_model": "openai:small", "judge_model": "bedrock:nova-lite"}
    recipe = ParticipantSpecs("/chatbot", Settings.default(**models, assistant="clusterbot:reply"))
    job = Job(scenario, scenario.context(), (Dimension.PERSONALIZATION,), {}, 0, 60.0)
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "s3cret-k3y")
    assert b"s3cret-k3y" not in pickle.dumps((work_there, recipe, job))
    assert pickle.loads(pickle.dumps(job)) == job


def test_a_cluster_that_cannot_be_used_is_one_line(empty_repo: Repository, dask: Dask) -> None:
    other = empty_repo.path / "other" / "pytest_personalens-0.0.1.dist-info"
    other.mkdir(parents=True)
    metadata = "Metadata-Version: 2.1\nName: pytest-personalens\nVersion: 0.0.1\n"
    (other / "METADATA").write_text(metadata, encoding="utf-8")
    for address, told in (
        ("tcp://127.0.0.1:9", "no Dask scheduler at tcp://127.0.0.1:9: *"),
        (dask.address, f"the scheduler at {dask.address} has no workers; start some with: dask worker *"),
        (dask.address, "the worker tcp://* has pytest-personalens 0.0.1; install pytest-personalens * there, as here"),
    ):  # fmt: skip
        if "0.0.1;" in told:
            dask.worker(PYTHONPATH=str(other.parent))
            time.sleep(2)
        run = empty_repo.run(*ARGS, f"-opersonalens_executor=dask={address}")
        assert_usage_error(run, f"ERROR: personalens: personalens_executor: {told}")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ((), "a fixture stays in this process; name the assistant with --personalens-assistant module:attribute"),
        (("--personalens-assistant=test_bot:test_bot", "--personalens-budget=3calls"), "--personalens-budget is kept *"),
    ],
    ids=["a fixture", "a cap"],
)  # fmt: skip
def test_what_cannot_run_on_a_cluster_is_said_first(
    repo: Repository, more: tuple[str, ...], problem: str
) -> None:
    run = repo.run("--personalens-sample=3", "-opersonalens_executor=dask=tcp://127.0.0.1:9", *more)
    assert_usage_error(run, f"ERROR: personalens: personalens_executor: {problem}")
