"""Thirty dialogues, 300 calls of 200 ms: our plugin beside the bound, a bare asyncio client, its own workers,
and other tools.

    python benchmarks/speed/concurrency.py [--rounds 3] [--only TEXT ...] [--patience 30]

All in one run, in turn, each from process start to exit against a fresh fake endpoint; writes
``concurrency.json`` and ``concurrency.md``. Other tools take part if ``benchmarks/peers/install.py`` has been
run. Exit code 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.peers.install import PEERS, missing, python_of
from benchmarks.speed.fake_endpoint import LATENCY, TURNS, running
from benchmarks.speed.measure import Measured, measure, wait_for_quiet

HERE = Path(__file__).resolve().parent
SCENARIOS, READINGS = 30, 2
CALLS = SCENARIOS * (2 * TURNS + READINGS)
#: Turns and replies wait for each other, the readings for none but the last reply.
BOUND = (2 * TURNS + 1) * LATENCY
REFUSE_EVERY = 20
#: The code beside this file is measured, whatever else is installed.
OUR_CODE = {"PYTHONPATH": str(HERE.parents[1])}
CONFTEST = """
import asyncio, os, sys

import pytest

sys.path.insert(0, {here!r})
from bare_client import Client


@pytest.fixture(scope="session")
def personalens_assistant():
    client = Client(os.environ["OPENAI_BASE_URL"])
    system = {{"role": "system", "content": "You are an assistant."}}

    async def reply(messages, context):
        while True:
            try:
                return (await client.ask("assistant", [system, *messages]))["content"]
            except KeyError:  # a refusal
                await asyncio.sleep(0.25)

    return reply
"""
#: The same assistant as a sync callable.
SYNC = """
import http.client, json, os, threading
from urllib.parse import urlsplit

import pytest

SERVER = urlsplit(os.environ["OPENAI_BASE_URL"])


@pytest.fixture(scope="session")
def personalens_assistant():
    here = threading.local()

    def reply(messages, context):
        if not hasattr(here, "connection"):
            here.connection = http.client.HTTPConnection(SERVER.hostname, SERVER.port)
        system = {"role": "system", "content": "You are an assistant."}
        body = json.dumps({"model": "assistant", "messages": [system, *messages]}).encode()
        here.connection.request("POST", f"{SERVER.path}/chat/completions", body)
        return json.loads(here.connection.getresponse().read())["choices"][0]["message"]["content"]

    return reply
"""
#: What a team has in its configuration; the command line holds the sample alone. Only our own tests need the
#: plugin of Hypothesis.
INI = """
[pytest]
addopts = -q -p no:cacheprovider -p no:hypothesispytest
personalens_record = live
personalens_kind = single
personalens_user_model = {model}
personalens_judge_model = {model}
{more}
"""
OURS = "ours, an async assistant"
THROTTLED = f"{OURS}, {1 / REFUSE_EVERY:.0%} of calls refused"
WORKERS = f"{OURS}, -n 2"


class Arm(NamedTuple):
    """One way to do the work; ours has files. `why_not` says why it cannot be run."""

    name: str
    command: list[str]
    conftest: str = ""
    ini: str = ""
    refuse_every: int = 0
    peer: bool = False
    why_not: str = ""


class Row(NamedTuple):
    """What an arm took: medians over the rounds."""

    name: str
    wall: float = 0.0
    low: float = 0.0
    high: float = 0.0
    ratio: float = 0.0
    cpu: float = 0.0
    memory: float = 0.0
    calls: int = 0
    most: int = 0
    note: str = ""


class Goal(NamedTuple):
    """A measured figure beside the one to reach; None where it was not measured,
    and then it is not reached.
    """

    name: str
    value: float | None
    bound: float
    unit: str

    @property
    def reached(self) -> bool:
        """True if the figure is not above its bound."""
        return self.value is not None and self.value <= self.bound


def arms() -> list[Arm]:
    """All arms, those that cannot be run here with the reason."""
    return [
        Arm("bare asyncio client", [sys.executable, str(HERE / "bare_client.py")]),
        ours(OURS),
        ours(WORKERS, "-n", "2"),
        ours(THROTTLED)._replace(refuse_every=REFUSE_EVERY),
        ours(f"{OURS}, Bedrock", model="bedrock:claude-3-haiku-v1"),
        ours(
            "ours, a sync assistant, personalens_parallel = true",
            more="personalens_parallel = true",
            conftest=SYNC,
        ),
        *(
            Arm(
                pins[0].replace("==", " "),
                [str(python_of(peer)), str(HERE.parent / "peers" / f"{peer}_peer.py")],
                peer=True,
                why_not=missing(peer),
            )
            for peer, pins in PEERS.items()
        ),
    ]


def ours(
    name: str, *words: str, model: str = "openai:small", more: str = "", conftest: str = CONFTEST
) -> Arm:
    """Our run of all scenarios, with `more` lines of the configuration."""
    command = [sys.executable, "-m", "pytest", f"--personalens-sample={SCENARIOS}", *words]
    if conftest is CONFTEST:
        conftest = conftest.format(here=str(HERE))
    return Arm(name, command, conftest, INI.format(model=model, more=more))


def run(arm: Arm) -> tuple[Measured, int, int]:
    """(What it took, calls answered, most in flight) of one run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, running(LATENCY, arm.refuse_every) as endpoint:
        environment = endpoint.environment()
        if arm.peer:
            environment.pop("PYTHONPATH", None)
            # Nothing of theirs is to stay behind, or to be told to anybody.
            environment |= {
                "HOME": folder,
                "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
                "DEEPEVAL_DISABLE_DOTENV": "1",
                "LANGSMITH_TRACING": "false",
            }
        else:
            environment |= OUR_CODE
            (Path(folder) / "conftest.py").write_text(arm.conftest, encoding="utf-8")
            (Path(folder) / "pytest.ini").write_text(arm.ini, encoding="utf-8")
        measured = measure(arm.command, Path(folder), environment)
        stats = endpoint.stats()
    if measured.status or stats["calls"] != CALLS:
        last = (measured.output.strip().splitlines() or ["no output"])[-1]
        raise RuntimeError(f"exit code {measured.status}, {stats['calls']} of {CALLS} calls: {last}")
    return measured, stats["calls"], stats["most"]


