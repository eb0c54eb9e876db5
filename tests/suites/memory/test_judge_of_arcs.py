"""The labelled replies to arcs, and the published agreement of the judge with them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.support.repository import ROOT


@pytest.mark.parametrize("name", ["arcs", "arcs-held"])
def test_half_of_the_replies_of_each_kind_are_right(name: str) -> None:
    lines = (ROOT / f"data/agreement/{name}.tsv").read_text(encoding="utf-8").splitlines()
    labels = Counter((line.partition("-")[0], line.split("\t")[1]) for line in lines)
    kinds = {kind for kind, _ in labels}
    assert len(kinds) == 7
    assert all(labels[kind, "0"] == labels[kind, "1"] >= 5 for kind in kinds)


def test_the_page_has_the_agreement_as_the_command_prints_it() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/agents/arc_judge.py"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.count("\n") == 2 + 7 + 1
    assert done.stdout in (ROOT / "docs/explanation/scores.md").read_text(encoding="utf-8")
