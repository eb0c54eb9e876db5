"""What hooks and fixtures keep at a run (pytest's config) and at its items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from syrupy.session import SnapshotSession

    from pytest_personalens.core.settings import Settings
    from pytest_personalens.plugin.run import Run
    from pytest_personalens.results.values import Item

# Of the run.
SETTINGS: pytest.StashKey[Settings] = pytest.StashKey()
RUN: pytest.StashKey[Run] = pytest.StashKey()
#: syrupy's session, which its fixture `snapshot` tells; asked by one item, because the fixture takes long for
#: each.
SYRUPY: pytest.StashKey[SnapshotSession] = pytest.StashKey()

# Of an item.
ITEM_KEY: pytest.StashKey[Item] = pytest.StashKey()
#: How often an item was set up: a plugin that runs it again after a failure takes the same item.
ATTEMPT: pytest.StashKey[int] = pytest.StashKey()
#: How long the item's evaluation took, whenever that was.
SECONDS: pytest.StashKey[float] = pytest.StashKey()

# Of what a worker is told.
#: Set for one that takes the place of one that died: it evaluates no dialogue before its turn, so that the
#: one that ends it is known.
IN_TURN: Final = "personalens_in_turn"


def is_worker(config: pytest.Config) -> bool:
    """True in a worker of xdist."""
    return hasattr(config, "workerinput")
