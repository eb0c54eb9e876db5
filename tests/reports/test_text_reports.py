"""Reports in text, made of values: Markdown, its limits and summaries, and the command that makes them."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
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
from pytest_personalens.reports.paper_tables import StoredRun, assistant_tables
from pytest_personalens.reports.terminal.transcript import failure_lines
from pytest_personalens.results.summarize import summarize
from pytest_personalens.results.values.figures import Gate
from pytest_personalens.results.values.item import shortfalls_of
from pytest_personalens.results.values.results import Results, write_json
from pytest_personalens.results.wording import signed
from tests.support.processes.commands import report as main
from tests.support.repository import ROOT
from tests.support.results.rich_results import rich_results

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
    talk = Dialogue(messages=tuple(Message(role=role, content=said) for role in ("user", "assistant")))
    evidence = (Evidence.of(1, said, note=said[:200]),)
    verdicts = tuple(
        Verdict(dimension=one, score=one.scale.low, justification=said, evidence=evidence) for one in (TC, P)
    )
    items = []
    for number, item in enumerate(made.items, 1):
        crashed = number == count > 1
        told = (
            {"cause": "assistant", "detail": said, "verdicts": ()}
            if crashed
            else {"cause": "", "verdicts": verdicts}
        )
        evaluation = item.evaluation.model_copy(update={"dialogue": talk, **told})
        status = {"status": "uncounted" if crashed else "low", "failed": True, "test": "", **more}
        low = shortfalls_of(evaluation, {TC: 1, P: 2})
        items.append(item.model_copy(update={"evaluation": evaluation, "shortfalls": low, **status}))
    whole = summarize(items, settings=made.settings, dataset="d 1", requested=count, drawn=count)
    words = {"intent": said, "goal": said, "description": said}
    task = next(iter(made.scenarios.values())).task.model_copy(update=words)
    scenarios = {name: one.model_copy(update={"task": task}) for name, one in made.scenarios.items()}
    gates = (Gate(name="p", value=0.5, limit=0.7, passed=False, message=said),)
    return whole.model_copy(update={"gates": gates, "scenarios": scenarios})


def rendered(text: str) -> str:
    reader = pytest.importorskip("markdown_it", reason="markdown-it-py is not installed")
    parser = reader.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return str(parser.render(text))


def test_what_a_model_says_is_text_in_markdown() -> None:
    page = rendered(markdown_report(saying(HOSTILE)))
    allowed = "h2 h3 p table thead tbody tr th td details summary ul li strong code pre"
    assert {name.strip("/") for name in re.findall(r"<(/?\w+)", page)} == set(allowed.split())
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
    table = rendered(f"| a | b |\n|---|---|\n| c | {escape(text)} |\n")
    assert table.count("<") == 18, "no tag but the table's own"


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


@pytest.mark.slow
def test_a_summary_is_appended_and_its_file_may_be_full(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("# Before\n")
    forges.append_summary(rich_results(3), path)
    assert path.read_text(encoding="utf-8").startswith("# Before\n## ❌ personalens")
    many = saying("é" * 500, 2_000)
    forges.append_summary(many, path)
    assert path.stat().st_size < 1024 * 1024
    most = r"and GitHub shows no more than 1 MiB; write less in this step$"
    with pytest.raises(DataError, match=rf"summary.md: holds [\d,]+ bytes already, {most}"):
        for _ in range(3):
            forges.append_summary(many, path)
    with pytest.raises(
        DataError, match=r"nowhere/x: the summary cannot be written: No such file or directory$"
    ):
        forges.append_summary(many, tmp_path / "nowhere/x")


def test_where_github_keeps_things(tmp_path: Path) -> None:
    step = {
        "GITHUB_STEP_SUMMARY": "/x/y", "GITHUB_WORKSPACE": str(tmp_path), "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "o/r", "GITHUB_SHA": "abc",
    }  # fmt: skip
    assert forges.summary_path(step) == Path("/x/y")
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
    tables = assistant_tables([StoredRun("this run", made)])
    shown = (printed, markdown_report(made), tables[0].text(), harmless(HOSTILE), harmless("::error::x"))
    for line in (part for text in shown for part in re.split("[\r\n]", text)):
        assert not (line.lstrip().startswith("::") or "##[" in line), line
    assert harmless("a::b #[x] C:: ok") == "a::b #[x] C:: ok"
    azure = "at ##vso[task.complete result=Succeeded;] ##VSO[build.addbuildtag]x ##[error]y"
    assert "##" not in harmless(azure)


def test_the_command_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Its output is UTF-8, whatever the terminal asks for."""
    write_json(rich_results(4, floor=4), tmp_path / "now.json")
    write_json(rich_results(4), tmp_path / "before.json")
    words = ["-m", "pytest_personalens", "report", "now.json", "before.json", "--report", "-"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, check=True)  # fmt: skip
    assert done.stderr == b""
    out = done.stdout.decode()
    assert out.startswith("## ❌ personalens FAILED: ")
    assert "Since the baseline before.json: 4 scenarios compared" in out


def test_a_long_name_keeps_the_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, results = tmp_path / "r.json", rich_results(30)
    name = "Appointments with medical specialists, at home and far abroad"
    write_json(results, path)
    text = path.read_text(encoding="utf-8")
    domain = json.dumps(results.domains[0].name)
    assert text.count(domain) > 3
    path.write_text(text.replace(domain, json.dumps(name)), encoding="utf-8")
    assert main([str(path), str(path), "--verbose"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = (n for n, line in enumerate(lines) if line.startswith(name[:35]))
    assert len(lines[row]) == len(lines[row - 1]) == len(lines[row + 1])
    assert lines[row][:41].rstrip().endswith("…")


def test_a_difference_has_the_decimals_that_tell_it_from_zero() -> None:
    values = {0.1: "+0.10", -0.0: "+0.00", 0.0034: "+0.003", -0.00034: "-0.0003", -0.00004: "+0.00"}
    assert {value: signed(value) for value in values} == values
