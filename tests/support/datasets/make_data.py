"""Writes the data files of the package, ``pytest_personalens/data``, from those that people edit (``make data``).

All is checked before it is written, so that no run checks it again.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import Fields
from pytest_personalens.core.scenario import Scenario
from pytest_personalens.datasets.dataset import read_toml
from pytest_personalens.datasets.embedded.dataset_files import EmbeddedFiles
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset
from pytest_personalens.datasets.world.written import values_beside
from pytest_personalens.suites.memory.arc_files import open_arcs
from pytest_personalens.suites.questions.questions import ABSTAIN
from pytest_personalens.suites.questions.questions_suite import OWN_DOMAINS
from tests.support.repository import ROOT

SOURCE = ROOT / "data"
PACKAGED = ROOT / "pytest_personalens" / "data"
#: A question that has as many wrong values is also asked with options.
OPTIONS = 3
Row = dict[str, Any]


def packaged_files(source: Path) -> dict[str, str]:
    """Return the text of each data file of the package by its name; raise `DataError` for the first problem."""
    dataset, suites = EmbeddedDataset(source), source / "suites"
    files = dataset.files  # the same ones, so that each is read once
    assert isinstance(files, EmbeddedFiles)
    for problem in files.problems():
        raise problem
    digest = questions_digest(suites / "questions")
    head = {"name": files.name, "version": files.version, "questions": digest, "tasks": files.task_names()}
    scenarios = {user: [dataset.load(ref) for ref in dataset.refs(user)] for user in dataset.users()}
    told = {user: lines(histories(files, user)) for user in files.users()}
    shared = shared_facts(one for loaded in scenarios.values() for one in loaded)
    facts = {user: lines(facts_of(one, shared) for one in loaded) for user, loaded in scenarios.items()}
    blocks = {"histories": places(told), "facts": places(facts)}
    posts = suites / "personaconv"
    return {
        "head.json": text(head) + "\n",
        "domains.jsonl": lines(domains(files)),
        "tasks.jsonl": lines(tasks(files, shared)),
        "profiles.jsonl": lines(profiles(files, blocks)),
        "histories.jsonl": "".join(told.values()),
        "facts.jsonl": "".join(facts.values()),
        "arcs.jsonl": lines(arcs(files, suites / "memory")),
        "questions.jsonl": lines(questions(files, suites / "questions")),
        "personaconv/dataset.toml": (posts / "dataset.toml").read_text(encoding="utf-8"),
        "personaconv/posts.json": text(read_posts(posts)) + "\n",
        "anchors.jsonl": (source / "agreement" / "anchors.jsonl").read_text(encoding="utf-8"),
        "LICENSE": (source / "LICENSE").read_text(encoding="utf-8"),
    }


def text(value: Any) -> str:
    """Return the shortest JSON of a value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lines(rows: Iterable[Row]) -> str:
    """Return the rows as JSON lines."""
    return "".join(f"{text(row)}\n" for row in rows)


