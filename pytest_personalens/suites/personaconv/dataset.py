"""The posts of a file or a folder as a dataset of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.errors import DataError
from pytest_personalens.suites.personaconv.fixed_protocol import FixedProtocol
from pytest_personalens.suites.personaconv.index import open_index
from pytest_personalens.suites.personaconv.official_protocol import OfficialProtocol
from pytest_personalens.suites.personaconv.plan import by_reason, counted
from pytest_personalens.suites.personaconv.values import KINDS, Prediction, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.plan import LeftOut
    from pytest_personalens.suites.personaconv.values import (
        History,
        Kind,
        ProtocolName,
        Setting,
    )


class PostsDataset:
    """Predictions made of posts, which are read from raw or processed files.

    `settings` are all that a run asks for: its context first, then its controls. `version` is a digest of the
    files where none is given. Raises `DataError` for a file that is none of posts, or of which no post makes
    an item; `SpecError` for settings that the data or the protocol does not have.
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
        if not any(self._plan.items.values()):
            raise DataError(
                name, f"none of its {len(self._index.posts)} posts makes an item: {counted(self.excluded)}"
            )

    def posts(self, kind: Kind) -> int:
        """How many posts the files hold: the items of a kind and what is left out of it."""
        return len(self.items(kind)) + len(self.left_out(kind))

    @property
    def excluded(self) -> dict[Kind, dict[str, int]]:
        """Kind -> reason -> how many posts make no item for it."""
        return by_reason(self._plan.left_out)

    def left_out(self, kind: Kind) -> Sequence[LeftOut]:
        """Every post that makes no item of the kind, in the order of the file."""
        return self._plan.left_out[kind]

    def items(self, kind: Kind) -> Sequence[ScenarioRef]:
        """All items of a kind; in the official protocol in the order of the official file."""
        return self._plan.items[kind]

    def domains(self) -> Sequence[str]:
        """Every domain there is, as it is first spelled, in alphabetical order."""
        names: dict[str, str] = {}
        for of_user in self._plan.of_user.values():
            for ref in of_user:
                for domain in ref.domains:
                    names.setdefault(domain.casefold(), domain)
        return sorted(names.values(), key=str.casefold)

    def users(self) -> Sequence[str]:
        """The users of whom there is an item, in the order of the file."""
        return [user for user, refs in self._plan.of_user.items() if refs]

    def refs(self, user: str) -> Sequence[ScenarioRef]:
        """The items of one user. Raises `DataError` for an unknown user."""
        try:
            return self._plan.of_user[user]
        except KeyError:
            raise DataError(self.name, f"no user {user!r} in it") from None

    def load(self, ref: ScenarioRef) -> Prediction:
        """The whole item, with its requests. Raises `DataError` for a file that has changed meanwhile."""
        place = self._plan.places.get(ref)
        if place is None:
            raise DataError(self.name, f"no item {ref.id!r} in it")
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
