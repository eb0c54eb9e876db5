"""The values of the suite: its kinds and settings, a prediction to be made, and what is asked for it."""

from __future__ import annotations

import hashlib
import json
from typing import Final, Literal, NamedTuple, get_args

from pydantic import Field

from pytest_personalens.core.scenario import Context, Frozen, Text, slug

Kind = Literal["sentiment", "impact", "next-text"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
#: What an assistant is given: the user's past, the conversation, both, or a stranger's past instead.
Setting = Literal["P-Conv", "P-NonConv", "NP-Conv", "none"]
SETTINGS: Final[tuple[Setting, ...]] = get_args(Setting)
ProtocolName = Literal["fixed", "official"]
#: Where the user's past stands: in the request, or in the context that an assistant is given.
History = Literal["request", "context"]
#: What the log evaluators call a domain that is not named.
UNKNOWN_DOMAIN: Final = "UNKNOWN"


class PredictionRef(NamedTuple):
    """A prediction by name only: enough to collect, filter and sample.

    `task` is the kind with the digest of the target; `label` is the class of a sentiment, empty elsewhere.
    """

    user: str
    task: str
    kind: Kind
    domains: tuple[str, ...]
    label: str = ""

    @property
    def id(self) -> str:
        """Slug of task and user, such as ``sentiment-1f0c9a7e-u-nilu``."""
        return slug(f"{self.task}-{self.user}")


class Request(Frozen):
    """What an assistant is asked, in named parts, and the leaks that are in it."""

    parts: tuple[tuple[str, Text], ...]
    leaks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole request, as one message."""
        return "\n\n".join(text for _, text in self.parts)


class Prediction(Frozen):
    """One prediction to be made: its requests by setting, and the truth.

    `interactions` holds, by setting, the past that stands in the context instead (domain -> text).
    """

    id: str
    user: str
    task: str
    dataset: str
    kind: Kind
    domains: tuple[str, ...]
    protocol: ProtocolName
    truth: Text | float
    requests: dict[str, Request]
    interactions: dict[str, dict[str, Text]] = Field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A short digest of all that is in it but the version of its dataset."""
        return hashlib.sha256(self.model_dump_json(exclude={"dataset"}).encode()).hexdigest()[:12]

    def context(self, setting: str = "P-Conv", *, user: str = "") -> Context:
        """What the assistant may know of the user in a setting; a control gives it another id."""
        return Context(user=user or self.user, interactions=self.interactions.get(setting, {}))


def digest_of(*parts: object) -> str:
    """Eight characters that stand for these texts."""
    content = json.dumps(parts, sort_keys=True).encode()  # ASCII, and half an emoji does not harm it
    return hashlib.sha256(content).hexdigest()[:8]
