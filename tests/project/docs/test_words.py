"""What a message tells to do works as it is told."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.processes.runs import assert_usage_error
from tests.support.repository import ROOT, Repository
from tests.support.scripted_agents import BOT
from tests.support.servers.endpoint import Endpoint

SAMPLE = ("--personalens-sample", "3")


@pytest.mark.parametrize("told", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_either_variable_names_the_region(
    repo: Repository, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, told: str
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(repo.path / "none"))
    args = (*SAMPLE, "--personalens-user-model=bedrock:nova-lite", "--personalens-record=live", "--personalens-gate=none")  # fmt: skip
    repo.inline(*args).stderr.fnmatch_lines(["*no AWS region is set; give ?region=..., or set AWS_REGION*"])
    monkeypatch.setenv(told, "eu-west-1")
    assert repo.inline(*args).ret == 0


def test_the_command_that_is_printed_keeps_overrides(repo: Repository) -> None:
    (repo.path / "pytest.ini").write_text("[pytest]\npersonalens_threshold = \npersonalens_max_turns = 3\n")
    repo.write(conftest=BOT.replace("return helpbot(messages)", "return 'I cannot.'"))
    override = ("-o", "personalens_max_turns=2", "-o", "personalens_seed=another one")
    result = repo.inline(*SAMPLE, *override)
    again = next(line for line in result.outlines if "again: " in line).partition("again: ")[2]
    assert shlex.split(again)[:1] == ["pytest"]
    assert shlex.split(again).count("-o") == 2
    assert repo.run(*shlex.split(again)[1:]).ret == 1, "it is found, and fails again"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("--personalens-domain=Bokos", "ERROR: personalens: unknown domain 'Bokos'; did you mean 'Books'? known: *"),
        ("--personalens-gate=none -p no:personalens-controller", "ERROR: personalens: *is blocked (-p no:personalens-controller)*"),
        *(
            (f"--personalens-baseline=b.json --personalens-dimensions=all -opersonalens_margin={dimension}={width}", f"ERROR: personalens_margin: no drop of {dimension} is larger than {width}, so *")
            for dimension, width in (("tc", 1), ("p", 3), ("nat-user", 4))
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_told_with_what_to_do(repo: Repository, args: str, told: str) -> None:
    assert_usage_error(repo.inline(*SAMPLE, *args.split()), told)


def test_a_path_after_a_space_is_told_before_any_conftest(empty_repo: Repository, tmp_path: Path) -> None:
    (empty_repo.path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src"]\n')
    empty_repo.write(
        src__mybot="NAME = 'x'\n",
        tests__conftest="import mybot\n" + re.sub("^    ", "", BOT, flags=re.MULTILINE),
        tests__test_bot="def test_bot(personalens):\n    personalens.check()\n",
    )
    base = tmp_path.parent / "base.json"
    base.write_text("{}")
    told = "ERROR: --personalens-save-baseline: write --personalens-save-baseline=*; after a space, pytest takes *"
    result = empty_repo.run("tests", *SAMPLE, "--personalens-save-baseline", str(base))
    assert "mybot" not in str(assert_usage_error(result, told).stderr)


def test_what_is_imported_is_declared() -> None:
    """Packages that others happen to bring along today."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    declared = text.partition("dependencies = [")[2].partition("]\n")[0]
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "pytest_personalens").rglob("*.py"))
    for package in ("boto3", "botocore", "urllib3", "pydantic", "pluggy", "syrupy"):
        imported = re.search(rf"^\s*(?:from|import) {package}\b", code, re.MULTILINE)
        assert imported is None or f'"{package}' in declared
