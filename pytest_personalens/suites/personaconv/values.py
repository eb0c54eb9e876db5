"""The values of the suite: its kinds and settings, a prediction to be made, and what is asked for it."""

from __future__ import annotations

import hashlib
import json
from typing import ClassVar, Final, Literal, cast, get_args

from pydantic import Field

from pytest_personalens.core.scenario import BaseScenario, Context, Frozen, ScenarioRef, Text

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


class Request(Frozen):
    """What an assistant is asked, in named parts, and the leaks that are in it."""

    parts: tuple[tuple[str, Text], ...]
    leaks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole request, as one message."""
        return "\n\n".join(text for _, text in self.parts)


class Prediction(BaseScenario):
    """One prediction to be made: its requests by setting, and the truth.

    `interactions` holds, by setting, the past that stands in the context instead (domain -> text).
    """

    takes_answers: ClassVar[bool] = True

    kind: Kind
    task: str
    protocol: ProtocolName
    truth: Text | float
    requests: dict[str, Request]
    interactions: dict[str, dict[str, Text]] = Field(default_factory=dict)

    @property
    def task_id(self) -> str:
        """The kind with the digest of the target."""
        return self.task

    def context(self, given: str) -> Context:
        """What the assistant may know of the user in a setting."""
        return Context(user=self.user, interactions=self.interactions.get(given, {}))


def kind_of(ref: ScenarioRef) -> Kind:
    """The kind of an item of ours."""
    return cast("Kind", ref.kind)


def stratum_of(kind: Kind, label: str) -> str:
    """What an item counts for in a draw: the class of a sentiment, else its kind."""
    return f"{kind}-{label}" if kind == "sentiment" else ""


def digest_of(*parts: object) -> str:
    """Eight characters that stand for these texts."""
    content = json.dumps(parts, sort_keys=True).encode()  # ASCII, and half an emoji does not harm it
    return hashlib.sha256(content).hexdigest()[:8]
