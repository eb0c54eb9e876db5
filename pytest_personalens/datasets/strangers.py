"""Another user for a scenario: whose context an assistant is given in a control, to see what knowing the
right one is worth.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.datasets.base import Dataset


class Strangers:
    """For each scenario one of another user, by chance but always the same for a seed."""

    def __init__(self, dataset: Dataset, seed: str) -> None:
        self._dataset, self._seed = dataset, seed
        self._found: dict[ScenarioRef, ScenarioRef] = {}

    def of(self, ref: ScenarioRef) -> ScenarioRef:
        """Another user's scenario with the same task or, where tasks are everybody's own, in the same
        domains. Raises `SpecError`.
        """
        if ref not in self._found:
            self._found[ref] = self._find(ref)
        return self._found[ref]

    def _find(self, ref: ScenarioRef) -> ScenarioRef:
        alike: ScenarioRef | None = None
        for user in sorted(
            (u for u in self._dataset.users() if u != ref.user), key=lambda u: self._digest(ref, u)
        ):
            for other in self._dataset.refs(user):
                if (other.domains, other.kind) == (ref.domains, ref.kind):
                    if other.task == ref.task:
                        return other
                    alike = alike or other
        if alike is None:
            raise SpecError(
                f"--personalens-control other-user: nobody else in dataset {self._dataset.name!r} has a task"
                f" like {ref.id}"
            )
        return alike

    def _digest(self, ref: ScenarioRef, user: str) -> bytes:
        return hashlib.sha256(
            "\x1f".join((self._seed, ref.user, ref.task, user)).encode("utf-8", "surrogatepass")
        ).digest()
