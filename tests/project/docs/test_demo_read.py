"""The page on the demo has its thirty scenarios with the verdicts of today, and no verdict that a reader disputes."""

from __future__ import annotations

import re
from typing import Any

from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.core.dialogue.dialogue import Dialogue, converse
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.options.option_table import DEFAULT_SEED
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import EmbeddedDataset, draw
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "explanation" / "demo-read.md"
_ROW = re.compile(
    r"^\| `(?P<id>[\w-]+)` \| (?P<verdict>[^|]+) \| (?P<answer>\w+) \| (?P<quote>[^|]+) \|$", re.MULTILINE
)


def played(scenario: Scenario, bots: Any) -> Dialogue:
    from helpbot.wordings import Worded

    memory = bots.Memory()
    for topic, summary in scenario.summaries.items():
        memory.remember(scenario.user, topic, summary)
    bot = Worded(bots.BOTS["remembers"](scenario.user, memory), "product")
    return converse(scenario, bot, EmbeddedUserAgent()).dialogue


def test_the_page_has_the_scenarios_and_verdicts_of_the_demo_and_no_dispute(bots: Any) -> None:
    rows = {row["id"]: row for row in _ROW.finditer(PAGE.read_text(encoding="utf-8"))}
    dataset = EmbeddedDataset()
    refs = {ref.id: ref for ref in draw(dataset, 30, seed=DEFAULT_SEED).refs}
    assert rows.keys() == refs.keys()
    for name, row in rows.items():
        scenario = dataset.load(refs[name])
        dialogue = played(scenario, bots)
        tc, p = (
            EmbeddedJudge().verdict(scenario, dialogue, dimension).score
            for dimension in (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
        )
        outcome = "pass" if tc == 1 and p >= 2 else "fail"
        assert row["verdict"] == f"{outcome}: TC {tc:g}, P {p:g}", name
        assert any(row["quote"] in m.content for m in dialogue.messages), (name, row["quote"])
        assert row["answer"] == "yes", name
