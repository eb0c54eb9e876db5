"""The items and requests of the protocol ``fixed``."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError
from pytest_personalens.suites.personaconv.data import fixed
from pytest_personalens.suites.personaconv.data.other_users import OtherUsers
from pytest_personalens.suites.personaconv.data.plan import Plan
from pytest_personalens.suites.personaconv.data.posts import NOBODY
from pytest_personalens.suites.personaconv.protocols.templates import lines, words_of
from pytest_personalens.suites.personaconv.values import KINDS, Request, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.data.facts import Facts
    from pytest_personalens.suites.personaconv.data.index import Index
    from pytest_personalens.suites.personaconv.data.posts import Comment, Post
    from pytest_personalens.suites.personaconv.values import History, Kind, Setting

_WITH_CONVERSATION = ("P-Conv", "NP-Conv")
_Past = list[tuple["Post", "Comment"]]


class FixedProtocol:
    """The protocol ``fixed``.

    Its target is the latest reply in each post of a user who replied in an earlier post. Raise `SpecError`
    for NP-Conv if there is no other user.
    """

    def __init__(
        self,
        index: Index,
        *,
        kinds: Sequence[Kind],
        settings: Sequence[Setting],
        history: History,
        seed: str,
    ) -> None:
        self._index, self._settings, self._history = index, settings, history
        self._posts = _without_copies(index.posts)
        kept = [facts for of_user in self._posts.values() for facts in of_user]
        self._kept = [{f.start for f in kept if f.file == number} for number in range(len(index.files))]
        self._first = {
            user: min(times)
            for user, of_user in self._posts.items()
            if (times := [facts.past[0] for facts in of_user if facts.past])
        }
        self._seed = seed
        self.plan = Plan(index.posts, kinds)
        users = [user for user in self._posts if user not in NOBODY]
        if "NP-Conv" in settings and len(users) < 2:
            raise SpecError(
                "NP-Conv needs the past of another user, and the data has one user; give data of several,"
                " or leave NP-Conv out"
            )
        for kind in kinds:
            number = KINDS.index(kind)
            for place, facts in enumerate(index.posts):
                target = facts.fixed[number]
                if reason := target.reason or self._reason(facts, kind):
                    self.plan.leave_out(kind, place, reason)
                else:
                    self.plan.add(kind, place, target)

    @cached_property
    def _other_users(self) -> OtherUsers:
        return OtherUsers(self._posts, self._seed)

    def truth(self, ref: ScenarioRef, post: Post) -> str | float:
        """Return the true value of the prediction."""
        return fixed.truth_of(_target(post, kind_of(ref)), kind_of(ref))

    def requests(self, ref: ScenarioRef, post: Post) -> tuple[dict[str, Request], dict[str, dict[str, str]]]:
        """Return the request of each setting, and the past in the context.

        The past is (domain -> text) for each setting. It is set only if the context holds the past instead of
        the request.
        """
        target = _target(post, kind_of(ref))
        requests: dict[str, Request] = {}
        interactions: dict[str, dict[str, str]] = {}
        pasts: dict[str | None, _Past] = {None: []}
        for setting in self._settings:
            whose = self._whose_past(ref, post, target, setting)
            if whose not in pasts:
                pasts[whose] = self._past(ref, whose)
            past = pasts[whose]
            if self._history == "context":
                interactions[setting] = _by_domain(past, kind_of(ref))
            shown = past if self._history == "request" else []
            parts = tuple(request_parts(post, target, kind_of(ref), setting, shown))
            requests[setting] = Request(parts=parts, leaks=_leaks(post, target, past))
        return requests, interactions

    def _reason(self, facts: Facts, kind: Kind) -> str:
        """Return why a post with a target gives no item of the kind, or an empty text."""
        if facts.start not in self._kept[facts.file]:
            return "duplicate"
        if self._first.get(facts.user, facts.time or 0) >= (facts.time or 0):
            return "no-past"
        return "" if "NP-Conv" not in self._settings or self._has_other_user(facts, kind) else "no-stranger"

    def _has_other_user(self, facts: Facts, kind: Kind) -> bool:
        others = self._other_users.number_before(facts.user, facts.time or 0)
        if others == 0 or others > facts.comments:  # there are more others than commenters, so one is free
            return others > 0
        post = self._index.read(facts)
        return self._other_user(facts, post, _target(post, kind)) is not None

    def _whose_past(self, ref: ScenarioRef, post: Post, target: Comment, setting: Setting) -> str | None:
        if setting == "none":
            return None
        return self._other_user(self._facts(ref), post, target) if setting == "NP-Conv" else ref.user

    def _past(self, ref: ScenarioRef, whose: str | None) -> _Past:
        """Return the latest replies of a user, as many as the user of the item has."""
        facts = self._facts(ref)
        number = len(self._replies_before(facts.user, facts.time or 0))
        return [] if whose is None else self._read_past(whose, facts.time or 0)[: min(number, fixed.PAST)]

    def _facts(self, ref: ScenarioRef) -> Facts:
        return self._index.posts[self.plan.place(ref)]

    def _other_user(self, facts: Facts, post: Post, target: Comment) -> str | None:
        time = facts.time or 0
        return self._other_users.of(
            facts,
            time,
            least=min(len(self._replies_before(facts.user, time)), fixed.PAST),
            taking_part={comment.author for comment in fixed.older_comments(post, target)},
        )

    def _replies_before(self, user: str, time: int) -> list[tuple[int, Facts]]:
        """Return the user's replies before that time, the oldest first."""
        replies = [
            (then, facts)
            for facts in self._posts.get(user, ())
            for then in facts.past[: bisect_left(facts.past, time)]
        ]
        return sorted(replies, key=lambda each: each[0])

    def _read_past(self, user: str, time: int) -> _Past:
        """Return the user's replies before that time, the latest first.

        There are at most as many as a request may show.
        """
        latest = self._replies_before(user, time)[-fixed.PAST :]
        posts = [self._index.read(facts) for facts in dict.fromkeys(facts for _, facts in latest)]
        replies = [
            (reply.time or 0, reply.text, post, reply)
            for post in posts
            for reply in fixed.past_replies(post)
            if (reply.time or 0) < time
        ]
        replies.sort(key=lambda each: each[:2], reverse=True)
        return [(post, reply) for _, _, post, reply in replies[: fixed.PAST]]


