"""An answer that holds nothing is billed like any other: it counts in the usage, and in the caps."""

from __future__ import annotations

import pytest

from tests.support.repository import Repository
from tests.support.servers.endpoint import Endpoint, Reply, play

ARGS = ["--personalens-sample=1", "--personalens-user-model=openai:small", "--personalens-record=live"]
ARGS += ("--personalens-report", "r.json")


@pytest.fixture
def silent(repo: Repository, endpoint: Endpoint) -> Repository:
    """A user that says nothing at its first call."""
    endpoint.replies = [Reply("")]
    endpoint.answer = play
    return repo


def calls(repo: Repository) -> tuple[int, int]:
    """All calls that were counted, and the fewest tokens of a purpose."""
    usage = repo.results("r.json")["usage"].values()
    tokens = [used["input_tokens"] + used["cached_tokens"] for used in usage]
    return sum(used["calls"] for used in usage), min(tokens)


def test_an_empty_answer_counts(silent: Repository, endpoint: Endpoint) -> None:
    silent.run(*ARGS)
    assert len(endpoint.calls) == 3, "two turns, one of them asked for twice"
    assert calls(silent)[0] == 3
    assert calls(silent)[1] > 0


def test_empty_answers_to_the_end_count(silent: Repository, endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply("")
    conftest = (silent.path / "conftest.py").read_text()
    quick = "\nimport pytest_personalens.models.retry as r\nr.FIRST_WAIT = 0.001\n"
    silent.write(conftest=conftest + quick)
    silent.run(*ARGS, "--personalens-dimensions", "tc")
    assert len(endpoint.calls) > 2
    assert calls(silent)[0] == len(endpoint.calls)


def test_a_cap_holds_for_empty_answers(silent: Repository, endpoint: Endpoint) -> None:
    endpoint.answer = lambda call: Reply("")
    result = silent.run(*ARGS, "--personalens-dimensions", "tc", "--personalens-budget", "2calls")
    assert len(endpoint.calls) == 2
    result.stdout.fnmatch_lines(["not scored: 1, the cap on calls or money was reached*"])
    assert calls(silent)[0] == 2
