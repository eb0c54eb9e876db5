"""The interface of a dataset, another user for a control, and the draw of a stratified sample.

A sample is deterministic, the head of a larger one, and cheap to draw if it is small.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.frozen import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pytest_personalens.core.scenario import ScenarioRef

_Value = TypeVar("_Value")


class Dataset(Protocol):
    """A source of scenarios.

    Everything that it returns must be the same on every machine and in every process. `users` must be cheap
    (names only): sampling calls `refs` only for the users that it draws.
    """

    name: str
    version: str

    def domains(self) -> Sequence[str]:
        """Return every domain of the dataset, in a fixed order."""
        ...

    def users(self) -> Sequence[str]:
        """Return the ids of all users, in a fixed order, without reading their files."""
        ...

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """Return the scenarios of one user, in a fixed order; raise `DataError` for a bad user or file."""
        ...

    def load(self, ref: ScenarioRef) -> Any:
        """Return the whole scenario, or the value of its suite; `DataError` names the file and the field."""
        ...


def parse_file(file: Path, kind: str, parse: Callable[[Path], _Value]) -> _Value:
    """Return what `parse` makes of a file of a `kind` such as JSON; raise `DataError` for a bad file."""
    try:
        return parse(file)
    except FileNotFoundError:
        raise DataError(file, "the file is missing", code="PL201") from None
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}", code="PL201") from None
    except RecursionError:
        raise DataError(file, f"not valid {kind}: nested too deeply", code="PL205") from None
    except ValueError as error:  # not of this kind, no UTF-8, or a number with thousands of digits
        raise DataError(file, f"not valid {kind}: {error}", code="PL205") from None


def read_toml(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file; raise `DataError` for a bad one."""
    import tomllib  # no run with the data of the package needs it

    return parse_file(file, "TOML", lambda path: tomllib.loads(path.read_bytes().decode("utf-8")))


def read_head(file: Path) -> tuple[str, str]:
    """Return the name and the version in a ``dataset.toml``; raise `DataError` if one is missing."""
    head = read_toml(file)
    for field in ("name", "version"):
        if not isinstance(head.get(field), str) or not head[field].strip():
            raise DataError(file, f'expected a text, such as {field} = "..."', field=field)
    return head["name"], head["version"]


def check_user_name(folder: Path, name: str) -> str:
    """Return the name of a user's file or folder; raise `DataError` for one that is no UTF-8."""
    if name.isprintable() or clean(name) == name:
        return name
    raise DataError(folder, f"the name {name!r} in it is no UTF-8; rename it", code="PL205")


def value_or_raise(value: _Value | None, errors: Sequence[DataError]) -> _Value:
    """Return the value that was read, or raise the first of its errors."""
    if errors or value is None:
        raise errors[0]
    return value


_Drawn = TypeVar("_Drawn")


def digest(*key: str) -> bytes:
    """Return 32 bytes that depend on the key alone."""
    return hashlib.sha256("\x1f".join(key).encode("utf-8", "surrogatepass")).digest()


def number(*key: str) -> int:
    """Return a large number that depends on the key alone."""
    return int.from_bytes(digest(*key)[:8], "big")


def pick(values: Sequence[_Drawn], *key: str) -> _Drawn:
    """Return one of the values."""
    return values[number(*key) % len(values)]


