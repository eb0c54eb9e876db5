"""One test item in the results: its evaluation, its outcome and its record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from pytest_personalens.core.frozen import Frozen
from pytest_personalens.core.judging.evaluation import Evaluation
from pytest_personalens.core.judging.measure import Measure, Score  # noqa: F401 (pydantic 2.9 reads `Shortfall` here)
from pytest_personalens.core.text.node_ids import without_parameters
from pytest_personalens.results.values.earlier import Earlier
from pytest_personalens.results.values.shortfalls import StoredShortfall

if TYPE_CHECKING:
    from collections.abc import Iterable


class Item(Frozen):
    """One test item: its evaluation, its outcome, and its record.

    `status` is "passed" or "low" (below a threshold) for a scored item. It is "uncounted" for an item without
    scores, and for one that lacks a reading with a threshold and is not low by another. `failed` is the
    outcome of the test. It may differ from `status`: a low item passes if a gate decides, and a test may have
    its own asserts.
    """

    nodeid: str
    evaluation: Evaluation
    status: Literal["passed", "low", "uncounted"]
    failed: bool = False
    shortfalls: tuple[StoredShortfall, ...] = Field(default=(), description="Such as 'p 1 < 2'.")
    record: Literal["none", "replayed", "stale", "written"] = "none"
    record_file: str = Field(default="", description="Where its record is, from the root folder.")
    trial: int = Field(default=1, ge=1, description="Which run of its scenario this is, from 1.")
    arm: str = Field(default="", description="Empty for the run itself; else the name of a control.")
    given: str = Field(default="", description="What the assistant could know: letters of D, I, S.")
    given_user: str = Field(default="", description="Whose context that was, where it was another user's.")
    max_turns: int = Field(default=0, description="The limit of turns; 0 for the benchmark's.")
    content: str = Field(default="", description="Digest of the scenario's content.")
    test: str = Field(default="", description="The test: file, function and its own parameters.")
    slices: dict[str, str] = Field(
        default_factory=dict, description="Demographic -> the user's, of those that the run is sliced by."
    )
    usd: float | None = Field(default=None, description="US dollars for it, if a model has a known price.")
    earlier: Earlier | None = Field(
        default=None, description="What it was, by the baseline or by a record that holds another dialogue."
    )

    @property
    def key(self) -> tuple[str, ...]:
        """User, task and test, which all trials and arms of a scenario in a test share, in every run."""
        return (self.evaluation.user, self.evaluation.task, self.test or without_parameters(self.nodeid))

    @property
    def transcript_file(self) -> str:
        """The record that holds this dialogue; a stale one holds an older dialogue and does not count."""
        return "" if self.record == "stale" else self.record_file

    @property
    def scenario_key(self) -> tuple[str, str]:
        """User and task."""
        return (self.evaluation.user, self.evaluation.task)


def members(items: Iterable[Item], group: str) -> list[Item]:
    """Return the items of a domain or kind; of all for an empty `group`."""
    return [i for i in items if not group or group == i.evaluation.kind or group in i.evaluation.domains]
