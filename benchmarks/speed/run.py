"""Speed of the plugin as ratios, each pair measured side by side in one run."""

from __future__ import annotations

import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.speed.measure import MAXRSS_MB

ROUNDS = 7
MANY = 1000
LENIENT = ("-o", "personalens_threshold=tc>=0,p>=1")
ROOT = Path(__file__).resolve().parents[2]
EMPTY = "import pytest\n\n\n@pytest.mark.parametrize('n', range(30))\ndef test_empty(n):\n    pass\n"

#: A record is read for each item and the assistant costs nothing, so that what is left is pytest and the
#: plugin.
READING = f"""
import pytest
from pathlib import Path

FILES = sorted(Path(__file__).with_name("records").iterdir())

@pytest.mark.parametrize("n", range({MANY}))
def test_reads(n):
    FILES[n].read_text(encoding="utf-8")
"""
QUICK = """
import pytest

@pytest.fixture(scope="session")
def personalens_assistant():
    return lambda messages: f"I've booked it for 19:30, reference QX77{len(messages)}."
"""


class Goal(NamedTuple):
    """A measured figure beside the one to reach."""

    name: str
    value: float
    bound: float
    unit: str

    @property
    def reached(self) -> bool:
        """True if the figure is not above its bound."""
        return self.value <= self.bound


