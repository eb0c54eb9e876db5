"""The embedded judge reads what is said, not how: other words and layouts for the same keep its verdicts, a
stranger's memory does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from statistics import mean
from typing import Any, Final, NamedTuple

import pytest

from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.core.judging.evaluation import evaluate
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.scenario import Scenario, ScenarioRef
from pytest_personalens.datasets import EmbeddedDataset, draw
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.datasets.other_users import OtherUsers
from pytest_personalens.judge_quality import read_labels
from pytest_personalens.judge_quality.robustness.robustness import (
    CONSTANT,
    Stability,
    constant_bots,
    stability,
)

TC, P = Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION
EMBEDDED: Final = EmbeddedDataset()
SCENARIOS: Final = 12
WORDINGS: Final = (
    "plain", "product", "cards", "headed", "service", "friendly", "terse", "formal", "recalling", "steps", "sorry", "went_ahead",
)  # fmt: skip


@cache
def kept() -> dict[tuple[str, bool], Stability]:
    """For each change of words, and whether training has not seen it, over every third held-out dialogue: how
    often verdicts stay.
    """
    labelled = list(read_labels(data_folder() / "agreement" / "heldout.jsonl"))[::3]
    return stability(EmbeddedJudge(), labelled)


@pytest.mark.slow
def test_other_words_for_the_same_keep_the_verdict() -> None:
    found = [k for (_, held), k in kept().items() if held]
    total = sum(k.dialogues for k in found)
    assert len(found) >= 20
    assert total >= 1000
    assert sum(k.tc * k.dialogues for k in found) / total >= 0.97
    assert sum(k.p * k.dialogues for k in found) / total >= 0.93


@pytest.mark.slow
def test_no_single_change_of_words_costs_many_verdicts() -> None:
    common = {name: k for (name, _), k in kept().items() if k.dialogues >= 40}
    assert len(common) >= 30
    assert not {name: k for name, k in common.items() if k.tc < 0.93 or k.p < 0.88}


@pytest.mark.parametrize("name", CONSTANT)
def test_a_bot_that_says_the_same_to_everybody_completes_nothing_and_is_not_personal(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pytest_personalens.judge_quality.robustness.robustness.CONSTANT", {name: CONSTANT[name]}
    )
    scenarios = [EMBEDDED.load(ref) for ref in draw(EMBEDDED, 25, seed="constant").refs]
    assert constant_bots(EmbeddedJudge(), scenarios) == {name: (25, 0, 0)}


class Means(NamedTuple):
    """The share of tasks completed, and the mean P."""

    tcr: float
    p: float


def refs() -> list[ScenarioRef]:
    """The scenarios, drawn as those of the bots' order are."""
    return list(draw(EMBEDDED, SCENARIOS, seed="bots").refs)


def played(
    bots: Any,
    name: str,
    wording: str = "plain",
    notes: Callable[[ScenarioRef, Scenario], Scenario] = lambda _, own: own,
) -> Means:
    """The readings of a bot in a wording; `notes` gives the scenario whose summaries it remembers."""
    from helpbot.wordings import Worded

    found = []
    for ref in refs():
        scenario, memory = EMBEDDED.load(ref), bots.Memory()
        for topic, summary in notes(ref, scenario).summaries.items():
            memory.remember(scenario.user, topic, summary)
        bot = Worded(bots.BOTS[name](scenario.user, memory), wording)
        found.append(evaluate(scenario, bot, EmbeddedUserAgent(), EmbeddedJudge(), dimensions=[TC, P]))
    assert all(e.scored for e in found), [e.detail for e in found if not e.scored]
    return Means(mean(bool(e.task_completed) for e in found), mean(e.personalization or 0 for e in found))


@pytest.fixture(scope="module")
def once() -> dict[tuple[str, str], Means]:
    """What was played in an earlier test, by bot and wording."""
    return {}


@pytest.fixture
def means(bots: Any, once: dict[tuple[str, str], Means]) -> Callable[[str, str], Means]:
    """The readings of a bot in a wording, played once."""

    def of(name: str, wording: str) -> Means:
        if (name, wording) not in once:
            once[name, wording] = played(bots, name, wording)
        return once[name, wording]

    return of


def test_every_wording_of_the_example_is_tried(bots: Any) -> None:
    from helpbot.wordings import wordings

    assert tuple(wordings()) == WORDINGS


@pytest.mark.parametrize("wording", WORDINGS[1:])
def test_another_wording_is_scored_as_the_plain_one(means: Callable[[str, str], Means], wording: str) -> None:
    plain, found = means("remembers", "plain"), means("remembers", wording)
    assert abs(found.tcr - plain.tcr) <= 2.1 / SCENARIOS, (found, plain)
    assert abs(found.p - plain.p) <= 0.35, (found, plain)


@pytest.mark.parametrize("wording", ["plain", "product", "cards", "terse"])
def test_who_remembers_stays_above_the_others_in_every_wording(
    bots: Any, means: Callable[[str, str], Means], wording: str
) -> None:
    best = means("remembers", wording)
    for name in bots.BOTS:
        if name != "remembers":
            assert best.p > means(name, wording).p, (name, best, means(name, wording))


def test_a_strangers_memory_acted_upon_scores_below_ones_own(
    bots: Any, means: Callable[[str, str], Means]
) -> None:
    other_users = OtherUsers(EMBEDDED, "bots")
    swapped = played(bots, "remembers", notes=lambda ref, _: EMBEDDED.load(other_users.of(ref)))
    assert swapped.p <= means("remembers", "plain").p - 0.5, (swapped, means("remembers", "plain"))
