"""What every case begins with: a chatbot's repository with files of every kind, made once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from textwrap import dedent
from typing import Final

from tests.project.fuzz.case import Case, Setup
from tests.support.datasets.official_tree import write_data
from tests.support.repository import ROOT

#: The bot, the agents and the models of every case. What FUZZ says decides whether all of them do well or
#: badly.
CONFTEST: Final = f"""
    import os, sys
    import pytest
    from pytest_personalens import Answer, FakeModel, UserTurn, Verdict

    sys.path.insert(0, {str(ROOT / "example_project")!r})
    GOOD = os.environ["FUZZ"] == "good"

    class User:
        identity, paid = "told user", False
        def turn(self, scenario, transcript):
            return UserTurn("hello" if not transcript else "bye", done=bool(transcript))

    class Judge:
        identity, paid, read = "told judge", False, 0
        def verdict(self, scenario, dialogue, dimension):
            self.read += 1
            if os.environ.get("FUZZ_DIES") == str(self.read):
                os._exit(9)
            low, high = dimension.scale
            return Verdict(dimension=dimension, score=high if GOOD else low, justification="told")

    class PaidUser(User):
        identity, paid = "paid user", True

    class PaidJudge(Judge):
        identity, paid = "paid judge", True

    def answer(request):
        if request.answer is None:
            return Answer(text="Thanks! TERMINATE" if "<transcript>" in request.prompt else "I want something.", input_tokens=1000, output_tokens=100)
        kind = request.answer["properties"]["score"]["type"]
        score = {{"boolean": GOOD, "array": [4 if GOOD else 1]}}.get(kind, 4 if GOOD else 1)
        quotes = [{{"turn": 1, "quote": "cannot"}}]
        return Answer(input_tokens=1000, output_tokens=100, data={{"evidence": quotes, "justification": "told", "score": score}})

    def pytest_personalens_user_agent(spec):
        return {{"told": User(), "paid": PaidUser()}}.get(spec)

    def pytest_personalens_judge(spec):
        return {{"told": Judge(), "paid": PaidJudge()}}.get(spec)

    def pytest_personalens_model(spec, config):
        return FakeModel(answer, name=spec, paid=True) if spec == "acme:x" else None

    @pytest.fixture
    def personalens_assistant(personalens_scenario, personalens_context):
        if not GOOD:
            return lambda messages: "I cannot do that."
        from helpbot import Memory
        from helpbot.bot import Helpbot

        memory = Memory()
        for domain, types in personalens_scenario.preferences.items():
            known = ". ".join(value for values in types.values() for value in values)
            memory.remember(personalens_scenario.user, domain, f"{{known}}. {{personalens_context.interactions.get(domain, '')}}")
        return Helpbot(personalens_scenario.user, memory)
"""
TEST: Final = "def test_bot(personalens):\n    personalens.check()\n"
BOTS: Final = 'nothing = None\n\n\ndef bad(messages):\n    return "I cannot do that."\n'

#: Two dialogues with the embedded agents, which a gate decides about.
RUN: Final = ("--personalens-sample=2", "-opersonalens_users=kit,aino", "--personalens-gate=tcr >= 0.5")
#: Twelve with agents that say what they are told to, of as many users as a comparison needs.
TOLD: Final = ("--personalens-sample=12", "-opersonalens_users=kit,aino,bartek,kirra,amara,gustavo", "--personalens-user-model=told", "--personalens-judge-model=told")  # fmt: skip
#: The cache of a run that goes on from one that was killed: in its repository, so that a copy finds it again.
CALLS: Final = ".pytest_cache/kept"
PAID: Final = ("--personalens-sample=4", "-opersonalens_users=kit,aino", "--personalens-user-model=paid", "--personalens-judge-model=paid")  # fmt: skip

Runs = Callable[[Case, Path, bool], None]


def make_base(folder: Path, run: Runs) -> None:
    """Fill the folder; `run` runs a case with everybody good or bad, and raises for another ending."""
    repo = folder / "repo"
    repo.mkdir(parents=True)
    files = {"conftest.py": CONFTEST, "test_bot.py": TEST, "bots.py": BOTS, "users.txt": "kit\naino\n"}
    for name, text in files.items():
        (repo / name).write_text(dedent(text), encoding="utf-8")
    for ending in ("json", "md", "html", "csv"):
        (repo / f"theirs.{ending}").write_text("what I know about cats\n", encoding="utf-8")
    (repo / "link-to-theirs").symlink_to("theirs.json")
    (repo / "loop").symlink_to("loop")
    (repo / "folder").mkdir()
    _own_data(folder / "own")
    write_data(folder / "official", ("kit", "aino"))
    templates = ROOT / "pytest_personalens" / "agents" / "by_model" / "templates"
    shutil.copytree(templates, folder / "prompts", ignore=shutil.ignore_patterns("paper"))
    lines = (ROOT / "data" / "agreement" / "anchors.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "labels.jsonl").write_text("\n".join(lines[:3]) + "\n", encoding="utf-8")
    (folder / "anchors.jsonl").write_text("\n".join(lines[:5]) + "\n", encoding="utf-8")
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "It is done."}]
    own = {"preferences": {"Train": {}}, "task": {"intent": "Go.", "goal": "A seat.", "domains": ["Train"]}}
    chats = [{"scenario": one, "messages": messages} for one in ("alarm-1-kit", "books-1-aino", own)]
    (folder / "chats.jsonl").write_text("\n".join(map(json.dumps, chats)) + "\n", encoding="utf-8")
    for good in (True, False):
        _results(folder, run, good=good)


def _own_data(own: Path) -> None:
    files = ("dataset.toml", "multi.toml", "limits.toml", "profiles/kit.toml", "profiles/aino.toml")
    for name in (*files, "domains", "histories/kit", "histories/aino"):
        source, target = ROOT / "data" / name, own / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)


def _results(folder: Path, run: Runs, *, good: bool) -> None:
    """The files that runs leave behind: one where all did well, or badly."""
    work = folder / "work"
    setup = Setup(folder, work, Random(0))
    setup.take("anchors.jsonl")
    keep = folder / ("good" if good else "bad")
    keep.mkdir()

    def made(*arguments: str, dies: str = "") -> None:
        kept = (("PERSONALENS_CACHE_DIR", CALLS),) if dies else ()
        run(Case("", arguments, environment=(("FUZZ_DIES", dies), *kept)), work, good)

    gates = ("--personalens-gate=tcr >= 0.9",)
    made(*TOLD, *gates, "--personalens-report=results.json", "--personalens-save-baseline=baseline.json")
    for number in (1, 2):
        made(*TOLD, *gates, f"--personalens-shard={number}/2", f"--personalens-report=shard-{number}.json")
    made(*TOLD, *gates, "-opersonalens_anchors=anchors.jsonl", "--personalens-adopt-judge=adopted.json")
    for name in ("results.json", "baseline.json", "shard-1.json", "shard-2.json", "adopted.json"):
        shutil.move(setup.repo / name, keep / name)
    made(*RUN, "--personalens-record=new")
    shutil.move(setup.repo / "__personalens__", keep / "records")
    # A run that was killed in the middle: its cache holds what it is to be gone on with.
    shutil.rmtree(setup.repo / ".pytest_cache", ignore_errors=True)
    made(*PAID, "--personalens-record", "live", "--personalens-resume", dies="6")
    shutil.move(setup.repo / ".pytest_cache", keep / "cache")
    shutil.rmtree(work)
