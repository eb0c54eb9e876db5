"""The embedded pair completes the tasks of an oracle, and not those of its mutants."""

from __future__ import annotations

from collections import Counter

from pytest_personalens.datasets import draw
from tests.support.oracle import DATASET, FAULTS, cases_of, play, read_wordings


def test_each_mutant_differs_from_the_oracle_in_its_fault() -> None:
    wordings, made = read_wordings(), Counter[str]()
    tasks = {ref.task: ref for user in DATASET.users() for ref in DATASET.refs(user)}
    assert set(wordings) == set(tasks)
    for scenario in map(DATASET.load, tasks.values()):
        for case in (*cases_of(scenario, wordings, held=False), *cases_of(scenario, wordings, held=True)):
            oracle = case.reply()
            assert "{" not in oracle.text
            for name, make in FAULTS.items():
                if (reply := make(case)) is not None:
                    changed = sum(a != b for a, b in zip(oracle.texts, reply.texts, strict=False))
                    made[name] += bool(changed) or len(reply.texts) > len(oracle.texts)
    assert set(made) == set(FAULTS)
    assert not made["oracle"]
    assert min(n for name, n in made.items() if name not in ("oracle", "everything asked")) >= 12, made


def test_the_pair_completes_the_oracles_tasks_and_no_mutants() -> None:
    tallies = play([DATASET.load(ref) for ref in draw(DATASET, 15, seed="oracle").refs], held=False)
    assert tallies["oracle"]["completed"] >= 0.9 * tallies["oracle"]["dialogues"]
    assert tallies["refused"]["completed"] <= 0.2 * tallies["refused"]["dialogues"]
    assert tallies["wrong date"]["completed"] <= 0.35 * tallies["wrong date"]["dialogues"]
    assert tallies["a preference ignored"]["personal"] < tallies["oracle"]["personal"]
