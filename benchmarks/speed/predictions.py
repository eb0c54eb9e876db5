"""Whole runs of the suite personaconv: beside the bound of their calls, beside the suite personalens, and on
a file of the official size beside ``json.load``.

    python benchmarks/speed/predictions.py [--rounds 3] [--only live replay file summary] [--patience 30]

Each run is measured from process start to exit, in turn with what it is compared with. The data is made up.
Exit code 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.speed.fake_endpoint import LATENCY, running
from benchmarks.speed.measure import Measured, measure, wait_for_quiet
from benchmarks.speed.run import LENIENT, MANY, Goal, quick_bot
from benchmarks.synthetic_data.posts import POSTS, USERS, write_posts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 60
SAMPLE = 200
#: The calls one after the other that a run of many items needs at least.
BOUND = math.ceil(MANY / AT_ONCE) * LATENCY
#: Enough posts for a thousand items of each kind.
ENOUGH = {"users": 400, "posts": 2_400}
#: Hypothesis is a development dependency, and takes 0.2 s to import; users do not have it.
PLAIN = ("-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
PREDICTIONS = ("--personalens-suite", "personaconv", "-o", "personalens_threshold=correct>=0")
#: NLTK imports scikit-learn where it is installed, which takes 2 s. Our tests need it, and users do not.
WITHOUT_SCIKIT_LEARN = """
import sys

sys.modules["sklearn"] = None
"""
#: A predictor that costs nothing.
PREDICTOR = """
import pytest

from benchmarks.speed.fake_endpoint import PREDICTED

ANSWERS = {"sentiment": "positive", "impact": "12", "next-text": PREDICTED}


@pytest.fixture
def personalens_assistant(personalens_scenario):
    return lambda messages: ANSWERS[personalens_scenario.kind]
"""
#: Prints the CPU seconds to read stored results, and to read them and compute their figures from the items.
SUMMARY = """
import sys, time
from pathlib import Path
from pytest_personalens.results.shards import read_computed
from pytest_personalens.results.values.results import read_results
for read in (read_results, read_computed):
    started = time.process_time()
    read(Path(sys.argv[1]))
    print(time.process_time() - started)
