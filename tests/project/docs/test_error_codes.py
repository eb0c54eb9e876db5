"""The code at the end of an error, and what is told about it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pytest_personalens.core.text.error_codes import OTHER, code_of, error_codes, with_code
from tests.support import reference
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import ROOT, Repository

ERRORS = {"SpecError", "DataError", "NothingFits", "UsageError", "CollectError"}
#: An error of each kind that a user meets, and its code. A code that was published keeps its meaning.
KNOWN = {
    "--personalens-sample: expected a whole number 1 or more, or all, not 'x'": "PL101",
    "unrecognized arguments: --html=x": "PL102",
    "--personalens-sample: no test that is left asks for the fixture personalens and is run, so there is nothing for the gates to decide on": "PL103",
    "--personalens-save-baseline: write --personalens-save-baseline=/x; after a space, pytest takes a path": "PL104",
    "--personalens-report: a.html was not written by this plugin; give another path, or remove it": "PL105",
    "personalens: unknown user 'expected JSON' in dataset 'embedded' (123 users)": "PL106",
    "t.py: unknown keyword 'x' of the mark personalens; known: p": "PL107",
    "--personalens-gate: tcr is not judged in this run; add tc with --personalens-dimensions": "PL108",
    "--personalens-baseline: b.json: cannot be read: No such file or directory; restore it": "PL201",
    "--personalens-baseline: b.json cannot be compared with this run: the judge changed": "PL202",
    "r.json: not a results file of this version: its schema is 'None', not 'x'": "PL203",
    "personalens: prompts/x.txt: no such template; known: user": "PL204",
    "personalens: own/domains/movies.toml: not valid TOML: Invalid statement (at line 1, column 1)": "PL205",
    "1.json and 2.json are not of one run: users is [] in the first": "PL206",
    "personalens: own/profiles/aino.toml: routine.home: field required": "PL207",
    "personalens: own/profiles/aino.toml: routine.hom: unknown field; correct its name, or remove it": "PL207",
    "personalens: own/recall.toml: arcs.1.test.right: a test of the kind recall needs at least one value": "PL207",
    "personalens: PrefEval/explicit_preference: no topic is there; give the folder of PrefEval": "PL203",
    "not scored, assistant at fault: openai:x: no answer from the server": "PL501",
    "openai:x: no answer from the server: refused": "PL301",
    "bedrock:x: no AWS region is set; give ?region=..., or set AWS_REGION": "PL302",
    "openai:x: the server refuses the call: 400": "PL303",
    "openai:small costs money: add --live to call it": "PL304",
    "--personalens-executor: needs Dask: pip install 'pytest-personalens[dask]'": "PL305",
    "personalens: --personalens-executor: no Dask scheduler at tcp://127.0.0.1:1: timed out": "PL306",
    "personalens: dataset Support: users(): raised StopIteration: ": "PL307",
    "personalens: no assistant to test; define a fixture personalens_assistant in conftest.py": "PL401",
    "personalens_parallel = 2: the fixture personalens_assistant must have scope 'session' or 'module'": "PL402",
    "not scored, user-agent at fault: the user agent raised KeyError: 1": "PL502",
    "not scored, judge at fault: could not read the dialogue": "PL503",
    "t.json: the record is stale (the assistant's turn 1 differs); record it with --personalens-record new": "PL504",
    "not scored, lost: the worker died": "PL505",
    "Personalization is 1.00, below the required 2.30; it was 2.63 in the records": "PL601",
    "the rate pass^3 is 0.00, below the required 0.10": "PL601",
    "Personalization fell from 4.00 to 1.00: worse for 30 of 30 users, better for none": "PL602",
    "what the assistant knows of its user is worth 0.10 of P, below the required 0.30": "PL603",
    "the judge changed: under the same identity it reads the anchors otherwise": "PL604",
    "only 0 of 2 dialogues could be scored, below the required 90%": "PL605",
    "--personalens-gate: tcr: task completion needs facts; no scenario of the draw has facts, so nothing would decide the gate": "PL606",
}  # fmt: skip


@pytest.mark.parametrize("error", KNOWN)
def test_each_kind_of_error_has_its_code(error: str) -> None:
    assert code_of(error) == KNOWN[error]


def test_each_code_is_of_an_error_that_is_known_here() -> None:
    assert {*KNOWN.values(), OTHER} == set(error_codes())


def test_a_code_is_added_once() -> None:
    assert with_code(with_code("x.json: cannot be read")) == "x.json: cannot be read (PL201)"


def test_each_text_of_an_error_in_the_code_has_a_code() -> None:
    """As far as a text stands there: those with at most two words of their own are filled in elsewhere."""
    texts = [text for file in (ROOT / "pytest_personalens").rglob("*.py") for text in _texts(file)]
    assert len(texts) > 200
    assert [text for text in texts if code_of(text) == OTHER] == []


def _texts(file: Path) -> list[str]:
    calls = [
        node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
    ]
    found = []
    for call in calls:
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        if name in ERRORS and call.args:
            told = _text(call.args[-1])
            # The rest of a text is written by what raises it: a reader of JSON, an option, another error.
            if len(re.findall(r"[A-Za-z]{3,}", re.sub(r"[-\w.]*#[-\w.]*|--?\w[-\w]*", "", told))) > 2:
                found.append(f"#.json: {told}" if name == "DataError" else told)
    return found


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "#" for part in node.values)
    return _text(node.body) if isinstance(node, ast.IfExp) else "#"


def test_the_page_has_what_is_known() -> None:
    page = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")
    assert page == reference.errors_page(), "run: make reference"
    assert [code.page for code in error_codes().values() if not (ROOT / "docs" / code.page).is_file()] == []


def test_a_code_is_explained(empty_repo: Repository) -> None:
    told = empty_repo.command("explain", "pl201")
    assert told.ret == 0
    told.stdout.fnmatch_lines(
        ["PL201: A file cannot be read", "Check the path*", "more: *explanation/bad-input.md"]
    )
    listed = empty_repo.command("explain").outlines
    assert [line[:5] for line in listed] == list(error_codes())
    assert_usage_error(empty_repo.command("explain", "PL999"), "error: unknown code 'PL999'; known: PL000, *")


def test_the_code_ends_what_a_run_and_a_command_say(repo: Repository) -> None:
    repo.with_codes = True
    refused = repo.inline("--personalens-sample", "x")
    refused.stderr.fnmatch_lines(["ERROR: --personalens-sample: expected *, not 'x' (PL101)"])
    failed = repo.inline(
        "--personalens-sample", "2", "--personalens-kind", "single", "--personalens-gate", "p >= 4"
    )
    failed.stdout.fnmatch_lines(["E   *(PL601)"])
    assert repo.command("report", "nothing.json").errlines[-1].endswith(" (PL201)")
    assert repo.command("report").errlines[-1].endswith(" (PL102)")
