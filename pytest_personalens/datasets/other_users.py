"""Finds another user for a scenario, whose context the assistant gets in a control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError
from pytest_personalens.datasets.draws import digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.datasets.base import Dataset


def other_user_of(dataset: Dataset, seed: str, ref: ScenarioRef) -> ScenarioRef:
    """Return another user's scenario with the same task, or else in the same domains.

    Some datasets have no task that two users share; then the same domains and kind suffice. The choice is
    random, and always the same for one seed. Raise `SpecError` if nobody else has such a scenario.
    """
    alike: ScenarioRef | None = None
    others = (user for user in dataset.users() if user != ref.user)
    for user in sorted(others, key=lambda user: digest(seed, ref.user, ref.task, user)):
        for candidate in dataset.refs(user):
            if (candidate.domains, candidate.kind) == (ref.domains, ref.kind):
                if candidate.task == ref.task:
                    return candidate
                alike = alike or candidate
    if alike is None:
        raise SpecError(
            f"--personalens-control other-user: nobody else in dataset {dataset.name!r} has a task"
            f" like {ref.id}",
            code="PL106",
        )
    return alike


class OtherUsers:
    """A scenario of another user for each scenario, chosen once by the rule `of_suite`."""

    def __init__(
        self,
        dataset: Dataset,
        seed: str,
        of_suite: Callable[[Dataset, str, ScenarioRef], ScenarioRef] = other_user_of,
    ) -> None:
        self._dataset, self._seed, self._of_suite = dataset, seed, of_suite
        self._by_ref: dict[ScenarioRef, ScenarioRef] = {}

    def of(self, ref: ScenarioRef) -> ScenarioRef:
        """Return the other user's scenario; raise `SpecError` if there is none."""
        if ref not in self._by_ref:
            self._by_ref[ref] = self._of_suite(self._dataset, self._seed, ref)
        return self._by_ref[ref]
