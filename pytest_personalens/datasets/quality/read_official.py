"""Reads the official data as it stands in the files, so that the rules can report irregularities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_personalens.core.errors import DataError, short_repr
from pytest_personalens.core.files.json_lines import read_json_lines
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.core.text.slugs import slug
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.official.official import (
    SITUATION,
    TASK_ID,
    OfficialDataset,
    read_json,
    table_in,
    text_in,
    texts_in,
)
from pytest_personalens.datasets.quality.corpus import Assignment, Corpus, Person, TaskText, TypeName

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read_official(data: OfficialDataset) -> Corpus:
    """Return the official data as a corpus."""
    corpus = Corpus(f"{data.name} {data.version}")
    embedded = EmbeddedDataset()
    type_specs = {(d, t): spec for d in DOMAINS for t, spec in embedded.domain(d).preferences.items()}
    for tasks_file in sorted((data.root / "task").glob("*/task.jsonl")):
        with corpus.recording_errors():
            corpus.tasks += list(_official_tasks(tasks_file))
    with corpus.recording_errors():
        listed = _catalogue(data.root.parent / "res" / "schema.json")
        corpus.possible = {name: count for name, count in listed.items() if count is not None}
        corpus.kinds = {name: "open" if count is None else "categorical" for name, count in listed.items()}
    for user in data.users():
        folder = data.root / "profile" / user
        with corpus.recording_errors():
            person = _official_person(user, folder / "profile.json")
            corpus.people.append(person)
            for d, t in person.preferences:
                spec = type_specs.get((d, t.replace("Favourite", "Favorite")))
                if spec is not None:
                    corpus.types.setdefault((d, t), spec.model_copy(update={"values": ()}))
        for name in ("tasks.json", "tasks_md.json"):
            with corpus.recording_errors():
                for position, task in read_json(folder / name).items():
                    with corpus.recording_errors():
                        corpus.assignments.append(_official_assignment(user, folder / name, position, task))
    return corpus


def _catalogue(file: Path) -> dict[TypeName, int | None]:
    """Return each official preference type with its number of possible values, None for an open type."""
    if not file.is_file():
        return {}
    types: dict[TypeName, int | None] = {}
    for place, entry in enumerate(read_json(file, list)):
        affinities = entry.get("affinities") if isinstance(entry, dict) else None
        if not isinstance(affinities, list) or not isinstance(entry.get("domain"), str):
            raise DataError(file, "expected an object with domain and affinities", field=f"[{place}]")
        for number, spec in enumerate(affinities):
            if not isinstance(spec, dict) or not isinstance(spec.get("name"), str):
                here = f"[{place}].affinities[{number}]"
                raise DataError(file, "expected an object with a name", field=here)
            values: Any = spec.get("possible_values")
            listed = isinstance(values, list) and spec.get("is_categorical") in (True, "True", "true")
            types[entry["domain"], spec["name"]] = len(values) if listed else None
    return types


def _official_person(user: str, file: Path) -> Person:
    raw = read_json(file)
    demographics, interests = table_in(file, raw, "demographics"), table_in(file, raw, "interests")
    affinities, interactions = table_in(file, raw, "affinities"), table_in(file, raw, "interactions")
    for name, texts in (("demographics", demographics), ("interactions", interactions)):
        for key, value in texts.items():
            if not isinstance(value, str):
                raise DataError(file, "expected a text", field=f"{name}.{key}")
    for domain, interest in interests.items():
        if interest not in (0, 1):
            problem = f"expected 0 or 1, found {short_repr(interest, 40)}"
            raise DataError(file, problem, field=f"interests.{domain}")
    return Person(
        user, str(file), {k: v for k, v in demographics.items() if k != "user_id"},
        {(d, t): _values(file, d, t, v) for d in affinities for t, v in table_in(file, affinities, d,
        "affinities.").items()},
        interactions, interests, ("affinities.{0}.{1}", "interactions.{0}"),
    )  # fmt: skip


def _official_assignment(user: str, file: Path, position: str, task: Any) -> Assignment:
    text = _task_text(file, position, task, task.get("Relevant Domains") if isinstance(task, dict) else None)
    table = table_in(file, task, "situations", f"{position}: ")
    situations = {
        field: text_in(file, table.get(label), f"{position}: situations.{label}")
        for field, label in SITUATION.items()
    }
    return Assignment(
        user, text.id, text.file, text.field, text.domains, text.relevant, text.texts, situations
    )


def _official_tasks(file: Path) -> Iterator[TaskText]:
    for line in read_json_lines(file):
        task, where = line.value(), line.where
        if not isinstance(task, dict):
            raise DataError(file, "not a task of the official layout", field=where)
        domains = task.get("Relevant Domains") or [file.parent.name]
        stem = "MD" if file.parent.name == "Multi-Domain" else f"SD-{file.parent.name}"
        yield _task_text(
            file, where, {**task, "task_id": f"{stem}-task-{task.get('Task Number', line.number)}"}, domains
        )


def _task_text(file: Path, field: str, task: Any, domains: object) -> TaskText:
    task = task if isinstance(task, dict) else {}
    match = TASK_ID.fullmatch(str(task.get("task_id")))
    texts = tuple(task.get(part) for part in ("Task Description", "User Intent", "Task Goal"))
    if match is None or not all(isinstance(text, str) and text.strip() for text in texts):
        raise DataError(
            file, "not a task of the official layout (task_id, description, intent, goal)", field=field
        )
    if not isinstance(domains, list) or not domains or any(d not in DOMAINS for d in domains):
        raise DataError(
            file,
            f"expected a list of domains, found {short_repr(domains, 60)}",
            field=f"{field}: Relevant Domains",
        )
    names = tuple(domains)
    # A name alone is clear for one domain. For several domains it may mean several types.
    types = texts_in(file, task.get("Relevant Affinity Types"), f"{field}: Relevant Affinity Types")
    relevant = tuple((names[0] if len(names) == 1 else "", name) for name in types)
    task_id = f"{slug(match['domain']) if match['domain'] else 'multi'}-{match['number']}"
    return TaskText(task_id, str(file), field, names, relevant, (str(texts[0]), str(texts[1]), str(texts[2])))


def _values(file: Path, domain: str, name: str, value: object) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if isinstance(values, list) and all(isinstance(v, str) and v.strip() for v in values):
        return tuple(values)
    raise DataError(
        file, "expected a text or a list of texts, none of them empty", field=f"affinities.{domain}.{name}"
    )