def play(chosen: list[Arm], rounds: int, patience: float) -> tuple[list[Row], list[float]]:
    """The rows, and for each round how much longer the run took whose calls were refused."""
    runs: dict[str, list[tuple[Measured, int, int]]] = {arm.name: [] for arm in chosen}
    notes = {arm.name: arm.why_not for arm in chosen}
    for arm in [arm for arm in chosen if arm.conftest][:1]:
        with suppress(RuntimeError):  # told in its first round
            run(arm)  # not counted: it leaves the bytecode that an installation has
    for number in range(rounds):
        # In turn, so that whatever else the machine does falls on all alike.
        for arm in chosen:
            if notes[arm.name]:
                continue
            wait_for_quiet(patience)
            try:
                runs[arm.name].append(run(arm))
            except RuntimeError as error:
                notes[arm.name] = str(error)
                continue
            print(
                f"round {number + 1} of {rounds}: {arm.name}: {runs[arm.name][-1][0].wall:.2f} s",
                file=sys.stderr,
            )
    rows = [summary(name, done, notes[name]) for name, done in runs.items()]
    pairs = zip(runs.get(THROTTLED, []), runs.get(OURS, []), strict=False)
    return rows, [slowed[0].wall / plain[0].wall for slowed, plain in pairs]


def summary(name: str, done: list[tuple[Measured, int, int]], note: str) -> Row:
    """One row of the table."""
    if note:
        return Row(name, note=note)
    walls = [measured.wall for measured, _, _ in done]
    wall = statistics.median(walls)
    cpu, memory = (
        statistics.median(values) for values in zip(*((m.cpu, m.memory) for m, _, _ in done), strict=True)
    )
    return Row(
        name,
        wall,
        min(walls),
        max(walls),
        wall / BOUND,
        cpu,
        memory,
        done[-1][1],
        max(most for _, _, most in done),
    )


def goals(rows: list[Row], slower: list[float]) -> list[Goal]:
    """The goals of our run."""
    named = {row.name: row for row in rows if not row.note}
    ours, workers = named.get(OURS), named.get(WORKERS)
    return [
        Goal("no option but the sample, beside the bound", ours and ours.ratio, 1.35, "x"),
        Goal("the same with -n 2", workers and workers.ratio, 1.7, "x"),
        Goal("CPU time", ours and ours.cpu, 2.0, "s"),
        Goal("peak memory", ours and ours.memory, 130.0, "MB"),
        Goal("5% of calls refused, beside none", statistics.median(slower) if slower else None, 1.5, "x"),
    ]


def markdown(rows: list[Row], reached: list[Goal], rounds: int) -> str:
    """The table that the docs quote."""
    work = (
        f"{SCENARIOS} scenarios of {TURNS} user turns, {TURNS} replies and {READINGS} readings: {CALLS} calls"
    )
    how = f"From process start to exit, medians of {rounds} alternating rounds"
    lines = [
        f"{work}, each answered after {LATENCY * 1000:.0f} ms on loopback.",
        f"{how}, {os.cpu_count()} cores, Python {platform.python_version()}.",
        "",
        (
            "| | seconds (lowest to highest) | beside the bound | CPU s | peak memory MB | calls | most in"
            " flight |"
        ),
        "|---|---:|---:|---:|---:|---:|---:|",
        f"| bound: {2 * TURNS + 1} calls one after the other | {BOUND:.1f} | 1.0 | | | {CALLS} | |",
    ]
    for r in rows:
        if r.note:
            lines.append(f"| {r.name} | not measured: {r.note} | | | | | |")
            continue
        times = f"{r.wall:.1f} ({r.low:.1f} to {r.high:.1f})"
        lines.append(
            f"| {r.name} | {times} | {r.ratio:.1f} | {r.cpu:.1f} | {r.memory:.0f} | {r.calls} | {r.most} |"
        )
    lines += ["", "| goal | measured | at most | |", "|---|---:|---:|---|"]
    for g in reached:
        value = "not measured" if g.value is None else f"{g.value:.2f} {g.unit}"
        lines.append(
            f"| {g.name} | {value} | {g.bound:g} {g.unit} | {'reached' if g.reached else 'MISSED'} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, print the table and write it; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--only",
        nargs="*",
        default=[],
        metavar="TEXT",
        help="only arms whose name holds one of these; writes no file",
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=30,
        metavar="SECONDS",
        help="longest wait for a quiet machine, before each run",
    )
    options = parser.parse_args()
    chosen = [arm for arm in arms() if not options.only or any(text in arm.name for text in options.only)]
    rows, slower = play(chosen, options.rounds, options.patience)
    found = goals(rows, slower)
    table = markdown(rows, found, options.rounds)
    print(table)
    if not options.only:
        (HERE / "concurrency.md").write_text(table, encoding="utf-8")
        content = {
            "bound": BOUND,
            "latency": LATENCY,
            "rounds": options.rounds,
            "rows": [row._asdict() for row in rows],
            "goals": [{**g._asdict(), "reached": g.reached} for g in found],
        }
        (HERE / "concurrency.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0 if all(g.reached for g in found) else 1


if __name__ == "__main__":
    sys.exit(main())
