"""The code at the end of an error, and what is told about it."""

from __future__ import annotations

import ast
import pickle
import re

import pytest

from pytest_personalens.core import errors
from pytest_personalens.core.errors import error_codes
from tests.support import reference
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import says

#: What a user meets, and its code. A code that was published keeps its meaning.
OPTIONS = {
    "--personalens-sample x": "PL101",
    "--personalens-sample 2 --personalens-shard 1/2 --personalens-save-baseline b.json": "PL102",
    "--personalens-sample 2 --personalens-gate p>=1 --setup-plan": "PL103",
    "--personalens-sample 2 --personalens-save-baseline {outside}": "PL104",
    "--personalens-sample 2 --personalens-report conftest.py/a.html": "PL105",
    "--personalens-sample 2 -o personalens_users=nobody": "PL106",
    "--personalens-sample 2 -o personalens_threshold=leak=0": "PL108",
    "--personalens-sample 2 --personalens-baseline none.json": "PL201",
    "--personalens-sample 2 --personalens-baseline odd.json": "PL203",
    "--personalens-sample 2 --personalens-baseline broken.json": "PL205",
    "--personalens-sample 2 -o personalens_prompts=none --personalens-judge-model openai:x": "PL204",
    "--personalens-sample 2 --personalens-user-model bedrock:x?region=": "PL101",
    "--personalens-sample 2 --personalens-assistant nothing:here": "PL307",
    "--personalens-sample 2 --personalens-judge-model who": "PL307",
}
COMMANDS = {
    "report": "PL102", "report none.json": "PL201", "report odd.json": "PL203", "merge broken.json broken.json": "PL205",
    "explain PL999": "PL101", "show x --results none.json": "PL201", "build none.toml --model openai:x --out x": "PL201",
    "agreement labels.jsonl": "PL207",
}  # fmt: skip


@pytest.fixture
def files(repo: Repository) -> Repository:
    repo.with_codes = True
    (repo.path / "odd.json").write_text('{"schema": "x"}')
    (repo.path / "broken.json").write_text("{")
    (repo.path / "labels.jsonl").write_text("{}")
    return repo


@pytest.mark.parametrize("words", [*OPTIONS, *COMMANDS])
def test_each_kind_of_refusal_has_its_code(files: Repository, words: str) -> None:
    outside = files.path.parent / "outside.json"
    outside.write_text("")
    if words in COMMANDS:
        assert_usage_error(files.command(*words.split()), f"error: * ({COMMANDS[words]})")
    else:
        result = files.inline(*words.format(outside=outside).split())
        assert_usage_error(result, f"ERROR: * ({OPTIONS[words]})")


def test_under_workers_too(files: Repository) -> None:
    words = ("--personalens-sample=2", "--personalens-gate=p >= 1", "-n", "2")
    files.run(*words, "--setup-plan").stderr.fnmatch_lines(["ERROR: * (PL103)"])


def test_every_code_is_raised_and_every_code_that_is_raised_is_known() -> None:
    sources = (file.read_text(encoding="utf-8") for file in (ROOT / "pytest_personalens").rglob("*.py"))
    # Of the modules without any, none is parsed.
    parsed = (ast.parse(source) for source in sources if re.search(r"PL\d{3}", source))
    nodes = (node for module in parsed for node in ast.walk(module))
    constants = (str(node.value) for node in nodes if isinstance(node, ast.Constant))
    raised = {text for text in constants if re.fullmatch(r"PL\d{3}", text)}
    assert raised == set(error_codes())


def test_an_error_keeps_its_code_on_its_way_from_another_process() -> None:
    for error in (
        errors.DataError("a.json", "is empty", field="x", code="PL201"),
        errors.SpecError("x", code="PL305"),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.code) == (str(error), error.code)


def test_the_page_has_what_is_known() -> None:
    page = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")
    assert page == reference.errors_page(), "run: make reference"
    assert [code.page for code in error_codes().values() if not (ROOT / "docs" / code.page).is_file()] == []


def test_a_code_is_explained(empty_repo: Repository) -> None:
    told = empty_repo.command("explain", "pl201")
    assert told.ret == 0
    told.stdout.fnmatch_lines(
        ["PL201: A file cannot be read", "Check the path*", "more: *explanation/limits.md"]
    )
    listed = empty_repo.command("explain").outlines
    assert [line[:5] for line in listed] == list(error_codes())
    assert_usage_error(empty_repo.command("explain", "PL999"), "error: unknown code 'PL999'; known: PL101, *")


def test_the_code_ends_what_an_item_and_a_gate_say(repo: Repository) -> None:
    repo.with_codes = True
    args = ("--personalens-sample=2", "--personalens-kind=single")
    repo.inline(*args, "-opersonalens_threshold=p=4").stdout.fnmatch_lines(["E   *(PL601)"])
    gates = ("--personalens-gate=p >= 4, limits_broken <= 0", "--personalens-gate=multi: p >= 1")
    lines = repo.inline(*args, *gates).outlines
    assert {code for line in lines if (code := line[-7:]).startswith("(PL")} == {"(PL601)", "(PL605)"}
    repo.write(conftest=says("1 / 0"))
    repo.inline(*args).stdout.fnmatch_lines(["E   not scored, assistant at fault: *", "E   * (PL501)"])
    repo.write(conftest="")
    repo.inline(*args).stdout.fnmatch_lines(["*no assistant to test; *(PL401)*"])
