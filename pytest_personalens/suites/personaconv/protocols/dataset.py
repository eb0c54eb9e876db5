"""The posts of a file or a folder as a dataset of predictions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.suites.personaconv.data.index import open_index
from pytest_personalens.suites.personaconv.data.plan import PlannedDataset
from pytest_personalens.suites.personaconv.protocols.fixed_protocol import FixedProtocol
from pytest_personalens.suites.personaconv.protocols.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.values import KINDS, Prediction, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.values import History, Kind, ProtocolName, Setting

#: The number of items that stay in memory, of some 15 kB each.
_KEPT: Final = 1_000


class PostsDataset(PlannedDataset):
    """Predictions from posts in raw or processed files.

    `settings` holds all settings of a run: its context first, then its controls. Without a `version`, a
    digest of the files is used. Raise `DataError` for a file without posts, or if no post gives an item.
    Raise `SpecError` for settings that the data or the protocol does not have.
    """

    def __init__(
        self,
        files: Sequence[Path],
        *,
        name: str,
        version: str = "",
        protocol: ProtocolName = "fixed",
        kinds: Sequence[Kind] = KINDS,
        settings: Sequence[Setting] = ("P-Conv",),
        history: History = "request",
        seed: str = "personalens",
    ) -> None:
        index = open_index(files)
        self.rules: FixedProtocol | OfficialProtocol = (
            FixedProtocol(index, kinds=kinds, settings=settings, history=history, seed=seed)
            if protocol == "fixed"
            else OfficialProtocol(index, kinds=kinds, settings=settings, seed=seed)
        )
        plan = self.rules.plan
        super().__init__(name, plan)
        self._index, self.version, self.protocol = index, version or index.digest[:12], protocol
        # A test and each control ask for the same item again, and to read its posts takes longer than a copy.
        self._read_once = lru_cache(maxsize=_KEPT)(self._read)
        if not any(plan.items.values()):
            raise DataError(name, f"none of its {len(index.posts)} posts makes an item: {plan.excluded_text}")

    def load(self, ref: ScenarioRef) -> Prediction:
        """Return a copy of the whole item. Raise `DataError` for a file that has changed meanwhile."""
        return self._read_once(ref).model_copy(deep=True)

    def _read(self, ref: ScenarioRef) -> Prediction:
        try:
            place = self.rules.plan.place(ref)
        except KeyError:
            raise DataError(self.name, f"no item {ref.id!r} in it") from None
        post = self._index.read(self._index.posts[place])
        requests, interactions = self.rules.requests(ref, post)
        return Prediction(
            id=ref.id,
            user=ref.user,
            task=ref.task,
            dataset=f"{self.name} {self.version}",
            kind=kind_of(ref),
            domains=ref.domains,
            protocol=self.protocol,
            truth=self.rules.truth(ref, post),
            requests=requests,
            interactions=interactions,
        )
