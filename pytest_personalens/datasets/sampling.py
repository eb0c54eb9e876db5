"""A stratified draw of scenarios: deterministic, head-stable, and as cheap as it is small."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.datasets.base import Dataset

#: Every fifth scenario is a multi-domain one: the benchmark has 24,018 of them among 122,133 (19.7 %).
MULTI_EVERY: Final = 5


def every_fifth_multi(drawn: Mapping[str, int]) -> Sequence[str]:
    """The kinds of PersonaLens, the one to be drawn next first."""
    multi = sum(drawn.values()) % MULTI_EVERY == MULTI_EVERY - 1
    return ("multi", "single") if multi else ("single", "multi")


class Sample(NamedTuple):
    """The scenarios drawn, in order, or a shard's part of them.

    `drawn` is the number of all that were drawn; `requested` is larger than it if the universe was too small.
    """

    refs: tuple[ScenarioRef, ...]
    requested: int
    drawn: int

    @property
    def exhausted(self) -> bool:
        """True if there were fewer scenarios than asked for, so that all of them are in the sample."""
        return self.drawn < self.requested

    def shard(self, number: int, of: int) -> Sample:
        """Part `number` (from 1) of the `of` disjoint parts that make up this sample; empty where there are
        more parts than scenarios.

        Each scenario falls to the part that has least of its kind, then least of all, then least of its
        domains: so the parts differ by one at most in number and in each kind (multi-domain dialogues are the
        longer ones). It depends on none that is drawn after it, so a sample that grows leaves every scenario
        in its part.
        """
        parts = range(min(of, len(self.refs)))
        kinds: list[Counter[str]] = [Counter() for _ in parts]
        domains: list[Counter[str]] = [Counter() for _ in parts]
        kept = []
        for ref in self.refs:
            part = min(
                parts,
                key=lambda i: (kinds[i][ref.kind], kinds[i].total(), sum(domains[i][d] for d in ref.domains)),
            )
            kinds[part][ref.kind] += 1
            domains[part].update(ref.domains)
            if part == number - 1:
                kept.append(ref)
        return self._replace(refs=tuple(kept))


def draw(
    dataset: Dataset,
    size: int,
    *,
    seed: str,
    users: Sequence[str] = (),
    domains: Collection[str] = (),
    kind: str = "all",
    strata: Callable[[Mapping[str, int]], Sequence[str]] = every_fifth_multi,
) -> Sample:
    """Draw `size` scenarios, spread over the domains.

    Users take turns in an order drawn from the digest of (seed, user); each gives the scenario whose domains
    were drawn least so far, ties broken by the digest of (seed, user, task). So every choice depends on the
    earlier ones and on stable ids only: the first 30 of 60 are the 30, and no file is read but those of the
    users drawn (with a `domains` filter, also of users who turn out to have no such task).

    `users` and `domains` restrict the universe before sampling; a multi-domain task counts for a domain if it
    spans it; upper and lower case are the same in its name. "7" stands for "user7" where the dataset has that
    user and no other "7". `kind` is "all", a kind, or several with commas. Raises `SpecError` for an unknown
    user or domain.

    `strata` tells, from how many of each stratum are drawn, which to draw from: the first that the user at
    hand has any of. A scenario's stratum is its kind where it names no other.
    """
    domains = [_domain(name, dataset.domains()) for name in domains]
    everyone = dataset.users()
    if users:
        present = set(everyone)
        # The official code names its users by their numbers, and the official data by their folders.
        users = [f"user{u}" if u not in present and f"user{u}" in present else u for u in users]
        if missing := [u for u in users if u not in present]:
            near = (
                [missing[0].lower()]
                if missing[0].lower() in present
                else get_close_matches(missing[0], everyone, 1)
            )
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise SpecError(
                f"unknown user {missing[0]!r} in dataset {dataset.name!r} ({len(everyone)} users){meant}"
            )
    chosen: list[ScenarioRef] = []
    balances: defaultdict[str, _Balance] = defaultdict(_Balance)
    drawn: Counter[str] = Counter()
    left: dict[str, dict[str, _Groups]] = {}
    kinds = () if kind == "all" else kind.split(",")
    waiting = sorted(dict.fromkeys(users or everyone), key=lambda user: _digest(seed, user))
    while waiting and len(chosen) < size:
        have_more = []
        for user in waiting:
            if user not in left:
                left[user] = _grouped(
                    seed, [ref for ref in dataset.refs(user) if _matches(ref, domains, kinds)], balances
                )
            stratum = next((name for name in strata(drawn) if left[user].get(name)), None)
            if stratum is None:
                continue
            groups = left[user][stratum]
            least = min([span.load for span in groups])
            _, span = min([(group[-1], span) for span, group in groups.items() if span.load == least])
            chosen.append(groups[span].pop()[2])
            if not groups[span]:
                del groups[span]
            balances[stratum].count(span)
            drawn[stratum] += 1
            have_more.append(user)
            if len(chosen) == size:
                break
        waiting = have_more
    return Sample(tuple(chosen), size, len(chosen))


def _domain(name: str, known: Collection[str]) -> str:
    """The domain as the dataset spells it."""
    same = [other for other in known if other.lower() == name.lower()]
    if not same:
        near = get_close_matches(name, known, 1)
        raise SpecError(
            f"unknown domain {name!r}; "
            + (f"did you mean {near[0]!r}? " if near else "")
            + f"known: {', '.join(known)}"
        )
    return name if name in same else same[0]


class _Span:
    """The domains that scenarios of a kind have in common, and how often these were drawn, on the mean."""

    __slots__ = ("domains", "load")

    def __init__(self, domains: tuple[str, ...]) -> None:
        self.domains, self.load = domains, 0.0


#: A user's scenarios that are left: (digest, position, scenario), the next to be drawn at the end of its
#: group. All of a group bring the same load, so that a choice compares one scenario of each.
_Groups = dict[_Span, list[tuple[bytes, int, "ScenarioRef"]]]


class _Balance:
    """Keeps the loads of all spans of a kind: a draw of the whole benchmark asks for them a million times."""

    def __init__(self) -> None:
        self._drawn: Counter[str] = Counter()
        self._spans: dict[tuple[str, ...], _Span] = {}
        self._with: defaultdict[str, list[_Span]] = defaultdict(list)

    def span(self, domains: tuple[str, ...]) -> _Span:
        """The one span of these domains."""
        if domains not in self._spans:
            span = self._spans[domains] = _Span(domains)
            self._weigh(span)
            for name in set(domains):
                self._with[name].append(span)
        return self._spans[domains]

    def count(self, drawn: _Span) -> None:
        """Count a scenario drawn."""
        for name in drawn.domains:
            self._drawn[name] += 1
        for name in drawn.domains:
            for span in self._with[name]:
                self._weigh(span)

    def _weigh(self, span: _Span) -> None:
        span.load = sum([self._drawn[name] for name in span.domains]) / len(span.domains)


def _grouped(
    seed: str, refs: Iterable[ScenarioRef], balances: defaultdict[str, _Balance]
) -> dict[str, _Groups]:
    strata: defaultdict[str, _Groups] = defaultdict(dict)
    for position, ref in enumerate(dict.fromkeys(refs)):
        stratum = ref.stratum or ref.kind
        span = balances[stratum].span(ref.domains)
        strata[stratum].setdefault(span, []).append((_digest(seed, ref.user, ref.task), position, ref))
    for groups in strata.values():
        for group in groups.values():
            group.sort(reverse=True)
    return strata


def _matches(ref: ScenarioRef, domains: Collection[str], kinds: Collection[str]) -> bool:
    return (not kinds or ref.kind in kinds) and (not domains or not set(domains).isdisjoint(ref.domains))


def _digest(*parts: str) -> bytes:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()
