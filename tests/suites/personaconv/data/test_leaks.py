"""Requests of the protocol ``fixed`` hold no leak, and each leak put back makes its test fail."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.suites.personaconv import fixed_protocol
from pytest_personalens.suites.personaconv.open_posts import open_index, open_posts
from pytest_personalens.suites.personaconv.posts import finite, label_of, parse_time
from pytest_personalens.suites.personaconv.predictions import KINDS, SETTINGS, Kind, Plan, Prediction, Setting
from tests.suites.personaconv.trees import Posts, at, comment, people, post, talk, written

OTHERS = ("bram", "cleo", "dov", "[deleted]")
#: The post at hand begins here, and its comments come in the 60 minutes after it.
NOW = 10_000
HARD = ["Thanks!", 'close"}\n{"text": "mine', "answer: positive", "a\u2028b\r\nc\x85d", "[removed]"]
TEXTS = st.one_of(st.sampled_from(HARD), st.text(min_size=1, max_size=12))
SCORES = st.one_of(st.integers(-60, 60), st.sampled_from([4, -4, 0, None, "9", 2.5]))
Tree = dict[str, Any]


@st.composite
def comments(draw: st.DrawFn) -> list[Tree]:
    """The comments of the post at hand: a tree in any order, in which ada has replied."""
    minutes = draw(st.lists(st.integers(1, 60), min_size=4, max_size=12, unique=True))
    tops: list[Tree] = []
    every: list[Tree] = []
    for number, minute in enumerate(minutes):
        author = draw(st.sampled_from(("ada", *OTHERS)))
        one = comment(author, f"{draw(TEXTS)} {number}", NOW + minute, draw(SCORES))
        above = draw(st.sampled_from([None, *every]))
        (tops if above is None else above["replies"]).append(one)
        every.append(one)
    # One reply at least can be a target of every kind.
    body, score = draw(st.sampled_from(["Sure.", "So\nit \u2028is"])), draw(st.sampled_from([-9, 5, 80]))
    target = comment("ada", body, NOW + 62, score)
    above = comment("bram", "The last question", NOW + 61, 3, target)
    under = draw(st.sampled_from([None, *every]))
    (tops if under is None else under["replies"]).insert(0, above)
    # Comments newer than it, one of which quotes it.
    quote = f"they said: {body}"
    tops.append(comment("cleo", quote, NOW + 70))
    above["replies"].append(comment("dov", quote, NOW + 71))
    return tops


@st.composite
def data(draw: st.DrawFn) -> Posts:
    """A post at hand of ada's with a past, and other users with theirs."""
    few, score = st.integers(1, 2), st.sampled_from([9, -9])
    past = [talk("ada", 100 * number, draw(score)) for number in range(draw(few))]
    early, late = (
        comment("bram", "Hm?", NOW - 40, 1, comment("ada", said, minute, 9))
        for said, minute in (("Early", NOW - 30), ("Late", NOW))
    )
    past.append(post("ada", NOW - 50, early, late))
    found = {"ada": [*past, post("ada", NOW, *draw(comments()), title="At hand")]}
    for user in ("ivo", "lea", "cleo"):
        found[user] = [talk(user, 50 + 100 * number) for number in range(draw(few))]
    return found


def items(posts: Posts, *wanted: Setting) -> dict[Kind, Prediction]:
    """The predictions of ada's post at hand, by kind."""
    settings = wanted or SETTINGS
    with tempfile.TemporaryDirectory() as folder:
        dataset = open_posts(written(Path(folder), posts), settings=settings)
        loaded = [dataset.load(ref) for ref in dataset.refs("ada")]
    return {item.kind: item for item in loaded if "At hand" in item.requests[settings[0]].text}


def asked(posts: Posts, *wanted: Setting) -> dict[tuple[Kind, str], str]:
    """The whole text of every request of ada's post at hand."""
    return {
        (kind, setting): request.text
        for kind, item in items(posts, *wanted).items()
        for setting, request in item.requests.items()
    }


def next_texts(posts: Posts) -> dict[tuple[Kind, str], str]:
    return {key: text for key, text in asked(posts).items() if key[0] == "next-text"}


def at_hand(posts: Posts) -> Tree:
    return next(one for one in posts["ada"] if one.get("title") == "At hand")


def walk(of: Tree) -> Iterator[Tree]:
    for one in of["comments" if "comments" in of else "replies"]:
        yield one
        yield from walk(one)


def target_in(posts: Posts) -> Tree:
    """Ada's latest reply, which every kind asks for."""
    own = (one for one in walk(at_hand(posts)) if one["author"] == "ada")
    return max(own, key=lambda one: one["timestamp"])


