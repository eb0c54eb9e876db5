"""The protocol ``fixed``: its targets, its items and its requests.

A request has a history over posts, and nothing that came later than the target. The paper (arXiv 2505.14106)
defines the tasks by a user's earlier conversations. The official scripts show none of them.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.datasets.dataset import number
from pytest_personalens.suites.personaconv.posts import NOBODY, finite, label_of, visible_text
from pytest_personalens.suites.personaconv.predictions import KINDS, Protocol, Request, lines, template_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.posts import Comment, IndexedPost, Post

#: The highest numbers of the user's earlier replies, and of comments of the thread, in a request.
PAST: Final = 10
CONVERSATION: Final = 30
#: The highest number of characters of each text in a request.
ANSWERED: Final = 200
TEXT: Final = 500
CONTENT: Final = 1000
PARENT: Final = 2000
#: The smallest amount of a score whose sign is predicted.
AMOUNT: Final = 4
_WITH_CONVERSATION: Final = ("P-Conv", "NP-Conv")
_Past = list[tuple["Post", "Comment"]]


def target_of(post: Post, kind: str) -> Comment | str:
    """Return the user's latest reply in the post that can be a target, or the reason if there is none.

    A target has a text, its parent has a text, and it is newer than its parent. A target of sentiment has a
    score of amount 4 or more.
    """
    if reason := _unusable(post):
        return reason
    replies = [reply for reply in post.replies if _is_candidate(post, reply)]
    if not replies:
        return "no-target"
    if kind == "sentiment":
        replies = [r for r in replies if (score := finite(r.score)) is not None and abs(score) >= AMOUNT]
        if not replies:
            return "weak-score"
    target = max(replies, key=_order)
    return "no-score" if kind == "impact" and finite(target.score) is None else target


def find_target(post: Post, kind: str) -> Comment:
    """Return the target of a post that has one, as its index says."""
    target = target_of(post, kind)
    assert not isinstance(target, str), "the index says that there is one"
    return target


def past_replies(post: Post) -> list[Comment]:
    """Return the user's replies in the post that a later history may show, the oldest first."""
    posted = post.time
    if _unusable(post) not in ("", "no-domain") or posted is None:
        return []
    return sorted((r for r in post.replies if r.text and (r.time or 0) > posted), key=_order)


def _unusable(post: Post) -> str:
    """Return why the post gives no prediction of any kind, or an empty text."""
    if post.user in NOBODY:
        return "no-author"
    if post.author not in ("", post.user):
        return "key-not-author"
    if post.time is None:
        return "bad-time"
    return "" if post.domain else "no-domain"


def _is_candidate(post: Post, reply: Comment) -> bool:
    before, time = (post if reply.parent is None else reply.parent).time, reply.time
    newer = time is not None and before is not None and before < time
    return newer and bool(reply.text and answered_text(post, reply))


def _order(comment: Comment) -> tuple[int, str]:
    return comment.time or 0, comment.text


def answered_text(post: Post, reply: Comment) -> str:
    """Return the comment or the post that a reply answers; it is empty if the text was removed."""
    return post.text if reply.parent is None else visible_text(reply.parent.body)


def older_comments(post: Post, target: Comment) -> list[Comment]:
    """Return the comments with a text in the target's thread that are older than it."""
    top, limit = target.top, target.time or 0
    thread = (c for c in post.comments if c.top is top and c.text)
    return [c for c in thread if (time := c.time) is not None and time < limit]


