"""What must hold in every scenario of the embedded benchmark: clock, facts, things, limits and sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets import open_dataset
from pytest_personalens.datasets.dataset import read_toml
from pytest_personalens.datasets.embedded.dataset_files import EmbeddedFiles
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.world.resolve import contradictions
from tests.datasets.conftest import Every
from tests.support.repository import ROOT

#: Each scenario of the benchmark is loaded.
pytestmark = pytest.mark.slow
DIETS = {
    "vegetarian", "vegan", "pescatarian", "halal", "kosher", "gluten-free", "lactose-free", "no nuts",
    "no shellfish", "low salt", "low sugar",
}  # fmt: skip


@pytest.fixture(scope="module")
def dataset() -> EmbeddedDataset:
    return EmbeddedDataset()


@pytest.fixture(scope="module")
def scenarios(every_scenario: Every) -> list[Scenario]:
    return list(every_scenario.values())


def texts(scenario: Scenario) -> Iterator[str]:
    task = scenario.task
    yield from (task.intent, task.goal, *(part.text for part in task.parts))
    yield from (text for thing in task.things for text in (thing.record, thing.other))


def test_no_scenario_contradicts_itself(scenarios: list[Scenario]) -> None:
    assert [(s.id, problem) for s in scenarios for problem in contradictions(s)] == []


def test_every_scenario_has_a_moment_in_the_zone_of_its_user(scenarios: list[Scenario]) -> None:
    for scenario in scenarios:
        assert scenario.now is not None
        assert "/" in scenario.now.zone
        assert scenario.now.date >= "2026-03-02"


def test_every_placeholder_is_filled(scenarios: list[Scenario]) -> None:
    assert [s.id for s in scenarios for text in texts(s) if re.search(r"[{}]|\bNone\b", text)] == []


def test_facts_say_what_is_right_and_what_would_be_wrong(scenarios: list[Scenario]) -> None:
    for scenario in scenarios:
        for fact in scenario.task.facts:
            assert fact.right or fact.known == "open", (scenario.id, fact.name)
            assert fact.example, (scenario.id, fact.name)
            if fact.right:
                assert fact.says, (scenario.id, fact.name)
    untold = [
        (s.task.id, f.name)
        for s in scenarios
        for f in s.task.facts
        if f.right
        and not f.wrong
        and f.kind in ("count", "date", "time", "duration", "money", "place", "person")
    ]
    assert untold == []


def test_nearly_every_closed_fact_has_a_wrong_value(scenarios: list[Scenario]) -> None:
    closed = [fact for s in scenarios for fact in s.task.facts if fact.right]
    assert sum(bool(fact.wrong) for fact in closed) / len(closed) >= 0.98


def test_what_is_to_be_changed_exists_and_the_other_one_differs(scenarios: list[Scenario]) -> None:
    things = [(s, thing) for s in scenarios for thing in s.task.things]
    assert len({s.task.id for s, _ in things}) >= 15
    for scenario, thing in things:
        assert thing.record in scenario.summaries[thing.domain], scenario.id
        assert thing.other != thing.record, scenario.id
        if thing.other:
            assert thing.other in scenario.summaries[thing.domain], scenario.id


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


def test_the_same_scenario_comes_out_in_another_process_order(dataset: EmbeddedDataset) -> None:
    user = dataset.users()[7]
    refs = dataset.refs(user)
    forwards = [dataset.load(ref).digest for ref in refs]
    assert forwards == [EmbeddedDataset().load(ref).digest for ref in reversed(refs)][::-1]


def test_the_whole_person_can_be_had(dataset: EmbeddedDataset) -> None:
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
