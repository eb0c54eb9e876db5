"""The plan of the full benchmark set beside real runs at small scale: what is forecast must come true."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.plan.full_benchmark import Kind, Plan, forecast
from benchmarks.speed.bare_client import DIALOGUES, READINGS, TURNS
from benchmarks.speed.concurrency import OUR_CODE, OURS, ours
from benchmarks.speed.fake_endpoint import LATENCY, running
from benchmarks.speed.measure import Measured, measure, wait_for_quiet

ROUNDS, OFF = 3, 0.1
CALLS = DIALOGUES * (2 * TURNS + READINGS)
PLACES = (30, 10, 4)
#: There are no quotas here, so tokens do not matter.
KINDS = (Kind(DIALOGUES, TURNS, dict.fromkeys(("user", "assistant", "judge"), (0, 0))),)


def check() -> int:
    """Print forecast and truth for the bare client, and for our plugin where it can be concurrent; 1 if the
    bare client's differ too much.

    Only the bare client decides: what the plugin takes once, its imports and the slow start of its limiter,
    is felt here and not in hours.
    """
    bare = [sys.executable, str(Path(__file__).parents[1] / "speed/bare_client.py")]
    wide = ours(OURS).command
    clients = {"bare client": (bare, "--concurrency=", [*bare, "--dialogues", "0"])}
    clients["our plugin"] = (wide, "-opersonalens_parallel=", [*wide, "--collect-only"])
    near = True
    for name, (command, option, idle) in clients.items():
        start = middle(idle, LATENCY)
        cpu = max(0.0, middle([*command, f"{option}30"], 0.0).cpu - start.cpu) / CALLS
        print(
            f"{name}: starts in {start.wall:.2f} s, takes {cpu * 1000:.2f} ms of a core for a call (measured"
            " without latency)"
        )
        for places in PLACES:
            expected = start.wall + forecast(Plan(KINDS, READINGS, LATENCY, places, cpu=cpu)).seconds
            real = middle([*command, f"{option}{places}"], LATENCY).wall
            near = near and (command is not bare or abs(real / expected - 1) <= OFF)
            print(
                f"  {DIALOGUES} dialogues, {places:2} at once: forecast {expected:5.2f} s, real {real:5.2f}"
                f" s, ratio {real / expected:.2f}"
            )
    print(f"bare client within {OFF:.0%}: {'reached' if near else 'MISSED'}")
    return int(not near)


def middle(command: list[str], latency: float) -> Measured:
    """The middle run of some, by wall time."""
    return statistics.median_low(run(command, latency) for _ in range(ROUNDS))


def run(command: list[str], latency: float) -> Measured:
    """One run in a folder of its own, against a fresh endpoint."""
    wait_for_quiet(30)
    with tempfile.TemporaryDirectory() as folder, running(latency) as endpoint:
        (Path(folder) / "conftest.py").write_text(ours(OURS).conftest, encoding="utf-8")
        (Path(folder) / "pytest.ini").write_text(ours(OURS).ini, encoding="utf-8")
        done = measure(command, Path(folder), {**endpoint.environment(), **OUR_CODE})
    if done.status:
        raise SystemExit(f"{command} failed:\n{done.output}")
    return done