def places(blocks: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Return the first byte of each block of a file, and the one after its last."""
    ends = list(accumulate(len(block.encode()) for block in blocks.values()))
    return dict(zip(blocks, zip([0, *ends], ends, strict=False), strict=True))


def domains(files: EmbeddedFiles) -> Iterator[Row]:
    """Yield the words and the preference types of each domain."""
    for name in files.domains():
        row = files.domain(name).model_dump(mode="json", exclude_defaults=True, exclude={"name", "tasks"})
        yield {"id": name, **row}


def shared_facts(scenarios: Iterable[Scenario]) -> dict[str, list[list[Any]]]:
    """Return what is the same of the facts of each task for all people; `known` is empty where it differs."""
    found: dict[str, list[list[Any]]] = {}
    for scenario in scenarios:
        own = [[f.name, f.what, f.kind, f.known, f.every, f.rule] for f in scenario.task.facts]
        for known, other in zip(found.setdefault(scenario.task.id, own), own, strict=True):
            known[3] = known[3] if known[3] == other[3] else ""
            assert [*known[:3], *known[4:]] == [*other[:3], *other[4:]]
    return found


def tasks(files: EmbeddedFiles, facts: Mapping[str, list[list[Any]]]) -> Iterator[Row]:
    """Yield each task with its kind, its domains, and of its facts what is the same for all people."""
    entries = (task for _, task in files.tasks())
    for (name, kind, of_task), entry in zip(files.task_names(), entries, strict=True):
        row = entry.model_dump(mode="json", exclude={"parts", "facts"})
        parts = [part.model_dump(mode="json") for part in entry.parts]
        yield {"id": name, "kind": kind, **row, "domains": of_task, "parts": parts, "facts": facts[name]}


def facts_of(scenario: Scenario, shared: Mapping[str, list[list[Any]]]) -> Row:
    """Return what the facts of a task are for one person, and the things that exist.

    A fact is the values that are right and wrong (null: the neighbours of the right ones), then its example if
    that is not the first right value, then where it is known if people differ in that.
    """
    facts = []
    for f, (_, _, _, known, _, _) in zip(scenario.task.facts, shared[scenario.task.id], strict=True):
        wrong = None if f.wrong == values_beside(f.kind, f.right) else f.wrong
        example = [] if f.right and f.example == f.right[0] else [f.example]
        facts.append([f.right, wrong, *example, *([] if known else [f.known])])
    things = [thing.model_dump(mode="json") for thing in scenario.task.things]
    return {"id": scenario.task.id, "facts": facts, **({"things": things} if things else {})}


def profiles(files: EmbeddedFiles, blocks: Mapping[str, Mapping[str, tuple[int, int]]]) -> Iterator[Row]:
    """Yield each person with the words of their limits, and the places of their blocks in other files."""
    for user in files.users():
        profile = files.profile(user)
        row = profile.model_dump(mode="json", exclude={"limits", "domains"})
        limits = [x.model_copy(update={"words": files.limit_words(x)}) for x in profile.limits]
        yield {
            "id": user,
            **row,
            "limits": [limit.model_dump(mode="json", exclude={"told"}) for limit in limits],
            "domains": {domain: profile.preferences(domain) for domain in profile.domains},
            **{name: of_user[user] for name, of_user in blocks.items()},
        }


def histories(files: EmbeddedFiles, user: str) -> Iterator[Row]:
    """Yield the summary and the sessions of each domain of a person."""
    for domain in files.profile(user).domains:
        sessions = [
            [session.date, session.device, *(m["content"] for m in session.messages)]
            for session in files.sessions(user, domain)
        ]
        yield {"id": domain, "summary": files.summary(user, domain), "sessions": sessions}


def arcs(files: EmbeddedFiles, folder: Path) -> Iterator[Row]:
    """Yield each arc with the name of its person."""
    dataset = open_arcs(folder, files.users())
    for user in dataset.users():
        for ref in dataset.refs(user):
            arc = dataset.load(ref).model_copy(update={"name": files.profile(user).name, "dataset": ""})
            yield arc.model_dump(mode="json", exclude_defaults=True)


def questions_digest(folder: Path) -> str:
    """Return a digest of the files of questions, which is their version."""
    texts = [(folder / f"{name}.toml").read_bytes() for name in OWN_DOMAINS]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:8]


def questions(files: EmbeddedFiles, folder: Path) -> Iterator[Row]:
    """Yield each question in each form in which it is asked; raise `DataError` for a bad one."""
    numbers: dict[str, int] = {}
    for kind in OWN_DOMAINS:
        file = folder / f"{kind}.toml"
        if not file.is_file():
            continue
        content = Fields(file, "", read_toml(file))
        for place, raw in enumerate(content.values("questions", 1), 1):
            entry = Fields(file, f"questions.{place}", raw)
            user = entry.text("user")
            if user not in files.users():
                raise entry.error("user", f"{user!r} is nobody of the embedded people")
            entry.text("asks")
            wrong = entry.texts("wrong") if "wrong" in raw else []
            if kind == "when":
                check_day(entry)
            elif kind != ABSTAIN and set(entry.texts("answer", 1)) & set(wrong):
                raise entry.error("wrong", "the right answer is among the wrong ones")
            # A user's questions are numbered over all files, so that no id tells the type.
            numbers[user] = numbers.get(user, 0) + 1
            asked = {"answer": f"question-{numbers[user]}"}
            if len(wrong) >= OPTIONS and "answer" in raw:
                asked["choice"] = f"question-{numbers[user]}-options"
            for form, task in asked.items():
                yield {"task": task, "form": form, "type": kind, "item": f"{file.name} {place}", **raw}


def check_day(entry: Fields) -> None:
    """Raise `DataError` if the date of a question is none."""
    try:
        dt.date.fromisoformat(entry.text("date"))
    except ValueError:
        raise entry.error("date", "expected a day such as 2025-03-04") from None


def read_posts(folder: Path) -> dict[str, list[Any]]:
    """Return the posts of each author, in the official layout."""
    found: dict[str, list[Any]] = {}
    for file in sorted(folder.glob("*.json")):
        for author, posts in json.loads(file.read_text(encoding="utf-8")).items():
            if author in found:
                raise DataError(file, f"the author {author!r} has posts in another file, too")
            found[author] = posts
    return found


def main() -> None:
    """Write the files."""
    made = packaged_files(SOURCE)
    if PACKAGED.exists():
        shutil.rmtree(PACKAGED)
    (PACKAGED / "personaconv").mkdir(parents=True)
    for name, content in made.items():
        (PACKAGED / name).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
