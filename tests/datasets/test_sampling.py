"""The draw: stratified, deterministic, head-stable, and no more files read than users drawn."""

from __future__ import annotations

import hashlib
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.synthetic_data.official import write_data
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.scenario import DOMAINS, ScenarioRef
from pytest_personalens.datasets import Dataset, EmbeddedDataset, OfficialDataset, draw

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
        single = [
            (f"{d.lower().replace(' ', '-')}-{n}", "single", (d,)) for d in DOMAINS for n in (1, 2, 3, 4)
        ]
        multi = [(f"multi-{n}", "multi", (DOMAINS[n], DOMAINS[n + 1])) for n in range(15)]
        return [ScenarioRef(user, *one) for one in (*single, *multi)]

    def load(self, ref: ScenarioRef) -> Any:
        raise NotImplementedError


def test_the_draw_follows_the_seed_and_the_first_thirty_of_sixty_are_the_thirty() -> None:
    for dataset in (EMBEDDED, Universe()):
        assert draw(dataset, 60, seed="s").refs[:30] == draw(dataset, 30, seed="s").refs
        assert draw(dataset, 30, seed="s") != draw(dataset, 30, seed="b")


def test_the_draw_does_not_change_between_releases() -> None:
    # Baselines and committed records rest on it: a change here is a breaking change.
    assert [r.id for r in draw(Universe(), 6, seed="personalens").refs] == [
        "alarm-2-user930", "sports-2-user713", "hotels-3-user1310", "games-2-user990", "multi-14-user511", "flights-4-user1311",
    ]  # fmt: skip


def drawn_plainly(
    dataset: Dataset, size: int, *, seed: str, users: list[str], domains: list[str], kind: str
) -> tuple[ScenarioRef, ...]:
    """The draw by its definition, which never changes: every choice looks at everything."""

    def digest(*parts: str) -> bytes:
        return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()

    chosen: list[ScenarioRef] = []
    drawn: dict[str, Counter[str]] = {"single": Counter(), "multi": Counter()}

    def rank(ref: ScenarioRef) -> tuple[float, bytes]:
        of_domains = sum(drawn[ref.kind][domain] for domain in ref.domains) / len(ref.domains)
        return of_domains, digest(seed, ref.user, ref.task)

    def fits(ref: ScenarioRef) -> bool:
        of_domains = not domains or bool({*domains} & {*ref.domains})
        return ref not in chosen and kind in ("all", ref.kind) and of_domains

    waiting = sorted(users or dataset.users(), key=lambda user: digest(seed, user))
    while waiting and len(chosen) < size:
        have_more = []
        for user in waiting:
            if len(chosen) == size or not (candidates := [ref for ref in dataset.refs(user) if fits(ref)]):
                continue
            wanted = "multi" if len(chosen) % 5 == 4 else "single"
            ref = min([ref for ref in candidates if ref.kind == wanted] or candidates, key=rank)
            chosen.append(ref)
            drawn[ref.kind].update(ref.domains)
            have_more.append(user)
        waiting = have_more
    return tuple(chosen)


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> OfficialDataset:
    """Twelve users with 200 single-domain and 60 multi-domain scenarios in the official layout."""
    return OfficialDataset(
        write_data(tmp_path_factory.mktemp("synthetic"), users=12, single=200, multi=60, length=0)
    )


@pytest.mark.parametrize("number", range(40))
def test_the_draw_is_the_one_defined(synthetic: OfficialDataset, number: int) -> None:
    rng = random.Random(f"draw {number}")
    dataset: Dataset = synthetic if rng.randrange(2) else EMBEDDED
    users = rng.choice([[], rng.sample(dataset.users(), 1), rng.sample(dataset.users(), 7)])
    domains = rng.choice([[], [], rng.sample(DOMAINS, 1), rng.sample(DOMAINS, 4)])
    kind: Any = rng.choice(["all", "all", "single", "multi"])
    size, seed = rng.choice([1, 10, 50, 300, 1000]), str(number)
    expected = drawn_plainly(dataset, size, seed=seed, users=users, domains=domains, kind=kind)
    assert draw(dataset, size, seed=seed, users=users, domains=domains, kind=kind).refs == expected


def test_irregular_scenarios_are_drawn_as_defined() -> None:
    """Tasks of one name, scenarios and domains named twice, a single-domain task of two domains."""

    class Irregular(Universe):
        def users(self) -> tuple[str, ...]:
            return tuple(f"user{i}" for i in range(20))

        def refs(self, user: str) -> list[ScenarioRef]:
            rng = random.Random(user)

            def ref() -> ScenarioRef:
                domains = rng.choices(DOMAINS[:3], k=rng.randint(1, 3))
                return ScenarioRef(
                    user, f"task-{rng.randrange(3)}", rng.choice(("single", "multi")), tuple(domains)
                )

            return [ref() for _ in range(12)]

    for seed in "abcdefgh":
        expected = drawn_plainly(Irregular(), 500, seed=seed, users=[], domains=[], kind="all")
        assert draw(Irregular(), 500, seed=seed).refs == expected


def test_the_domains_are_covered_evenly_and_no_user_is_read_who_is_not_drawn() -> None:
    universe = Universe()
    refs = draw(universe, 100, seed="s").refs
    single = Counter(ref.domains[0] for ref in refs if ref.kind == "single")
    assert single == dict.fromkeys(DOMAINS, 4)
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
    assert draw(EMBEDDED, 20, seed="s", domains=["movies", "TRAIN"]).refs == refs
    assert len(refs) == 20
    assert all({"Movies", "Train"} & set(ref.domains) for ref in refs)
    assert all(ref.kind == "multi" for ref in draw(EMBEDDED, 5, seed="s", kind="multi").refs)
    assert {ref.user for ref in draw(EMBEDDED, 5, seed="s", users=["kenji"]).refs} == {"kenji"}


def test_a_sample_larger_than_the_universe_is_all_of_it() -> None:
    sample = draw(EMBEDDED, 10**6, seed="s", users=["kenji"])
    assert sample.drawn < sample.requested
    assert set(sample.refs) == set(EMBEDDED.refs("kenji"))


def test_unknown_names() -> None:
    with pytest.raises(SpecError, match=r"unknown domain 'Opera'; known: Alarm, Books"):
        draw(EMBEDDED, 1, seed="s", domains=["Opera"])
    with pytest.raises(SpecError, match="unknown user 'bob'"):
        draw(EMBEDDED, 1, seed="s", users=["bob"])
