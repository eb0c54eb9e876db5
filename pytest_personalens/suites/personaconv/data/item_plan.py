"""Which posts give items, which do not and why, and the strangers whose past stands in for a user's."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.suites.personaconv.data.posts import NOBODY
from pytest_personalens.suites.personaconv.predictions import UNKNOWN_DOMAIN, Prediction, kind_of, stratum_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pytest_personalens.suites.personaconv.data.index import IndexedPost, IndexedTarget
    from pytest_personalens.suites.personaconv.predictions import Kind, ProtocolName


class ExcludedPost(NamedTuple):
    """A post that gives no item: its user, its number among the user's posts (from 1) and the reason."""

    user: str
    number: int
    reason: str


class Plan:
    """The items of a dataset by user and by kind, in the order of the protocol, and what gives no item."""

    def __init__(self, kinds: Iterable[Kind], users: Iterable[str] = ()) -> None:
        self.of_user: dict[str, list[ScenarioRef]] = {user: [] for user in users}
        self.items: dict[Kind, list[ScenarioRef]] = {kind: [] for kind in kinds}
        self.left_out: dict[Kind, list[ExcludedPost]] = {kind: [] for kind in self.items}

    @property
    def excluded(self) -> dict[Kind, dict[str, int]]:
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

    def add_ref(self, kind: Kind, ref: ScenarioRef) -> None:
        self.of_user.setdefault(ref.user, []).append(ref)
        self.items[kind].append(ref)


class PostsPlan(Plan):
    """The plan of indexed posts: for each kind, items and posts that are left out are together all posts.

    `numbers` are the number of each post's user, and its number among the user's posts, both from 1.
    """

    def __init__(self, posts: Sequence[IndexedPost], kinds: Sequence[Kind]) -> None:
        super().__init__(kinds, (post.user for post in posts))
        self._posts, self._places = posts, dict[tuple[str, str], int]()
        users = {user: number for number, user in enumerate(self.of_user, 1)}
        counts: Counter[str] = Counter()
        self.numbers: list[tuple[int, int]] = []
        for post in posts:
            counts[post.user] += 1
            self.numbers.append((users[post.user], counts[post.user]))

    def add(self, kind: Kind, place: int, target: IndexedTarget) -> None:
        """Add the target of the post in that place, or leave the post out if the target is already there."""
        post = self._posts[place]
        domains, stratum = (post.domain or UNKNOWN_DOMAIN,), stratum_of(kind, target.label)
        ref = ScenarioRef(post.user, f"{kind}-{target.id}", kind, domains, stratum)
        if ref[:2] in self._places:
            self.leave_out(kind, place, "duplicate")
        else:
            self._places[ref[:2]] = place
            self.add_ref(kind, ref)

    def place(self, ref: ScenarioRef) -> int:
        """Return the place of an item's post in the file. Raise KeyError for an item that is not in it."""
        return self._places[ref[:2]]

    def leave_out(self, kind: Kind, place: int, reason: str) -> None:
        """Count the post in that place as no item of the kind."""
        self.left_out[kind].append(ExcludedPost(self._posts[place].user, self.numbers[place][1], reason))


class PlannedDataset:
    """The part of a dataset that its plan tells."""

    version: str
    protocol: ProtocolName

    def __init__(self, name: str, plan: Plan) -> None:
        self.name, self._plan = name, plan

    def posts(self, kind: Kind) -> int:
        """Return the number of posts: the items of a kind, plus the posts that are left out of it."""
        return len(self.items(kind)) + len(self.left_out(kind))

    @property
    def excluded(self) -> dict[Kind, dict[str, int]]:
        """Return how many posts give no item, by kind and reason."""
        return self._plan.excluded

    def left_out(self, kind: Kind) -> Sequence[ExcludedPost]:
        """Return every post that gives no item of the kind, in file order."""
        return self._plan.left_out.get(kind, ())

    def items(self, kind: Kind) -> Sequence[ScenarioRef]:
        """Return all items of a kind, in the order of the protocol."""
        return self._plan.items.get(kind, ())

    def domains(self) -> Sequence[str]:
        """Return every domain in its first spelling, in alphabetical order."""
        names: dict[str, str] = {}
        for refs in self._plan.of_user.values():
            for ref in refs:
                names.setdefault(ref.domains[0].casefold(), ref.domains[0])
        return sorted(names.values(), key=str.casefold)

    def users(self) -> Sequence[str]:
        """Return the users with an item, in the order of the file."""
        return [user for user, refs in self._plan.of_user.items() if refs]

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """Return the items of one user. Raise `DataError` for an unknown user."""
        try:
            return self._plan.of_user[user]
        except KeyError:
            raise DataError(self.name, f"no user {user!r} in it", code="PL106") from None

    def _prediction(self, ref: ScenarioRef, **held: Any) -> Prediction:
        """Return the item of a reference, with the truth and the requests that it `held` in the files."""
        return Prediction(
            id=ref.id,
            user=ref.user,
            task=ref.task,
            dataset=f"{self.name} {self.version}",
            kind=kind_of(ref),
            domains=ref.domains,
            protocol=self.protocol,
            **held,
        )


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
