"""The agreement of a strong model with annotators is replayed, as anybody can: without a key, a network or a call."""

from __future__ import annotations

import json

import pytest

from benchmarks.agents import model_judge
from tests.support.repository import ROOT, Repository


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_the_prompts_are_those_of_the_records() -> None:
    stored = json.loads((model_judge.PROOF / "templates.json").read_text(encoding="utf-8"))
    changed = [name for name, digest in model_judge.template_digests().items() if stored.get(name) != digest]
    assert not changed, (
        f"{', '.join(changed)} changed, so the records answer another prompt; list the calls to be answered"
        " anew with: python benchmarks/agents/model_judge.py --unanswered"
    )
    assert not list(model_judge.unanswered())


def test_the_page_says_what_the_records_give() -> None:
    page = (ROOT / "docs" / "explanation" / "scores.md").read_text(encoding="utf-8")
    for line in model_judge.table(model_judge.rows()):
        assert line in page


@pytest.mark.slow
def test_the_command_replays_it(empty_repo: Repository) -> None:
    result = empty_repo.command(
        "agreement", str(model_judge.NEW), "--judge-model", model_judge.MODEL, "--dimensions=tc,p",
        "--records", str(model_judge.PROOF / "calls"),
    )  # fmt: skip
    assert result.ret == 0
    result.stdout.fnmatch_lines(["288 readings from records"])


def test_a_reading_that_is_not_on_record_is_not_bought(empty_repo: Repository) -> None:
    result = empty_repo.command(
        "agreement", str(model_judge.NEW), "--judge-model", "openai:another-model", "--dimensions=tc",
        "--records", str(model_judge.PROOF / "calls"),
    )  # fmt: skip
    assert result.ret == 4
    result.stderr.fnmatch_lines(["error: openai:another-model costs money*"])