class FixedProtocol(Protocol):
    """The target is the latest reply in each post of a user who replied in an earlier post.

    Raise `SpecError` for NP-Conv if there is no other user.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._posts = _without_copies(self._index.posts)
        self._originals = {id(post) for of_user in self._posts.values() for post in of_user}
        self._first = {
            user: min(times)
            for user, of_user in self._posts.items()
            if (times := [post.past[0] for post in of_user if post.past])
        }
        if "NP-Conv" in self._settings and len(self._posts.keys() - NOBODY) < 2:
            raise SpecError(
                "NP-Conv needs the past of another user, and the data has one user; give data of several,"
                " or leave NP-Conv out",
                code="PL108",
            )
        for kind in self.plan.items:
            of_kind = KINDS.index(kind)
            for place, post in enumerate(self._index.posts):
                target = post.fixed[of_kind]
                reason = target.reason or self._reason(post, kind)
                self.plan.add(kind, place, target._replace(reason=reason) if reason else target)

    def truth(self, ref: ScenarioRef, post: Post) -> str | float:
        target = find_target(post, ref.kind)
        if ref.kind == "sentiment":
            return label_of(finite(target.score))
        return float(finite(target.score) or 0) if ref.kind == "impact" else target.text

    def requests(self, ref: ScenarioRef, post: Post) -> tuple[dict[str, Request], dict[str, dict[str, str]]]:
        entry, target = self._index.posts[self.plan.place(ref)], find_target(post, ref.kind)
        in_context, time = self._history == "context", entry.time or 0
        most = len(self._replies_before(entry.user, time))
        requests: dict[str, Request] = {}
        interactions: dict[str, dict[str, str]] = {}
        pasts: dict[str | None, _Past] = {None: []}
        for setting in self._settings:
            user = None if setting == "none" else ref.user
            if setting == "NP-Conv":
                user = self._other_user(entry, post, target)
            if user not in pasts:
                pasts[user] = self._read_past(str(user), time)[:most]
            past = pasts[user]
            if in_context:
                interactions[setting] = _by_domain(past, ref.kind)
            parts = request_parts(post, target, ref.kind, setting, [] if in_context else past)
            requests[setting] = Request(parts=tuple(parts), leaks=_leaks(post, target, past))
        return requests, interactions

    def _reason(self, post: IndexedPost, kind: str) -> str:
        """Return why a post with a target gives no item of the kind, or an empty text."""
        if id(post) not in self._originals:
            return "duplicate"
        if self._first.get(post.user, post.time or 0) >= (post.time or 0):
            return "no-past"
        return "" if "NP-Conv" not in self._settings or self._has_other_user(post, kind) else "no-stranger"

    def _has_other_user(self, entry: IndexedPost, kind: str) -> bool:
        others = self._other_users.number_before(entry.user, entry.time or 0)
        if others == 0 or others > entry.comments:  # there are more others than commenters, so one is free
            return others > 0
        post = self._index.read(entry)
        return self._other_user(entry, post, find_target(post, kind)) is not None

    @cached_property
    def _other_users(self) -> OtherUsers:
        return OtherUsers(self._posts, self._seed)

    def _other_user(self, entry: IndexedPost, post: Post, target: Comment) -> str | None:
        return self._other_users.draw(
            entry,
            entry.time or 0,
            least=min(len(self._replies_before(entry.user, entry.time or 0)), PAST),
            taking_part={comment.author for comment in older_comments(post, target)},
        )

    def _replies_before(self, user: str, time: int) -> list[tuple[int, IndexedPost]]:
        """Return the user's replies before that time, the oldest first."""
        replies = [
            (then, post)
            for post in self._posts.get(user, ())
            for then in post.past[: bisect_left(post.past, time)]
        ]
        return sorted(replies, key=lambda each: each[0])

    def _read_past(self, user: str, time: int) -> _Past:
        """Return the user's replies before that time, the latest first, as many as a request may show."""
        latest = self._replies_before(user, time)[-PAST:]
        posts = [self._index.read(entry) for entry in dict.fromkeys(entry for _, entry in latest)]
        replies = [(post, r) for post in posts for r in past_replies(post) if (r.time or 0) < time]
        return sorted(replies, key=lambda each: _order(each[1]), reverse=True)[:PAST]


