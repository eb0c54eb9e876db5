"""The oracle does each task with right values, and each of its mutants has its one fault and no other."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from pytest_personalens.agents import EmbeddedJudge, EmbeddedUserAgent
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import EmbeddedDataset, draw
from pytest_personalens.datasets.embedded.files import data_folder
from pytest_personalens.datasets.world.values import say
from pytest_personalens.judge_quality.oracle import FAULTS, TaskWordings, play, read_wordings, replies, table
from pytest_personalens.judge_quality.oracle.faults import Case, right
from pytest_personalens.judge_quality.oracle.filling import fits, names_in
from pytest_personalens.judge_quality.oracle.wordings import SEEN
from tests.support.datasets.folders import write_own_world
from tests.support.processes.runs import assert_usage_error
from tests.support.repository import Repository

DATASET = EmbeddedDataset()
WORDINGS = read_wordings(data_folder() / "wordings")
STYLES = ("plain", "terse", "chatty", "list", "formal", "second-language")
POSSIBLE = {
    (name, kind): values.values or values.others
    for name in DATASET.domains()
    for kind, values in DATASET.domain(name).preferences.items()
}


def one_of_each_task() -> list[Scenario]:
    found: dict[str, Scenario] = {}
    for user in DATASET.users():
        for ref in DATASET.refs(user):
            if ref.task not in found:
                found[ref.task] = DATASET.load(ref)
    return list(found.values())


SCENARIOS = one_of_each_task()


def cases(scenario: Scenario) -> list[Case]:
    task = WORDINGS[scenario.task.id]
    return [Case(scenario, task, wording, POSSIBLE) for wording in task.wordings]


def test_every_task_has_six_wordings_in_half_of_which_nobody_builds() -> None:
    assert set(WORDINGS) == {scenario.task.id for scenario in SCENARIOS}
    for task in WORDINGS.values():
        assert tuple(w.style for w in task.wordings) == STYLES
    assert set(SEEN) < set(STYLES)
    assert len(SEEN) == 3


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.task.id)
def test_the_oracle_says_right_values(scenario: Scenario) -> None:
    facts = {fact.name: fact for fact in scenario.task.facts}
    for case in cases(scenario):
        assert len(case.wording.parts) == len(scenario.task.parts) == len(case.task.tools)
        reply = right(case)
        assert not re.search(r"[{}]", reply.text), reply.text
        for text, filled in zip(case.wording.parts, reply.texts, strict=True):
            for name in set(names_in(text)) & set(facts):
                fact = facts[name]
                forms = {say(fact.kind, fact.example, form) for form in ("", "weekday", "digits", "times")}
                forms |= {say(fact.kind, fact.example, form) for form in ("nights", "capital", "dayname")}
                assert fact.every or any(form in filled for form in forms), (name, filled)
        for part, call in zip(scenario.task.parts, reply.calls, strict=True):
            assert (call is not None) == (part.kind == "done" and not part.never)


def test_each_mutant_differs_from_the_oracle_in_its_fault() -> None:
    made: Counter[str] = Counter()
    for scenario in SCENARIOS:
        for case in cases(scenario):
            oracle = right(case)
            for fault in FAULTS[1:]:
                reply = fault.make(case)
                if reply is None or fault.asks:
                    continue
                made[fault.name] += 1
                changed = sum(a != b for a, b in zip(oracle.texts, reply.texts, strict=False))
                assert changed or len(reply.texts) > len(oracle.texts), (fault.name, scenario.id)
                if fault.name in ("a part left out", "only promised", "handed back", "refused"):
                    assert changed == 1
                if fault.name == "a limit broken":
                    words = {word for limit in scenario.limits for word in limit.words}
                    assert any(word in reply.texts[-1] for word in words)
    # Every fault has scenarios enough to be measured.
    assert set(made) == {fault.name for fault in FAULTS if not fault.asks} - {"oracle"}
    assert min(made.values()) >= 12, made


def test_every_scenario_can_be_played() -> None:
    for user in DATASET.users()[::4]:
        for ref in DATASET.refs(user):
            scenario = DATASET.load(ref)
            fitting = [case for case in cases(scenario) if fits(scenario, case.wording.parts)]
            assert any(case.wording.style in SEEN for case in fitting), scenario.id
            assert any(case.wording.style not in SEEN for case in fitting), scenario.id
            for fault in FAULTS:
                assert replies(fault, fitting[:1], acts=False) or fault.name != "oracle"


def test_a_mutant_stays_as_it_is_when_it_is_asked_again() -> None:
    scenario = next(s for s in SCENARIOS if s.task.id == "restaurants-1")
    promised = next(fault for fault in FAULTS if fault.name == "only promised")
    assistant = replies(promised, cases(scenario), acts=True)
    assert assistant is not None
    asked = [{"role": "user", "content": "A table, please."}]
    first = assistant(asked)
    later = assistant([*asked, {"role": "assistant", "content": "..."}, *asked])
    assert isinstance(later, str)
    assert not any(message.get("tool_calls") for message in first)
    assert later != first[-1]["content"]


def test_the_oracle_calls_a_tool_for_each_deed_with_the_right_values() -> None:
    scenario = next(s for s in SCENARIOS if s.task.id == "restaurants-3")
    assistant = replies(FAULTS[0], cases(scenario), acts=True)
    assert assistant is not None
    *messages, _ = assistant([{"role": "user", "content": "Please."}])
    calls = [m["tool_calls"][0]["function"] for m in messages if m.get("tool_calls")]
    arguments = [json.loads(call["arguments"]) for call in calls]
    facts = {fact.name: fact for fact in scenario.task.facts}
    assert len(calls) == 2
    assert arguments[0]["hour"] == facts["hour"].right[0]
    assert arguments[1]["party"] == facts["party"].right[0]


def test_the_table_tells_the_oracle_from_its_mutants() -> None:
    scenarios = [DATASET.load(ref) for ref in draw(DATASET, 20, seed="oracle").refs]
    tallies = play(scenarios, WORDINGS, EmbeddedUserAgent(), EmbeddedJudge(), possible=POSSIBLE, held=False)
    assert tallies["oracle"].dialogues == 20
    assert tallies["oracle"].completed_share >= 0.9
    assert tallies["refused"].completed_share <= 0.2
    assert tallies["wrong date"].completed_share <= 0.35
    assert tallies["a preference ignored"].personal_share < tallies["oracle"].personal_share
    lines = table(tallies)
    assert lines[1].split()[:2] == ["oracle", "20"]
    assert lines[-1].startswith("all faults of the task")


def test_a_dataset_without_wordings_is_told_in_one_line(tmp_path: Path, repo: Repository) -> None:
    root = write_own_world(tmp_path / "own")
    assert_usage_error(
        repo.command("check-dataset", str(root), "--oracle", "2"),
        "*wordings: no wordings in it; an oracle needs a file for each domain",
    )


def test_wordings_of_unequal_length_are_told_with_file_and_field(tmp_path: Path) -> None:
    assert isinstance(WORDINGS["alarm-1"], TaskWordings)
    text = (data_folder() / "wordings" / "alarm.toml").read_text(encoding="utf-8")
    (tmp_path / "alarm.toml").write_text(text.replace("refused = [\n", "refused = [\n  '',\n", 1))
    with pytest.raises(Exception, match=r"alarm.toml: tasks.1.wordings.1: expected 4 texts in 'refused'"):
        read_wordings(tmp_path)
