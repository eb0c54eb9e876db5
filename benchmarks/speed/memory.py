"""Thirty arcs of several sessions, beside the bound of their replies.

    python benchmarks/speed/memory.py [--rounds 3] [--patience 30]

The assistant answers each message after 200 ms. The messages of an arc follow one another, and arcs run side
by side: the bound is the arc with most messages. Measured from process start to exit. Exit code 1 if the goal
is missed.
"""

from __future__ import annotations

import argparse
import json
import os
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
    "--personalens-suite=memory", f"--personalens-sample={ARCS}", f"--personalens-concurrency={ARCS}",
    "--personalens-gate=memory >= 0",
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


def main() -> int:
    """Measure and print the ratio; 1 if the goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--patience", type=float, default=30, metavar="SECONDS", help="longest wait for a quiet machine"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        run(folder, f"--personalens-report={folder / 'results.json'}")
        arcs, replies = longest(folder / "results.json")
        runs = []
        for _ in range(options.rounds):
            wait_for_quiet(options.patience)
            runs.append(run(folder))
    walls = [one.wall for one in runs]
    bound, wall = replies * LATENCY, statistics.median(walls)
    cpu = statistics.median(one.cpu for one in runs)
    took = f"{wall:.1f} s ({min(walls):.1f} to {max(walls):.1f}), CPU {cpu:.1f} s"
    goal = Goal(f"{arcs} arcs, bound {bound:.1f} s ({replies} replies), {took}", wall / bound, 1.7, "x")
    outcome = "reached" if goal.reached else "MISSED"
    print(f"{goal.name}: {goal.value:.2f} {goal.unit}, goal {goal.bound:g} {outcome}")
    return not goal.reached


if __name__ == "__main__":
    sys.exit(main())
