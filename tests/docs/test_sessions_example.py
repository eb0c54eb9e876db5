"""The example project's bot with a memory passes its own gates, and the README names those that do not."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.support.repository import ROOT

FOLDER = ROOT / "example_project" / "sessions"


def failed(bot: str) -> set[str]:
    """The kinds whose gates fail with a bot of that name."""
    kinds = ("recall", "revise", "forget", "whose", "apart", "restraint", "abstain")
    gates = [word for kind in kinds for word in ("--personalens-gate", f"{kind}: memory >= 1")]
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")} | {"HELPBOT": bot}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "--personalens-sample", "all", *gates],
        cwd=FOLDER, env=clean, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return set(re.findall(r"^gate (\w+): memory: FAILED", done.stdout, re.MULTILINE))


def test_the_readme_names_the_kinds_that_fail() -> None:
    text = (ROOT / "example_project" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| .* \| ([\w, ]+) \|$", text, re.MULTILINE)
    assert {name: set(kinds.split(", ")) for name, kinds in rows} == {name: failed(name) for name, _ in rows}
    assert len(rows) == 7


def test_the_bot_passes_its_own_gates() -> None:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "HELPBOT"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "--personalens-sample", "all"],
        cwd=FOLDER, env=clean, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
