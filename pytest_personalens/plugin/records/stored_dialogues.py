"""Stored dialogues as a dataset: the scenarios that have one, and the dialogues of each."""

from __future__ import annotations

from collections import defaultdict
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.scenario import ScenarioRef
from pytest_personalens.core.text.safe_text import slug
from pytest_personalens.engine.job import PERSON
from pytest_personalens.plugin.records.dialogue_files import read_dialogues

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.datasets import Dataset
    from pytest_personalens.engine.job import StoredDialogue
    from pytest_personalens.plugin.records.dialogue_files import Entry


class StoredDialogues:
    """The part of a dataset of which there are dialogues, with scenarios of the user's own beside it.

    The dialogues of a scenario are its trials, in the order of the files. Raise `DataError` for a file that
    cannot be used, and for a scenario that nobody knows.
    """

    def __init__(self, dataset: Dataset, paths: Sequence[str], base: Path) -> None:
        self._dataset = dataset
        self._own: dict[tuple[str, str], Scenario] = {}
        self._dialogues: defaultdict[tuple[ScenarioRef, str], list[StoredDialogue]] = defaultdict(list)
        self._present = frozenset(dataset.users())
        self._by_slug = {slug(user): user for user in self._present}
        for entry in read_dialogues(paths, base):
            self._dialogues[self._ref(entry), entry.control].append(entry.stored)
        self._refs: defaultdict[str, list[ScenarioRef]] = defaultdict(list)
        for ref, control in self._dialogues:
            if not control:
                self._refs[ref.user].append(ref)
        known = any(ref[:2] not in self._own for ref, _ in self._dialogues)
        self.name, self.version = (dataset.name, dataset.version) if known else ("own", "scenarios")
        if known and self._own:
            self.version += " and own"

    def domains(self) -> Sequence[str]:
        """Return the domains of the dataset, then those of the own scenarios."""
        own = (domain for scenario in self._own.values() for domain in scenario.domains)
        return tuple(dict.fromkeys((*self._dataset.domains(), *own)))

    def users(self) -> Sequence[str]:
        """Return all users of the dataset, so that a range may name those without a dialogue too."""
        return tuple(dict.fromkeys((*self._dataset.users(), *self._refs)))

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        return tuple(self._refs.get(user, ()))

    def load(self, ref: ScenarioRef) -> Any:
        own = self._own.get((ref.user, ref.task))
        dataset = f"{self.name} {self.version}"
        return self._dataset.load(ref) if own is None else own.model_copy(update={"dataset": dataset})

    def trials(self, ref: ScenarioRef, control: str) -> range:
        """Return the numbers of the dialogues of a scenario in the run itself or in a control, from 1."""
        return range(1, len(self._dialogues.get((ref, control), ())) + 1)

    def of(self, ref: ScenarioRef, control: str, trial: int) -> StoredDialogue:
        return self._dialogues[ref, control][trial - 1]

    def check_controls(self, controls: Sequence[str]) -> None:
        """Raise `SpecError` for a control of which there is no dialogue."""
        for control in controls:
            if not any(name == control for _, name in self._dialogues):
                raise SpecError(
                    f"--personalens-control: there is no stored dialogue of {control}; leave it out",
                    code="PL108",
                )

    @property
    def user_agent(self) -> str:
        """The identity of the user agent of all dialogues; several are named together."""
        names = {stored.user_agent or PERSON for every in self._dialogues.values() for stored in every}
        return ", ".join(sorted(names))

    def _ref(self, entry: Entry) -> ScenarioRef:
        found = self._find(entry.scenario)
        if found is not None and (entry.own is None or found[:2] not in self._own):
            return found
        if entry.own is None:
            named = entry.scenario if isinstance(entry.scenario, str) else "-".join(reversed(entry.scenario))
            raise DataError(entry.file, self._unknown(named), field=entry.field)
        own = entry.own
        ref = ScenarioRef(own.user, own.task_id, own.kind, own.domains)
        before = self._own.setdefault(ref[:2], own)
        if before.digest != own.digest:
            problem = (
                f"another scenario has the user {ref.user!r} and the task {ref.task!r}; give it another id"
            )
            raise DataError(entry.file, problem, field=entry.field)
        return ref

    def _find(self, scenario: str | tuple[str, str]) -> ScenarioRef | None:
        if not isinstance(scenario, str):
            user, task = scenario
            refs = self._dataset.refs(user) if user in self._present else ()
            return next((ref for ref in refs if ref.task == task), None)
        parts = scenario.split("-")  # the slug of the user stands at the end, and may hold hyphens
        users = (self._by_slug.get("-".join(parts[n:])) for n in range(1, len(parts)))
        candidates = (ref for user in users if user is not None for ref in self._dataset.refs(user))
        return next((ref for ref in candidates if ref.id == scenario), None)

    def _unknown(self, named: str) -> str:
        of = f"unknown scenario {named!r} of {self._dataset.name} {self._dataset.version}"
        user = next((u for s, u in self._by_slug.items() if named.endswith(f"-{s}")), None)
        near = get_close_matches(named, [r.id for r in self._dataset.refs(user)] if user else [], 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        return f"{of}{meant}; name its dataset with --personalens-data, or write the scenario itself there"
