"""The rules of the official prompt makers: posts, targets and examples.

They were read in the official repository (branch Latest 72ee237), and checked against the output of its six
prompt makers for 85 posts. A number in a function here is one of their rules, even if it looks odd.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.suites.personaconv.data.posts import MARKERS, visible_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.suites.personaconv.data.posts import Comment, Post

#: The distance of the other user of NP-Conv, in places of the file or of the samples.
OFFSET: Final = 200
_AUTHORS: Final = 4
_REPLIES: Final = 3
_AMOUNT: Final = 3
_POOL_AUTHORS: Final = 3
_POOL_AMOUNT: Final = 1
_THREADS: Final = 2
_REMOVED: Final = 0.33
_MOST: Final = 1e300


class Target(NamedTuple):
    """A reply whose score or text is predicted, and the reply that is its example, or None."""

    reply: Comment
    example: Comment | None


def score_of(comment: Comment) -> int | float | None:
    """Return the score as the official scripts take it: any number or a boolean, but no text."""
    score = comment.score
    return score if isinstance(score, int | float) and not abs(score) > _MOST else None


def sign(comment: Comment) -> str:
    """Return the class of a score; a value that is no number above 0 is negative."""
    return "positive" if (score_of(comment) or 0) > 0 else "negative"


def amount(comment: Comment) -> int | float:
    """Return the score without its sign, or 0 if there is none."""
    return abs(score_of(comment) or 0)


def ranked_replies(post: Post) -> list[Comment]:
    """Return the replies that can be a target of sentiment and impact, the largest amount of score first."""
    replies = [
        (amount(reply), time, reply)
        for reply in post.replies
        if score_of(reply) is not None
        and reply.text
        and (visible_text(post.content) if reply.parent is None else reply.parent.text)
        and (time := reply.time) is not None
    ]
    return [reply for _, _, reply in sorted(replies, key=lambda each: each[:2], reverse=True)]


def score_target(post: Post) -> Target | str:
    """Return the target of sentiment and impact, or why the post has none."""
    if len(_authors(post)) < _AUTHORS:
        return "few-authors"
    if sum(1 for reply in post.replies if reply.text) < _REPLIES:
        return "few-replies"
    replies = ranked_replies(post)
    if not replies:
        return "no-target"
    if amount(replies[0]) <= _AMOUNT:
        return "weak-score"
    return Target(replies[0], replies[1] if len(replies) > 1 else None)


def find_score_target(post: Post) -> Target:
    """Return the target of a post that has one, as its index says."""
    target = score_target(post)
    assert not isinstance(target, str), "the index says that there is one"
    return target


def in_pool(post: Post) -> bool:
    """True for a post whose best reply may be another user's example of sentiment."""
    return (
        len(_authors(post)) >= _POOL_AUTHORS
        and bool(replies := ranked_replies(post))
        and amount(replies[0]) > _POOL_AMOUNT
    )


def replies_by_time(post: Post) -> list[Comment]:
    """Return the user's replies with a time and a body, which may be empty, the latest last."""
    timed = [
        (time, reply) for reply in post.replies if reply.body is not None and (time := reply.time) is not None
    ]
    return [reply for _, reply in sorted(timed, key=lambda each: each[0])]


def text_target(post: Post) -> Target | str:
    """Return the target of next text, or the reason why the post has none."""
    replies = replies_by_time(post)
    if len(replies) < 2:
        return "few-replies"
    if replies[-1].body in MARKERS:
        return "removed-target"
    if _answered_threads(post) < _THREADS:
        return "few-threads"
    if _removed_share(post, replies[-1]) > _REMOVED:
        return "removed-thread"
    return Target(replies[-1], replies[-2])


def own_text_target(post: Post) -> Comment | str:
    """Return the target of next text in NP-Conv, which asks less of the post, or why there is none."""
    replies = replies_by_time(post)
    if not replies:
        return "few-replies"
    return replies[-1] if _is_filled(replies[-1]) else "removed-target"


def lends_thread(post: Post) -> bool:
    """True if NP-Conv of next text may show the post's thread for another post."""
    target = text_target(post)
    return isinstance(target, Target) and _is_filled(target.reply)


def one_line(text: str) -> str:
    """Return a text in the form of a label of next text."""
    return text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ").strip()


def order_samples(scores: Sequence[tuple[int, int | float]]) -> tuple[list[int], list[int]]:
    """Return the samples in the order of their file, and the dropped ones.

    `scores` holds (place, score) in the order of the posts. The lower half of all positive samples of the
    file is dropped, rounded down.
    """
    negatives = [place for place, score in scores if not score > 0]
    positives = [place for place, _ in sorted((s for s in scores if s[1] > 0), key=lambda s: abs(s[1]))]
    half = len(positives) // 2
    return negatives + positives[half:], positives[:half]


def _authors(post: Post) -> set[str]:
    return {post.author, *(comment.author for comment in post.comments)} - {""}


def _is_filled(reply: Comment) -> bool:
    return bool(reply.body) and reply.body not in MARKERS


def _answered_threads(post: Post) -> int:
    """Return the number of threads with the user whose first comment has an answer."""
    answered = {comment.parent.number for comment in post.comments if comment.parent is not None}
    return len({top.number for reply in post.replies if (top := reply.top).number in answered})


def _removed_share(post: Post, target: Comment) -> float:
    thread = target.top
    removed = Counter(comment.body in MARKERS for comment in post.comments if comment.top is thread)
    return removed[True] / removed.total()
