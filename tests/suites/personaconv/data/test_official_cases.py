"""The protocol ``official`` equals what the official prompt makers make of the cases of the reference."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.suites.personaconv import official_protocol as official
from pytest_personalens.suites.personaconv.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.open_posts import PostsDataset, open_posts
from pytest_personalens.suites.personaconv.personaconv_suite import REASONS
from pytest_personalens.suites.personaconv.predictions import KINDS, SETTINGS, Kind, Setting
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


@pytest.mark.parametrize("kind", KINDS)
def test_targets_labels_and_examples(expected: dict[str, Any], kind: Kind) -> None:
    with_it, without = rows(kind, "P-Conv"), rows(kind, "P-NonConv")
    theirs = expected[kind]["P-Conv"]
    if kind == "next-text":
        assert [[r.user, r.target, r.domain, r.example, r.label] for r in with_it] == theirs
    else:
        assert [[r.target, r.label, r.domain, r.example or INVENTED] for r in with_it] == theirs
    assert without == [r._replace(example=None) for r in with_it]


def test_strangers_examples(expected: dict[str, Any]) -> None:
    sizes = {user: len(posts) for user, posts in json.loads((CASES / "posts.json").read_text()).items()}
    names = [f"u{n}p{number}" for n, posts in enumerate(sizes.values(), 1) for number in range(1, posts + 1)]
    place = {name: number for number, name in enumerate(names)}
    ours = [(r.target, *str(r.example).split("-", 1)) for r in rows("sentiment", "NP-Conv")]
    found = {target: f"internal_p{place[name] + 1}-{path}" for target, name, path in ours}
    assert found == expected["sentiment"]["NP-Conv"]["examples"]
    texts = [
        (r.target.split("-")[0], str(r.example).split("-")[0], r.label) for r in rows("next-text", "NP-Conv")
    ]
    theirs = expected["next-text"]["NP-Conv"]["rows_of"]
    assert [[place[target], place[example], label] for target, example, label in texts] == theirs
    impact = rows("impact", "NP-Conv")
    assert {r.target for r in impact} == {target for target, *_ in expected["impact"]["P-Conv"]}
    # Fifty samples divide 200, so each is its own example, and its answer is in the request.
    assert all(r.example == r.target for r in impact)
    dataset, _ = cases("NP-Conv", kinds=("impact",))
    requests = [dataset.load(ref).requests["NP-Conv"] for ref in dataset.items("impact")]
    assert all("own-example" in request.leaks for request in requests)


def test_the_leaks_of_the_cases_are_counted_and_have_names(expected: dict[str, Any]) -> None:
    leaking: dict[tuple[Kind, Setting, str], set[str]] = defaultdict(set)
    for setting in SETTINGS[:3]:
        dataset, rules = cases(setting)
        for kind in KINDS:
            for ref in dataset.items(kind):
                for leak in dataset.load(ref).requests[setting].leaks:
                    leaking[kind, setting, leak].add(row(rules, ref, setting).target)
    printed = expected["next-text"]["label printed in the request, P-Conv"]
    assert leaking["next-text", "P-Conv", "target-text"] == set(printed)
    assert leaking["next-text", "P-NonConv", "target-text"] == set()
    assert [len(leaking["impact", setting, "sign"]) for setting in SETTINGS[:2]] == [50, 50]
    assert leaking["sentiment", "P-Conv", "sign"] == set()
    # The reference counted them: 29 of 49 examples are newer than their targets.
    assert len(leaking["sentiment", "P-Conv", "newer-example"]) == 29
    names = {leak for (*_, leak), targets in leaking.items() if targets}
    assert names == {"sign", "post-score", "newer-example", "newer-comments", "target-text", "own-example"}
    assert names <= REASONS.keys()


@pytest.mark.skipif(not MINIMAL.is_file(), reason=NO_REFERENCE)
def test_the_least_post_that_the_scripts_accept() -> None:
    dataset = open_posts(MINIMAL, protocol="official")
    truths = {kind: dataset.load(dataset.items(kind)[0]).truth for kind in KINDS}
    text = "Correction: daily when it is above 30 degrees."
    assert truths == {"sentiment": "positive", "impact": 42.0, "next-text": text}


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
