"""Rules for tasks and situations.

Every reference must have one meaning, and every user must have exactly the tasks that fit the user's
interests.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.suite.data_check import Finding
from pytest_personalens.datasets.quality.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The values of each part of a situation (paper, Figure 11). A location is free text.
SITUATION_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "device": ("Smartphone", "Laptop", "Tablet", "Smart speaker", "Smartwatch"),
    "time_of_day": ("Morning", "Afternoon", "Evening", "Night"),
    "day_of_week": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "environment": ("Quiet", "Noisy"),
}


def references(corpus: Corpus) -> Iterator[Finding]:
    """Every relevant preference type must exist, by that name, in a domain of the task."""
    catalogue = corpus.catalogue
    uses = Counter(a.task for a in corpus.assignments)
    for task in corpus.tasks:
        for domain, name in task.relevant:
            if not any(name in catalogue[d] for d in ((domain,) if domain else task.domains)):
                where = " or ".join((domain,) if domain else task.domains)
                message = f"no preference type {name!r} in {where} ({uses[task.id]} scenarios)"
                yield Finding("reference", task.file, f"{task.field}, {task.id}", message)


def ambiguous(corpus: Corpus) -> Iterator[Finding]:
    """A reference must mean one preference type, not one in each of several domains."""
    catalogue = corpus.catalogue
    for task in corpus.tasks:
        for domain, name in task.relevant:
            homes = [d for d in task.domains if name in catalogue[d]]
            if not domain and len(homes) > 1:
                yield Finding(
                    "ambiguous",
                    task.file,
                    f"{task.field}, {task.id}",
                    f"{name!r} exists in {' and in '.join(homes)}",
                )


def without_type(corpus: Corpus) -> Iterator[Finding]:
    """Each domain of a task must have at least one relevant preference type."""
    catalogue = corpus.catalogue
    for task in corpus.tasks:
        for domain in task.domains:
            # "Preferred Genres (Music)" means a type of Music in any spelling. Another rule reports the
            # spelling.
            meant = {_bare(name, domain) for d, name in task.relevant if d in (domain, "")}
            if task.relevant and len(task.domains) > 1 and not meant & catalogue[domain]:
                yield Finding(
                    "no-type",
                    task.file,
                    f"{task.field}, {task.id}",
                    f"no relevant preference type of {domain}",
                )


def unused_types(corpus: Corpus) -> Iterator[Finding]:
    """Every preference type must be relevant to some task.

    A type that no task needs tests nothing.
    """
    catalogue = corpus.catalogue
    used = {
        (d, name) for t in corpus.tasks for dom, name in t.relevant for d in ((dom,) if dom else t.domains)
    }
    # A task without relevant types uses all types.
    used |= {(d, name) for t in corpus.tasks if not t.relevant for d in t.domains for name in catalogue[d]}
    for domain, names in catalogue.items():
        for name in sorted(names):
            if corpus.tasks and (domain, name) not in used:
                file = next((t.file for t in corpus.tasks if t.domains == (domain,)), corpus.tasks[0].file)
                yield Finding("unused-type", file, domain, f"no task refers to {name!r}")


def mask_tasks(corpus: Corpus) -> Iterator[Finding]:
    """A user must have exactly the tasks whose domains are all of interest."""
    due: dict[str, set[str]] = {
        p.id: {t.id for t in corpus.tasks if set(t.domains) <= p.mask} for p in corpus.people
    }
    have: dict[str, Counter[str]] = defaultdict(Counter)
    for a in corpus.assignments:
        have[a.user][a.task] += 1
    for person in corpus.people if corpus.tasks and corpus.shared else ():
        missing, extra = due[person.id] - set(have[person.id]), set(have[person.id]) - due[person.id]
        twice = {t for t, n in have[person.id].items() if n > 1}
        for what, ids in (("lacks", missing), ("has without interest", extra), ("has twice", twice)):
            if ids:
                yield Finding(
                    "mask-tasks", person.file, "interests", f"the user {what} {', '.join(sorted(ids))}"
                )


def copies(corpus: Corpus) -> Iterator[Finding]:
    """A user's copy of a task must be equal to the task."""
    master = {t.id: t for t in corpus.tasks}
    for a in corpus.assignments if corpus.shared else ():
        task = master.get(a.task)
        if task is None:
            if master:
                yield Finding("task-copy", a.file, f"{a.field}, {a.task}", "no such task in the task files")
        elif [n for _, n in task.relevant] != [n for _, n in a.relevant]:
            odd = sorted({n for _, n in a.relevant} ^ {n for _, n in task.relevant})
            yield Finding(
                "task-copy",
                a.file,
                f"{a.field}, {a.task}",
                f"relevant types differ from the task's: {', '.join(odd)}",
            )
        elif not task.facts and task.texts != a.texts:  # facts are filled in for each scenario
            yield Finding(
                "task-copy",
                a.file,
                f"{a.field}, {a.task}",
                "description, intent or goal differs from the task's",
            )


def situations(corpus: Corpus) -> Iterator[Finding]:
    """A situation must hold listed values, a real place and a fitting device.

    A smart speaker, for example, fits only at home.
    """
    for a in corpus.assignments:
        for part, listed in SITUATION_VALUES.items():
            value = a.situation.get(part)
            if value not in listed:
                yield Finding(
                    "situation",
                    a.file,
                    f"{a.field}, {a.task}: {part}",
                    f"{value!r} is not one of: {', '.join(listed)}",
                )
        location = a.situation.get("location", "")
        if not location.strip() or re.search(r"\[.*\]", location):
            yield Finding(
                "situation",
                a.file,
                f"{a.field}, {a.task}: location",
                f"a placeholder, not a place: {location!r}",
            )
        if a.at_home is False and a.situation.get("device") == "Smart speaker":
            yield Finding(
                "situation", a.file, f"{a.field}, {a.task}: device", f"a smart speaker at {location!r}"
            )


def small_screens(corpus: Corpus) -> Iterator[Finding]:
    """A task on a smartwatch must not be a long comparison."""
    for task in corpus.tasks:
        if "Smartwatch" in task.devices and re.search(
            r"\bcompar\w+|side by side|set against", " ".join(task.texts), re.IGNORECASE
        ):
            yield Finding("situation", task.file, f"{task.field}: devices", "a comparison on a smartwatch")


def _bare(name: str, domain: str) -> str:
    return name.removesuffix(f" ({domain})")
