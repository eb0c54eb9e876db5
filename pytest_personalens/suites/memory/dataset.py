"""The arcs of a folder of files, or of one file, as a dataset."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.scenario import DOMAINS, ScenarioRef
from pytest_personalens.datasets.draws import digest
from pytest_personalens.datasets.embedded.packaged import packaged_file
from pytest_personalens.suites.memory.arcs import Arc
from pytest_personalens.suites.memory.files import read_arcs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path


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

    @cached_property
    def _by_user(self) -> dict[str, list[ScenarioRef]]:
        found: dict[str, list[ScenarioRef]] = {}
        for ref in self._arcs:
            found.setdefault(ref.user, []).append(ref)
        return found

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
