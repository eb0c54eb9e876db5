"""A run whose provider refuses every twentieth call, beside the same run without refusals: no item lost, and
how much longer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.support.servers.endpoint import Call, Endpoint, Reply, play

LATENCY = 0.2
GOAL = 1.5
CONFTEST = """
import pytest

@pytest.fixture
def personalens_assistant():
    return lambda messages: f"Done: booked for Thursday, reference {len(messages)}."
"""


def run(folder: Path, *, throttled: bool) -> tuple[float, int]:
    """Seconds from start to exit, and calls refused, of 30 scenarios on two workers."""
    endpoint, seen = Endpoint(), list[Call]()
    refused = 0

    def answer(call: Call) -> Reply:
        nonlocal refused
        seen.append(call)
        if throttled and len(seen) % 20 == 7:
            refused += 1
            return Reply(status=429, code="ThrottlingException", delay=LATENCY / 4)
        reply = play(call)
        reply.delay = LATENCY
        return reply

    endpoint.answer = answer
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    started = time.monotonic()
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "--personalens-sample",
            "30",
            "--personalens-record", "live", "--personalens-user-model", "bedrock:claude-3-haiku-v1",
            "--personalens-judge-model", "openai:small",
        ],
        cwd=folder, env={**os.environ, **endpoint.environment()}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = time.monotonic() - started
    endpoint.close()
    assert "30 passed" in done.stdout, done.stdout
    return seconds, refused


def main() -> int:
    """Print both times and their ratio; 1 if the goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = run(Path(folder), throttled=False)
        slowed, refused = run(Path(folder), throttled=True)
    print(
        f"30 scenarios, {LATENCY * 1000:.0f} ms a call, -n 2: {plain:.1f} s; with {refused} calls refused:"
        f" {slowed:.1f} s, no item lost"
    )
    print(f"ratio {slowed / plain:.2f}, goal {GOAL} {'reached' if slowed / plain <= GOAL else 'MISSED'}")
    return int(slowed / plain > GOAL)


if __name__ == "__main__":
    sys.exit(main())
