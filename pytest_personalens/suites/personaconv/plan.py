"""Posts without their texts, which of them give items, which do not and why; the base of both protocols."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.files.json_stream import read_at
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.suites.personaconv.posts import read_post
from pytest_personalens.suites.personaconv.predictions import UNKNOWN_DOMAIN, stratum_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pytest_personalens.suites.personaconv.posts import Post
    from pytest_personalens.suites.personaconv.predictions import Request


class IndexedTarget(NamedTuple):
    """A target by the digest of its id, with its class or its score, or the `reason` why there is none."""

    id: str
    label: str = ""
    score: float = 0
    reason: str = ""


class IndexedPost(NamedTuple):
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
    fixed: tuple[IndexedTarget, ...]
    scored: IndexedTarget
    text: IndexedTarget
    own_text: IndexedTarget
    in_pool: bool
    lends: bool


class Index(NamedTuple):
    """The posts of files by user, in the order of each user's first post, with a digest of the files."""

    files: tuple[Path, ...]
    digest: str
    posts: tuple[IndexedPost, ...]

    def read(self, post: IndexedPost) -> Post:
        """Return the whole post. Raise `DataError` if its file has changed meanwhile."""
        return read_post(post.user, read_at(self.files[post.file], post.start, post.size))


class ExcludedPost(NamedTuple):
    """A post that gives no item: its user, its number among the user's posts (from 1) and the reason."""

    user: str
    number: int
    reason: str


class Plan:
    """The items by user and by kind, in the order of the protocol, and what gives no item.

    For each kind, the items of `posts` and those that are left out are together all posts. `numbers` are the
    number of each post's user, and its number among the user's posts, both from 1.
    """

    def __init__(self, kinds: Iterable[str], posts: Sequence[IndexedPost]) -> None:
        self.of_user: dict[str, list[ScenarioRef]] = {post.user: [] for post in posts}
        self.items: dict[str, list[ScenarioRef]] = {kind: [] for kind in kinds}
        self.left_out: dict[str, list[ExcludedPost]] = {kind: [] for kind in self.items}
        self._posts, self._places = posts, dict[tuple[str, str], int]()
        users = {user: number for number, user in enumerate(self.of_user, 1)}
        counts: Counter[str] = Counter()
        self.numbers: list[tuple[int, int]] = []
        for post in posts:
            counts[post.user] += 1
            self.numbers.append((users[post.user], counts[post.user]))

    @property
    def excluded(self) -> dict[str, dict[str, int]]:
        """Return how many posts give no item, by kind and reason, the most frequent reason first."""
        return {
            kind: dict(Counter(each.reason for each in posts).most_common())
            for kind, posts in self.left_out.items()
        }

    @property
    def excluded_text(self) -> str:
        """Return the same as one line of an error."""
        return "; ".join(
            f"{kind}: {', '.join(f'{number} {reason}' for reason, number in reasons.items()) or 'nothing'}"
            for kind, reasons in self.excluded.items()
        )

    def add(self, kind: str, place: int, target: IndexedTarget) -> None:
        """Add the target of the post in that place, or leave the post out if it has none, or one twice."""
        post = self._posts[place]
        domains, stratum = (post.domain or UNKNOWN_DOMAIN,), stratum_of(kind, target.label)
        ref = ScenarioRef(post.user, f"{kind}-{target.id}", kind, domains, stratum)
        reason = target.reason or ("duplicate" if ref[:2] in self._places else "")
        if reason:
            self.left_out[kind].append(ExcludedPost(post.user, self.numbers[place][1], reason))
        else:
            self.add_item(ref, place)

    def add_item(self, ref: ScenarioRef, place: int) -> None:
        """Add the item of the post, or of the row of a prompt file, in that place."""
        self._places[ref[:2]] = place
        self.of_user.setdefault(ref.user, []).append(ref)
        self.items[ref.kind].append(ref)

    def place(self, ref: ScenarioRef) -> int:
        """Return the place of an item's post or row. Raise KeyError for an item that is not in it."""
        return self._places[ref[:2]]


class Protocol(ABC):
    """The rules by which indexed posts give items.

    `settings` holds all settings of a run: its context first, then its controls. `history` is ``request`` or
    ``context``: where the user's past is shown.
    """

    def __init__(
        self, index: Index, *, kinds: Sequence[str], settings: Sequence[str], history: str, seed: str
    ) -> None:
        self._index, self._settings, self._history, self._seed = index, settings, history, seed
        self.plan = Plan(kinds, index.posts)

    def load(
        self, ref: ScenarioRef, place: int
    ) -> tuple[str | float, dict[str, Request], dict[str, dict[str, str]]]:
        """Return the truth with both results of `requests`. Raise `DataError` for a file that has changed."""
        post = self._index.read(self._index.posts[place])
        return self.truth(ref, post), *self.requests(ref, post)

    @abstractmethod
    def truth(self, ref: ScenarioRef, post: Post) -> str | float:
        """Return the true value of the prediction."""

    @abstractmethod
    def requests(self, ref: ScenarioRef, post: Post) -> tuple[dict[str, Request], dict[str, dict[str, str]]]:
        """Return the request of each setting, and the past (domain -> text) where the context holds it."""
