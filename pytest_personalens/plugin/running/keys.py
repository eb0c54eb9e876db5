"""The keys under which hooks and fixtures store values in pytest's config and in items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from pytest_personalens.core.judging.evaluation import Evaluation
    from pytest_personalens.core.options.settings import Settings
    from pytest_personalens.plugin.running.run import Run
    from pytest_personalens.results.values.item import Item

# Of the run.
SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
RUN: pytest.StashKey[Run] = pytest.StashKey()
#: The evaluation of the item that runs, for the text of an assertion that fails.
EVALUATED: pytest.StashKey[Evaluation] = pytest.StashKey()

# Of an item.
#: The property of an item's report with why the whole run stops at it.
STOPPED: Final = "personalens_stopped"
ITEM_KEY: pytest.StashKey[Item] = pytest.StashKey()
#: The result of an item that the controller has.
HANDED_OVER: pytest.StashKey[Item] = pytest.StashKey()
#: The JUnit properties that were written for an item.
JUNIT: pytest.StashKey[list[tuple[str, str]]] = pytest.StashKey()
#: How often an item was set up. A plugin that runs an item again after a failure uses the same item.
ATTEMPT: pytest.StashKey[int] = pytest.StashKey()
#: How long the evaluation of an item took that ran before the item's turn.
SECONDS: pytest.StashKey[float] = pytest.StashKey()
#: There if the test directs the user of its dialogue, which may end with the test.
DIRECTED: pytest.StashKey[bool] = pytest.StashKey()


def is_worker(config: pytest.Config) -> bool:
    """True in a worker of xdist."""
    return hasattr(config, "workerinput")
