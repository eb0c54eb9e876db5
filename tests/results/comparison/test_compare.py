"""The gate against a baseline decides as the simulations of tests/results/stats/test_stats.py do, whatever runs it
is given.
"""

from __future__ import annotations

import random

import pytest

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.judging.evaluation import Evaluation
from pytest_personalens.core.judging.verdict import READINGS, Dimension, Verdict
from pytest_personalens.core.options.gate import GateExpression
from pytest_personalens.results.comparison.baseline import baseline_of
from pytest_personalens.results.comparison.compare import compare_with_baseline
from pytest_personalens.results.gates.check import check_gates
from pytest_personalens.results.stats.paired import detectable
from pytest_personalens.results.summarize import summarize
from pytest_personalens.results.values.item import Item
from pytest_personalens.results.values.results import Results
from tests.results.stats.test_stats import Assistant, Run, differences_of, gate_fails

SETTINGS = {"context": "DIS", "max_turns": 0, "judge_votes": 1}


def results_of(tc: list[list[int]], p: list[list[int]]) -> Results:
    """A run with these scores, a list of trials for each scenario."""
    items = [
        Item(
            nodeid=f"tests/test_bot.py::test_bot[{number}+t{trial}]",
            trial=trial,
            test="test_bot.py::test_bot",
            given="DIS",
            status="passed",
            evaluation=Evaluation(
                scenario=f"movies-1-user{number}",
                user=f"user{number}",
                task="movies-1",
                kind="single",
                domains=("Movies",),
                dataset="d 1",
                user_agent="user",
                judge="judge",
                dialogue=Dialogue(),
                verdicts=tuple(
                    Verdict(dimension=dimension, score=score, justification="so")
                    for dimension, score in (
                        (Dimension.TASK_COMPLETION, done),
                        (Dimension.PERSONALIZATION, level),
                    )
                ),
            ),
        )
        for number, (dones, levels) in enumerate(zip(tc, p, strict=True))
        for trial, (done, level) in enumerate(zip(dones, levels, strict=True), 1)
    ]
    return summarize(items, settings=SETTINGS, dataset="d 1", requested=len(tc), drawn=len(tc))


def trials_of(run: Run, trials: int) -> Results:
    """A run whose scenarios have these means, as trials that have them."""
    tc, p = run
    return results_of(
        [[1] * int(mean * trials) + [0] * (trials - int(mean * trials)) for mean in tc],
        [[int(mean) + (n < (mean - int(mean)) * trials) for n in range(trials)] for mean in p],
    )


@pytest.mark.slow
@pytest.mark.parametrize(("scenarios", "trials"), [(30, 1), (30, 3)])
def test_the_gate_decides_as_the_simulated_one(scenarios: int, trials: int) -> None:
    chance = random.Random(7)
    decided = {True: 0, False: 0}
    for number in range(60):
        assistant = Assistant(chance, scenarios, trials)
        before, after = assistant.run(), assistant.run(less_p=0.4 * (number % 2))
        then, now = trials_of(before, trials), trials_of(after, trials)
        comparison = compare_with_baseline(baseline_of(then), now, name="base.json", level=0.05, margins={})
        gates = check_gates(now.model_copy(update={"comparison": comparison}), [])
        failed = not all(gate.passed for gate in gates)
        assert failed == gate_fails(before, after)
        decided[failed] += 1
    assert min(decided.values()) >= 5


def test_what_it_says_it_could_have_found_is_that_of_the_simulations() -> None:
    assistant = Assistant(random.Random(3), 30, 1)
    before, after = assistant.run(), assistant.run()
    comparison = compare_with_baseline(
        baseline_of(trials_of(before, 1)), trials_of(after, 1), name="base.json", level=0.05, margins={}
    )
    tc, p = differences_of(before, after)
    # At half the level: what Holm's procedure asks of the smaller p of two.
    said = {d.dimension: d.detectable for d in comparison.differences}
    assert said[Dimension.TASK_COMPLETION] == detectable(
        [[d] for d in tc], level=0.025, most=float(sum(before[0]) / 30)
    )
    assert said[Dimension.PERSONALIZATION] == detectable(
        [[d] for d in p], level=0.025, most=float(sum(before[1]) / 30 - 1)
    )