def main() -> int:
    """Measure, print a table, write ``benchmarks/speed/results.json``; 1 if a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty"
        empty.mkdir()
        (empty / "test_empty.py").write_text(EMPTY, encoding="utf-8")
        bot = quick_bot(Path(folder) / "bot")
        plain = ["-p", "no:cacheprovider", "-q"]
        sample = [*plain, "--personalens-sample", "30", *LENIENT]
        pytest_in(bot, [*sample, "--personalens-record=new"])
        without, unused, replay = [], [], []
        for _ in range(ROUNDS):
            # In turn, so that whatever else the machine does falls on all alike.
            without.append(pytest_in(empty, [*plain, "-p", "no:personalens"]))
            unused.append(pytest_in(empty, plain))
            replay.append(pytest_in(bot, sample))
        added = statistics.median(u - w for u, w in zip(unused, without, strict=True)) * 1000
        ratio = statistics.median(r / w for r, w in zip(replay, without, strict=True))
        many = replay_many(Path(folder) / "many", plain)
        memory = peak_of_reports(Path(folder) / "many" / "quick", plain)
        opened, needed = files_opened(Path(folder) / "official")
    milliseconds, opening = opened_embedded()
    print(f"opening 30 embedded scenarios takes {milliseconds:.0f} ms")
    goals = [
        Goal("installed but unused, added to start-up", added, 30.0, "ms"),
        Goal("30 items replayed / 30 empty tests, -n 0", ratio, 1.5, "x"),
        Goal(f"{MANY:,} items replayed / tests that read a file, -n 0", many, 2.0, "x"),
        Goal(f"peak memory of {MANY:,} items with two reports", memory, 150.0, "MB"),
        Goal("files read to draw 30 of 1,500 users / theirs", opened / needed, 1.0, "x"),
        Goal("30 embedded scenarios opened / the same from TOML", opening, 0.1, "x"),
    ]
    for goal in goals:
        print(
            f"{goal.name:45} {goal.value:8.2f} {goal.unit:3} goal {goal.bound:g}"
            f" {'reached' if goal.reached else 'MISSED'}"
        )
    results = [{**g._asdict(), "reached": g.reached} for g in goals]
    Path(__file__).with_name("results.json").write_text(
        json.dumps(results, indent=1) + "\n", encoding="utf-8"
    )
    return 0 if all(g.reached for g in goals) else 1


def quick_bot(folder: Path) -> Path:
    """A repository with a bot that costs nothing."""
    folder.mkdir(parents=True)
    (folder / "conftest.py").write_text(QUICK, encoding="utf-8")
    (folder / "test_quick.py").write_text(
        "def test_quick(personalens):\n    personalens.check()\n", encoding="utf-8"
    )
    return folder


def replay_many(folder: Path, plain: list[str]) -> float:
    """Time to replay many items from their records, beside as many tests that each read a file of that
    size.
    """
    quick, reading = quick_bot(folder / "quick"), folder / "reading"
    reading.mkdir()
    sample = [*plain, "--personalens-sample", str(MANY), *LENIENT]
    pytest_in(quick, [*sample, "--personalens-record=new"])
    shutil.copytree(quick / "__personalens__" / "test_quick", reading / "records")
    (reading / "test_reading.py").write_text(READING, encoding="utf-8")
    ratios = [
        pytest_in(quick, sample) / pytest_in(reading, [*plain, "-p", "no:personalens"]) for _ in range(5)
    ]
    return statistics.median(ratios)


def peak_of_reports(folder: Path, plain: list[str]) -> float:
    """Peak memory in MB of a process that replays many items and writes reports as JSON and as HTML."""
    reports = ("--personalens-report", "r.json", "--personalens-report", "r.html")
    command = [sys.executable, "-m", "pytest", *plain, "--personalens-sample", str(MANY), *LENIENT, *reports]
    # The processes that it starts for a moment are not counted: they share its memory.
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=environment_of(folder))
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"pytest failed in {folder}")
    return usage.ru_maxrss * MAXRSS_MB


def files_opened(root: Path) -> tuple[int, int]:
    """Task files opened to draw 30 scenarios from a layout of 1,500 users, and how many belong to the users
    drawn.
    """
    from pytest_personalens.datasets import OfficialDataset, draw

    task = {"task_id": "SD-Alarm-task-1", "Relevant Domains": ["Alarm"]}
    for number in range(1500):
        user = root / "profile" / f"user{number}"
        user.mkdir(parents=True)
        (user / "tasks.json").write_text(json.dumps({"Task 1": task}), encoding="utf-8")
        (user / "tasks_md.json").write_text("{}", encoding="utf-8")
    opened: list[str] = []
    sys.addaudithook(
        lambda event, args: (
            opened.append(str(args[0])) if event == "open" and "/profile/user" in str(args[0]) else None
        )
    )
    users = {ref.user for ref in draw(OfficialDataset(root), 30, seed="benchmark").refs}
    return len(opened), 2 * len(users)


def opened_embedded() -> tuple[float, float]:
    """CPU time in milliseconds to draw and load 30 embedded scenarios, and its share of that from TOML."""
    from pytest_personalens.datasets import EmbeddedDataset, draw

    folder = Path(__file__).resolve().parents[2] / "data"

    def load(root: Path | None) -> float:
        started = time.process_time()
        fresh = EmbeddedDataset(root)
        for ref in draw(fresh, 30, seed="benchmark").refs:
            fresh.load(ref)
        return time.process_time() - started

    gc.disable()  # as in a run
    packaged, edited = (min(load(root) for _ in range(ROUNDS)) for root in (None, folder))
    gc.enable()
    return packaged * 1000, packaged / edited


def pytest_in(folder: Path, args: list[str]) -> float:
    """Wall time in seconds of a pytest run, from process start to exit; of a second run, which finds the
    bytecode of a first.
    """
    command = [sys.executable, "-m", "pytest", *args]
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=environment_of(folder)
    )
    took = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(f"pytest failed in {folder}:\n{done.stdout}{done.stderr}")
    return took


def environment_of(folder: Path) -> dict[str, str]:
    """The environment of the runs in a folder, with a cache and a place for bytecode of their own."""
    # Some machines, mostly containers, forbid Python to keep bytecode: each run would compile all plugins
    # anew.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return environment | {
        "PYTHONPYCACHEPREFIX": str(folder.parent / "bytecode"),
        "PERSONALENS_CACHE_DIR": str(folder.parent / "cache"),
    }


if __name__ == "__main__":
    sys.exit(main())
