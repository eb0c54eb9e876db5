"""The files that a forge reads: workflows, forms, citation; and what they may do."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
#: All that use actions: ours, and those that a team copies.
USERS = [
    *WORKFLOWS, ROOT / "action.yml", *sorted((ROOT / "example_project/.github/workflows").glob("*.yml")),
    *sorted(file for file in (ROOT / "docs/how-to/ci").glob("*.yml") if "uses:" in file.read_text(encoding="utf-8")),
]  # fmt: skip
#: The plugin's own action, whose versions are tags of this repository.
OURS = "OWNER/pytest-personalens@"
SCHEMAS = {
    "CITATION.cff": "citation-file-format",
    ".github/dependabot.yml": "dependabot",
    ".github/ISSUE_TEMPLATE/config.yml": "github-issue-config",
    **{f".github/ISSUE_TEMPLATE/{name}.yml": "github-issue-forms" for name in ("bug", "idea", "verdict")},
    **{file.relative_to(ROOT).as_posix(): "github-workflows" for file in WORKFLOWS},
}


def read(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCHEMAS)
def test_it_fits_its_schema(name: str) -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{SCHEMAS[name]}"]
    done = subprocess.run([*command, str(ROOT / name)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_citation_is_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == project["version"]
    assert " AND ".join(citation["license"]) == project["license"]
    page = (ROOT / "docs/how-to/ci/run-in-ci.md").read_text(encoding="utf-8")
    assert re.findall(r"/pytest-personalens@v([\d.]+)", page) == [project["version"]]


@pytest.mark.parametrize("file", USERS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_each_action_is_pinned_by_its_digest_with_its_version_beside_it(file: Path) -> None:
    used = re.findall(r"uses: (.+)", file.read_text(encoding="utf-8"))
    assert used
    pinned = re.compile(r"[\w.-]+(?:/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+(?:, .+)?")
    assert [u for u in used if not pinned.fullmatch(u) and not u.startswith(OURS)] == []


def test_one_version_of_an_action_is_used_everywhere() -> None:
    used = {
        (re.sub(r"(cache)/\w+", r"\1", name), pin)
        for file in USERS
        for name, pin in re.findall(r"uses: (\S+)@([^,\n]+)", file.read_text(encoding="utf-8"))
    }
    assert len(used) == len({name for name, _ in used})


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_may_do_no_more_than_it_must(file: Path) -> None:
    workflow = read(file)
    assert workflow["permissions"] in ({}, {"contents": "read"})
    rights = {name: job.get("permissions") for name, job in workflow["jobs"].items()}
    if file.name == "release.yml":
        assert rights == {
            "build": {"contents": "read"},
            "attest": {"id-token": "write", "attestations": "write"},
            "publish": {"id-token": "write"},
        }
        published = workflow["jobs"]["publish"]
        assert published["environment"]["name"] == "pypi"
        assert not [step for step in published["steps"] if "run" in step], "no code of ours has the identity"
    else:
        assert set(rights.values()) == {None}
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())


def test_ci_has_the_systems_and_pythons_that_are_declared() -> None:
    matrix = read(ROOT / ".github/workflows/ci.yml")["jobs"]["systems"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = [found[1] for c in project["classifiers"] if (found := re.fullmatch(r".* :: (3\.\d+)", c))]
    assert matrix["python"] == declared
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]


def test_the_tests_that_a_job_runs_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    lowest = re.search(r"^BUILT_ON_THEM := ((?:.*\\\n)*.*)", makefile, re.MULTILINE)
    assert lowest is not None
    named = [f"tests/{name}" for name in lowest[1].replace("\\\n", " ").split()]
    named += re.findall(r"\btests/[\w/.]+", (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_zizmor_finds_nothing_unsafe() -> None:
    zizmor = shutil.which("zizmor") or shutil.which("zizmor", path=str(Path(sys.executable).parent))
    if zizmor is None:
        pytest.skip("zizmor is not installed")
    command = [zizmor, "--offline", "--no-progress", ".github", "action.yml", "example_project/.github"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_site_lists_each_page_once() -> None:
    """The build of the site finds that too, but only where its generator is installed."""

    def pages(entry: Any) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        parts = entry.values() if isinstance(entry, dict) else entry
        return [page for part in parts for page in pages(part)]

    docs = ROOT / "docs"
    written = sorted(page.relative_to(docs).as_posix() for page in docs.rglob("*.md"))
    assert sorted(pages(read(ROOT / "mkdocs.yml")["nav"])) == written


def test_llms_txt_has_the_form_that_readers_expect() -> None:
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")
    assert re.match(r"# \S+\n\n> ", text), "a title and a summary, as llmstxt.org has it"
    assert len(re.findall(r"^- \[[^]]+\]\([^)]+\): .+", text, re.MULTILINE)) > 10
