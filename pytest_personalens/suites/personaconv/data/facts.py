"""The facts that an index keeps of a post.

They allow a draw to read only the posts that it draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.suites.personaconv.data import fixed, official
from pytest_personalens.suites.personaconv.data.posts import moment, read_post, text_in
from pytest_personalens.suites.personaconv.values import KINDS, digest_of

if TYPE_CHECKING:
    from pytest_personalens.suites.personaconv.data.posts import Comment, Post
    from pytest_personalens.suites.personaconv.data.stream import StoredPost

#: Why an entry of a file gives no item if it is no object.
NO_POST: Final = "no-post"


class Found(NamedTuple):
    """A target, by the digest of its id.

    It has its class or its score, or the `reason` why there is no target.
    """

    id: str
    label: str = ""
    score: float = 0
    reason: str = ""


class Facts(NamedTuple):
    """One post of a file, without its texts.

    `file`, `start` and `size` are the place of its bytes. `time` is in microseconds. `past` holds the times
    of the user's replies that the history of a later post may show, also in microseconds. `identity` is the
    same for copies of a post.

    `fixed` has a target for each kind. `scored` and `text` are the official targets of scores and of next
    text, and `own_text` is that of next text in NP-Conv. `in_pool` and `lends` say if the official scripts
    show the post in another user's request, as the post of another user.
    """

    file: int
    start: int
    size: int
    user: str
    domain: str
    time: int | None
    identity: str
    comments: int
    past: tuple[int, ...]
    fixed: tuple[Found, Found, Found]
    scored: Found
    text: Found
    own_text: Found
    in_pool: bool
    lends: bool


def facts_of(file: int, stored: StoredPost) -> Facts:
    """Return the facts of an entry of the file with that number."""
    place = (file, stored.start, stored.size, stored.user)
    if not isinstance(stored.value, dict):
        none = Found("", reason=NO_POST)
        return Facts(*place, "", None, "", 0, (), (none, none, none), none, none, none, False, False)
    post = read_post(stored.user, stored.value)
    of_fixed = [fixed.target_of(post, kind) for kind in KINDS]
    scored, text = official.score_target(post), official.text_target(post)
    return Facts(
        *place,
        post.domain,
        moment(post.raw.get("timestamp")),
        digest_of(post.user, post.raw.get("timestamp"), post.title),
        len(post.comments),
        tuple(reply.time or 0 for reply in fixed.past_replies(post)),
        (
            _found(post, of_fixed[0], scored=True),
            _found(post, of_fixed[1]),
            _found(post, of_fixed[2]),
        ),
        _found(post, scored if isinstance(scored, str) else scored.reply, scored=True),
        _found(post, text if isinstance(text, str) else text.reply),
        _found(post, official.own_text_target(post)),
        official.in_pool(post),
        official.lends_thread(post),
    )


def item_digest(post: Post, target: Comment) -> str:
    """Return eight characters that identify a target.

    They do not depend on the place of the post in a file.
    """
    return digest_of(
        post.user, post.raw.get("timestamp"), text_in(post.raw, "title"), target.timestamp, target.body
    )


def _found(post: Post, target: Comment | str, *, scored: bool = False) -> Found:
    if isinstance(target, str):
        return Found("", reason=target)
    if not scored:
        return Found(item_digest(post, target))
    return Found(item_digest(post, target), official.sign(target), float(official.score_of(target) or 0))