def test_runs_with_other_numbers_of_trials_are_compared_over_as_many() -> None:
    then = results_of([[0, 1, 1]] * 10, [[3, 2, 2]] * 10)
    now = results_of([[1]] * 10, [[2]] * 10)
    comparison = compare_with_baseline(baseline_of(then), now, name="base.json", level=0.05, margins={})
    tc, p = comparison.differences
    assert (tc.before, tc.after, tc.change) == (0.0, 1.0, 1.0)
    assert (p.before, p.after, p.change) == (3.0, 2.0, -1.0)
    assert comparison.flips[0].dimension is Dimension.PERSONALIZATION
    assert comparison.compared == 10


@pytest.mark.slow
def test_a_run_with_more_trials_than_its_baseline_cries_wolf_no_more_often() -> None:
    """Means over one trial and over five differ one-sidedly where most scenarios nearly always pass; 18 % of
    such pairs failed at 5 %.
    """
    chance = random.Random(11)
    wrongly = 0
    for _ in range(200):
        before, after = ([[int(chance.random() < 0.95) for _ in range(k)] for _ in range(30)] for k in (1, 5))
        then, now = results_of(before, [[3]] * 30), results_of(after, [[3] * 5] * 30)
        wrongly += any(
            d.regressed
            for d in compare_with_baseline(
                baseline_of(then), now, name="b", level=0.05, margins={}
            ).differences
        )
    assert wrongly <= 20  # 5 % of 200, and three standard errors


def test_a_mean_is_the_same_wherever_it_stands() -> None:
    """In the table and in a gate, also where two tests of one scenario were scored in unequal numbers of
    trials.
    """
    more, fewer = results_of([[1, 1, 0]], [[4, 4, 1]]), results_of([[0]], [[1]])
    items = [
        *more.items,
        *(
            item.model_copy(update={"test": "other", "nodeid": f"{item.nodeid}+other"})
            for item in fewer.items
        ),
    ]
    run = summarize(items, settings=SETTINGS, dataset="d 1", requested=1, drawn=1)
    gates = check_gates(run, [GateExpression("", "tcr", 0), GateExpression("", "p", 1)])
    assert (
        [gate.value for gate in gates[:2]]
        == [run.overall.figures[d.value].value for d in READINGS[:2]]
        == [0.333333, 2.0]
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_interval_excludes_no_change_exactly_where_the_drop_is_significant(seed: int) -> None:
    chance = random.Random(seed)
    users, fall = chance.randrange(12, 40), chance.choice((0.1, 0.25, 0.4, 0.6))
    then = results_of([[1]] * users, [[chance.choice((2, 3, 4))] for _ in range(users)])
    before = [item.evaluation.score(Dimension.PERSONALIZATION) or 2 for item in then.items]
    now = [[max(1, int(score) - (chance.random() < fall) + (chance.random() < 0.1))] for score in before]
    dones = [[int(chance.random() > fall / 3)] for _ in range(users)]
    run = results_of(dones, [[min(4, *level)] for level in now])
    comparison = compare_with_baseline(baseline_of(then), run, name="b.json", level=0.05, margins={})
    for d in comparison.differences:
        if d.gated and d.high is not None:
            assert d.regressed == (d.high < 0), d
            assert d.confidence >= 0.9


def test_a_fall_of_everybody_has_an_interval_too() -> None:
    then, now = (results_of([[score]] * 60, [[1 + 3 * score]] * 60) for score in (1, 0))
    comparison = compare_with_baseline(baseline_of(then), now, name="b.json", level=0.05, margins={})
    assert [(d.p, d.regressed) for d in comparison.differences] == [(0.0, True)] * 2
