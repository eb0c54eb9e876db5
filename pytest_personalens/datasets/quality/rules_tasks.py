"""Rules for tasks and situations: references have one meaning, and users have the tasks that fit them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.scenario import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_personalens.datasets.quality.corpus import Corpus, Place

#: The values of each part of a situation (paper, Figure 11). A location is free text.
SITUATION_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "device": ("Smartphone", "Laptop", "Tablet", "Smart speaker", "Smartwatch"),
    "time_of_day": ("Morning", "Afternoon", "Evening", "Night"),
    "day_of_week": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "environment": ("Quiet", "Noisy"),
}
_COMPARISON: Final = re.compile(r"\bcompar\w+|side by side|set against", re.IGNORECASE)


def references(corpus: Corpus) -> Iterator[Place]:
    """Every relevant preference type must exist, by that name, in a domain of the task."""
    uses = Counter(a.task for a in corpus.assignments)
    for task in corpus.tasks:
        for domain, name in task.relevant:
            homes = (domain,) if domain else task.domains
            if not any(name in corpus.catalogue[d] for d in homes):
                where = f"{' or '.join(homes)} ({uses[task.id]} scenario{'s' if uses[task.id] != 1 else ''})"
                yield task.file, f"{task.field}, {task.id}", f"no preference type {name!r} in {where}"


def ambiguous(corpus: Corpus) -> Iterator[Place]:
    """A reference must mean one preference type, not one in each of several domains."""
    for task in corpus.tasks:
        for domain, name in task.relevant:
            homes = [d for d in task.domains if name in corpus.catalogue[d]]
            if not domain and len(homes) > 1:
                yield task.file, f"{task.field}, {task.id}", f"{name!r} exists in {' and in '.join(homes)}"


def without_type(corpus: Corpus) -> Iterator[Place]:
    """Each domain of a task must have at least one relevant preference type."""
    for task in corpus.tasks:
        for domain in task.domains:
            # "Preferred Genres (Music)" means a type of Music; another rule reports the spelling.
            meant = {name.removesuffix(f" ({domain})") for d, name in task.relevant if d in (domain, "")}
            if task.relevant and len(task.domains) > 1 and not meant & corpus.catalogue[domain]:
                problem = f"no relevant preference type of {domain}"
                yield task.file, f"{task.field}, {task.id}", problem


def unused_types(corpus: Corpus) -> Iterator[Place]:
    """Every preference type must be relevant to some task; a type that no task needs tests nothing."""
    used = {
        (d, name) for t in corpus.tasks for home, name in t.relevant for d in ([home] if home else t.domains)
    }
    # A task without relevant types uses all types.
    used |= {(d, n) for t in corpus.tasks if not t.relevant for d in t.domains for n in corpus.catalogue[d]}
    for domain, names in corpus.catalogue.items():
        for name in sorted(names):
            if corpus.tasks and (domain, name) not in used:
                file = next((t.file for t in corpus.tasks if t.domains == (domain,)), corpus.tasks[0].file)
                yield file, domain, f"no task refers to {name!r}"


def mask_tasks(corpus: Corpus) -> Iterator[Place]:
    """A user must have exactly the tasks whose domains are all of interest."""
    have: dict[str, Counter[str]] = defaultdict(Counter)
    for a in corpus.assignments:
        have[a.user][a.task] += 1
    for person in corpus.people if corpus.tasks and corpus.shared else ():
        due = {t.id for t in corpus.tasks if set(t.domains) <= person.mask}
        own = have[person.id]
        twice = {task for task, number in own.items() if number > 1}
        for what, ids in (
            ("lacks", due - set(own)),
            ("has without interest", set(own) - due),
            ("has twice", twice),
        ):
            if ids:
                yield person.file, "interests", f"the user {what} {', '.join(sorted(ids))}"


def copies(corpus: Corpus) -> Iterator[Place]:
    """A user's copy of a task must be equal to the task."""
    master = {t.id: t for t in corpus.tasks}
    for a in corpus.assignments if corpus.shared and master else ():
        task, place = master.get(a.task), (a.file, f"{a.field}, {a.task}")
        if task is None:
            yield *place, "no such task in the task files"
        elif [n for _, n in task.relevant] != [n for _, n in a.relevant]:
            odd = sorted({n for _, n in a.relevant} ^ {n for _, n in task.relevant})
            yield *place, f"relevant types differ from the task's: {', '.join(odd)}"
        elif not task.facts and task.texts != a.texts:  # facts are filled in for each scenario
            yield *place, "description, intent or goal differs from the task's"


def situations(corpus: Corpus) -> Iterator[Place]:
    """A situation must hold listed values, a real place and a device that fits: no smart speaker outside.

    What a dataset does not tell of it is no fault.
    """
    for a in corpus.assignments:
        field = f"{a.field}, {a.task}"
        for part, listed in SITUATION_VALUES.items():
            if (value := a.situation.get(part)) not in (*listed, UNKNOWN):
                yield a.file, f"{field}: {part}", f"{value!r} is not one of: {', '.join(listed)}"
        location = a.situation.get("location", "")
        if not location.strip() or re.search(r"\[.*\]", location):
            yield a.file, f"{field}: location", f"a placeholder, not a place: {location!r}"
        if a.at_home is False and a.situation.get("device") == "Smart speaker":
            yield a.file, f"{field}: device", f"a smart speaker at {location!r}"


def small_screens(corpus: Corpus) -> Iterator[Place]:
    """A task on a smartwatch must not be a long comparison."""
    for task in corpus.tasks:
        if "Smartwatch" in task.devices and _COMPARISON.search(" ".join(task.texts)):
            yield task.file, f"{task.field}: devices", "a comparison on a smartwatch"
