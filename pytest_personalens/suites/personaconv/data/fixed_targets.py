"""The rules of the protocol ``fixed``: its targets and the parts of its requests.

A request has a history over posts, and nothing that came later than the target. The paper (arXiv 2505.14106)
defines the tasks by a user's earlier conversations. The official scripts show none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.suites.personaconv.data.posts import NOBODY, finite, visible_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.suites.personaconv.data.posts import Comment, Post
    from pytest_personalens.suites.personaconv.predictions import Kind

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


def target_of(post: Post, kind: Kind) -> Comment | str:
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


def find_target(post: Post, kind: Kind) -> Comment:
    """Return the target of a post that has one, as its index says."""
    target = target_of(post, kind)
    assert not isinstance(target, str), "the index says that there is one"
    return target


def label_of(target: Comment) -> str:
    """Return the class of a target of sentiment."""
    return "positive" if (finite(target.score) or 0) > 0 else "negative"


def past_replies(post: Post) -> list[Comment]:
    """Return the user's replies in the post that a later history may show, the oldest first."""
    posted = post.time
    if _unusable(post) not in ("", "no-domain") or posted is None:
        return []
    return sorted((r for r in post.replies if r.text and (r.time or 0) > posted), key=_order)


def shown_past(past: Sequence[tuple[Post, Comment]], kind: Kind) -> list[dict[str, object]]:
    """Return earlier replies in the form for a request."""
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


def conversation(post: Post, target: Comment) -> list[dict[str, object]]:
    """Return the comments in the target's thread before it, without its parent and without names."""
    older = sorted((c for c in older_comments(post, target) if c is not target.parent), key=_order)
    names = {post.user: "the user"}
    return [{"by": _speaker(c, names), "text": c.text[:TEXT]} for c in older[-CONVERSATION:]]


def shown_parent(post: Post, target: Comment) -> dict[str, object]:
    """Return the text that the target answers, in the form for a request."""
    by_user = target.parent is None or target.parent.author == post.user
    return {
        "by": "the user" if by_user else "somebody else",
        "text": answered_text(post, target)[:PARENT],
    }


def older_comments(post: Post, target: Comment) -> list[Comment]:
    """Return the comments with a text in the target's thread that are older than it."""
    top, before = target.top, target.time
    return [
        comment
        for comment in post.comments
        if comment.top is top
        and comment.text
        and (time := comment.time) is not None
        and before is not None
        and time < before
    ]


def answered_text(post: Post, reply: Comment) -> str:
    """Return the comment or the post that a reply answers; it is empty if the text was removed."""
    return post.text if reply.parent is None else visible_text(reply.parent.body)


def _unusable(post: Post) -> str:
    """Return why the post gives no prediction of any kind, or an empty text."""
    if post.user in NOBODY:
        return "no-author"
    if post.author not in ("", post.user):
        return "key-not-author"
    if post.time is None:
        return "bad-time"
    return "" if post.domain else "no-domain"


def _speaker(comment: Comment, names: dict[str, str]) -> str:
    if comment.author in NOBODY:
        return "somebody"
    return names.setdefault(comment.author, f"person {len(names)}")


def _is_candidate(post: Post, reply: Comment) -> bool:
    before, time = (post if reply.parent is None else reply.parent).time, reply.time
    newer = time is not None and before is not None and before < time
    return newer and bool(reply.text and answered_text(post, reply))


def _order(comment: Comment) -> tuple[int, str]:
    return comment.time or 0, comment.text
