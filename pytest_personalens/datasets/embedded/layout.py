"""Finds every problem in a file of the embedded layout, each with its field."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, get_args

from pytest_personalens.core.scenario import Kind
from pytest_personalens.core.text.slugs import slug
from pytest_personalens.datasets.world.dates import FIRST_DAY
from pytest_personalens.datasets.world.placeholders import placeholder_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_personalens.datasets.embedded.entries import Domain, MultiTasks, ProfileEntry, TaskEntry
    from pytest_personalens.datasets.world.entries import HistoryEntry

#: A field and the problem with it.
Problem = tuple[str, str]
#: The names of the kinds of tasks. Gates and selections use them in the same place as the names of domains.
TASK_KINDS: Final[tuple[str, ...]] = get_args(Kind)


def name_problems(
    stem: str, name: str, earlier: Mapping[str, str], kinds: Sequence[str] = TASK_KINDS
) -> Iterator[Problem]:
    """Yield the problems with the name of a domain in the file `stem`.

    `earlier` maps slugs to the domains before it. `kinds` are names that no domain may have.
    """
    own_slug = slug(name)
    if not name.strip():
        yield "name", "expected a text that is not empty"
    elif own_slug in kinds:
        yield "name", f"{name!r} is a kind of task; give the domain another name"
    elif own_slug in earlier:
        yield (
            "name",
            f"{name!r} and {earlier[own_slug]!r} share the slug {own_slug!r}; give one of them another name",
        )
    elif own_slug != stem:
        yield "name", f"the domain {name!r} belongs in the file {own_slug}.toml"


def domain_problems(domain: Domain) -> Iterator[Problem]:
    """Yield the problems with the preference types and the tasks of a domain."""
    for name, spec in domain.preferences.items():
        if (spec.kind == "categorical") != bool(spec.values):
            expected = (
                "a categorical type needs the list of its values"
                if not spec.values
                else "an open type has no list of values"
            )
            yield f"preferences.{name}.values", expected
        yield from ((f"preferences.{name}.values", f"{v!r} stands there twice") for v in _twice(spec.values))
        if name == "summary":
            yield f"preferences.{name}", "'summary' is a field of profiles; give the type another name"
    yield from _numbers(domain.tasks)
    for task in domain.tasks:
        yield from task_problems(task)
        field = f"tasks.{task.number}.relevant"
        yield from ((field, f"{name!r} stands there twice") for name in _twice(task.relevant))
        yield from (
            (field, f"no preference type {n!r} in this domain")
            for n in task.relevant
            if n not in domain.preferences
        )


def multi_problems(multi: MultiTasks, domains: Mapping[str, Domain | None]) -> Iterator[Problem]:
    """Yield the problems with tasks over several domains; an unreadable domain is None in `domains`."""
    yield from _numbers(multi.tasks)
    for task in multi.tasks:
        yield from task_problems(task)
        field = f"tasks.{task.number}"
        if len(set(task.domains)) < len(task.domains):
            yield f"{field}.domains", "a domain stands there twice"
        yield from (
            (f"{field}.domains", unknown(name, domains)) for name in task.domains if name not in domains
        )
        for name, types in task.relevant.items():
            if name not in task.domains:
                yield f"{field}.relevant", f"{name!r} is not among the task's domains"
            yield from (
                (f"{field}.relevant.{name}", f"{twice!r} stands there twice") for twice in _twice(types)
            )
            read = domains.get(name)
            has = types if read is None else read.preferences
            yield from (
                (f"{field}.relevant.{name}", f"no preference type {n!r} in {name}")
                for n in types
                if n not in has
            )


def task_problems(task: TaskEntry) -> Iterator[Problem]:
    """Yield the problems with the places of facts in the texts of a task."""
    names = task.fact_names()
    for field, text in (("intent", task.intent), ("goal", task.goal)):
        yield from (
            (f"tasks.{task.number}.{field}", problem) for problem in placeholder_problems(text, names)
        )
    for number, part in enumerate(task.parts, 1):
        field = f"tasks.{task.number}.parts.{number}"
        yield from ((field, problem) for problem in placeholder_problems(part.text, names))
        yield from (
            (f"{field}.facts", f"no fact {name!r}; known: {', '.join(names) or 'none'}")
            for name in part.facts
            if name not in names
        )


def profile_problems(
    profile: ProfileEntry,
    domains: Mapping[str, Domain | None],
    *,
    histories: Collection[str] = (),
    limits: Collection[str] = (),
) -> Iterator[Problem]:
    """Yield the problems with the interests, preferences and limits of a person.

    `histories` are the domains with a file of ``histories/``, `limits` the names in ``limits.toml``.
    """
    if not profile.domains:
        yield "domains", "no domain of interest"
    for name, entry in profile.domains.items():
        if name not in domains:
            yield f"domains.{name}", unknown(name, domains)
            continue
        summary = entry.get("summary", "")
        if name in histories and "summary" in entry:
            yield f"domains.{name}.summary", "a file of histories/ tells of it too; leave out one of them"
        elif name not in histories and (not isinstance(summary, str) or not summary.strip()):
            yield (
                f"domains.{name}.summary",
                "expected one text" if "summary" in entry else "the field is missing",
            )
        if (domain := domains[name]) is not None:
            yield from _preferences(domain, entry)
    for number, limit in enumerate(profile.limits, 1):
        if not limit.words and limit.name not in limits:
            yield (
                f"limits.{number}.words",
                f"a limit without words, and limits.toml does not know {limit.name!r}; list what breaks it",
            )
        yield from (
            (f"limits.{number}.domains", f"{name!r} is no domain of interest of this person")
            for name in limit.domains
            if name not in profile.domains
        )


def history_problems(history: HistoryEntry) -> Iterator[Problem]:
    """Yield the problems with the dates of a person's dealings."""
    for number, dealing in enumerate(history.dealings, 1):
        if dealing.date >= FIRST_DAY.isoformat():
            yield (
                f"dealings.{number}.date",
                f"{dealing.date} lies after the first day of the scenarios, {FIRST_DAY.isoformat()}",
            )