"""


class Bench:
    """A folder for the runs, and how often and how patiently each is measured."""

    def __init__(self, folder: Path, rounds: int, patience: float) -> None:
        self.folder, self.rounds, self._patience = folder, rounds, patience
        self.data = write_posts(folder / "posts.json", **ENOUGH)

    def repository(self, name: str, conftest: str) -> Path:
        """A repository with one test and this conftest."""
        folder = quick_bot(self.folder / name)
        (folder / "conftest.py").write_text(conftest, encoding="utf-8")
        return folder

    def pytest(self, folder: Path, *args: str, environment: dict[str, str] | None = None) -> Measured:
        """A run of pytest, which must pass; from its second run on it finds its bytecode and its index."""
        return self.run([sys.executable, "-m", "pytest", *PLAIN, *args], folder, environment)

    def run(self, command: list[str], folder: Path, environment: dict[str, str] | None = None) -> Measured:
        """A command, measured when the machine is quiet."""
        found = {**(environment or os.environ), "PYTHONPATH": str(ROOT)}
        found.pop("PYTHONDONTWRITEBYTECODE", None)
        found |= {
            "PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"),
            "PERSONALENS_CACHE_DIR": str(self.folder / "cache"),
        }
        wait_for_quiet(self._patience)
        measured = measure(command, folder, found)
        if measured.status:
            raise SystemExit(f"{' '.join(command)} failed in {folder}:\n{measured.output[-4000:]}")
        return measured

    def in_turn(self, *arms: Callable[[], Measured]) -> list[list[Measured]]:
        """What each arm took, round by round: whatever else the machine does falls on all alike."""
        found = [[arm() for arm in arms] for _ in range(self.rounds)]
        return [list(of_arm) for of_arm in zip(*found, strict=True)]


def live(bench: Bench) -> Iterator[Goal]:
    """A thousand calls of 200 ms each, sixty at once: of one kind, and of all with their text scores."""
    folder = bench.repository("live", WITHOUT_SCIKIT_LEARN)
    args = [
        *PREDICTIONS, f"--personalens-data={bench.data}", "--personalens-sample", str(MANY),
        "--personalens-assistant", "openai:small", "--personalens-record", "live",
        "-o", f"personalens_parallel={AT_ONCE}",
    ]  # fmt: skip

    def asked(*more: str) -> Measured:
        with running(LATENCY) as endpoint:
            measured = bench.pytest(folder, *args, *more, environment=endpoint.environment())
            calls = endpoint.stats()["calls"]
        if calls != MANY:
            raise SystemExit(f"{calls} of {MANY} calls were made")
        return measured

    sentiment = ("--personalens-kind", "sentiment")
    bench.pytest(folder, *args, *sentiment, "--collect-only")
    one, mixed = bench.in_turn(lambda: asked(*sentiment), asked)
    yield Goal(f"{MANY:,} items of sentiment, live{took(one)}", ratio(one), 1.6, "x")
    yield Goal(f"{MANY:,} items of all kinds, live{took(mixed)}", ratio(mixed), 2.2, "x")


def ratio(runs: list[Measured]) -> float:
    """The median wall time of live runs, as a multiple of the bound."""
    return statistics.median(run.wall for run in runs) / BOUND


def took(runs: list[Measured]) -> str:
    """The median times of runs, in words."""
    wall, cpu = (statistics.median(values) for values in zip(*((r.wall, r.cpu) for r in runs), strict=True))
    return f" ({wall:.1f} s, CPU {cpu:.1f} s)"


def replay(bench: Bench) -> Iterator[Goal]:
    """A thousand items from their records, in both suites."""
    repositories = bench.repository("predictor", PREDICTOR), quick_bot(bench.folder / "bot")
    sample = ("--personalens-sample", str(MANY))
    of_suite = (*PREDICTIONS, f"--personalens-data={bench.data}", *sample), (*LENIENT, *sample)
    for repository, args in zip(repositories, of_suite, strict=True):
        bench.pytest(repository, *args, "--personalens-record=new")
    ours, first = bench.in_turn(
        lambda: bench.pytest(repositories[0], *of_suite[0]),
        lambda: bench.pytest(repositories[1], *of_suite[1]),
    )
    ratios = [one.cpu / other.cpu for one, other in zip(ours, first, strict=True)]
    name = f"{MANY:,} items replayed{took(ours)} / of personalens{took(first)}, CPU"
    yield Goal(name, statistics.median(ratios), 1.2, "x")


def official_size(bench: Bench) -> Iterator[Goal]:
    """A file of the official size: read for the first time, and a sample of it afterwards."""
    path = write_posts(bench.folder / "official.json")
    print(f"{path.stat().st_size / 1e6:.0f} MB with {POSTS:,} posts of {USERS:,} users")
    folder = bench.repository("sample", PREDICTOR)
    args = ("--collect-only", *PREDICTIONS, "--personalens-sample", str(SAMPLE))
    of_file = (*args, f"--personalens-data={path}")
    loading = [sys.executable, "-c", f"import json; json.load(open({str(path)!r}))"]

    def first() -> Measured:
        for stored in (bench.folder / "cache").glob("personaconv-*.index"):
            stored.unlink()
        return bench.pytest(folder, *of_file)

    bench.pytest(folder, *args)
    indexed, loaded = bench.in_turn(first, lambda: bench.run(loading, folder))
    later, embedded = bench.in_turn(
        lambda: bench.pytest(folder, *of_file), lambda: bench.pytest(folder, *args)
    )
    cpu = [one.cpu / other.cpu for one, other in zip(indexed, loaded, strict=True)]
    memory = [one.memory / other.memory for one, other in zip(indexed, loaded, strict=True)]
    yield Goal(f"first time{took(indexed)} / json.load{took(loaded)}, CPU", statistics.median(cpu), 3.0, "x")
    yield Goal("the same, peak memory", statistics.median(memory), 0.25, "x")
    pairs = list(zip(later, embedded, strict=True))
    name = f"sample of {SAMPLE}, later{took(later)}, added to an embedded one{took(embedded)}"
    yield Goal(name, statistics.median(a.wall - b.wall for a, b in pairs), 0.5, "s")
    yield Goal("the same, CPU", statistics.median(a.cpu - b.cpu for a, b in pairs), 0.5, "s")
    yield Goal("the same, peak memory", statistics.median(a.memory - b.memory for a, b in pairs), 60, "MB")


def summary(bench: Bench) -> Iterator[Goal]:
    """The figures of a thousand items in three settings, with intervals, lifts and their tests."""
    folder, path = bench.repository("summary", PREDICTOR), bench.folder / "results.json"
    bench.pytest(
        folder, *PREDICTIONS, f"--personalens-data={bench.data}", "--personalens-sample", str(MANY),
        "--personalens-control", "P-NonConv,NP-Conv", f"--personalens-report={path}",
    )  # fmt: skip
    took = []
    for _ in range(bench.rounds):
        printed = bench.run([sys.executable, "-c", SUMMARY, str(path)], folder).output.split()
        took.append(float(printed[1]) - float(printed[0]))
    yield Goal(f"summary of {MANY:,} items in three settings, CPU", statistics.median(took), 2.0, "s")


PARTS = {"live": live, "replay": replay, "file": official_size, "summary": summary}


def main() -> int:
    """Measure and print a table; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS), metavar="PART")
    parser.add_argument(
        "--patience",
        type=float,
        default=30,
        metavar="SECONDS",
        help="longest wait for a quiet machine, before each run",
    )
    options = parser.parse_args()
    print(f"bound of {MANY:,} calls of {LATENCY * 1000:.0f} ms, {AT_ONCE} at once: {BOUND:.1f} s")
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), options.rounds, options.patience)
        for part in options.only:
            for goal in PARTS[part](bench):
                missed += not goal.reached
                print(
                    f"{goal.name}: {goal.value:.2f} {goal.unit}, goal {goal.bound:g}"
                    f" {'reached' if goal.reached else 'MISSED'}",
                    flush=True,
                )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
