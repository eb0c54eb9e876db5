"""The meaning of an item: a scenario, with the settings of its test, its trial, and its control."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.names import PARAM, STATE, CaseId
from pytest_personalens.core.options.option_table import MANNERS
from pytest_personalens.plugin.pytest_internals import arguments_of, asks_for_ours, fixtures_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import pytest

    from pytest_personalens.core.dialogue.state import MemoryStore
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.engine.assistant.team_fixtures import Memory, StateSource, UserPast
    from pytest_personalens.engine.job import Assistant
    from pytest_personalens.models.call_log import CaseCalls

#: Packages whose fixtures are no part of a test of an assistant: that of this plugin, and pytest's own.
_NOT_THEIRS: Final = ("pytest_personalens", "_pytest")


@dataclass(frozen=True)
class ItemSpec:
    """One item of a sample: `trial` counts from 1, and `control` is empty for the run itself."""

    ref: ScenarioRef
    settings: Settings
    trial: int = 1
    control: str = ""

    @cached_property
    def id(self) -> str:
        """Return the scenario's id with control and trial: ``movies-1-user7+swapped+t2``."""
        return str(CaseId(self.ref.id, self.control, self.trial))

    @cached_property
    def given(self) -> str:
        """Return what the assistant may know: in PersonaLens, letters of D, I, S."""
        return self.settings.of_suite.given(self.settings.context, self.control)

    @cached_property
    def manner(self) -> str:
        """Return the manner of its simulated user; "all" draws one by scenario and seed."""
        manner = self.settings.manner
        if manner != "all":
            return manner
        digest = hashlib.sha256(f"{self.settings.seed}\x1f{self.ref.id}".encode("utf-8", "surrogatepass"))
        return MANNERS[int.from_bytes(digest.digest()[:4], "big") % len(MANNERS)]


class Given(NamedTuple):
    """What the fixtures of a team give an item: its assistant, its system's state, and its memory."""

    assistant: Assistant
    state: StateSource | None
    memory: Memory | None
    store: MemoryStore | None


class Team(NamedTuple):
    """What a team gives to the dialogue of one item, and the log of its calls: arguments of `engine.work`."""

    assistant: Assistant
    calls: CaseCalls | None
    state: StateSource | None
    past: UserPast | None
    store: MemoryStore | None


def cases(refs: Iterable[ScenarioRef], settings: Settings) -> Iterator[ItemSpec]:
    """Yield the items of a test, those of one scenario after each other, which are easy to compare."""
    for ref in refs:
        for control in ("", *settings.control):
            for trial in range(1, settings.trials + 1):
                yield ItemSpec(ref, settings, trial, control)


def test_of(item: pytest.Item) -> str:
    """Return the file, the function and the own parameters of an item's test, which no sample changes."""
    parameters: str = item.callspec.id  # type: ignore[attr-defined]
    before, _, after = f"-{parameters}-".partition(f"-{spec_of(item).id}-")
    others = "-".join(part for part in (before.strip("-"), after.strip("-")) if part)
    return item.nodeid[: -len(parameters) - 2] + (f"[{others}]" if others else "")


def dialogue_of(item: pytest.Item, attempt: int = 1) -> str:
    """Return the id of the dialogue of an item: unique in the run, and the same in the next run.

    `attempt` counts how often the item was set up: pytest-rerunfailures runs the same item again.
    """
    digest = hashlib.sha256(f"{item.nodeid}\n{attempt}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{spec_of(item).ref.id}-{digest[:12]}"


def is_scenario_item(item: pytest.Item) -> bool:
    """True for an item of a scenario, or for the item of an empty shard."""
    # Most tests do not belong to this plugin, so the check must be fast.
    return asks_for_ours(item) and PARAM in getattr(getattr(item, "callspec", None), "params", ())


def asks_for_context(item: pytest.Item) -> bool:
    """True if the test, or a fixture that it uses, asks for the context or for the request, which gives it.

    Fixtures of this plugin do not count. Many installed plugins ask for the request in a fixture that every
    test uses; theirs counts only in the fixture with the assistant.
    """
    wanted = {"personalens_context", "request"}
    packages = {_package(plugin) for plugin, _ in item.config.pluginmanager.list_plugin_distinfo()}
    return not wanted.isdisjoint(arguments_of(item)) or any(
        _can_tell(fixture, packages)
        for name, fixtures in fixtures_of(item).items()
        if name != STATE  # it tells the judge, and not the assistant
        for fixture in fixtures
    )


def _can_tell(fixture: pytest.FixtureDef[object], installed: Collection[str]) -> bool:
    package = _package(fixture.func)
    if package in _NOT_THEIRS or "personalens_context" in fixture.argnames:
        return package not in _NOT_THEIRS
    of_the_team = package not in installed or fixture.argname == "personalens_assistant"
    return of_the_team and "request" in fixture.argnames


def _package(code: object) -> str:
    name = code.__name__ if isinstance(code, ModuleType) else getattr(code, "__module__", "")
    return str(name).partition(".")[0]


def is_to_be_evaluated(item: pytest.Item) -> bool:
    """True for an item of a scenario that needs its dialogue, for the fixture ``personalens``."""
    return (
        "personalens" in getattr(item, "fixturenames", ())
        and is_scenario_item(item)
        and spec_of(item) is not None
    )


def to_be_evaluated(items: Iterable[pytest.Item]) -> int:
    """Return how many of the items stand for a scenario of the sample."""
    return sum(is_scenario_item(item) and spec_of(item) is not None for item in items)


def spec_of(item: pytest.Item) -> ItemSpec:
    spec: ItemSpec = item.callspec.params[PARAM]  # type: ignore[attr-defined]
    return spec
