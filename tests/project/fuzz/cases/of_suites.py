"""Cases of files that only some runs read: arcs of sessions, questions over a history, exports of other tools."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

from pytest_personalens.core.errors import PersonalensError
from tests.project.fuzz.case import Case, Setup
from tests.project.fuzz.inputs.spoil import spoil, toml
from tests.project.fuzz.inputs.trees import changed
from tests.suites.questions.layouts import longmemeval
from tests.support.repository import ROOT

#: An assistant for scenarios of any suite; the judge decides whether it does well.
_ANY: Final = """

@pytest.fixture
def personalens_assistant():
    return lambda messages, context: "It is done."
"""
_JUDGE: Final = "--personalens-judge-model=told"
#: Whether anything of the export is judged as it was told is asked of the gate alone.
_GATE: Final = "--personalens-gate=tcr >= 0.5"
_EXPORTS: Final = ROOT / "tests/plugin/records/exports"
#: How often a change is drawn until one passes reading: what comes after it is to be tried as often.
_DRAWS: Final = 12


def _spoil_past_reading(path: Path, rng: Random, read: Callable[[Path], object]) -> str:
    """Change one value so that the file can still be read, if such a change is found, and say what it is."""
    content = path.read_text(encoding="utf-8")
    tree = tomllib.loads(content) if path.suffix == ".toml" else json.loads(content)
    what = ""
    for _ in range(_DRAWS):
        other, what = changed(tree, rng)
        text = toml(other) if path.suffix == ".toml" else json.dumps(other, default=str)
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            read(path)
        except (PersonalensError, ValueError):
            continue
        return f"{what}, which can be read"
    return what


def _any_assistant(setup: Setup) -> None:
    conftest = setup.repo / "conftest.py"
    conftest.write_text(conftest.read_text(encoding="utf-8") + _ANY, encoding="utf-8")


def _spoilt(setup: Setup, path: Path, read: Callable[[Path], object]) -> str:
    if not setup.mutates:
        return ""
    if setup.rng.random() < 0.6:
        return _spoil_past_reading(path, setup.rng, read)
    return spoil(path, setup.rng).what


def arcs(setup: Setup) -> Case:
    """A file of arcs, in a run of the suite memory whose judge says what it is told to."""
    from pytest_personalens.suites.memory.arc_files import read_arcs
    from pytest_personalens.suites.memory.arcs import KINDS

    _any_assistant(setup)
    kind = setup.rng.choice(KINDS) if setup.mutates else KINDS[0]
    source = tomllib.loads((ROOT / f"data/suites/memory/{kind}.toml").read_text(encoding="utf-8"))
    few: dict[str, Any] = {**source, "arcs": setup.rng.sample(source["arcs"], 3)}
    path = setup.write(f"arcs/{kind}.toml", toml(few))
    what = _spoilt(setup, path, lambda file: read_arcs(file, frozenset()))
    control = ("--personalens-control=alone",) if setup.rng.random() < 0.2 else ()
    options = ("--personalens-suite=memory", "--personalens-data=arcs", "--personalens-sample=3", *control)
    return Case(f"{kind}: {what}", (*options, _JUDGE, "--personalens-gate=memory >= 0.5"))


def questions(setup: Setup) -> Case:
    """A file of questions in the layout of LongMemEval."""
    from pytest_personalens.suites.questions.benchmarks import open_benchmark

    _any_assistant(setup)
    path = longmemeval(setup.repo / "questions.json", each=1)
    what = _spoilt(setup, path, lambda file: open_benchmark(f"longmemeval:{file}", Path()))
    options = ("--personalens-suite=questions", "--personalens-data=longmemeval:questions.json")
    return Case(what, (*options, "--personalens-sample=4", _JUDGE, "--personalens-gate=answer >= 0.5"))


def exports(setup: Setup) -> Case:
    """An export of a server, of tracing or of another test tool, whose dialogues are judged."""
    files = sorted(path for path in _EXPORTS.glob("*/*") if not path.name.startswith("openai-batch"))
    source = setup.rng.choice(files) if setup.mutates else _EXPORTS / "servers/converse.jsonl"
    path = setup.write(source.name, source.read_text(encoding="utf-8"))
    what = spoil(path, setup.rng).what if setup.mutates else ""
    return Case(f"{source.name}: {what}", (f"--personalens-dialogues={source.name}", _JUDGE, _GATE))


def drafts(setup: Setup) -> Case:
    """The same exports, of which drafts of scenarios are made."""
    case = exports(setup)
    name = case.arguments[0].partition("=")[2]
    given = (name, "--out=drafted")
    return Case(case.what, given, "import-chats", passes=lambda text: "draft" in text, writes=True)
