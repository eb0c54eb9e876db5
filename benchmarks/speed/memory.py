"""Thirty arcs of several sessions, beside the bound of their replies.

    python benchmarks/speed/memory.py [--rounds 3] [--patience 30] [--longmemeval MB]

The assistant answers each message after 200 ms. The messages of an arc follow one another, and arcs run side
by side: the bound is the arc with most messages. Measured from process start to exit. Exit code 1 if the goal
is missed.

With `--longmemeval`, it measures runs of thirty questions instead: what a run takes more than with our own
questions, if they are from an invented file of that size in the layout of LongMemEval, which it has indexed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.speed.fake_endpoint import LATENCY
from benchmarks.speed.measure import Measured, measure, wait_for_quiet
from benchmarks.speed.run import Goal

ROOT = Path(__file__).resolve().parents[2]
ARCS = 30
CONFTEST = f"""
import asyncio
import pytest


@pytest.fixture(scope="session")
def personalens_assistant():
    async def reply(messages, context):
        await asyncio.sleep({LATENCY})
        return "You have not told me that."
    return reply
"""
COMMAND = [
    sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
    f"--personalens-sample={ARCS}", f"-opersonalens_parallel={ARCS}", "--personalens-gate=none",
]  # fmt: skip


def run(folder: Path, *more: str) -> Measured:
    """Return what a run took, which must pass; from the second on it finds its bytecode."""
    found = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    measured = measure([*COMMAND, *more], folder, found)
    if measured.status:
        raise SystemExit(f"the run failed:\n{measured.output[-4000:]}")
    return measured


def longest(results: Path) -> tuple[int, int]:
    """Return the number of arcs, and that of the replies in the longest."""
    items = json.loads(results.read_text(encoding="utf-8"))["items"]
    return len(items), max(len(item["evaluation"]["dialogue"]["messages"]) // 2 for item in items)


def write_longmemeval(file: Path, size: int) -> None:
    """Write a file of some `size` MB: 500 questions with 50 sessions each, of 10 messages."""
    chance, questions, sessions, messages = random.Random(31), 500, 50, 10
    letters = size * 1_000_000 // (questions * sessions * messages) - 50
    words = " ".join("".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(100_000))

    def message(number: int) -> dict[str, str]:
        start = chance.randrange(len(words) - letters)
        return {"role": ("user", "assistant")[number % 2], "content": words[start : start + letters]}

    with file.open("w", encoding="utf-8") as out:
        for number in range(questions):
            ids = [f"session_{n}" for n in range(sessions)]
            entry = {
                "question_id": f"id{number}",
                "question_type": "knowledge-update",
                "question": f"Which bird did I see, number {number}?",
                "answer": "a goldfinch",
                "question_date": "2023/06/01 (Thu) 09:30",
                "haystack_session_ids": ids,
                "haystack_dates": [f"2023/05/{1 + n % 28:02} (Sat) 02:21" for n in range(sessions)],
                "haystack_sessions": [[message(n) for n in range(messages)] for _ in ids],
                "answer_session_ids": [chance.choice(ids)],
            }
            out.write(("[" if not number else ",\n") + json.dumps(entry))
        out.write("]")


def measure_longmemeval(folder: Path, size: int, rounds: int, patience: float) -> Goal:
    """Return how much longer a run of 30 questions of that file takes than one of 30 of ours."""
    file, asked = folder / "longmemeval.json", "--personalens-suite=questions"
    write_longmemeval(file, size)
    theirs = f"--personalens-data=longmemeval:{file}"
    os.environ["PERSONALENS_CACHE_DIR"] = str(folder / "cache")
    run(folder, asked)
    wait_for_quiet(patience)
    first = run(folder, asked, theirs)
    added, walls = [], []
    for _ in range(rounds):
        wait_for_quiet(patience)
        walls.append(run(folder, asked).wall)
        added.append(run(folder, asked, theirs).wall - walls[-1])
    took = f"first run {first.wall:.1f} s, own {statistics.median(walls):.1f} s"
    took += f", later runs {min(added):.2f} to {max(added):.2f} s more"
    return Goal(
        f"{ARCS} questions of {file.stat().st_size / 1e6:.0f} MB: {took}", statistics.median(added), 1.0, "s"
    )


def measure_arcs(folder: Path, rounds: int, patience: float) -> Goal:
    """Return how many times the bound a run of thirty arcs takes."""
    suite = "--personalens-suite=memory"
    run(folder, suite, f"--personalens-report={folder / 'results.json'}")
    arcs, replies = longest(folder / "results.json")
    runs = []
    for _ in range(rounds):
        wait_for_quiet(patience)
        runs.append(run(folder, suite))
    walls = [one.wall for one in runs]
    bound, wall = replies * LATENCY, statistics.median(walls)
    cpu = statistics.median(one.cpu for one in runs)
    took = f"{wall:.1f} s ({min(walls):.1f} to {max(walls):.1f}), CPU {cpu:.1f} s"
    return Goal(f"{arcs} arcs, bound {bound:.1f} s ({replies} replies), {took}", wall / bound, 1.7, "x")


def main() -> int:
    """Measure and print the ratio; 1 if the goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--patience", type=float, default=30, metavar="SECONDS", help="longest wait for a quiet machine"
    )
    parser.add_argument("--longmemeval", type=int, metavar="MB", help="size of a file to invent; 277 as S")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        if options.longmemeval:
            goal = measure_longmemeval(folder, options.longmemeval, options.rounds, options.patience)
        else:
            goal = measure_arcs(folder, options.rounds, options.patience)
    outcome = "reached" if goal.reached else "MISSED"
    print(f"{goal.name}: {goal.value:.2f} {goal.unit}, goal {goal.bound:g} {outcome}")
    return not goal.reached


if __name__ == "__main__":
    sys.exit(main())
