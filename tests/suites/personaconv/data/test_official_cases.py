"""The protocol ``official`` equals what the official prompt makers make of the cases of the reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.suites.personaconv import official_protocol as official
from pytest_personalens.suites.personaconv.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.open_posts import PostsDataset, open_posts
from pytest_personalens.suites.personaconv.predictions import KINDS, SETTINGS, Kind, Setting
from pytest_personalens.suites.personaconv.suite import REASONS
from tests.suites.personaconv.trees import CASES, MINIMAL, NO_REFERENCE, people, written

#: Their id of the example that they invent.
INVENTED = "default_fs_post1-c1-r1-ar1"


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    if not CASES.is_dir():
        pytest.skip(NO_REFERENCE)
    found: dict[str, Any] = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))
    return found


class Row(NamedTuple):
    """A sample in the form of the official files: its ids are positions, such as ``u1p1-c1-c2``."""

    user: str
    target: str
    label: str | int | float
    domain: str
    example: str | None


#: The scripts' text for a domain that a post does not name.
NO_DOMAIN = {"sentiment": "", "impact": "N/A", "next-text": ""}


def row(rules: OfficialProtocol, ref: ScenarioRef, setting: Setting) -> Row:
    place = rules.plan.place(ref)
    post, name, lender = rules.read(place), rules.name(place), place
    label: str | int | float = rules.truth(ref, post)
    example = None
    if ref.kind == "next-text":
        replies = official.replies_by_time(post)
        if setting == "NP-Conv":
            lender = rules.lender(place)
            replies = [*official.replies_by_time(rules.read(lender))[:-1], replies[-1]]
        target = replies[-1]
        example = None if setting == "P-NonConv" else f"{rules.name(lender)}-{replies[-2].path}"
    else:
        target, *others = official.ranked_replies(post)
        own = others[0] if others else None
        if ref.kind == "impact":
            label = official.score_of(target) or 0
        if setting == "NP-Conv":
            _, other_name, reply = rules.other_users_reply(ref)
            example = f"{other_name}-{reply.path}"
        elif setting == "P-Conv" and own is not None and (ref.kind == "impact" or official.amount(own)):
            example = f"{name}-{own.path}"
    return Row(ref.user, f"{name}-{target.path}", label, post.domain or NO_DOMAIN[ref.kind], example)


def cases(
    *settings: Setting,
    kinds: tuple[Kind, ...] = KINDS,
    seed: str = "personalens",
    path: Path = CASES / "posts.json",
) -> tuple[PostsDataset, OfficialProtocol]:
    dataset = open_posts(path, protocol="official", kinds=kinds, settings=settings, seed=seed)
    assert isinstance(dataset.rules, OfficialProtocol)
    return dataset, dataset.rules


def rows(kind: Kind, setting: Setting) -> list[Row]:
    dataset, rules = cases(setting, kinds=(kind,))
    return [row(rules, ref, setting) for ref in dataset.items(kind)]


@pytest.mark.parametrize("kind", ["sentiment", "impact"])
def test_scores_with_the_conversation(expected: dict[str, Any], kind: Kind) -> None:
    ours = [[row.target, row.label, row.domain, row.example or INVENTED] for row in rows(kind, "P-Conv")]
    assert ours == expected[kind]["P-Conv"]


@pytest.mark.parametrize("kind", ["sentiment", "impact"])
def test_scores_without_the_conversation(expected: dict[str, Any], kind: Kind) -> None:
    ours = [[row.target, row.label, row.example] for row in rows(kind, "P-NonConv")]
    assert ours == [[target, label, None] for target, label, *_ in expected[kind]["P-Conv"]]


def test_sentiment_with_a_strangers_example(expected: dict[str, Any]) -> None:
    users = {f"u{number}": user for number, user in enumerate(posts_by_user(), 1)}
    numbers = {name: place for place, name in enumerate(names_of_posts(users), 1)}
    ours = {}
    for row in rows("sentiment", "NP-Conv"):
        name, _, path = str(row.example).partition("-")
        ours[row.target] = f"internal_p{numbers[name]}-{path}"
    assert ours == expected["sentiment"]["NP-Conv"]["examples"]


def test_impact_with_a_strangers_example(expected: dict[str, Any]) -> None:
    ours = rows("impact", "NP-Conv")
    assert {row.target for row in ours} == {target for target, *_ in expected["impact"]["P-Conv"]}
    # Fifty samples divide 200, so each is its own example, and its answer is in the request.
    assert all(row.example == row.target for row in ours)
    dataset, _ = cases("NP-Conv", kinds=("impact",))
    assert all(
        "own-example" in dataset.load(ref).requests["NP-Conv"].leaks for ref in dataset.items("impact")
    )


def test_next_text_with_the_conversation(expected: dict[str, Any]) -> None:
    ours = [[r.user, r.target, r.domain, r.example, r.label] for r in rows("next-text", "P-Conv")]
    theirs = [[*row[:4], row[4]] for row in expected["next-text"]["P-Conv"]]
    assert ours == theirs


def test_next_text_without_the_conversation(expected: dict[str, Any]) -> None:
    ours = [[r.user, r.target, r.example, r.label] for r in rows("next-text", "P-NonConv")]
    assert ours == [
        [user, target, None, label] for user, target, _, _, label in expected["next-text"]["P-Conv"]
    ]


def test_next_text_with_a_strangers_thread(expected: dict[str, Any]) -> None:
    users = {f"u{number}": user for number, user in enumerate(posts_by_user(), 1)}
    places = {name: place for place, name in enumerate(names_of_posts(users))}
    ours = [
        [places[row.target.partition("-")[0]], places[str(row.example).partition("-")[0]], row.label]
        for row in rows("next-text", "NP-Conv")
    ]
    assert ours == expected["next-text"]["NP-Conv"]["rows_of"]


@pytest.mark.slow
def test_the_leaks_of_the_cases_are_counted(expected: dict[str, Any]) -> None:
    dataset, rules = cases("P-Conv", "P-NonConv")

    def leaking(kind: Kind, setting: Setting, leak: str) -> set[str]:
        return {
            row(rules, ref, setting).target
            for ref in dataset.items(kind)
            if leak in dataset.load(ref).requests[setting].leaks
        }

    assert leaking("next-text", "P-Conv", "target-text") == set(
        expected["next-text"]["label printed in the request, P-Conv"]
    )
    assert leaking("next-text", "P-NonConv", "target-text") == set()
    for setting in ("P-Conv", "P-NonConv"):
        assert len(leaking("impact", setting, "sign")) == len(dataset.items("impact")) == 50
    assert leaking("sentiment", "P-Conv", "sign") == set()
    # The reference counted them: 29 of 49 examples are newer than their targets.
    assert len(leaking("sentiment", "P-Conv", "newer-example")) == 29


@pytest.mark.skipif(not MINIMAL.is_file(), reason=NO_REFERENCE)
def test_the_least_post_that_the_scripts_accept() -> None:
    dataset = open_posts(MINIMAL, protocol="official")
    truths = {kind: dataset.load(dataset.items(kind)[0]).truth for kind in KINDS}
    text = "Correction: daily when it is above 30 degrees."
    assert truths == {"sentiment": "positive", "impact": 42.0, "next-text": text}


@pytest.mark.skipif(not CASES.is_dir(), reason=NO_REFERENCE)
def test_every_leak_has_a_name() -> None:
    found: set[str] = set()
    for setting in SETTINGS[:3]:
        dataset, _ = cases(setting)
        for kind in KINDS:
            for ref in dataset.items(kind):
                found.update(dataset.load(ref).requests[setting].leaks)
    assert found == {"sign", "post-score", "newer-example", "newer-comments", "target-text", "own-example"}
    assert found <= REASONS.keys()


def test_a_stranger_may_be_the_same_user(tmp_path: Path) -> None:
    path = written(tmp_path, people(users=1, posts=6))
    dataset = open_posts(path, protocol="official", kinds=KINDS[::2], settings=("NP-Conv",))
    for kind in KINDS[::2]:
        for ref in dataset.items(kind):
            assert "same-user" in dataset.load(ref).requests["NP-Conv"].leaks


def test_the_strangers_of_impact_are_drawn_from_the_seed(tmp_path: Path) -> None:
    path = written(tmp_path, people(users=7, posts=2))

    def examples(seed: str) -> list[str | None]:
        dataset, rules = cases("NP-Conv", kinds=("impact",), seed=seed, path=path)
        ours = [row(rules, ref, "NP-Conv") for ref in dataset.items("impact")]
        assert {row.example for row in ours} == {row.target for row in ours}
        return [row.example for row in ours]

    assert examples("one") == examples("one")
    assert examples("one") != examples("two")


def posts_by_user() -> dict[str, int]:
    posts = json.loads((CASES / "posts.json").read_text(encoding="utf-8"))
    return {user: len(of_user) for user, of_user in posts.items()}


def names_of_posts(users: dict[str, str]) -> list[str]:
    sizes = posts_by_user()
    return [f"{name}p{number}" for name, user in users.items() for number in range(1, sizes[user] + 1)]
