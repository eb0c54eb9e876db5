"""The arguments of runs of the suite, and what tests ask of their results."""

from __future__ import annotations

from typing import Any

from tests.support.repository import Repository

SUITE = ("--personalens-suite", "personaconv", "--personalens-sample")
KIND, GATE, CONTROL, DATA = (f"--personalens-{name}" for name in ("kind", "gate", "control", "data"))
SCORES = (KIND, "sentiment,impact")
REPORT = ("--personalens-report", "results.json")
#: Knows the truth, and errs by a digest of the request: in some classes and in all numbers.
BOT = """
import hashlib, os
import pytest

SAYS = os.environ.get("SAYS", "")

@pytest.fixture
def personalens_assistant(personalens_scenario, personalens_context):
    def reply(messages):
        if SAYS:
            return SAYS
        digest = int(hashlib.sha256(messages[0]["content"].encode()).hexdigest(), 16)
        worse = "np-conv" in personalens_context.user or "WORSE" in os.environ
        truth = personalens_scenario.truth
        if personalens_scenario.kind == "sentiment":
            other = {"positive": "negative", "negative": "positive"}[truth]
            return {"answer": other if digest % 10 < (7 if worse else 2) else truth}
        if personalens_scenario.kind == "impact":
            return str(truth + digest % 40 - 20 + (90 if worse else 0))
        return " ".join(truth.split()[: 3 if worse else 12])
    return reply
"""


def reports(*names: str) -> list[str]:
    return [word for name in names for word in ("--personalens-report", name)]


def evaluations(repo: Repository) -> list[Any]:
    return [item["evaluation"] for item in repo.results()["items"]]


def gates(repo: Repository) -> dict[str, Any]:
    return {gate["name"]: gate for gate in repo.results()["gates"]}


def check_refused(repo: Repository, problem: str, *args: str) -> None:
    """Check that a run does not begin, and says why in one line."""
    result = repo.inline(*args)
    assert result.ret == 4
    (line,) = (line for line in result.errlines if line.strip())
    assert line.startswith("ERROR: ")
    result.stderr.fnmatch_lines([f"ERROR: {problem}"])
