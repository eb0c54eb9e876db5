"""Half of an emoji, which JSON can hold and no file can, takes no run with it, whoever says it."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.datasets.official_tree import write_data
from tests.support.processes.runs import assert_ended
from tests.support.repository import Repository, calls, records
from tests.support.scripted_agents import MODELS, PAID, TOLD, TOLD_AGENTS

ARGS = ("--personalens-sample=3", "--personalens-gate=p >= 1")
WAYS = {
    "workers": ("-n", "2"),
    "side by side": ("-opersonalens_parallel=2",),
    "records": ("--personalens-record=new",),
    "files": ("--personalens-report=r.json", "--personalens-report=r.html", "--personalens-report=r.md", "--junitxml=j.xml", "-vv"),
}  # fmt: skip
#: A model's verdict, cut within an escaped emoji.
MODEL = """
    import pytest
    from pytest_personalens import Answer, FakeModel

    def answer(request):
        yes = request.answer["properties"]["score"]["type"] == "boolean"
        quotes = [{"turn": 0, "quote": "so \\udc00"}]
        return Answer(data={"evidence": quotes, "justification": "fine \\ud83d", "score": True if yes else 1})

    def pytest_personalens_model(spec, config):
        return FakeModel(answer, name=spec) if spec == "half:x" else None

    @pytest.fixture(scope="session")
    def personalens_assistant():
        return lambda messages: "done \\ud83d"
"""


def test_a_judge_played_by_a_model(repo: Repository) -> None:
    repo.write(conftest=MODEL)
    assert_ended(repo.run(*ARGS, *WAYS["files"], *WAYS["workers"], "--personalens-judge-model=half:x"), 0)
    assert json.loads((repo.path / "r.json").read_text(encoding="utf-8"))["items"]
    assert all((repo.path / name).stat().st_size for name in ("r.html", "r.md", "j.xml"))


@pytest.mark.parametrize("way", WAYS)
def test_agents_of_ones_own(repo: Repository, way: str) -> None:
    said = TOLD.replace('"hello"', '"hello \\ud83d"').replace('"fine"', '"fine \\udc00"')
    repo.write(conftest=said.replace('justification="told"', 'justification="told \\udfff"'))
    assert_ended(repo.run(*ARGS, *WAYS[way], *TOLD_AGENTS), 0)


def test_what_was_bought_with_it_is_replayed(paid: Repository) -> None:
    paid.write(conftest=PAID.replace('justification="fine"', 'justification="fine \\ud83d"'))
    args = ("--personalens-sample=2", *MODELS)
    paid.run(*args, "--personalens-record=new").assert_outcomes(passed=2)
    assert (len(records(paid)), calls(paid)) == (2, 10)
    paid.run(*args).assert_outcomes(passed=2)
    assert calls(paid) == 0


def test_a_dataset_in_the_official_layout(repo: Repository) -> None:
    repo.write(conftest=TOLD)
    write_data(repo.path / "own")
    for file in (repo.path / "own" / "data" / "profile" / "user7").glob("*.json"):
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r"(intent|description) of", r"\\ud83d \1 of", text), encoding="utf-8")
    own = ("--personalens-data=own", "-opersonalens_threshold=p>=4")
    assert_ended(repo.run(*ARGS, *WAYS["files"], *WAYS["workers"], *own), 0)
    assert '"? intent of SD-Train-task-3"' in (repo.path / "r.json").read_text(encoding="utf-8")
