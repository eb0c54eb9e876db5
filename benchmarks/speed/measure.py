"""Wall time, CPU time and peak memory of a command and all that it starts, from process start to exit
(POSIX).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

#: Often enough to see a peak that lasts; a finer grain would be felt by what is measured.
SAMPLED_EVERY = 0.1
#: Share of its cores' time that a quiet machine idles.
QUIET = 0.9
PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6
#: The kernels do not agree on the unit of ru_maxrss.
MAXRSS_MB = 1 / 1e6 if sys.platform == "darwin" else 1024 / 1e6


class Measured(NamedTuple):
    """`memory` in MB: the largest sum over the processes alive at once where /proc tells it, and never less
    than the largest single one.
    """

    wall: float
    cpu: float
    memory: float
    status: int
    output: str


def measure(command: list[str], folder: Path, environment: dict[str, str]) -> Measured:
    """Run `command` to its end.

    Keep the measuring process small: a child's peak begins with its parent's size, from before exec.
    """
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        watch = _Watch(process.pid)
        watch.start()
        # wait4 and not wait: it tells of this child and its own alone, RUSAGE_CHILDREN of all that there ever
        # were.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        watch.done.set()
        watch.join()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    memory = max(watch.peak, usage.ru_maxrss * MAXRSS_MB)
    return Measured(wall, usage.ru_utime + usage.ru_stime, memory, process.returncode, text)


def wait_for_quiet(patience: float) -> None:
    """Wait until the machine has been idle for half a second, at most `patience` seconds; at once where /proc
    does not tell.
    """
    deadline = time.monotonic() + patience
    with suppress(OSError):
        while time.monotonic() < deadline:
            before = _idle()
            time.sleep(0.5)
            if _idle() - before > 0.5 * QUIET * (os.cpu_count() or 1):
                return


def _idle() -> float:
    return int(Path("/proc/stat").read_text(encoding="utf-8").split(maxsplit=5)[4]) / os.sysconf("SC_CLK_TCK")


class _Watch(threading.Thread):
    """Adds up the resident memory of a process and its descendants, again and again."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid, self.peak, self.done = pid, 0.0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(SAMPLED_EVERY):
            self.peak = max(self.peak, _resident(self._pid))


def _resident(pid: int) -> float:
    total = 0.0
    # A process may end between being listed and being read.
    with suppress(OSError, ValueError, IndexError):
        total += int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1]) * PAGE_MB
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(_resident(int(child)) for child in (task / "children").read_text().split())
    return total