class OtherUsers:
    """Draws one other user for each item, always the same for a seed."""

    def __init__(self, posts: Mapping[str, Sequence[IndexedPost]], seed: str) -> None:
        self._posts = {user: of_user for user, of_user in posts.items() if user not in NOBODY}
        self._times = {
            user: sorted(time for post in of_user for time in post.past)
            for user, of_user in self._posts.items()
        }
        self._digests = {user: number(seed, user) for user in self._posts}
        self._first = sorted(times[0] for times in self._times.values() if times)
        self._seed = seed

    def number_before(self, user: str, time: int) -> int:
        """Return how many other users wrote something before that time."""
        own = self._times.get(user) or [time]
        return bisect_left(self._first, time) - (own[0] < time)

    def draw(self, post: IndexedPost, time: int, *, least: int, taking_part: Collection[str]) -> str | None:
        """Return a user with `least` replies before that time, or None.

        The user is none of those `taking_part`. The draw depends on the post and the seed, and on nothing
        that is to be predicted. It prefers users who were in the post's domain before. If no user has `least`
        replies, it takes the one with the most. Return None if no user has any.
        """
        mark, best, most = number(self._seed, post.identity), None, 0
        domain = post.domain.casefold()
        elsewhere = None
        for user in sorted(self._posts, key=lambda user: (self._digests[user] ^ mark, user)):
            if user == post.user or user in taking_part:
                continue
            replies = bisect_left(self._times[user], time)
            if replies >= least and replies:
                if self._was_in(user, domain, time):
                    return user
                elsewhere = elsewhere or user
            elif replies > most:
                best, most = user, replies
        return elsewhere or best

    def _was_in(self, user: str, domain: str, time: int) -> bool:
        return any(
            post.domain.casefold() == domain and post.past and post.past[0] < time
            for post in self._posts[user]
        )


def _without_copies(posts: Sequence[IndexedPost]) -> dict[str, list[IndexedPost]]:
    """Return the posts of each user, without repeated copies of a post."""
    found: dict[str, dict[str, IndexedPost]] = {}
    for post in posts:
        found.setdefault(post.user, {}).setdefault(post.identity, post)
    return {user: list(of_user.values()) for user, of_user in found.items()}


def request_parts(
    post: Post, target: Comment, kind: str, setting: str, past: _Past
) -> Iterator[tuple[str, str]]:
    """Yield the parts of a request by name. A setting leaves parts out, and changes nothing else."""
    template = template_of("fixed")
    yield "task", template.fill("task", kind)
    if past:
        yield "history", template.fill("history", kind, lines=lines(_shown_past(past, kind)))
    shown = {"domain": post.domain, "title": post.title, "text": post.text[:CONTENT]}
    yield "post", template.fill("post", lines=lines([shown]))
    if setting in _WITH_CONVERSATION and (before := conversation(post, target)):
        yield "conversation", template.fill("conversation", lines=lines(before))
    if setting in _WITH_CONVERSATION or kind == "next-text":
        yield "parent", template.fill("parent", lines=lines([shown_parent(post, target)]))
    if kind != "next-text":
        yield "reply", template.fill("reply", lines=lines([{"text": target.text}]))
    yield "answer", template.fill("answer", kind)


def _shown_past(past: _Past, kind: str) -> list[dict[str, object]]:
    return [
        {
            "domain": post.domain,
            "title": post.title,
            "answered": answered_text(post, reply)[:ANSWERED],
            "reply": reply.text[:TEXT],
            **({} if kind == "next-text" else {"score": finite(reply.score)}),
        }
        for post, reply in past
    ]


def _by_domain(past: _Past, kind: str) -> dict[str, str]:
    """Return the past in the form of an assistant's context: domain -> a line of JSON for each reply."""
    shown: dict[str, list[object]] = {}
    for entry in _shown_past(past, kind):
        shown.setdefault(str(entry.pop("domain")), []).append(entry)
    return {domain: lines(entries) for domain, entries in shown.items()}


def conversation(post: Post, target: Comment) -> list[dict[str, object]]:
    """Return the comments in the target's thread before it, without its parent and without names."""
    older = sorted((c for c in older_comments(post, target) if c is not target.parent), key=_order)
    names = {post.user: "the user"}
    return [{"by": _speaker(c, names), "text": c.text[:TEXT]} for c in older[-CONVERSATION:]]


def _speaker(comment: Comment, names: dict[str, str]) -> str:
    if comment.author in NOBODY:
        return "somebody"
    return names.setdefault(comment.author, f"person {len(names)}")


def shown_parent(post: Post, target: Comment) -> dict[str, object]:
    """Return the text that the target answers, in the form for a request."""
    by_user = target.parent is None or target.parent.author == post.user
    who = "the user" if by_user else "somebody else"
    return {"by": who, "text": answered_text(post, target)[:PARENT]}


def _leaks(post: Post, target: Comment, past: _Past) -> tuple[str, ...]:
    """Return a leak if anything in the request is newer than the target, against the protocol."""
    shown = [*older_comments(post, target), *(reply for _, reply in past)]
    newer = [comment for comment in shown if (comment.time or 0) >= (target.time or 0)]
    return ("newer-comments",) if newer else ()
