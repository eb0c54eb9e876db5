"""The items of a dataset, and why the other posts give none."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.suites.personaconv.values import UNKNOWN_DOMAIN, stratum_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_personalens.suites.personaconv.data.index import IndexedPost, IndexedTarget
    from pytest_personalens.suites.personaconv.values import Kind


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
            raise DataError(self.name, f"no user {user!r} in it") from None