def reference(*key: str) -> str:
    """Return the reference of a booking: two letters and four digits."""
    drawn = number(*key)
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # without I and O, which look like digits
    first, second = letters[drawn % 24], letters[drawn // 24 % 24]
    return f"{first}{second}{drawn // 576 % 9000 + 1000}"


def other_user_of(dataset: Dataset, seed: str, ref: ScenarioRef) -> ScenarioRef:
    """Return another user's scenario with the same task, or else in the same domains.

    Some datasets have no task that two users share; then the same domains and kind suffice. The choice is
    random, and always the same for one seed. Raise `SpecError` if nobody else has such a scenario.
    """
    alike: ScenarioRef | None = None
    others = (user for user in dataset.users() if user != ref.user)
    for user in sorted(others, key=lambda user: digest(seed, ref.user, ref.task, user)):
        for candidate in dataset.refs(user):
            if (candidate.domains, candidate.kind) == (ref.domains, ref.kind):
                if candidate.task == ref.task:
                    return candidate
                alike = alike or candidate
    if alike is None:
        raise SpecError(
            f"--personalens-control other-user: nobody else in dataset {dataset.name!r} has a task"
            f" like {ref.id}",
            code="PL106",
        )
    return alike


class OtherUsers:
    """A scenario of another user for each scenario, chosen once by the rule `of_suite`."""

    def __init__(
        self,
        dataset: Dataset,
        seed: str,
        of_suite: Callable[[Dataset, str, ScenarioRef], ScenarioRef] = other_user_of,
    ) -> None:
        self._dataset, self._seed, self._of_suite = dataset, seed, of_suite
        self._by_ref: dict[ScenarioRef, ScenarioRef] = {}

    def of(self, ref: ScenarioRef) -> ScenarioRef:
        """Return the other user's scenario; raise `SpecError` if there is none."""
        if ref not in self._by_ref:
            self._by_ref[ref] = self._of_suite(self._dataset, self._seed, ref)
        return self._by_ref[ref]


#: Every fifth scenario is a multi-domain one: the benchmark has 24,018 of them among 122,133 (19.7 %).
MULTI_EVERY: Final = 5


def every_fifth_multi(drawn: Mapping[str, int]) -> Sequence[str]:
    """Return the kinds of PersonaLens; the next one to draw comes first."""
    multi = sum(drawn.values()) % MULTI_EVERY == MULTI_EVERY - 1
    return ("multi", "single") if multi else ("single", "multi")


class Sample(NamedTuple):
    """The drawn scenarios, or a shard's part of them; `drawn` of the `requested` ones were there.

    `elsewhere` counts those that other domains than the wanted ones hold, if all there are were drawn.
    """

    refs: tuple[ScenarioRef, ...]
    requested: int
    drawn: int
    elsewhere: int = 0

    def shard(self, number: int, of: int) -> Sample:
        """Return part `number` (from 1) of the `of` disjoint parts of this sample.

        A part is empty if there are more parts than scenarios. Each scenario goes to the part with the fewest
        scenarios of its kind, then the fewest of all, then the fewest of its domains. So the parts differ by
        at most one in number and in each kind (multi-domain dialogues are the longer ones).

        The part of a scenario depends only on the scenarios drawn before it. If the sample grows, every
        scenario stays in its part.
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
    within: Collection[str] = (),
    kind: str = "all",
    strata: Callable[[Mapping[str, int]], Sequence[str]] = every_fifth_multi,
    mend: str = "",
) -> Sample:
    """Draw `size` scenarios, spread over the domains.

    Users take turns in an order that the digest of (seed, user) decides. Each user gives the scenario whose
    domains were drawn least so far. The digest of (seed, user, task) breaks ties. So every choice depends
    only on earlier choices and stable ids: the first 30 of 60 scenarios are the same as a draw of 30. The
    draw reads only the files of the drawn users. With a `domains` filter, it also reads the files of users
    who turn out to have no such task.

    `users`, `domains` and `within` restrict the dataset before sampling. A multi-domain task belongs to each
    domain that it spans. If both are given, a scenario spans one of `domains` and one of `within`. Domain
    names ignore case. "7" stands for "user7" if the dataset has that user and no user "7". `kind` is "all",
    one kind, or several kinds separated by commas.

    `strata` gets how many scenarios of each stratum are drawn, and returns the strata in the order of
    preference. The draw takes the first stratum of which the user has a scenario left. The stratum of a
    scenario is its kind if the scenario names no other.

    Raise `SpecError` for an unknown user or domain; `mend` ends the text about a domain.
    """
    spans = [
        [_domain(name, dataset.domains(), mend) for name in names] for names in (domains, within) if names
    ]
    everyone = dataset.users()
    if users:
        present = set(everyone)
        # The official code names users by number, and the official data by folder.
        users = [f"user{u}" if u not in present and f"user{u}" in present else u for u in users]
        if missing := next((u for u in users if u not in present), ""):
            lower = missing.lower()
            near = [lower] if lower in present else get_close_matches(missing, everyone, 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            where = f"in dataset {dataset.name!r} ({len(everyone)} users)"
            raise SpecError(f"unknown user {missing!r} {where}{meant}", code="PL106")
    chosen: list[ScenarioRef] = []
    balances: defaultdict[str, _Balance] = defaultdict(_Balance)
    drawn: Counter[str] = Counter()
    elsewhere = 0
    left: dict[str, dict[str, _Groups]] = {}
    kinds = () if kind == "all" else kind.split(",")
    waiting = sorted(dict.fromkeys(users or everyone), key=lambda user: digest(seed, user))
    while waiting and len(chosen) < size:
        have_more = []
        for user in waiting:
            if user not in left:
                refs = dataset.refs(user)
                if spans or kinds:
                    of_kind = [ref for ref in refs if _matches(ref, (), kinds)]
                    refs = [ref for ref in of_kind if _matches(ref, spans, ())]
                    elsewhere += len(of_kind) - len(refs)
                left[user] = _grouped(refs, balances)
            stratum = next((name for name in strata(drawn) if left[user].get(name)), None)
            if stratum is None:
                continue
            groups = left[user][stratum]
            least = min([span.load for span in groups])
            _, span = min([(group.next(seed), span) for span, group in groups.items() if span.load == least])
            chosen.append(groups[span].pop())
            if not groups[span]:
                del groups[span]
            balances[stratum].count(span)
            drawn[stratum] += 1
            have_more.append(user)
            if len(chosen) == size:
                break
        waiting = have_more
    return Sample(tuple(chosen), size, len(chosen), elsewhere if len(chosen) < size else 0)


def _domain(name: str, domains: Collection[str], mend: str) -> str:
    """Return the domain in the spelling of the dataset; raise `SpecError` for an unknown one."""
    same = [domain for domain in domains if domain.lower() == name.lower()]
    if not same:
        meant = "".join(f"did you mean {near!r}? " for near in get_close_matches(name, domains, 1))
        raise SpecError(f"unknown domain {name!r}; {meant}known: {', '.join(domains)}{mend}", code="PL106")
    return name if name in same else same[0]


class _Span:
    """The domains of some scenarios of one stratum, and their mean number of draws."""

    __slots__ = ("domains", "load")

    def __init__(self, domains: tuple[str, ...]) -> None:
        self.domains, self.load = domains, 0.0


class _Group:
    """The scenarios of a user with the same domains that are not drawn yet, and their positions.

    All of them have the same load, so a choice compares one scenario of each group. They are sorted when they
    are first compared: a small draw ends before most groups are.
    """

    __slots__ = ("_sorted", "waiting")

    def __init__(self) -> None:
        #: The scenarios before the first comparison, each with its position.
        self.waiting: list[tuple[int, ScenarioRef]] = []
        self._sorted: list[tuple[bytes, int, ScenarioRef]] = []

    def next(self, seed: str) -> tuple[bytes, int, ScenarioRef]:
        """Return the next scenario to be drawn, with its digest and position."""
        if self.waiting:
            first = {ref: position for position, ref in reversed(self.waiting)}  # a dataset may repeat one
            self._sorted = sorted(
                [(digest(seed, ref.user, ref.task), position, ref) for ref, position in first.items()],
                reverse=True,
            )
            self.waiting = []
        return self._sorted[-1]

    def pop(self) -> ScenarioRef:
        """Remove the next scenario, and return it."""
        return self._sorted.pop()[2]

    def __bool__(self) -> bool:
        return bool(self._sorted or self.waiting)


_Groups = dict[_Span, _Group]


class _Balance:
    """The loads of all spans of one stratum, stored: a large draw asks for a load a million times."""

    def __init__(self) -> None:
        self._drawn: Counter[str] = Counter()
        self._spans: dict[tuple[str, ...], _Span] = {}
        self._with: defaultdict[str, list[_Span]] = defaultdict(list)

    def span(self, domains: tuple[str, ...]) -> _Span:
        """Return the span of these domains; there is one for each combination."""
        if domains not in self._spans:
            span = self._spans[domains] = _Span(domains)
            self._weigh(span)
            for name in set(domains):
                self._with[name].append(span)
        return self._spans[domains]

    def count(self, drawn: _Span) -> None:
        """Count one drawn scenario."""
        for name in drawn.domains:
            self._drawn[name] += 1
        for name in drawn.domains:
            for span in self._with[name]:
                self._weigh(span)

    def _weigh(self, span: _Span) -> None:
        span.load = sum([self._drawn[name] for name in span.domains]) / len(span.domains)


def _grouped(refs: Iterable[ScenarioRef], balances: defaultdict[str, _Balance]) -> dict[str, _Groups]:
    strata: defaultdict[str, _Groups] = defaultdict(dict)
    of: dict[tuple[str, tuple[str, ...]], _Group] = {}
    for placed in enumerate(refs):
        ref = placed[1]
        key = (ref.stratum or ref.kind, ref.domains)
        if key not in of:
            of[key] = strata[key[0]][balances[key[0]].span(ref.domains)] = _Group()
        of[key].waiting.append(placed)
    return strata


def _matches(ref: ScenarioRef, spans: Iterable[Collection[str]], kinds: Collection[str]) -> bool:
    return (not kinds or ref.kind in kinds) and not any(set(ref.domains).isdisjoint(span) for span in spans)
