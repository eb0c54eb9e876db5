"""The draw: stratified, deterministic, head-stable, and no more files read than users drawn."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_personalens.datasets import EmbeddedDataset, OfficialDataset, draw
from pytest_personalens.errors import SpecError
from pytest_personalens.scenario import DOMAINS, ScenarioRef

EMBEDDED = EmbeddedDataset()


class Universe:
    """1,500 users with all single-domain and some multi-domain tasks; counts who is asked for."""

    name, version = "universe", "1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def domains(self) -> tuple[str, ...]:
        return DOMAINS

    def users(self) -> tuple[str, ...]:
        return tuple(f"user{i}" for i in range(1500))

    def refs(self, user: str) -> list[ScenarioRef]:
        self.asked.append(user)
        single = [ScenarioRef(user, f"{d.lower().replace(' ', '-')}-{n}", "single", (d,)) for d in DOMAINS for n in (1, 2, 3, 4)]
        return [*single, *(ScenarioRef(user, f"multi-{n}", "multi", (DOMAINS[n], DOMAINS[n + 1])) for n in range(15))]

    def load(self, ref: ScenarioRef) -> Any:
        raise NotImplementedError


def test_the_first_thirty_of_sixty_are_the_thirty() -> None:
    for dataset in (EMBEDDED, Universe()):
        assert draw(dataset, 60, seed="s").refs[:30] == draw(dataset, 30, seed="s").refs


def test_the_draw_follows_the_seed() -> None:
    assert draw(EMBEDDED, 30, seed="a") == draw(EmbeddedDataset(), 30, seed="a")
    assert draw(EMBEDDED, 30, seed="a") != draw(EMBEDDED, 30, seed="b")


def test_the_draw_does_not_change_between_releases() -> None:
    # Baselines and committed records rest on it: a change here is a breaking change.
    assert [r.id for r in draw(Universe(), 6, seed="personalens").refs] == [
        "alarm-2-user930", "sports-2-user713", "hotels-3-user1310", "games-2-user990", "multi-14-user511", "flights-4-user1311",
    ]  # fmt: skip


def test_the_domains_are_covered_evenly() -> None:
    refs = draw(Universe(), 100, seed="s").refs
    single = Counter(ref.domains[0] for ref in refs if ref.kind == "single")
    assert set(single) == set(DOMAINS)
    assert max(single.values()) == min(single.values()) == 4
    assert sum(ref.kind == "multi" for ref in refs) == 20


def test_no_user_is_read_who_is_not_drawn() -> None:
    universe = Universe()
    refs = draw(universe, 30, seed="s").refs
    assert sorted(universe.asked) == sorted(ref.user for ref in refs)


def test_no_official_file_is_opened_but_those_of_the_sample(official: Path) -> None:
    opened: set[str] = set()
    active = [True]

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if active and event == "open" and isinstance(args[0], str) and "/profile/user" in args[0]:
            opened.add(Path(args[0]).parent.name)

    dataset = OfficialDataset(official / "data")
    sys.addaudithook(hook)
    try:
        refs = draw(dataset, 10, seed="s").refs
    finally:
        active.clear()
    assert opened == {ref.user for ref in refs}
    assert len(opened) == 10


def test_filters_come_before_the_draw() -> None:
    refs = draw(EMBEDDED, 20, seed="s", domains=["Movies", "Train"]).refs
    assert len(refs) == 20
    assert all({"Movies", "Train"} & set(ref.domains) for ref in refs)
    assert all(ref.kind == "multi" for ref in draw(EMBEDDED, 5, seed="s", kind="multi").refs)
    assert {ref.user for ref in draw(EMBEDDED, 5, seed="s", users=["kenji"]).refs} == {"kenji"}


def test_a_sample_larger_than_the_universe_is_all_of_it() -> None:
    sample = draw(EMBEDDED, 10**6, seed="s", users=["kenji"])
    assert sample.exhausted
    assert set(sample.refs) == set(EMBEDDED.refs("kenji"))


def test_unknown_names() -> None:
    with pytest.raises(SpecError, match=r"unknown domain 'Opera'; known: Alarm, Books"):
        draw(EMBEDDED, 1, seed="s", domains=["Opera"])
    with pytest.raises(SpecError, match="unknown user 'bob'"):
        draw(EMBEDDED, 1, seed="s", users=["bob"])
