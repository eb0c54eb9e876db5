"""Another user for an item of the protocol ``fixed``. NP-Conv shows the past of that user."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from typing import TYPE_CHECKING

from pytest_personalens.suites.personaconv.data.posts import NOBODY

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from pytest_personalens.suites.personaconv.data.index import IndexedPost


class OtherUsers:
    """Draws one other user for each item, always the same for a seed."""

    def __init__(self, posts: Mapping[str, Sequence[IndexedPost]], seed: str) -> None:
        self._posts = {user: of_user for user, of_user in posts.items() if user not in NOBODY}
        self._times = {
            user: sorted(time for post in of_user for time in post.past)
            for user, of_user in self._posts.items()
        }
        self._digests = {user: _digest(seed, user) for user in self._posts}
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
        mark, best, most = _digest(self._seed, post.identity), None, 0
        domain = post.domain.casefold()
        elsewhere = None
        for user in sorted(self._posts, key=lambda user: (self._digests[user] ^ mark, user)):
            if user == post.user or user in taking_part:
                continue
            number = bisect_left(self._times[user], time)
            if number >= least and number:
                if self._was_in(user, domain, time):
                    return user
                elsewhere = elsewhere or user
            elif number > most:
                best, most = user, number
        return elsewhere or best

    def _was_in(self, user: str, domain: str, time: int) -> bool:
        return any(
            post.domain.casefold() == domain and post.past and post.past[0] < time
            for post in self._posts[user]
        )


def _digest(*parts: str) -> int:
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8])
