"""A stratified draw of scenarios: deterministic, head-stable, and as cheap as it is small."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_personalens.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_personalens.datasets.base import Dataset
    from pytest_personalens.scenario import Kind, ScenarioRef

#: Every fifth scenario is a multi-domain one: the benchmark has 24,018 of them among 122,133 (19.7 %).
MULTI_EVERY = 5


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
        """Part `number` (from 1) of the `of` disjoint parts that make up this sample; empty where there are more parts than scenarios.

        Each scenario falls to the part that has least of its kind, then least of all, then least of its domains: so the parts
        differ by one at most in number and in each kind (multi-domain dialogues are the longer ones). It depends on none that is
        drawn after it, so a sample that grows leaves every scenario in its part.
        """
        parts = range(min(of, len(self.refs)))
        kinds: list[Counter[str]] = [Counter() for _ in parts]
        domains: list[Counter[str]] = [Counter() for _ in parts]
        kept = []
        for ref in self.refs:
            part = min(parts, key=lambda i: (kinds[i][ref.kind], kinds[i].total(), _load(ref, domains[i])))
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
    kind: Kind | Literal["all"] = "all",
) -> Sample:
    """Draw `size` scenarios, spread over the domains.

    Users take turns in an order drawn from the digest of (seed, user); each gives the scenario whose domains
    were drawn least so far, ties broken by the digest of (seed, user, task). So every choice depends on the
    earlier ones and on stable ids only: the first 30 of 60 are the 30, and no file is read but those of the
    users drawn (with a `domains` filter, also of users who turn out to have no such task).

    `users` and `domains` restrict the universe before sampling; a multi-domain task counts for a domain if it
    spans it. Raises `SpecError` for an unknown user or domain.
    """
    known = dataset.domains()
    for name in domains:
        if name not in known:
            raise SpecError(f"unknown domain {name!r}; known: {', '.join(known)}")
    everyone = dataset.users()
    if users:
        present = set(everyone)
        if missing := [u for u in users if u not in present]:
            raise SpecError(f"unknown user {missing[0]!r} in dataset {dataset.name!r} ({len(everyone)} users)")
    chosen: list[ScenarioRef] = []
    taken: set[ScenarioRef] = set()
    drawn: dict[Kind, Counter[str]] = {"single": Counter(), "multi": Counter()}
    waiting = sorted(dict.fromkeys(users or everyone), key=lambda user: _digest(seed, user))
    while waiting and len(chosen) < size:
        have_more = []
        for user in waiting:
            candidates = [ref for ref in dataset.refs(user) if ref not in taken and _matches(ref, domains, kind)]
            if not candidates:
                continue
            wanted: Kind = "multi" if len(chosen) % MULTI_EVERY == MULTI_EVERY - 1 else "single"
            pool = [ref for ref in candidates if ref.kind == wanted] or candidates
            ref = min(pool, key=lambda r: (_load(r, drawn[r.kind]), _digest(seed, r.user, r.task)))
            chosen.append(ref)
            taken.add(ref)
            drawn[ref.kind].update(ref.domains)
            have_more.append(user)
            if len(chosen) == size:
                break
        waiting = have_more
    return Sample(tuple(chosen), size, len(chosen))


def _matches(ref: ScenarioRef, domains: Collection[str], kind: str) -> bool:
    return kind in ("all", ref.kind) and (not domains or not set(domains).isdisjoint(ref.domains))


def _load(ref: ScenarioRef, drawn: Counter[str]) -> float:
    return sum(drawn[d] for d in ref.domains) / len(ref.domains)


def _digest(*parts: str) -> bytes:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()
