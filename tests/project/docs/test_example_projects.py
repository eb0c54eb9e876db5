"""The example projects: each bot passes its own gates, each worse one fails, and their pages say the figures."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.agents.embedded.embedded_agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.core.dialogue.dialogue import converse
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.options.option_table import DEFAULT_SEED
from pytest_personalens.datasets import EmbeddedDataset, draw
from tests.support.processes.runs import run_project
from tests.support.repository import ROOT, Repository

PROJECT = ROOT / "example_project"


# with a memory


@pytest.mark.parametrize(
    ("folder", "sample"), [pytest.param("sessions", "all", marks=pytest.mark.slow), ("late", "8")]
)
def test_a_bot_with_a_memory_passes_its_own_gates(folder: str, sample: str) -> None:
    done = run_project(PROJECT / folder, "-n", "0", "--personalens-sample", sample, LATE="0.1")
    assert done.returncode == 0, done.stdout + done.stderr


# with tools


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bot", "state", "tcr", "unbacked"),
    [
        ("remembers", "", 0.97, 0.13), ("claims", "", 0.17, 1.0), ("stores-nothing", "", 0.17, 1.0), ("stores-nothing", "none", 1.0, 0.07),
        ("stores-a-day-late", "", 0.77, 0.53), ("stores-a-day-late", "none", 1.0, 0.07),
    ],
)  # fmt: skip
def test_who_acts_completes_tasks_and_who_claims_does_not(
    empty_repo: Repository, monkeypatch: pytest.MonkeyPatch, bot: str, state: str, tcr: float, unbacked: float
) -> None:
    monkeypatch.chdir(PROJECT)
    monkeypatch.setenv("HELPBOT", bot)
    monkeypatch.setenv("HELPBOT_STATE", state)
    report = empty_repo.path / "results.json"
    options = ("--personalens-sample=30", "--personalens-dimensions=tc,p,unbacked")
    result = empty_repo.run("acting", *options, f"--personalens-report={report}")
    assert (result.ret == 0) is (bot == "remembers"), result.stdout  # the test asserts the rows too
    means = json.loads(report.read_text())["overall"]["figures"]
    assert means["task_completion"]["value"] == pytest.approx(tcr, abs=0.1)
    assert means["unbacked"]["value"] == pytest.approx(unbacked, abs=0.15)


# played by a model, and read


@pytest.mark.parametrize(
    ("bot", "code", "said"),
    [
        ("remembers", 0, "gate p: passed, mean personalization 2.43"),
        ("forgets", 1, "gate p: FAILED, mean personalization 1.70"),
    ],
)
def test_the_demo_by_a_model_is_replayed(bot: str, code: int, said: str) -> None:
    """``make demo-model``: no key is needed."""
    make = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    (recipe,) = [line.strip() for line in make if "pytest by_model/" in line]
    (model,) = [line.partition(":= ")[2] for line in make if line.startswith("MODEL :=")]
    words = shlex.split(recipe.replace("$(MODEL)", model).replace("$(or $(HELPBOT),remembers)", bot))
    done = run_project(PROJECT, *words[words.index("pytest") + 1 :])
    assert done.returncode == code, done.stdout
    assert said in done.stdout
    assert "records: 30 replayed" in done.stdout or bot == "remembers"
    if bot == "forgets":
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        (shown,) = re.findall(r"```text\n((?:E   .*\n)+)([^`]+)```", readme)
        assert [part for part in shown if part not in done.stdout] == []


_ROW = re.compile(
    r"^\| `(?P<id>[\w-]+)` \| (?P<verdict>[^|]+) \| (?P<answer>\w+) \| (?P<quote>[^|]+) \|$", re.MULTILINE
)


def test_the_page_has_the_scenarios_and_verdicts_of_the_demo_and_no_dispute(bots: Any) -> None:
    from helpbot.wordings import Worded

    page = (ROOT / "docs" / "explanation" / "demo-read.md").read_text(encoding="utf-8")
    rows = {row["id"]: row for row in _ROW.finditer(page)}
    dataset = EmbeddedDataset()
    refs = {ref.id: ref for ref in draw(dataset, 30, seed=DEFAULT_SEED).refs}
    assert rows.keys() == refs.keys()
    for name, row in rows.items():
        scenario = dataset.load(refs[name])
        memory = bots.Memory()
        for topic, summary in scenario.summaries.items():
            memory.remember(scenario.user, topic, summary)
        bot = Worded(bots.BOTS["remembers"](scenario.user, memory), "product")
        dialogue = converse(scenario, bot, EmbeddedUserAgent()).dialogue
        read = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
        tc, p = (EmbeddedJudge().verdict(scenario, dialogue, dimension).score for dimension in read)
        outcome = "pass" if tc == 1 and p >= 2 else "fail"
        assert row["verdict"] == f"{outcome}: TC {tc:g}, P {p:g}", name
        assert any(row["quote"] in m.content for m in dialogue.messages), (name, row["quote"])
        assert row["answer"] == "yes", name


# predictions


FORESIGHT = PROJECT / "foresight"
HELD_OUT = (FORESIGHT / "held-out.txt").read_text(encoding="utf-8").split()
MEASURES = ("correct", "log-error", "rouge1")


def test_the_users_that_nobody_read_are_those_of_the_digest() -> None:
    users = [path.stem for path in (ROOT / "data" / "suites" / "personaconv").glob("u_*.json")]
    first = sorted(users, key=lambda user: hashlib.sha256(f"foresight {user}".encode()).hexdigest())
    assert sorted(first[:20]) == HELD_OUT


def test_the_predictor_is_small_and_reads_no_data() -> None:
    files = [FORESIGHT / name for name in ("__init__.py", "predictor.py", "manners.toml")]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    assert len(text.splitlines()) <= 200
    assert not re.search(r"data/|open\(", text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("users", "items", "options"),
    [("all 40", 120, ("-n", "2")), ("20 not read", 60, ("-opersonalens_users=file:held-out.txt",))],
)
def test_all_predictions_have_the_figures_of_the_readme(
    tmp_path: Path, users: str, items: int, options: tuple[str, ...]
) -> None:
    report = tmp_path / "all.json"
    done = run_project(FORESIGHT, f"--personalens-report={report}", "--personalens-sample=all", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(report.read_text(encoding="utf-8"))
    assert {kind["items"] for kind in results["kinds"]} == {items}
    figures = {m: results["overall"]["figures"][m]["value"] for m in MEASURES}
    assert figures["correct"] >= 0.7
    rows = {"P-Conv": [f"{value:.2f}" for value in figures.values()]}
    for control in results["arms"]:
        lifts = {each["dimension"]: each for each in control["lift"]}
        setting = control["name"].replace("np-conv", "NP-Conv").replace("p-nonconv", "P-NonConv")
        rows[setting] = [f"{lifts[m]['before']:.2f} ({chance(lifts[m]['p'])})" for m in MEASURES]
        assert setting != "NP-Conv" or all(lifts[m]["p"] < 0.05 for m in MEASURES)
    readme = (FORESIGHT / "README.md").read_text(encoding="utf-8")
    for setting, cells in rows.items():
        assert f"| {users} | {setting} | {' | '.join(cells)} |" in readme


def chance(p: float) -> str:
    """A probability as the tables show it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
