"""What must hold in every scenario of the embedded benchmark: clock, facts, things, limits and sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import EmbeddedDataset, open_dataset
from pytest_personalens.datasets.dataset import read_toml
from pytest_personalens.datasets.embedded.dataset_files import EmbeddedFiles
from pytest_personalens.datasets.world.resolve import contradictions
from tests.datasets.conftest import Every
from tests.support.repository import ROOT

#: Each scenario of the benchmark is loaded.
pytestmark = pytest.mark.slow
DIETS = {
    "vegetarian", "vegan", "pescatarian", "halal", "kosher", "gluten-free", "lactose-free", "no nuts",
    "no shellfish", "low salt", "low sugar",
}  # fmt: skip


TOLD = ("count", "date", "time", "duration", "money", "place", "person")


@pytest.fixture(scope="module")
def scenarios(every_scenario: Every) -> list[Scenario]:
    return list(every_scenario.values())


def texts(scenario: Scenario) -> Iterator[str]:
    task = scenario.task
    yield from (task.intent, task.goal, *(part.text for part in task.parts))
    yield from (text for thing in task.things for text in (thing.record, thing.other))


def test_no_scenario_contradicts_itself(scenarios: list[Scenario]) -> None:
    assert [(s.id, problem) for s in scenarios for problem in contradictions(s)] == []


def test_every_scenario_has_a_moment_and_no_placeholder(scenarios: list[Scenario]) -> None:
    for scenario in scenarios:
        assert scenario.now is not None
        assert "/" in scenario.now.zone
        assert scenario.now.date >= "2026-03-02"
    assert [s.id for s in scenarios for text in texts(s) if re.search(r"[{}]|\bNone\b", text)] == []


def test_facts_say_what_is_right_and_what_would_be_wrong(scenarios: list[Scenario]) -> None:
    facts = [(s.task.id, fact) for s in scenarios for fact in s.task.facts]
    for task, fact in facts:
        assert fact.right or fact.known == "open", (task, fact.name)
        assert fact.example, (task, fact.name)
        assert fact.says or not fact.right, (task, fact.name)
    closed = [(task, fact) for task, fact in facts if fact.right]
    assert [(task, f.name) for task, f in closed if not f.wrong and f.kind in TOLD] == []
    assert sum(bool(fact.wrong) for _, fact in closed) / len(closed) >= 0.98


def test_what_is_to_be_changed_exists_and_the_other_one_differs(scenarios: list[Scenario]) -> None:
    things = [(s, thing) for s in scenarios for thing in s.task.things]
    assert len({s.task.id for s, _ in things}) >= 15
    for scenario, thing in things:
        told = scenario.summaries[thing.domain]
        assert thing.record in told, scenario.id
        assert thing.other != thing.record, scenario.id
        assert thing.other in told, scenario.id  # an empty text is in any


def test_diets_have_sixty_foods_and_no_limit_is_without_words(scenarios: list[Scenario]) -> None:
    listed = read_toml(ROOT / "data" / "limits.toml")["words"]
    assert set(listed) == DIETS
    for name, words in listed.items():
        assert len(words) >= 60, name
        assert len(set(words)) == len(words), name
        assert all(word == word.lower() for word in words), name
    assert all(limit.words for s in scenarios for limit in s.limits)
    for scenario in scenarios:
        diets = scenario.preferences.get("Restaurants", {}).get("Dietary Restrictions", ())
        assert set(diets) <= {limit.name for limit in scenario.limits}, scenario.id


def test_the_history_of_each_domain_of_a_limit_tells_it() -> None:
    files = EmbeddedFiles(ROOT / "data")
    for user in files.users():
        for limit in files.profile(user).limits:
            for domain in limit.domains:
                text = files.summary(user, domain).casefold()
                assert any(word.casefold() in text for word in limit.told), (user, limit.name, domain)


def test_sessions_tell_what_the_summaries_sum_up(scenarios: list[Scenario]) -> None:
    for scenario in scenarios[::17]:
        assert scenario.now is not None
        assert {session.domain for session in scenario.sessions} == set(scenario.domains)
        for session in scenario.sessions:
            assert [m["role"] for m in session.messages][:2] == ["user", "assistant"]
            assert session.date < scenario.now.date


def test_the_same_scenario_comes_out_in_another_process_order() -> None:
    dataset = EmbeddedDataset()
    user = dataset.users()[7]
    refs = dataset.refs(user)
    forwards = [dataset.load(ref).digest for ref in refs]
    assert forwards == [EmbeddedDataset().load(ref).digest for ref in reversed(refs)][::-1]


def test_the_whole_person_can_be_had() -> None:
    dataset = EmbeddedDataset()
    whole = open_dataset("embedded", whole=True)
    for user in dataset.users()[:3]:
        ref = dataset.refs(user)[0]
        scenario, alone = whole.load(ref), dataset.load(ref)
        known = scenario.context().interactions
        assert list(known) == sorted(dataset.files.profile(user).domains)  # the task's domain is not first
        assert alone.context().interactions.items() <= known.items()
        dates = [session.date for session in scenario.context().sessions]
        assert dates == sorted(dates)
        assert len(dates) > len(alone.context().sessions)
        assert scenario.context("DS").sessions == ()
        assert scenario.context("DI").now is None
