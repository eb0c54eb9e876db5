"""The values of the suite: kinds, settings, predictions and requests."""

from __future__ import annotations

import hashlib
import json
from typing import ClassVar, Final, Literal, cast, get_args

from pydantic import Field

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.frozen import Frozen, Text
from pytest_personalens.core.scenario import BaseScenario, Context, ScenarioRef

Kind = Literal["sentiment", "impact", "next-text"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
#: The parts that an assistant gets in the protocol fixed. P-Conv: the user's past and the conversation.
#: P-NonConv: the past only. NP-Conv: another user's past and the conversation. none: neither.
Setting = Literal["P-Conv", "P-NonConv", "NP-Conv", "none"]
SETTINGS: Final[tuple[Setting, ...]] = get_args(Setting)
ProtocolName = Literal["fixed", "official"]
#: The place of the user's past: in the request, or in the context of the assistant.
History = Literal["request", "context"]
#: The log evaluators' name for a domain without one.
UNKNOWN_DOMAIN: Final = "UNKNOWN"


class Request(Frozen):
    """The request to an assistant, in named parts, with its leaks."""

    parts: tuple[tuple[str, Text], ...]
    leaks: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the whole request, as one message."""
        return "\n\n".join(text for _, text in self.parts)


class Prediction(BaseScenario):
    """One prediction to make: its requests by setting, and the truth.

    `interactions` holds the past that the context has instead of the request, by setting (domain -> text).
    """

    takes_answers: ClassVar[bool] = True
    suite: ClassVar[str] = "personaconv"

    kind: Kind
    task: str
    protocol: ProtocolName
    truth: Text | float
    requests: dict[str, Request]
    interactions: dict[str, dict[str, Text]] = Field(default_factory=dict)

    @property
    def task_id(self) -> str:
        """Return the kind with the digest of the target."""
        return self.task

    @property
    def single_request(self) -> Request:
        """Return the request of an item, which has one setting."""
        (request,) = self.requests.values()
        return request

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """Return the requests, which hold the posts of others."""
        return tuple(request.text.strip() for request in self.requests.values())

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """Return the truth, and the place of the item."""
        truth = self.truth if isinstance(self.truth, str) else f"{self.truth:g}"
        return (("domain", self.domains[0]), ("truth", truth))

    def in_setting(self, setting: str) -> Prediction:
        """Return the prediction with one request. Raise `SpecError` for a setting that was not loaded."""
        if setting not in self.requests:
            raise SpecError(
                f"{self.id}: no request for {setting} in this run; give personalens_context or"
                f" --personalens-control {setting}",
                code="PL108",
            )
        past = {setting: self.interactions[setting]} if setting in self.interactions else {}
        return self.model_copy(update={"requests": {setting: self.requests[setting]}, "interactions": past})

    def context(self, given: str) -> Context:
        """Return what the assistant may know of the user in a setting."""
        return Context(user=self.user, interactions=self.interactions.get(given, {}))


def kind_of(ref: ScenarioRef) -> Kind:
    """Return the kind of an item of this suite."""
    return cast("Kind", ref.kind)


def stratum_of(kind: Kind, label: str) -> str:
    """Return the stratum of an item in a draw: for sentiment the kind with the class.

    It is empty without a class and for other kinds: then the kind itself counts.
    """
    return f"{kind}-{label}" if kind == "sentiment" and label else ""


def digest_of(*parts: object) -> str:
    """Return eight characters that identify these texts."""
    content = json.dumps(parts, sort_keys=True).encode()  # the result is ASCII, so half an emoji does no harm
    return hashlib.sha256(content).hexdigest()[:8]