def request_parts(
    post: Post, target: Comment, kind: Kind, setting: Setting, past: _Past
) -> Iterator[tuple[str, str]]:
    """Yield the parts of a request by name, in order.

    A setting leaves parts out, and changes nothing else.
    """
    words = words_of("fixed")
    yield "task", words.fill("task", kind)
    if past:
        yield "history", words.fill("history", kind, lines=lines(fixed.shown_past(past, kind)))
    shown = {"domain": post.domain, "title": post.title, "text": post.text[: fixed.CONTENT]}
    yield "post", words.fill("post", lines=lines([shown]))
    if setting in _WITH_CONVERSATION and (before := fixed.conversation(post, target)):
        yield "conversation", words.fill("conversation", lines=lines(before))
    if setting in _WITH_CONVERSATION or kind == "next-text":
        yield "parent", words.fill("parent", lines=lines([fixed.shown_parent(post, target)]))
    if kind != "next-text":
        yield "reply", words.fill("reply", lines=lines([{"text": target.text}]))
    yield "answer", words.fill("answer", kind)


def _leaks(post: Post, target: Comment, past: _Past) -> tuple[str, ...]:
    """Return a leak if anything in the request is newer than the target.

    The protocol promises that there is nothing newer.
    """
    shown = [*fixed.older_comments(post, target), *(reply for _, reply in past)]
    newer = [comment for comment in shown if (comment.time or 0) >= (target.time or 0)]
    return ("newer-comments",) if newer else ()


def _by_domain(past: _Past, kind: Kind) -> dict[str, str]:
    """Return the past in the form of an assistant's context.

    Each domain has a line of JSON for each reply.
    """
    shown: dict[str, list[object]] = {}
    for entry in fixed.shown_past(past, kind):
        shown.setdefault(str(entry.pop("domain")), []).append(entry)
    return {domain: lines(entries) for domain, entries in shown.items()}


def _target(post: Post, kind: Kind) -> Comment:
    target = fixed.target_of(post, kind)
    assert not isinstance(target, str), "the index says that there is one"
    return target


def _without_copies(posts: Sequence[Facts]) -> dict[str, list[Facts]]:
    """Return the posts of each user, without repeated copies of a post."""
    found: dict[str, dict[str, Facts]] = {}
    for facts in posts:
        found.setdefault(facts.user, {}).setdefault(facts.identity, facts)
    return {user: list(of_user.values()) for user, of_user in found.items()}
