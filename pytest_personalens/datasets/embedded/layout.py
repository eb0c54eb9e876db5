"""Finds every problem in a file of the embedded layout, each with its field."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, get_args

from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import Kind
from pytest_personalens.datasets.world.dates import FIRST_DAY
from pytest_personalens.datasets.world.resolve import placeholder_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_personalens.datasets.embedded.dataset_entries import (
        Domain,
        MultiTasks,
        ProfileEntry,
        TaskEntry,
    )
    from pytest_personalens.datasets.world.fact_entries import HistoryEntry

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
        same = f"{name!r} and {earlier[own_slug]!r} share the slug {own_slug!r}"
        yield "name", f"{same}; give one of them another name"
    elif own_slug != stem:
        yield "name", f"the domain {name!r} belongs in the file {own_slug}.toml"


def domain_problems(domain: Domain) -> Iterator[Problem]:
    """Yield the problems with the preference types and the tasks of a domain."""
    for name, spec in domain.preferences.items():
        if (spec.kind == "categorical") != bool(spec.values):
            needs, has = (
                "a categorical type needs the list of its values",
                "an open type has no list of values",
            )
            yield f"preferences.{name}.values", has if spec.values else needs
        yield from ((f"preferences.{name}.values", f"{v!r} stands there twice") for v in _twice(spec.values))
        strangers = [value for value in spec.synonyms if spec.values and value not in spec.values]
        yield from (
            (f"preferences.{name}.synonyms", f"no value {value!r} in 'values'") for value in strangers
        )
        if name == "summary":
            yield f"preferences.{name}", "'summary' is a field of profiles; give the type another name"
    yield from _numbers(domain.tasks)
    for task in domain.tasks:
        yield from task_problems(task)
        field = f"tasks.{task.number}.relevant"
        yield from ((field, f"{name!r} stands there twice") for name in _twice(task.relevant))
        strange = [name for name in task.relevant if name not in domain.preferences]
        yield from ((field, f"no preference type {name!r} in this domain") for name in strange)


def multi_problems(multi: MultiTasks, domains: Mapping[str, Domain | None]) -> Iterator[Problem]:
    """Yield the problems with tasks over several domains; an unreadable domain is None in `domains`."""
    yield from _numbers(multi.tasks)
    for task in multi.tasks:
        yield from task_problems(task)
        field = f"tasks.{task.number}"
        if len(set(task.domains)) < len(task.domains):
            yield f"{field}.domains", "a domain stands there twice"
        strange = [name for name in task.domains if name not in domains]
        yield from ((f"{field}.domains", unknown(name, domains)) for name in strange)
        for name, types in task.relevant.items():
            if name not in task.domains:
                yield f"{field}.relevant", f"{name!r} is not among the task's domains"
            here, domain = f"{field}.relevant.{name}", domains.get(name)
            yield from ((here, f"{twice!r} stands there twice") for twice in _twice(types))
            lacking = [t for t in types if domain is not None and t not in domain.preferences]
            yield from ((here, f"no preference type {t!r} in {name}") for t in lacking)


def task_problems(task: TaskEntry) -> Iterator[Problem]:
    """Yield the problems with the places of facts in the texts of a task."""
    names = task.fact_names()
    parts = [(f"parts.{number}", part.text) for number, part in enumerate(task.parts, 1)]
    for field, text in (("intent", task.intent), ("goal", task.goal), *parts):
        problems = placeholder_problems(text, names)
        yield from ((f"tasks.{task.number}.{field}", problem) for problem in problems)
    for number, part in enumerate(task.parts, 1):
        for name in (name for name in part.facts if name not in names):
            problem = f"no fact {name!r}; known: {', '.join(names) or 'none'}"
            yield f"tasks.{task.number}.parts.{number}.facts", problem


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
            problem = "expected one text" if "summary" in entry else "the field is missing"
            yield f"domains.{name}.summary", problem
        if (domain := domains[name]) is not None:
            yield from _preferences(domain, entry)
    for number, limit in enumerate(profile.limits, 1):
        if not limit.words and limit.name not in limits:
            problem = (
                f"a limit without words, and limits.toml does not know {limit.name!r}; list what breaks it"
            )
            yield f"limits.{number}.words", problem
        for name in (name for name in limit.domains if name not in profile.domains):
            yield f"limits.{number}.domains", f"{name!r} is no domain of interest of this person"


def history_problems(history: HistoryEntry) -> Iterator[Problem]:
    """Yield the problems with the dates of a person's dealings."""
    for number, dealing in enumerate(history.dealings, 1):
        if dealing.date >= FIRST_DAY.isoformat():
            problem = f"{dealing.date} lies after the first day of the scenarios, {FIRST_DAY.isoformat()}"
            yield f"dealings.{number}.date", problem


def unknown(name: str, names: Iterable[str]) -> str:
    """Return the message for a domain that is none of `names`."""
    return f"unknown domain {name!r}; known: {', '.join(names)}"


def _numbers(tasks: Sequence[TaskEntry]) -> Iterator[Problem]:
    for expected, task in enumerate(tasks, 1):
        if task.number != expected:
            problem = f"expected {expected}: tasks are numbered 1, 2, 3, ... in the file"
            yield f"tasks.{task.number}.number", problem


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
            strange = [v for v in values if v not in spec.values]
            yield from ((field, f"{v!r} is not one of: {', '.join(spec.values)}") for v in strange)
    for name in entry:
        if name != "summary" and name not in domain.preferences:
            yield f"domains.{domain.name}.{name}", f"no such preference type in {domain.name}"


def _twice(values: Collection[str]) -> list[str]:
    if len(set(values)) == len(values):
        return []
    return [value for value, times in Counter(values).items() if times > 1]
