"""The fuzzer: a share of its cases on every run of the slow tests, and proof that it finds what is planted."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.repository import ROOT

#: More than a round: a case of every kind at the least. All 1,500 are run by `make fuzz`.
SHARE = 110

#: A fault that somebody plants beside a bad bot -> what the fuzzer is to call it.
PLANTED = {
    "traceback": "def pytest_collection_finish(session):\n    raise RuntimeError\n",
    "wrong green": "def pytest_sessionfinish(session):\n    import os\n    os._exit(0)\n",
    "touched": "def pytest_collection_finish(session):\n    open('../elsewhere/notes.txt', 'a').write('!')\n",
    "several lines": "def pytest_collection_finish(session):\n    import pytest\n    raise pytest.UsageError('a\\nb\\nc')\n",
    "no code": "def pytest_collection_finish(session):\n    import pytest\n    raise pytest.UsageError('a')\n",
    "hang": "def pytest_collection_finish(session):\n    import time\n    time.sleep(600)\n",
}
SCRIPT = """
import json, sys, tempfile
from pathlib import Path
from tests.project.fuzz import kinds, runner
from tests.project.fuzz.__main__ import Fuzzer
from tests.project.fuzz.base import RUN
from tests.project.fuzz.case import Case
from tests.project.fuzz.oracle import faults

text = ""

def planted(setup):
    (setup.repo / "conftest.py").open("a").write(text)
    return Case("", RUN)

kinds.KINDS["options"] = (planted, 1)
number = next(n for n in range(1000) if kinds.kind_of("x", n) == "options")
with tempfile.TemporaryDirectory() as folder:
    fuzzer = Fuzzer(Path(folder), "x")
    fuzzer.prepare(["options"])
    for fault, text in json.loads(sys.argv[1]).items():
        if fault == "hang":
            runner.PATIENCE = 5
        _, case, outcome, _ = fuzzer.run(number)
        print(fault, "->", *faults(case, outcome))
"""


@pytest.mark.slow
def test_a_share_of_the_cases() -> None:
    command = [sys.executable, "-m", "tests.project.fuzz", "--cases", str(SHARE)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    # Each line of a fault ends with the command that runs its case again.
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"| all | {SHARE} |" in result.stdout


@pytest.mark.slow
def test_what_is_planted_is_found() -> None:
    command = [sys.executable, "-c", SCRIPT, json.dumps(PLANTED)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.stdout.splitlines() == [f"{fault} -> {fault}" for fault in PLANTED], (
        result.stdout + result.stderr
    )
