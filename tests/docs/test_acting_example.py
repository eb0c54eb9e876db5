"""The example project's acting assistant: its figures, and those of the same bot with broken tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT


@pytest.mark.parametrize(("bot", "tcr", "unbacked"), [("remembers", 0.97, 0.0), ("claims", 0.17, 0.97)])
def test_who_acts_completes_tasks_and_who_claims_does_not(
    tmp_path: Path, bot: str, tcr: float, unbacked: float
) -> None:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    report = tmp_path / "results.json"
    options = (
        "--personalens-sample=30",
        "--personalens-dimensions=tc,p,unbacked",
        f"--personalens-report={report}",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "acting", "-p", "no:cacheprovider", *options],
        cwd=ROOT / "example_project", env=clean | {"HELPBOT": bot}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) is (bot == "remembers"), done.stdout
    means = json.loads(report.read_text())["overall"]["figures"]
    assert round(means["task_completion"]["value"], 2) == tcr
    assert round(means["unbacked"]["value"], 2) == unbacked
