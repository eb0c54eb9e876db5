"""Lays out the files of a dataset from what was made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.text.safe_text import slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_personalens.datasets.embedded.building.build_plan import Plan
    from pytest_personalens.datasets.embedded.building.model_pieces import Answer

#: A sentence that stands for a history that is not made yet.
_STUB_HISTORY: Final = "What {} tells the assistant about {} is kept there for the next time."


class File(NamedTuple):
    """The content of a file, and the keys of the pieces that it is made of."""

    table: dict[str, Any]
    pieces: Sequence[str] = ()


@dataclass
class Person:
    """One person as far as made; `number` is the place in the dataset, from 1.

    `again` is true of somebody who was made anew, because another one got the same name at the same time.
    """

    number: int
    demographics: dict[str, str]
    domains: list[str]
    about: Answer = field(default_factory=dict)
    preferences: dict[str, dict[str, Any]] = field(default_factory=dict)
    histories: dict[str, Answer] = field(default_factory=dict)
    again: bool = False

    @property
    def key(self) -> str:
        """Return the key of the person's first piece."""
        return f"person-{self.number:04}{'-again' * self.again}"

    def profile(self, domains: Iterable[str] = ()) -> dict[str, Any]:
        """Return the table of the person's file for some of the domains."""
        return {
            "name": self.about.get("name"),
            "demographics": self.demographics,
            "routine": self.about.get("routine"),
            "domains": {name: dict(self.preferences[name]) for name in domains},
        }


def lay_out(
    plan: Plan, tasks: Mapping[str, Mapping[int, Answer]], people: Sequence[Person]
) -> dict[str, File]:
    """Return the files of a dataset, by path.

    `tasks` are by domain and by number in the plan; those over several domains are of the domain ``multi``.
    A person without a history in a domain gets a sentence as its summary.
    """
    files = {"dataset.toml": File({"name": plan.name, "version": plan.version})}
    for domain in plan.domains:
        entry = domain.model_dump(exclude={"interest", "tasks"}, exclude_defaults=True, mode="json")
        path = f"domains/{slug(domain.name)}.toml"
        files[path] = _with_tasks(slug(domain.name), entry, tasks.get(domain.name, {}))
    if tasks.get("multi"):
        files["multi.toml"] = _with_tasks("multi", {}, tasks["multi"])
    for person, user in zip(people, user_ids(people), strict=True):
        profile = person.profile(person.domains)
        files[f"profiles/{user}.toml"] = File(profile, (person.key, f"{person.key}-preferences"))
        for name in person.domains:
            if name in person.histories:
                path = f"histories/{user}/{slug(name)}.toml"
                files[path] = File(person.histories[name], (f"{person.key}-{slug(name)}",))
            else:
                text = _STUB_HISTORY.format(person.about.get("name"), name)
                profile["domains"][name].setdefault("summary", text)
    return files


def _with_tasks(key: str, entry: dict[str, Any], tasks: Mapping[int, Answer]) -> File:
    numbered = [{**task, "number": number} for number, task in enumerate(tasks.values(), 1)]
    return File({**entry, "tasks": numbered}, [f"task-{key}-{number}" for number in tasks])


def user_ids(people: Sequence[Person]) -> list[str]:
    """Return the id of each person: the first name, or all of the name if that is taken."""
    ids: list[str] = []
    for person in people:
        name = str(person.about.get("name") or "").strip() or "nobody"
        first = slug(name.split()[0])
        ids.append(first if first not in ids else slug(f"{name} {person.number}"))
    return ids


def stand_in(plan: Plan, demographics: dict[str, str], about: Answer | None = None) -> Person:
    """Return a person with some values in every domain of the plan."""
    routine = {"home": "a house", "work": "an office", "out": "a park", "devices": ["Smartphone"]}
    person = Person(
        0, demographics, [d.name for d in plan.domains], about or {"name": "Nobody", "routine": routine}
    )
    for domain in plan.domains:
        held = {
            name: spec.values[0] if spec.values else "something" for name, spec in domain.preferences.items()
        }
        person.preferences[domain.name] = {
            name: [value] if domain.preferences[name].multiple else value for name, value in held.items()
        }
    return person