def unknown(name: str, names: Iterable[str]) -> str:
    """Return the message for a domain that is none of `names`."""
    return f"unknown domain {name!r}; known: {', '.join(names)}"


def _numbers(tasks: Sequence[TaskEntry]) -> Iterator[Problem]:
    for expected, task in enumerate(tasks, 1):
        if task.number != expected:
            yield (
                f"tasks.{task.number}.number",
                f"expected {expected}: tasks are numbered 1, 2, 3, ... in the file",
            )


def _preferences(domain: Domain, entry: Mapping[str, str | tuple[str, ...]]) -> Iterator[Problem]:
    for name, spec in domain.preferences.items():
        field = f"domains.{domain.name}.{name}"
        if name not in entry:
            yield field, "the field is missing"
            continue
        value = entry[name]
        if isinstance(value, str) == spec.multiple:
            yield field, "expected a list of texts" if spec.multiple else "expected one text"
            continue
        values = (value,) if isinstance(value, str) else value
        if any(not v.strip() for v in values):
            yield field, "expected a text that is not empty"
        elif _twice(values):
            yield field, "a value stands there twice"
        elif spec.kind == "categorical":
            yield from (
                (field, f"{v!r} is not one of: {', '.join(spec.values)}")
                for v in values
                if v not in spec.values
            )
    for name in entry:
        if name != "summary" and name not in domain.preferences:
            yield f"domains.{domain.name}.{name}", f"no such preference type in {domain.name}"


def _twice(values: Collection[str]) -> list[str]:
    if len(set(values)) == len(values):
        return []
    return [value for value, times in Counter(values).items() if times > 1]
