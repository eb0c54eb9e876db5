"""The values of the suite: kinds, settings, predictions, requests and their words."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, ClassVar, Final, Literal, get_args

from pydantic import Field

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.frozen import Frozen, Text, clean
from pytest_personalens.core.runtime import once
from pytest_personalens.core.scenario import BaseScenario, Context

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["sentiment", "impact", "next-text"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
#: The parts that an assistant gets in the protocol fixed. P-Conv: the user's past and the conversation.
#: P-NonConv: the past only. NP-Conv: another user's past and the conversation. none: neither.
Setting = Literal["P-Conv", "P-NonConv", "NP-Conv", "none"]
SETTINGS: Final[tuple[Setting, ...]] = get_args(Setting)
ProtocolName = Literal["fixed", "official"]
#: The log evaluators' name for a domain without one.
UNKNOWN_DOMAIN: Final = "UNKNOWN"
_TEMPLATES: Final = Path(__file__).parent / "templates"
#: Characters that JSON does not escape, and that some programs take for the end of a line.
_LINE_ENDS: Final = re.compile("[\x7f-\x9f\u2028\u2029]")


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

    `task` is the kind with the digest of the target. `interactions` holds the past that the context has
    instead of the request, by setting (domain -> text).
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


class RequestTemplate:
    """The words of a protocol's requests: part -> variant -> text with fields."""

    def __init__(self, parts: dict[str, dict[str, str]], digest: str) -> None:
        self._parts, self.digest = parts, digest

    def fill(self, part: str, variant: str = "any", **fields: object) -> str:
        """Return the part's text for a variant, or else for "any", with its fields filled in."""
        texts = self._parts[part]
        template = Template(texts.get(variant, texts.get("any", "")))
        return template.substitute({name: clean(str(value)) for name, value in fields.items()})


@once
def template_of(protocol: str) -> RequestTemplate:
    """Return the template of the protocol, with its digest."""
    content = (_TEMPLATES / f"{protocol}.toml").read_bytes()
    return RequestTemplate(tomllib.loads(content.decode("utf-8")), hashlib.sha256(content).hexdigest()[:12])


def lines(values: Iterable[object]) -> str:
    """Return each value as one line of JSON, for any content of its texts."""
    texts = (clean(json.dumps(value, ensure_ascii=False)) for value in values)
    return "\n".join(_LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", text) for text in texts)


def stratum_of(kind: str, label: str) -> str:
    """Return the stratum of an item in a draw: for sentiment the kind with the class.

    It is empty without a class and for other kinds: then the kind itself counts.
    """
    return f"{kind}-{label}" if kind == "sentiment" and label else ""


def digest_of(*parts: object) -> str:
    """Return eight characters that identify these texts."""
    content = json.dumps(parts, sort_keys=True).encode()  # the result is ASCII, so half an emoji does no harm
    return hashlib.sha256(content).hexdigest()[:8]
