"""What an item of ours stands for: a scenario under the settings of its test, which trial of it, and what the
assistant may know.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.node_ids import CaseId, without_case
from pytest_personalens.plugin.pytest_internals import arguments_of, fixtures_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.core.settings import Settings

#: The parameter of an item of ours.
PARAM: Final = "_personalens_param"

#: Fixtures of these packages say nothing about the assistant.
_NEVER_TELLS: Final = ("pytest_personalens.", "_pytest.", "syrupy", "xdist", "pytest_")


class ItemSpec(NamedTuple):
    """One item: `trial` counts from 1; `control` is empty for the run itself, else the name of a control."""

    ref: ScenarioRef
    settings: Settings
    trial: int = 1
    control: str = ""

    @property
    def id(self) -> str:
        """The scenario's id, with what sets this item apart: ``movies-1-user7+swapped+t2``."""
        return str(CaseId(self.ref.id, self.control, self.trial))

    @property
    def given(self) -> str:
        """What the assistant may know: in PersonaLens, letters of D, I, S."""
        return self.settings.of_suite.given(self.settings.context, self.control)


def cases(refs: Iterable[ScenarioRef], settings: Settings) -> Iterator[ItemSpec]:
    """The items of a test, those of one scenario next to each other: that is where they are compared."""
    for ref in refs:
        for control in ("", *settings.control):
            for trial in range(1, settings.trials + 1):
                yield ItemSpec(ref, settings, trial, control)


def test_of(item: pytest.Item) -> str:
    """The test of an item of ours, as it is called whatever the sample: file, function, and parameters of its
    own.
    """
    return without_case(item.nodeid, item.callspec.id, spec_of(item).id)  # type: ignore[attr-defined]


def dialogue_of(item: pytest.Item, attempt: int = 1) -> str:
    """The id of what is said in an item: no other of the run has it, and in the next run it is the same.

    `attempt` counts how often the item was set up: a plugin such as pytest-rerunfailures runs the same one
    again.
    """
    digest = hashlib.sha256(f"{item.nodeid}\n{attempt}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{spec_of(item).ref.id}-{digest[:12]}"


def asks_for_ours(item: pytest.Item) -> bool:
    """True for a test that asks for a fixture of ours. A method of unittest's or a doctest may, through a
    fixture with autouse, and is an item of no scenario: it takes no parameter."""
    return PARAM in getattr(item, "fixturenames", ())


def is_scenario_item(item: pytest.Item) -> bool:
    """True for an item of a scenario, or for that of a shard without any."""
    # Most tests are none of ours, and to see that must cost nothing.
    return asks_for_ours(item) and PARAM in getattr(getattr(item, "callspec", None), "params", ())


def asks_for_context(item: pytest.Item) -> bool:
    """True if the test, or a fixture that it uses and that is none of ours, asks for the context (or for what
    it may be asked by).
    """
    wanted = {"personalens_context", "request"}
    theirs = [
        fixture
        for fixtures in fixtures_of(item).values()
        for fixture in fixtures
        if not str(getattr(fixture.func, "__module__", "")).startswith(_NEVER_TELLS)
    ]
    return any(
        not wanted.isdisjoint(names)
        for names in (arguments_of(item), *(fixture.argnames for fixture in theirs))
    )


def is_to_be_evaluated(item: pytest.Item) -> bool:
    """True for an item of a scenario whose test asks for the fixture ``personalens``, and so for its
    dialogue.
    """
    return (
        "personalens" in getattr(item, "fixturenames", ())
        and is_scenario_item(item)
        and spec_of(item) is not None
    )


def to_be_evaluated(items: Iterable[pytest.Item]) -> int:
    """How many of the items stand for a scenario of the sample."""
    return sum(is_scenario_item(item) and spec_of(item) is not None for item in items)


def spec_of(item: pytest.Item) -> ItemSpec:
    """What an item of ours stands for."""
    spec: ItemSpec = item.callspec.params[PARAM]  # type: ignore[attr-defined]
    return spec
