"""The posts of a file or a folder as a dataset of predictions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.suites.personaconv.data.index import open_index
from pytest_personalens.suites.personaconv.data.plan import by_reason, counted, spelled
from pytest_personalens.suites.personaconv.protocols.fixed_protocol import FixedProtocol
from pytest_personalens.suites.personaconv.protocols.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.values import KINDS, Prediction, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.data.plan import LeftOut
    from pytest_personalens.suites.personaconv.values import (
        History,
        Kind,
        ProtocolName,
        Setting,
    )

#: The number of items that stay in memory, of some 15 kB each.
_KEPT: Final = 1_000


class PostsDataset:
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
        self._index = open_index(files)
        self.name, self.version, self.protocol = name, version or self._index.digest[:12], protocol
        self.rules: FixedProtocol | OfficialProtocol
        if protocol == "fixed":
            self.rules = FixedProtocol(
                self._index, kinds=kinds, settings=settings, history=history, seed=seed
            )
        else:
            self.rules = OfficialProtocol(self._index, kinds=kinds, settings=settings, seed=seed)
        self._plan = self.rules.plan
        # A test and each control ask for the same item again, and to read its posts takes longer than a copy.
        self._whole = lru_cache(maxsize=_KEPT)(self._read)
        if not any(self._plan.items.values()):
            raise DataError(
                name, f"none of its {len(self._index.posts)} posts makes an item: {counted(self.excluded)}"
            )

    def posts(self, kind: Kind) -> int:
        """Return the number of posts in the files.

        It is the number of items of a kind, plus the posts that are left out of it.
        """
        return len(self.items(kind)) + len(self.left_out(kind))

    @property
    def excluded(self) -> dict[Kind, dict[str, int]]:
        """Return how many posts give no item, by kind and reason."""
        return by_reason(self._plan.left_out)

    def left_out(self, kind: Kind) -> Sequence[LeftOut]:
        """Return every post that gives no item of the kind, in file order."""
        return self._plan.left_out[kind]

    def items(self, kind: Kind) -> Sequence[ScenarioRef]:
        """Return all items of a kind.

        In the official protocol, they are in the order of the official file.
        """
        return self._plan.items[kind]

    def domains(self) -> Sequence[str]:
        """Return every domain in its first spelling, in alphabetical order."""
        return spelled(ref for of_user in self._plan.of_user.values() for ref in of_user)

    def users(self) -> Sequence[str]:
        """Return the users with an item, in the order of the file."""
        return [user for user, refs in self._plan.of_user.items() if refs]

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """Return the items of one user.

        Raise `DataError` for an unknown user.
        """
        try:
            return self._plan.of_user[user]
        except KeyError:
            raise DataError(self.name, f"no user {user!r} in it") from None

    def load(self, ref: ScenarioRef) -> Prediction:
        """Return the whole item, with its requests, as a copy of its own.

        Raise `DataError` for a file that has changed meanwhile.
        """
        return self._whole(ref).model_copy(deep=True)

    def _read(self, ref: ScenarioRef) -> Prediction:
        try:
            place = self._plan.place(ref)
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
