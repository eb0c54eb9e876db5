"""The example project's bots with a memory pass their own gates, and the README names those that do not."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suites.memory.arcs import failing, shares
from tests.support.repository import ROOT

FOLDER = ROOT / "example_project" / "sessions"


def of_bot(bot: str, results: Path) -> dict[str, float]:
    """The share of each kind that a bot of that name gets right."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"HELPBOT": bot}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "--personalens-sample", "all", f"--personalens-report={results}"],
        cwd=FOLDER, env=clean, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return shares(json.loads(results.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_the_readme_names_the_kinds_that_fail(tmp_path: Path) -> None:
    text = (ROOT / "example_project" / "README.md").read_text(encoding="utf-8")
    table = text.partition("| kinds that it gets wrong |\n")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `([\w-]+)` \| .* \| ([\w, ]+) \|$", table, re.MULTILINE)
    right = of_bot("remembers", tmp_path / "r.json")
    failed = {name: failing(of_bot(name, tmp_path / "r.json"), right) for name, _ in rows}
    assert {name: set(kinds.split(", ")) for name, kinds in rows} == failed
    assert len(rows) == 7


@pytest.mark.parametrize(
    ("folder", "sample"), [pytest.param("sessions", "all", marks=pytest.mark.slow), ("late", "8")]
)
def test_the_bot_passes_its_own_gates(folder: str, sample: str) -> None:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "HELPBOT"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "--personalens-sample", sample],
        cwd=FOLDER.with_name(folder), env=clean | {"LATE": "0.1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
