"""Collection from data as large as the official, beside the embedded data and beside pytest with as many
trivial items.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.speed.run import Goal
from benchmarks.synthetic_data.official import MULTI, SINGLE, write_data

ROUNDS = 5
ALL = SINGLE + MULTI
TRIVIAL = f"import pytest\n\n\n@pytest.mark.parametrize('n', range({ALL}))\ndef test_trivial(n):\n    pass\n"


def main() -> int:
    """Measure and print a table; 1 if a goal is missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = f"--personalens-data={write_data(folder / 'data')}"
        for repository in ("trivial", "bot"):
            (folder / repository).mkdir()
        (folder / "trivial" / "test_trivial.py").write_text(TRIVIAL, encoding="utf-8")
        (folder / "nowhere").touch()
        bot, cache, no_cache = folder / "bot", folder / "cache", folder / "nowhere"
        everything = ["--personalens-sample", str(ALL), data]
        added, ratio, memory, unindexed = [], [], [], []
        building, _ = collect(bot, everything, cache)
        for _ in range(ROUNDS):
            # In turn, so that whatever else the machine does falls on all alike.
            small, _ = collect(bot, ["--personalens-sample", "30"], cache)
            large, _ = collect(bot, ["--personalens-sample", "30", data], cache)
            trivial, trivial_peak = collect(folder / "trivial", [], cache)
            whole, whole_peak = collect(bot, everything, cache)
            without, _ = collect(bot, everything, no_cache)
            added.append(large - small)
            ratio.append(whole / trivial)
            memory.append(whole_peak / trivial_peak)
            unindexed.append(without / trivial)
    print(
        f"{ALL:,} items: {trivial:.1f} s and {trivial_peak:.0f} MB for trivial ones, {whole:.1f} s and"
        f" {whole_peak:.0f} MB for ours;"
    )
    print(f"{without:.1f} s without an index, {building:.1f} s with the index to be built")
    goals = [
        Goal("30 of all, added to the start of 30 embedded", statistics.median(added), 0.5, "s"),
        Goal("all collected / trivial items, time", statistics.median(ratio), 1.5, "x"),
        Goal("all collected / trivial items, memory", statistics.median(memory), 1.5, "x"),
        Goal("without an index / trivial items, time", statistics.median(unindexed), 1.5, "x"),
    ]
    for goal in goals:
        print(
            f"{goal.name:45} {goal.value:8.2f} {goal.unit:3} goal {goal.bound:g}"
            f" {'reached' if goal.reached else 'MISSED'}"
        )
    return 0 if all(g.reached for g in goals) else 1


def collect(folder: Path, args: list[str], cache: Path) -> tuple[float, float]:
    """Wall time in seconds, from process start to exit, and peak memory in MB of a collection."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *args]
    environment = {**os.environ, "PERSONALENS_CACHE_DIR": str(cache)}
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    took = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"pytest failed in {folder}")
    return took, usage.ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    sys.exit(main())