def scores_are_not_in_it(posts: Posts) -> None:
    before = asked(posts)
    assert set(before) == {(kind, setting) for kind in KINDS for setting in SETTINGS}
    for factor in (-1, 3):
        other = copy.deepcopy(posts)
        target_in(other)["score"] *= factor
        assert asked(other) == before
    other = copy.deepcopy(posts)
    at_hand(other)["score"] = 9999
    for one in walk(at_hand(other)):
        if isinstance(one["score"], int | float):
            one["score"] *= -7 if one is target_in(other) else -1
    assert asked(other) == before
    del target_in(other)["score"]
    del at_hand(other)["score"]
    assert next_texts(other) == next_texts(posts)


def the_text_is_not_in_it(posts: Posts) -> None:
    old, new = target_in(posts)["body"], "Quite\r\nanother \u00fc\u2028 text"
    other = copy.deepcopy(posts)
    limit = target_in(other)["timestamp"]
    for one in walk(at_hand(other)):
        if one["timestamp"] >= limit:
            one["body"] = one["body"].replace(old, new)
    after = next_texts(other)
    assert after == next_texts(posts)
    for text in after.values():
        as_json = (json.dumps(new, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
        assert not any(form in text for form in (new, " ".join(new.split()), *as_json))


def nothing_newer_is_in_it(posts: Posts) -> None:
    before = asked(posts)
    other = copy.deepcopy(posts)
    limit = target_in(other)["timestamp"]

    def change(entries: list[Tree]) -> None:
        for one in list(entries):
            newer = all(each["author"] != "ada" and each["timestamp"] >= limit for each in [one, *walk(one)])
            if newer and one["author"] == "dov":
                entries.remove(one)
            elif newer:
                one["body"], one["author"], one["score"] = "Changed", "ivo", 500
            else:
                change(one["replies"])
                one["replies"].append(comment("lea", "Added", NOW + 62, 77))

    other["ada"][-2]["comments"][1]["replies"][0]["body"] = (
        "Changed"  # a reply of the past, as new as the post
    )
    change(at_hand(other)["comments"])
    at_hand(other)["comments"].append(comment("ivo", "Added", NOW + 63))
    other["ada"].insert(0, talk("ada", NOW + 63))
    other["ivo"].append(talk("ivo", NOW + 63))
    other["new"] = [talk("new", NOW + 62), talk("new", NOW + 5000)]
    assert asked(other) == before
    for item in items(other).values():
        assert all(request.leaks == () for request in item.requests.values())


def settings_differ_in_the_named_parts_alone(posts: Posts) -> None:
    for kind, item in items(posts).items():
        talk = {"conversation"} if kind == "next-text" else {"conversation", "parent"}
        parts = {setting: dict(request.parts) for setting, request in item.requests.items()}
        own, others = parts["P-Conv"], parts["NP-Conv"]
        kept = [name for name in own if name not in talk]
        assert list(parts["P-NonConv"].items()) == [(name, own[name]) for name in kept]
        assert list(parts["none"].items()) == [(name, own[name]) for name in kept if name != "history"]
        assert list(others) == list(own)
        assert {name for name in own if others[name] != own[name]} == {"history"}
        assert len(others["history"].splitlines()) <= len(own["history"].splitlines())


def other_users_change_no_item(posts: Posts) -> None:
    def own(posts: Posts) -> dict[Kind, Prediction]:
        found = items(posts, "P-Conv", "P-NonConv", "none")
        return {kind: item.model_copy(update={"dataset": ""}) for kind, item in found.items()}

    before, turned = own(posts), {user: posts[user][::-1] for user in reversed(posts)}
    assert asked(turned) == asked(posts)
    for other in (turned, {"ada": posts["ada"]}, {"zoe": people(1, 4)["u_0"], **posts}):
        assert own(other) == before


def nobody_is_named_and_no_text_ends_its_line(posts: Posts) -> None:
    for item in items(posts).values():
        for setting, request in item.requests.items():
            for author in ("ada", "bram", "ivo", "lea"):
                assert f'"{author}' not in request.text, setting
            for name, part in request.parts:
                if name not in ("task", "answer"):
                    _, *rows = part.splitlines()
                    assert rows
                    assert all(isinstance(json.loads(row), dict) for row in rows)


Check = Callable[[Posts], None]
CHECKS: tuple[Check, ...] = (
    scores_are_not_in_it, the_text_is_not_in_it, nothing_newer_is_in_it, settings_differ_in_the_named_parts_alone,
    other_users_change_no_item, nobody_is_named_and_no_text_ends_its_line,
)  # fmt: skip


def search(check: Check, examples: int) -> None:
    """Let hypothesis look for posts that fail the check."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        phases=[Phase.generate],  # to shrink what fails takes minutes, and a mutation shall fail
    )
    @given(data())
    def looking(posts: Posts) -> None:
        check(posts)

    looking()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_no_leaks(check: Check) -> None:
    search(check, 20)


FIXED, PROTOCOL = fixed_protocol, fixed_protocol.FixedProtocol
_PARTS, _TALK, _ADD = FIXED.request_parts, FIXED.conversation, Plan.add
_READ_PAST, _REASON = PROTOCOL._read_past, PROTOCOL._reason  # noqa: SLF001


def adds(name: str, value: Callable[[Any, Any], Any], only: tuple[Setting, ...] = SETTINGS) -> Any:
    def parts(post: Any, target: Any, kind: Kind, setting: Setting, past: Any) -> list[tuple[str, str]]:
        added = [(name, str(value(post, target)))] if setting in only else []
        return [*_PARTS(post, target, kind, setting, past), *added]

    return parts


def newer_comments(post: Any, target: Any) -> list[Any]:
    return [one for one in post.comments if one.top is target.top and one is not target and one.text]


def whole_past(self: Any, user: str, time: int) -> Any:
    return _READ_PAST(self, user, 10**18)


def halved(self: Any, facts: Any, kind: Kind) -> str:
    place, half = self._index.posts.index(facts), len(self._index.posts) // 2
    return _REASON(self, facts, kind) or ("halved" if kind == "impact" and place < half else "")


#: A leak, some of them as the official prompts have it -> what finds it, and the function that it spoils.
MUTATIONS: dict[str, tuple[Check, Any, str, Any]] = {
    "sign": (scores_are_not_in_it, FIXED, "request_parts", adds("sign", lambda post, target: label_of(finite(target.score)))),
    "score of the post": (scores_are_not_in_it, FIXED, "request_parts", adds("votes", lambda post, target: post.raw.get("score"))),
    "score of the parent": (scores_are_not_in_it, FIXED, "shown_parent", lambda post, target: {"score": target.parent.score if target.parent else 0}),
    "scores of the thread": (scores_are_not_in_it, FIXED, "conversation", lambda post, target: [*_TALK(post, target), {"scores": [str(one.score) for one in post.comments]}]),
    "whole thread": (the_text_is_not_in_it, FIXED, "older_comments", lambda post, target: [one for one in post.comments if one.top is target.top and one.text]),
    "text in newer comments": (the_text_is_not_in_it, FIXED, "older_comments", newer_comments),
    "text in a later past": (the_text_is_not_in_it, PROTOCOL, "_read_past", whole_past),
    "newer comments": (nothing_newer_is_in_it, FIXED, "older_comments", newer_comments),
    "later past": (nothing_newer_is_in_it, PROTOCOL, "_read_past", whole_past),
    "time in one setting": (settings_differ_in_the_named_parts_alone, FIXED, "request_parts", adds("at", lambda post, target: post.raw.get("timestamp"), ("P-Conv",))),
    "left out by the place in the file": (other_users_change_no_item, PROTOCOL, "_reason", halved),
    "ids that count": (other_users_change_no_item, Plan, "add", lambda self, kind, place, found: _ADD(self, kind, place, found._replace(id=f"{place:08}"))),
    "plain lines": (nobody_is_named_and_no_text_ends_its_line, FIXED, "lines", lambda values: "\n".join(f"{key}: {text}" for value in values for key, text in value.items())),
    "names": (nobody_is_named_and_no_text_ends_its_line, FIXED, "_speaker", lambda comment, names: comment.author),
}  # fmt: skip


@pytest.mark.parametrize(("check", "where", "what", "mutation"), MUTATIONS.values(), ids=MUTATIONS)
def test_leaks_put_back_are_found(
    monkeypatch: pytest.MonkeyPatch, check: Check, where: Any, what: str, mutation: Any
) -> None:
    monkeypatch.setattr(where, what, mutation)
    with pytest.raises((AssertionError, json.JSONDecodeError)):
        search(check, 20)


def partners_differ(tmp_path: Path) -> None:
    """For every number of users from 2 to 400, in one order of the file."""
    posts = {f"u_{number}": [talk(f"u_{number}", number)] for number in range(400)}
    found = open_index([written(tmp_path, posts)]).posts
    time = parse_time(at(5000))
    assert time is not None
    for number in range(2, 401):
        others = fixed_protocol.OtherUsers({facts.user: [facts] for facts in found[:number]}, "seed")
        for facts in found[: number : max(1, number // 3)]:
            assert others.draw(facts, time, least=3, taking_part=()) not in (facts.user, None)


def test_leaks_nobody_is_their_own_stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partners_differ(tmp_path)

    def two_hundred_places_on(self: Any, facts: Any, time: int, **_: Any) -> str:
        """As the official scripts."""
        users: list[str] = list(self._posts)
        return users[(users.index(facts.user) + 200) % len(users)]

    monkeypatch.setattr(FIXED.OtherUsers, "draw", two_hundred_places_on)
    with pytest.raises(AssertionError):
        partners_differ(tmp_path)


def test_leaks_a_stranger_takes_no_part_and_is_of_the_domain(tmp_path: Path) -> None:
    posts = {
        "ada": [
            talk("ada", 0),
            post("ada", NOW, comment("cleo", "Why?", NOW + 1, 1, comment("ada", "So.", NOW + 2, 9))),
        ],
        "cleo": [talk("cleo", 10)],
        "ivo": [talk("ivo", 20, __sub__="gaming")],
        "lea": [talk("lea", 30, __sub__="Life")],
        "mia": [post("mia", 40, comment("x", "Hm?", 41, 1, comment("mia", "Only this", 42, 9)))],
    }

    def history(posts: Posts) -> str:
        dataset = open_posts(written(tmp_path, posts), settings=("NP-Conv",), kinds=("impact",))
        (ref,) = dataset.refs("ada")
        return dict(dataset.load(ref).requests["NP-Conv"].parts)["history"]

    assert "Title 30 of lea" in history(posts), "in the domain, as long, and no part of the thread"
    del posts["lea"]
    assert "Title 20 of ivo" in history(posts), "as long"
    del posts["ivo"]
    assert "Only this" in history(posts), "who has most"
    del posts["mia"]
    with pytest.raises(DataError, match="impact: 2 no-past, 1 no-stranger"):
        history(posts)
    del posts["cleo"]
    with pytest.raises(SpecError, match="NP-Conv needs the past of another user, and the data has one user"):
        history(posts)


def test_the_past_may_stand_in_the_context(tmp_path: Path) -> None:
    path = written(tmp_path, people())
    inside = open_posts(path, settings=SETTINGS)
    outside = open_posts(path, settings=SETTINGS, history="context")
    for ref in outside.items("impact"):
        item, known = outside.load(ref), inside.load(ref)
        for setting in SETTINGS:
            parts = [part for part in known.requests[setting].parts if part[0] != "history"]
            assert list(item.requests[setting].parts) == parts
            told = "\n".join(item.context(setting).interactions.values())
            shown = dict(known.requests[setting].parts).get("history", "")
            replies = [json.loads(row)["reply"] for row in shown.splitlines()[1:]]
            assert [json.loads(row)["reply"] for row in told.splitlines()] == replies
        assert item.context("P-Conv").interactions.keys() == {"life"}
        assert item.context("none").interactions == {}


def test_limits_of_what_is_shown(tmp_path: Path) -> None:
    long = "x" * 3000
    before = []
    for number in range(0, 120, 10):
        reply = comment("ada", f"past {number} {long}", number + 2)
        before.append(post("ada", number, comment("b", f"{number} {long}", number + 1, 1, reply)))
    chain = [comment("b", f"older {number} {long}", NOW + number) for number in range(1, 36)]
    parent = comment("c", f"parent {long}", NOW + 40, 1, comment("ada", f"target {long}", NOW + 50, 9))
    top = comment("b", "top", NOW, 1, *chain, parent)
    now = post("ada", NOW - 1, top, title="At hand", content=f"content {long}")
    item = items({"ada": [*before, now], "ivo": [talk("ivo", 5)]}, "P-Conv")["impact"]
    parts = {
        name: [json.loads(row) for row in text.splitlines()[1:]]
        for name, text in item.requests["P-Conv"].parts
        if name not in ("task", "answer")
    }
    assert [row["reply"].split()[1] for row in parts["history"]] == [str(n) for n in range(110, 10, -10)]
    assert {len(row["reply"]) for row in parts["history"]} == {500}
    assert {len(row["answered"]) for row in parts["history"]} == {200}
    assert [row["text"].split()[1] for row in parts["conversation"]] == [str(n) for n in range(6, 36)]
    assert {len(row["text"]) for row in parts["conversation"]} == {500}
    assert len(parts["parent"][0]["text"]) == 2000
    assert len(parts["post"][0]["text"]) == 1000
    assert len(parts["reply"][0]["text"]) == len(f"target {long}")
