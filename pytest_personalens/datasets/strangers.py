"""Another user for a scenario: whose context an assistant is given in a control, to see what knowing the
right one is worth.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.datasets.base import Dataset


def stranger_of(dataset: Dataset, seed: str, ref: ScenarioRef) -> ScenarioRef:
    """Another user's scenario with the same task or, where tasks are everybody's own, in the same domains.

    By chance, but always the same for a seed. Raises `SpecError`.
    """
    alike: ScenarioRef | None = None
    for user in sorted((u for u in dataset.users() if u != ref.user), key=lambda u: _digest(seed, ref, u)):
        for other in dataset.refs(user):
            if (other.domains, other.kind) == (ref.domains, ref.kind):
                if other.task == ref.task:
                    return other
                alike = alike or other
    if alike is None:
        raise SpecError(
            f"--personalens-control other-user: nobody else in dataset {dataset.name!r} has a task"
            f" like {ref.id}"
        )
    return alike


class Strangers:
    """For each scenario one of another user, by the rule `of_suite`, looked for once."""

    def __init__(
        self,
        dataset: Dataset,
        seed: str,
        of_suite: Callable[[Dataset, str, ScenarioRef], ScenarioRef] = stranger_of,
    ) -> None:
        self._dataset, self._seed, self._of_suite = dataset, seed, of_suite
        self._found: dict[ScenarioRef, ScenarioRef] = {}

    def of(self, ref: ScenarioRef) -> ScenarioRef:
        """The other user's scenario. Raises `SpecError`."""
        if ref not in self._found:
            self._found[ref] = self._of_suite(self._dataset, self._seed, ref)
        return self._found[ref]


def _digest(seed: str, ref: ScenarioRef, user: str) -> bytes:
    parts = (seed, ref.user, ref.task, user)
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).digest()
