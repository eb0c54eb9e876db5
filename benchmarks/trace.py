"""Functions of this package that run for one item: one that is bought from a model, and one that is replayed.

    python benchmarks/trace.py [--list]

A profiler hook notes every function of the package that is called while the last of three items runs. The
first two have loaded what a run loads once. Lambdas, comprehensions and generator expressions count as a
part of the function that they stand in. Both runs are of a folder of their own; the models are fakes in
their conftest.py, and nothing is called over a network.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONFTEST = """
import json, os, sys, threading
import pytest
from pytest_personalens.models import Answer

PACKAGE = os.environ["TRACED"]


class Model:
    name, paid = "m", True

    def complete(self, request):
        if request.answer is None:
            said = "Thanks! TERMINATE" if "<transcript>" in request.prompt else "I need something done."
            return Answer(text=said)
        yes = request.answer["properties"]["score"]["type"] == "boolean"
        quote = {"turn": 0, "quote": "I need something done."}
        form = {"evidence": [quote], "reasons": [], "justification": "It fits.", "score": True if yes else 3}
        return Answer(data=form)


def pytest_personalens_model(spec, config):
    return Model() if spec == "m" else None


@pytest.fixture
def personalens_assistant():
    return lambda messages: "It is booked for Thursday at 16:00."


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    if item is not item.session.items[2]:
        return (yield)
    calls = {}

    def note(frame, event, arg):
        code = frame.f_code
        part = code.co_name.startswith("<")
        if event == "call" and not part and code.co_filename.startswith(PACKAGE):
            name = f"{code.co_filename[len(PACKAGE) + 1:]}:{code.co_firstlineno} {code.co_qualname}"
            calls[name] = calls.get(name, 0) + 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        with open("trace.json", "w", encoding="utf-8") as file:
            json.dump(calls, file)
"""


def main() -> None:
    """Print the number of functions and of modules of both, and with --list all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--list", action="store_true", help="print every function and how often it was called"
    )
    options = parser.parse_args()
    models = ("--personalens-user-model", "m", "--personalens-judge-model", "m")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "conftest.py").write_text(CONFTEST, encoding="utf-8")
        (path / "test_bot.py").write_text(
            "def test_bot(personalens):\n    personalens.check()\n", encoding="utf-8"
        )
        told(
            "one item bought, user and judge by models",
            traced(path, *models, "--personalens-record", "new"),
            options.list,
        )
        told("one item replayed, user and judge by models", traced(path, *models), options.list)
        traced(path, "--personalens-record", "all")
        told("one item replayed, user and judge embedded", traced(path), options.list)


def traced(folder: Path, *options: str) -> Counter[str]:
    """How often each function of the package was called for the third item of a run."""
    package = ROOT / "pytest_personalens"
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest",
        "--personalens-sample", "3", "--personalens-kind", "single", "--personalens-gate", "none", *options,
    ]  # fmt: skip
    ours = {"PYTHONPATH": str(ROOT), "TRACED": str(package), "PERSONALENS_CACHE_DIR": str(folder / "cache")}
    environment = {**os.environ, **ours}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return Counter(json.loads((folder / "trace.json").read_text(encoding="utf-8")))


def told(what: str, calls: Counter[str], every: bool) -> None:
    """Print the figures of a run."""
    modules = {name.partition(":")[0] for name in calls}
    print(f"{what}: {len(calls)} functions in {len(modules)} modules, {calls.total()} calls")
    for name, count in sorted(calls.items()) if every else ():
        print(f"  {count:6} {name}")


if __name__ == "__main__":
    main()
