"""Predictions: their kinds, settings, requests and words, and the plan of which posts give them."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from abc import ABC, abstractmethod
from collections import Counter
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple, get_args

from pydantic import Field

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.frozen import Frozen, Text, clean
from pytest_personalens.core.runtime import once
from pytest_personalens.core.scenario import BaseScenario, Context, ScenarioRef

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_personalens.suites.personaconv.posts import Index, IndexedPost, IndexedTarget, Post

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


class ExcludedPost(NamedTuple):
    """A post that gives no item: its user, its number among the user's posts (from 1) and the reason."""

    user: str
    number: int
    reason: str


class Plan:
    """The items by user and by kind, in the order of the protocol, and what gives no item.

    For each kind, the items of `posts` and those that are left out are together all posts. `numbers` are the
    number of each post's user, and its number among the user's posts, both from 1.
    """

    def __init__(self, kinds: Iterable[str], posts: Sequence[IndexedPost]) -> None:
        self.of_user: dict[str, list[ScenarioRef]] = {post.user: [] for post in posts}
        self.items: dict[str, list[ScenarioRef]] = {kind: [] for kind in kinds}
        self.left_out: dict[str, list[ExcludedPost]] = {kind: [] for kind in self.items}
        self._posts, self._places = posts, dict[tuple[str, str], int]()
        users = {user: number for number, user in enumerate(self.of_user, 1)}
        counts: Counter[str] = Counter()
        self.numbers: list[tuple[int, int]] = []
        for post in posts:
            counts[post.user] += 1
            self.numbers.append((users[post.user], counts[post.user]))

    @property
    def excluded(self) -> dict[str, dict[str, int]]:
        """Return how many posts give no item, by kind and reason, the most frequent reason first."""
        return {
            kind: dict(Counter(each.reason for each in posts).most_common())
            for kind, posts in self.left_out.items()
        }

    @property
    def excluded_text(self) -> str:
        """Return the same as one line of an error."""
        return "; ".join(
            f"{kind}: {', '.join(f'{number} {reason}' for reason, number in reasons.items()) or 'nothing'}"
            for kind, reasons in self.excluded.items()
        )

    def add(self, kind: str, place: int, target: IndexedTarget) -> None:
        """Add the target of the post in that place, or leave the post out if it has none, or one twice."""
        post = self._posts[place]
        domains, stratum = (post.domain or UNKNOWN_DOMAIN,), stratum_of(kind, target.label)
        ref = ScenarioRef(post.user, f"{kind}-{target.id}", kind, domains, stratum)
        reason = target.reason or ("duplicate" if ref[:2] in self._places else "")
        if reason:
            self.left_out[kind].append(ExcludedPost(post.user, self.numbers[place][1], reason))
        else:
            self.add_item(ref, place)

    def add_item(self, ref: ScenarioRef, place: int) -> None:
        """Add the item of the post, or of the row of a prompt file, in that place."""
        self._places[ref[:2]] = place
        self.of_user.setdefault(ref.user, []).append(ref)
        self.items[ref.kind].append(ref)

    def place(self, ref: ScenarioRef) -> int:
        """Return the place of an item's post or row. Raise KeyError for an item that is not in it."""
        return self._places[ref[:2]]


class Protocol(ABC):
    """The rules by which indexed posts give items.

    `settings` holds all settings of a run: its context first, then its controls. `history` is ``request`` or
    ``context``: where the user's past is shown.
    """

    def __init__(
        self, index: Index, *, kinds: Sequence[str], settings: Sequence[str], history: str, seed: str
    ) -> None:
        self._index, self._settings, self._history, self._seed = index, settings, history, seed
        self.plan = Plan(kinds, index.posts)

    def load(
        self, ref: ScenarioRef, place: int
    ) -> tuple[str | float, dict[str, Request], dict[str, dict[str, str]]]:
        """Return the truth with both results of `requests`. Raise `DataError` for a file that has changed."""
        post = self._index.read(self._index.posts[place])
        return self.truth(ref, post), *self.requests(ref, post)

    @abstractmethod
    def truth(self, ref: ScenarioRef, post: Post) -> str | float:
        """Return the true value of the prediction."""

    @abstractmethod
    def requests(self, ref: ScenarioRef, post: Post) -> tuple[dict[str, Request], dict[str, dict[str, str]]]:
        """Return the request of each setting, and the past (domain -> text) where the context holds it."""


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
