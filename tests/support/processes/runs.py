"""Runs of a repository in parts, runs of a project of ours in a process of its own, and how a run ended."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tests.support.repository import Repository


def assert_ended(
    result: pytest.RunResult, status: int, *lines: str, err: str = "", **outcomes: int
) -> pytest.RunResult:
    """Check the exit status, lines of the output in this order, and a line of the errors; return the result.

    The lines are patterns of `fnmatch`. `outcomes` are numbers of items, such as ``passed=2``: all of them, if one is given.
    """
    assert result.ret == status, result.stdout.str() + result.stderr.str()
    if outcomes:
        result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines(lines)
    if err:
        result.stderr.fnmatch_lines([err])
    return result


def assert_usage_error(result: pytest.RunResult, *lines: str) -> pytest.RunResult:
    """Check that a run or a command did not begin, and said these lines (patterns) and no traceback; return the result."""
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(lines)
    assert "Traceback" not in result.stderr.str()
    return result


def assert_one_line(result: pytest.RunResult, told: str = "*") -> None:
    """Check that a run or a command did not begin, and said what is wrong in this one line (a pattern)."""
    (line,) = filter(None, assert_usage_error(result).errlines)
    assert fnmatchcase(line, f"ERROR: {told}") or fnmatchcase(line, f"error: {told}"), line
    assert not re.search("Traceback|INTERNALERROR", result.stdout.str())
    assert len(line) < 1000 and "\x1b" not in line


def collect_ids(repo: Repository, *args: str) -> list[str]:
    """Return what stands in the brackets of the node ids that a run collects."""
    lines = repo.inline(*args, "--collect-only", "-q").outlines
    return [line.partition("[")[2].rstrip("]") for line in lines if "[" in line]


def run_shards(
    repo: Repository, of: int, *args: str, extra: Mapping[int, tuple[str, ...]] = MappingProxyType({})
) -> list[pytest.RunResult]:
    """Run all shards, which write shard-1.json and so on; `extra` holds further arguments of some of them."""
    found = []
    for number in range(1, of + 1):
        more = extra.get(number, ())
        shard = (f"--personalens-shard={number}/{of}", f"--personalens-report=shard-{number}.json")
        found.append((repo.run if "-n" in more else repo.inline)(*args, *shard, *more))
    return found


def merge_shards(repo: Repository, *args: str) -> pytest.RunResult:
    """Merge the results of all shards."""
    return repo.command("merge", *sorted(path.name for path in repo.path.glob("shard-*.json")), *args)


def ends_worker(status: int) -> str:
    """Code that ends a worker at once, after a pause in which the reports of its earlier items are read.

    xdist fails ("cannot send") if it answers such a report with new items just when the worker ends.
    """
    return f"(__import__('time').sleep(0.3), __import__('os')._exit({status}))"


def without_times(found: dict[str, Any], *settings: str) -> dict[str, Any]:
    """The results without these settings, and without the times of replies, which are the machine's."""
    for name in settings:
        found["settings"].pop(name)
    found.pop("latency")
    for item in found["items"]:
        item["evaluation"]["latencies"] = len(item["evaluation"].get("latencies", ()))
    return found


def run_project(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a project in a process that knows nothing of this run, nor of a key of OpenAI."""
    clean = {
        k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "HELPBOT", "OPENAI_API_KEY"))
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    return subprocess.run(
        command, cwd=folder, env=clean | environment, capture_output=True, text=True, check=False
    )
