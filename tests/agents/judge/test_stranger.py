"""Assistants that a stranger wrote, in the prose of today's products, come out as good as they are over
thirty scenarios.
"""

from __future__ import annotations

from typing import Final

import pytest

from pytest_personalens import Results
from tests.agents.judge.stranger.assistants import ASSISTANTS, replies
from tests.agents.judge.stranger.figures import SEED, SIZE, evaluations, figures
from tests.support.repository import ROOT, Repository

#: What is guaranteed, a scenario or two below what was measured (`python -m tests.agents.judge.stranger`): the
#: least share of right verdicts on TC and P. What the bad assistant deserves on P is open.
LEAST_RIGHT: Final = {"good": (0.8, 0.9), "impersonal": (0.66, 0.6), "bad": (0.7, 1.0)}
LEAST_FOURS: Final = 0.5
GRAPH: Final = f"""
    import sys
    import pytest

    sys.path.insert(0, {str(ROOT)!r})
    from tests.agents.judge.stranger.assistants import langgraph_agent

    @pytest.fixture
    def personalens_assistant(personalens_scenario, personalens_context):
        return langgraph_agent("good", personalens_scenario.id, personalens_context.dialogue)
"""

each_assistant = pytest.mark.parametrize("assistant", ASSISTANTS)


@each_assistant
def test_every_scenario_of_the_draw_has_its_replies(assistant: str) -> None:
    assert set(replies(assistant)) == set(evaluations(assistant))
    assert len(replies(assistant)) == SIZE
    assert all(texts and all(texts) for texts in replies(assistant).values())


@each_assistant
def test_the_user_ends_every_dialogue(assistant: str) -> None:
    assert {e.dialogue.end for e in evaluations(assistant).values()} <= {"user", "silence"}


@each_assistant
def test_most_verdicts_are_those_that_the_assistant_deserves(assistant: str) -> None:
    found = figures(assistant)
    least_tc, least_p = LEAST_RIGHT[assistant]
    assert found.tc_right >= least_tc, found
    assert found.p_right >= least_p, found


def test_the_assistants_come_out_in_their_order() -> None:
    found = {assistant: figures(assistant) for assistant in ASSISTANTS}
    good, impersonal, bad = (found[assistant] for assistant in ASSISTANTS)
    assert min(good.tcr, impersonal.tcr) >= bad.tcr + 0.4, found
    # The bad assistant knows its users and does nothing for them, so P ranks it above the impersonal one.
    assert good.p >= max(impersonal.p, bad.p) + 0.75, found


def test_an_assistant_that_foresees_reaches_the_highest_score() -> None:
    assert figures("good").fours >= LEAST_FOURS
    assert max(figures("impersonal").fours, figures("bad").fours) <= 0.1


def test_as_a_langgraph_agent_it_gets_the_same_verdicts(empty_repo: Repository) -> None:
    pytest.importorskip(
        "langgraph.graph", reason="langgraph is no dependency; install it to hand its agent over"
    )
    empty_repo.write(conftest=GRAPH)
    empty_repo.inline(
        "--personalens-sample", str(SIZE), "--personalens-seed", SEED, "--personalens-report", "results.json"
    )
    results = Results.model_validate(empty_repo.results())
    found = {item.evaluation.scenario: item.evaluation for item in results.items}
    assert {s: (e.dialogue, e.verdicts) for s, e in found.items()} == {
        s: (e.dialogue, e.verdicts) for s, e in evaluations("good").items()
    }
