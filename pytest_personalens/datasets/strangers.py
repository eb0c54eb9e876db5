"""Finds another user for a scenario.

In a control, the assistant gets the context of this other user. The control shows how much the right context
is worth.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.datasets.base import Dataset


class Strangers:
    """A scenario of another user for each scenario.

    The choice is random, and always the same for one seed.
    """

    def __init__(self, dataset: Dataset, seed: str) -> None:
        self._dataset, self._seed = dataset, seed
        self._found: dict[ScenarioRef, ScenarioRef] = {}

    def of(self, ref: ScenarioRef) -> ScenarioRef:
        """Return another user's scenario with the same task, or else in the same domains.

        Some datasets have no task that two users share; then the same domains and kind suffice. Raise
        `SpecError` if nobody else has such a scenario.
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
