"""Decides which posts give an item of a kind, and why the others give none."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.suites.personaconv.values import UNKNOWN_DOMAIN, stratum_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.suites.personaconv.data.facts import Facts, Found
    from pytest_personalens.suites.personaconv.values import Kind


class LeftOut(NamedTuple):
    """A post that gives no item: its user, its number and the reason.

    The number counts the user's posts, from 1.
    """

    user: str
    number: int
    reason: str


class Plan:
    """The items of a dataset, and the posts that are left out.

    For each kind, both together are all posts. `of_user` holds the items of each user, and `items` those of
    each kind, in the order of the protocol. `place` returns the post of an item.
    """

    def __init__(self, posts: Sequence[Facts], kinds: Sequence[Kind]) -> None:
        self.of_user: dict[str, list[ScenarioRef]] = {facts.user: [] for facts in posts}
        self.items: dict[Kind, list[ScenarioRef]] = {kind: [] for kind in kinds}
        self.left_out: dict[Kind, list[LeftOut]] = {kind: [] for kind in kinds}
        self._places: dict[tuple[str, str], int] = {}
        self.numbers = _numbers(posts)
        self._posts = posts

    def add(self, kind: Kind, place: int, found: Found) -> None:
        """Add the target of the post in that place.

        If the target is already there, leave the post out.
        """
        facts = self._posts[place]
        domains = (facts.domain or UNKNOWN_DOMAIN,)
        ref = ScenarioRef(facts.user, f"{kind}-{found.id}", kind, domains, stratum_of(kind, found.label))
        if ref[:2] in self._places:
            self.leave_out(kind, place, "duplicate")
            return
        self._places[ref[:2]] = place
        self.of_user[facts.user].append(ref)
        self.items[kind].append(ref)

    def place(self, ref: ScenarioRef) -> int:
        """Return the place of an item's post in the file.

        Raise KeyError for an item that is not in it.
        """
        return self._places[ref[:2]]

    def leave_out(self, kind: Kind, place: int, reason: str) -> None:
        """Count the post in that place as no item of the kind."""
        self.left_out[kind].append(LeftOut(self._posts[place].user, self.numbers[place][1], reason))


def by_reason(left_out: Mapping[Kind, Sequence[LeftOut]]) -> dict[Kind, dict[str, int]]:
    """Return how many posts were left out, by kind and reason.

    The most frequent reason comes first.
    """
    return {kind: dict(Counter(each.reason for each in of).most_common()) for kind, of in left_out.items()}


def spelled(refs: Iterable[ScenarioRef]) -> list[str]:
    """The domains of items, each as it is first spelled, in alphabetical order."""
    names: dict[str, str] = {}
    for ref in refs:
        names.setdefault(ref.domains[0].casefold(), ref.domains[0])
    return sorted(names.values(), key=str.casefold)


def counted(excluded: Mapping[Kind, Mapping[str, int]]) -> str:
    """Return the counts as one line of an error."""
    return "; ".join(
        f"{kind}: {', '.join(f'{number} {reason}' for reason, number in reasons.items()) or 'nothing'}"
        for kind, reasons in excluded.items()
    )


def _numbers(posts: Sequence[Facts]) -> list[tuple[int, int]]:
    """Return the number of each post's user, and its number among the user's posts.

    Both count from 1.
    """
    users: dict[str, int] = {}
    of_user: Counter[str] = Counter()
    numbers = []
    for facts in posts:
        of_user[facts.user] += 1
        numbers.append((users.setdefault(facts.user, len(users) + 1), of_user[facts.user]))
    return numbers
