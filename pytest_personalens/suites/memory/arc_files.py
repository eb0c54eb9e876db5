"""The arcs of a folder of files as a dataset: reads them, and finds what is wrong with one."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import AfterValidator, Field, ValidationError

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.safe_text import slug
from pytest_personalens.core.scenario import DOMAINS, ScenarioRef
from pytest_personalens.core.suite import DataCheck, Finding
from pytest_personalens.datasets.dataset import digest, value_or_raise
from pytest_personalens.datasets.embedded.dataset_files import TODO, examine_file
from pytest_personalens.datasets.embedded.packaged import packaged_file
from pytest_personalens.suites.memory.arcs import KINDS, WITH_TASK, Arc, ArcSession, ArcTask, Kind
from pytest_personalens.suites.memory.words import Value, first_way

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence


#: The name of the embedded arcs.
EMBEDDED: Final = "memory"
#: The rules, by the part of an arc that they are about; ``file`` is for all that cannot be read.
_RULES: Final = ("file", "id", "person", "domain", "sessions", "test")
_HAS_ARCS: Final = re.compile(r"^\s*(?:\[\[\s*arcs|arcs\s*=)", re.MULTILINE)


def check_data(spec: str) -> DataCheck | None:
    """Return what there is to tell about arcs, or None if the spec names no file or folder of arcs.

    A spec is ``memory`` (the embedded arcs), or the path of a file or a folder.
    """
    arcs: list[Arc] = []
    findings: list[Finding] = []
    path = Path(spec)
    if spec == EMBEDDED:
        dataset = embedded_arcs("")
        arcs = [dataset.load(ref) for user in dataset.users() for ref in dataset.refs(user)]
    else:
        files = [file for file in (sorted(path.glob("*.toml")) or [path]) if _has_arcs(file)]
        if not files:
            return None
        for file in files:
            found, errors = examine_arcs(file, ())
            arcs += found.values()
            findings += [Finding(_rule(e.field), file.name, e.field, e.problem) for e in errors]
    kinds = Counter(arc.kind for arc in arcs)
    counts: dict[str, int] = {
        "arcs": len(arcs),
        **{str(kind): kinds[kind] for kind in KINDS},
        "people": len({arc.user for arc in arcs}),
        "sessions": sum(len(arc.sessions) for arc in arcs),
    }
    return DataCheck(
        dataset=path.stem,
        rows=[(name, f"{count:,}", "") for name, count in counts.items()],
        findings=findings,
        rules=len(_RULES),
        report={"dataset": path.stem, **counts, "findings": [asdict(one) for one in findings]},
    )


def _has_arcs(file: Path) -> bool:
    try:
        return file.suffix == ".toml" and bool(
            _HAS_ARCS.search(file.read_text(encoding="utf-8", errors="replace"))
        )
    except OSError:
        return False


def _rule(field: str) -> str:
    part = next((part for part in field.split(".")[1:] if not part.isdigit()), "")
    return part if part in _RULES else "file"


def open_arcs(path: Path, people: Collection[str] = ()) -> ArcsDataset:
    """Return the arcs of a TOML file or a folder of them, about the `people`, or about anybody.

    Its version is a digest of the files. Raise `DataError` for a bad file, or if there is none.
    """
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
    if not files:
        raise DataError(path, "no file of arcs (*.toml) in it")
    arcs: list[Arc] = []
    for file in files:
        arcs += read_arcs(file, people).values()
    return ArcsDataset(path.stem, digest(*(file.read_bytes().hex() for file in files)).hex()[:12], arcs)


def embedded_arcs(version: str) -> ArcsDataset:
    """Return the arcs of the package, which are about its people."""
    rows = packaged_file("arcs.jsonl").read_bytes().splitlines()
    return ArcsDataset("memory", version, [Arc.model_validate_json(row) for row in rows])


class ArcsDataset:
    """Arcs by person."""

    def __init__(self, name: str, version: str, arcs: Iterable[Arc]) -> None:
        self.name, self.version = name, version
        self._arcs = {ScenarioRef(arc.user, arc.task, arc.kind, arc.domains): arc for arc in arcs}
        self._by_user: dict[str, list[ScenarioRef]] = {}
        for ref in self._arcs:
            self._by_user.setdefault(ref.user, []).append(ref)

    def domains(self) -> Sequence[str]:
        found = {domain for ref in self._arcs for domain in ref.domains}
        return [domain for domain in DOMAINS if domain in found]

    def users(self) -> Sequence[str]:
        """Return the people in order of their ids."""
        return sorted(self._by_user)

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """Return the arcs of a person; raise `DataError` for somebody without one."""
        if user not in self._by_user:
            raise DataError(self.name, f"no arc of {user!r}")
        return self._by_user[user]

    def load(self, ref: ScenarioRef) -> Arc:
        """Return an arc; raise `DataError` if there is no such arc."""
        if ref not in self._arcs:
            raise DataError(self.name, f"no arc {ref.id!r}")
        return self._arcs[ref].model_copy(update={"dataset": f"{self.name} {self.version}"})

    def other(self, seed: str, ref: ScenarioRef) -> ScenarioRef:
        """Return an arc of the same kind of another person; raise `SpecError` if there is none."""
        own = self._arcs[ref]
        here = {session.person for session in own.sessions}
        alike = [
            other
            for other, arc in self._arcs.items()
            if other.kind == ref.kind and here.isdisjoint(session.person for session in arc.sessions)
        ]
        if not alike:
            raise SpecError(
                f"--personalens-control other-user: nobody else in {self.name!r} has an arc of the kind"
                f" {ref.kind}, as {ref.id} is",
                code="PL106",
            )
        return min(alike, key=lambda other: digest(seed, ref.id, other.id))


#: A problem, as (field, message).
Problem = tuple[str, str]
#: Kind -> the values that its test must have, and those that it must not have.
_NEEDS: Final[dict[Kind, tuple[str, ...]]] = {
    "recall": ("right",), "revise": ("right", "wrong"), "forget": ("wrong",), "whose": ("wrong",),
    "apart": ("wrong",), "restraint": ("wrong",), "belief": ("right", "wrong"), "audience": ("wrong",),
    "abstain": (),
}  # fmt: skip
_LACKS: Final[dict[Kind, str]] = {"restraint": "right", "abstain": "right"}


def _slug(text: str) -> str:
    if slug(text) != text:
        raise ValueError(f"expected small letters, digits and hyphens, such as 'oat-milk', not {text!r}")
    return text


Name = Annotated[str, AfterValidator(_slug)]


class TestEntry(Frozen):
    """The values that the last session must show, and those that it must not show."""

    right: tuple[Value, ...] = ()
    wrong: tuple[Value, ...] = ()


class ArcEntry(Frozen):
    """An arc as it is written."""

    id: Name
    person: Name
    domain: str
    sessions: tuple[ArcSession, ...] = Field(min_length=2, max_length=5)
    task: ArcTask | None = None
    test: TestEntry = TestEntry()


class ArcsEntry(Frozen):
    """A file of arcs of one kind."""

    kind: Kind
    arcs: tuple[ArcEntry, ...] = Field(min_length=1)


def read_arcs(file: Path, people: Collection[str]) -> dict[ScenarioRef, Arc]:
    """Return the arcs of a file; raise `DataError` for the first problem.

    `people` are the persons that an arc may be about; it is empty if anybody may. The arcs do not know the
    name of their dataset yet.
    """
    arcs, errors = examine_arcs(file, people)
    return value_or_raise(arcs, errors)


def examine_arcs(file: Path, people: Collection[str]) -> tuple[dict[ScenarioRef, Arc], list[DataError]]:
    """Return the arcs of a file without a problem, and every problem of the others."""
    found, errors = examine_file(file, ArcsEntry)
    arcs: dict[ScenarioRef, Arc] = {}
    if found is None:
        return arcs, errors
    for number, entry in enumerate(found.arcs, 1):
        arc = _arc(entry, found.kind)
        ref = ScenarioRef(arc.user, arc.task, arc.kind, arc.domains)
        problems = list(_problems(arc, entry.domain, people))
        if ref in arcs:
            problems.append(("id", f"a second arc {entry.id!r} of {entry.person}"))
        errors += [DataError(file, message, field=f"arcs.{number}.{field}") for field, message in problems]
        if not problems:
            arcs[ref] = arc
    return arcs, errors


def problems_of(data: Any) -> list[Problem]:
    """Return every problem of a file of arcs that is given as plain data."""
    try:
        found = ArcsEntry.model_validate(data)
    except ValidationError as error:
        return [(".".join(map(str, e["loc"])), e["msg"]) for e in error.errors()]
    return [
        problem for entry in found.arcs for problem in _problems(_arc(entry, found.kind), entry.domain, ())
    ]


def _arc(entry: ArcEntry, kind: Kind) -> Arc:
    task = f"{kind}-{entry.id}"
    return Arc(
        id=slug(f"{task}-{entry.person}"),
        user=entry.person,
        dataset="",
        kind=kind,
        domains=(entry.domain,),
        task=task,
        sessions=tuple(s.model_copy(update={"person": s.person or entry.person}) for s in entry.sessions),
        right=entry.test.right,
        wrong=entry.test.wrong,
        last_task=entry.task,
    )


def _problems(arc: Arc, domain: str, people: Collection[str]) -> Iterator[Problem]:
    if people and arc.user not in people:
        yield "person", f"nobody in data/profiles is called {arc.user!r}"
    if domain not in DOMAINS:
        yield "domain", f"expected one of {', '.join(DOMAINS)}, not {domain!r}"
    for number, (before, session) in enumerate(pairwise(arc.sessions), 2):
        if session.date <= before.date:
            yield f"sessions.{number}.date", f"expected a later day than {before.date}, not {session.date}"
    yield from _problems_of_people(arc)
    yield from _problems_of_task(arc)
    yield from _problems_of_test(arc)


def _problems_of_people(arc: Arc) -> Iterator[Problem]:
    others = [number for number, s in enumerate(arc.sessions, 1) if s.person != arc.user]
    if arc.kind != "apart":
        for number in others:
            yield (
                f"sessions.{number}.person",
                f"only an arc of the kind apart has other users; this one is of {arc.user}",
            )
    elif len(arc.sessions) in others:
        yield f"sessions.{len(arc.sessions)}.person", f"the last session, with the test, must be {arc.user}'s"
    elif not others:
        yield "sessions", "an arc of the kind apart needs a session of another person"


def _problems_of_task(arc: Arc) -> Iterator[Problem]:
    if (task := arc.last_task) is None:
        return
    if arc.kind not in WITH_TASK:
        kinds = ", ".join(WITH_TASK)
        yield "task", f"only arcs of the kinds {kinds} may have a task; this is one of {arc.kind}"
    elif not arc.right:
        yield "test.right", "an arc with a task needs at least one value: the user's preference"
    elif any(_in(value, (task.intent,)) for value in (*arc.right, *arc.wrong)):
        yield "task.intent", "it names a value of the test, which the user must not say"


def _problems_of_test(arc: Arc) -> Iterator[Problem]:
    for name in _NEEDS[arc.kind]:
        if not getattr(arc, name):
            yield f"test.{name}", f"a test of the kind {arc.kind} needs at least one value"
    if (name := _LACKS.get(arc.kind, "")) and getattr(arc, name):
        yield f"test.{name}", f"a test of the kind {arc.kind} has nothing that must be said; leave it out"
    own, others = (
        [text for s in arc.sessions[:-1] if (s.person == arc.user) == is_own for text in s.says]
        for is_own in (True, False)
    )
    for name, values in (("right", arc.right), ("wrong", arc.wrong)):
        told = others if (arc.kind, name) == ("apart", "wrong") else own
        # Any other drink may be wrong where a drink is to be recalled, also one that nobody spoke of. The
        # truth about a belief is known to anybody.
        free = (name, arc.kind) in (("wrong", "recall"), ("wrong", "abstain"), ("right", "belief"))
        for value in values:
            if str(value).startswith(TODO):
                yield f"test.{name}", f"{value}: still to be decided"
                continue
            if not free and not _in(value, told):
                yield f"test.{name}", f"{str(value)!r} is said in no earlier session, so nobody can know it"
            if _in(value, arc.sessions[-1].says):
                yield f"test.{name}", f"{str(value)!r} is said in the last session, so that tests no memory"
    for value in arc.right:
        if any(first_way(value, way) is not None for wrong in arc.wrong for way in wrong.ways):
            yield "test.wrong", f"a wrong value holds the right one, {str(value)!r}"


def _in(value: Value, texts: Sequence[str]) -> bool:
    return any(first_way(value, text) is not None for text in texts)
