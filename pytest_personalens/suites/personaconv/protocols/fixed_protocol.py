"""The items and requests of the protocol ``fixed``, with the words of its requests."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.frozen import clean
from pytest_personalens.core.runtime import once
from pytest_personalens.suites.personaconv.data import fixed_targets as fixed
from pytest_personalens.suites.personaconv.data.item_plan import OtherUsers, PostsPlan
from pytest_personalens.suites.personaconv.data.posts import NOBODY, finite
from pytest_personalens.suites.personaconv.predictions import KINDS, Request, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.data.index import Index, IndexedPost
    from pytest_personalens.suites.personaconv.data.posts import Comment, Post
    from pytest_personalens.suites.personaconv.predictions import History, Kind, ProtocolName, Setting


_FOLDER: Final = Path(__file__).parent / "templates"
_FIELD: Final = re.compile(r"\$\w+")
#: Characters that JSON does not escape, and that some programs take for the end of a line.
_LINE_ENDS: Final = re.compile("[\x7f-\x9f\u2028\u2029]")


class RequestTemplate:
    """The words of a protocol's requests: part -> variant -> text with fields."""

    def __init__(self, parts: dict[str, dict[str, str]], digest: str) -> None:
        self._parts, self.digest = parts, digest

    def fill(self, part: str, variant: str = "any", **fields: object) -> str:
        """Return the part's text for a variant, or else for "any", with its fields filled in."""
        texts = self._parts[part]
        template = Template(texts.get(variant, texts.get("any", "")))
        return template.substitute({name: clean(str(value)) for name, value in fields.items()})

    def part_of(self, paragraph: str) -> str:
        """Return the part that begins like a paragraph of a request; empty text if there is none."""
        for part, texts in self._parts.items():
            if any(_opens(paragraph, text) for text in texts.values()):
                return part
        return ""


@once
def template_of(protocol: ProtocolName) -> RequestTemplate:
    """Return the template of the protocol, with its digest."""
    content = (_FOLDER / f"{protocol}.toml").read_bytes()
    return RequestTemplate(tomllib.loads(content.decode("utf-8")), hashlib.sha256(content).hexdigest()[:12])


def lines(values: Iterable[object]) -> str:
    """Return each value as one line of JSON, for any content of its texts."""
    texts = (clean(json.dumps(value, ensure_ascii=False)) for value in values)
    return "\n".join(_LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", text) for text in texts)


def _opens(paragraph: str, template: str) -> bool:
    """True if the paragraph begins with the words before the first field, or with one field and words."""
    first, *others = _FIELD.split(template)
    if first:
        return paragraph.startswith(first)
    words = others[0].partition("\n")[0] if others else ""
    field, found, _ = paragraph.partition(words or "\0")
    return bool(found) and " " not in field


_WITH_CONVERSATION = ("P-Conv", "NP-Conv")
_Past = list[tuple["Post", "Comment"]]


class FixedProtocol:
    """The protocol ``fixed``.

    Its target is the latest reply in each post of a user who replied in an earlier post. Raise `SpecError`
    for NP-Conv if there is no other user.
    """

    def __init__(
        self, index: Index, *, kinds: Sequence[Kind], settings: Sequence[Setting], history: History, seed: str
    ) -> None:
        self._index, self._settings, self._history, self._seed = index, settings, history, seed
        self._posts = _without_copies(index.posts)
        self._originals = {id(post) for of_user in self._posts.values() for post in of_user}
        self._first = {
            user: min(times)
            for user, of_user in self._posts.items()
            if (times := [post.past[0] for post in of_user if post.past])
        }
        self.plan = PostsPlan(index.posts, kinds)
        if "NP-Conv" in settings and len(self._posts.keys() - NOBODY) < 2:
            raise SpecError(
                "NP-Conv needs the past of another user, and the data has one user; give data of several,"
                " or leave NP-Conv out",
                code="PL108",
            )
        for kind in kinds:
            number = KINDS.index(kind)
            for place, post in enumerate(index.posts):
                target = post.fixed[number]
                if reason := target.reason or self._reason(post, kind):
                    self.plan.leave_out(kind, place, reason)
                else:
                    self.plan.add(kind, place, target)

    def truth(self, ref: ScenarioRef, post: Post) -> str | float:
        """Return the true value of the prediction."""
        target = fixed.find_target(post, kind_of(ref))
        if ref.kind == "sentiment":
            return fixed.label_of(target)
        return float(finite(target.score) or 0) if ref.kind == "impact" else target.text

    def requests(self, ref: ScenarioRef, post: Post) -> tuple[dict[str, Request], dict[str, dict[str, str]]]:
        """Return the request of each setting, and the past (domain -> text) where the context holds it."""
        kind, entry = kind_of(ref), self._index.posts[self.plan.place(ref)]
        target, in_context = fixed.find_target(post, kind), self._history == "context"
        number = len(self._replies_before(entry.user, entry.time or 0))
        requests: dict[str, Request] = {}
        interactions: dict[str, dict[str, str]] = {}
        pasts: dict[str | None, _Past] = {None: []}
        for setting in self._settings:
            user = None if setting == "none" else ref.user
            if setting == "NP-Conv":
                user = self._other_user(entry, post, target)
            if user not in pasts:
                pasts[user] = self._read_past(str(user), entry.time or 0)[:number]
            past = pasts[user]
            if in_context:
                interactions[setting] = _by_domain(past, kind)
            parts = request_parts(post, target, kind, setting, [] if in_context else past)
            requests[setting] = Request(parts=tuple(parts), leaks=_leaks(post, target, past))
        return requests, interactions

    def _reason(self, post: IndexedPost, kind: Kind) -> str:
        """Return why a post with a target gives no item of the kind, or an empty text."""
        if id(post) not in self._originals:
            return "duplicate"
        if self._first.get(post.user, post.time or 0) >= (post.time or 0):
            return "no-past"
        return "" if "NP-Conv" not in self._settings or self._has_other_user(post, kind) else "no-stranger"

    def _has_other_user(self, entry: IndexedPost, kind: Kind) -> bool:
        others = self._other_users.number_before(entry.user, entry.time or 0)
        if others == 0 or others > entry.comments:  # there are more others than commenters, so one is free
            return others > 0
        post = self._index.read(entry)
        return self._other_user(entry, post, fixed.find_target(post, kind)) is not None

    @cached_property
    def _other_users(self) -> OtherUsers:
        return OtherUsers(self._posts, self._seed)

    def _other_user(self, entry: IndexedPost, post: Post, target: Comment) -> str | None:
        return self._other_users.draw(
            entry,
            entry.time or 0,
            least=min(len(self._replies_before(entry.user, entry.time or 0)), fixed.PAST),
            taking_part={comment.author for comment in fixed.older_comments(post, target)},
        )

    def _replies_before(self, user: str, time: int) -> list[tuple[int, IndexedPost]]:
        """Return the user's replies before that time, the oldest first."""
        replies = [
            (then, post)
            for post in self._posts.get(user, ())
            for then in post.past[: bisect_left(post.past, time)]
        ]
        return sorted(replies, key=lambda each: each[0])

    def _read_past(self, user: str, time: int) -> _Past:
        """Return the user's replies before that time, the latest first, as many as a request may show."""
        latest = self._replies_before(user, time)[-fixed.PAST :]
        posts = [self._index.read(entry) for entry in dict.fromkeys(entry for _, entry in latest)]
        replies = [
            (reply.time or 0, reply.text, post, reply)
            for post in posts
            for reply in fixed.past_replies(post)
            if (reply.time or 0) < time
        ]
        replies.sort(key=lambda each: each[:2], reverse=True)
        return [(post, reply) for _, _, post, reply in replies[: fixed.PAST]]


def request_parts(
    post: Post, target: Comment, kind: Kind, setting: Setting, past: _Past
) -> Iterator[tuple[str, str]]:
    """Yield the parts of a request by name. A setting leaves parts out, and changes nothing else."""
    template = template_of("fixed")
    yield "task", template.fill("task", kind)
    if past:
        yield "history", template.fill("history", kind, lines=lines(fixed.shown_past(past, kind)))
    shown = {"domain": post.domain, "title": post.title, "text": post.text[: fixed.CONTENT]}
    yield "post", template.fill("post", lines=lines([shown]))
    if setting in _WITH_CONVERSATION and (before := fixed.conversation(post, target)):
        yield "conversation", template.fill("conversation", lines=lines(before))
    if setting in _WITH_CONVERSATION or kind == "next-text":
        yield "parent", template.fill("parent", lines=lines([fixed.shown_parent(post, target)]))
    if kind != "next-text":
        yield "reply", template.fill("reply", lines=lines([{"text": target.text}]))
    yield "answer", template.fill("answer", kind)


def _leaks(post: Post, target: Comment, past: _Past) -> tuple[str, ...]:
    """Return a leak if anything in the request is newer than the target, against the protocol."""
    shown = [*fixed.older_comments(post, target), *(reply for _, reply in past)]
    newer = [comment for comment in shown if (comment.time or 0) >= (target.time or 0)]
    return ("newer-comments",) if newer else ()


def _by_domain(past: _Past, kind: Kind) -> dict[str, str]:
    """Return the past in the form of an assistant's context: domain -> a line of JSON for each reply."""
    shown: dict[str, list[object]] = {}
    for entry in fixed.shown_past(past, kind):
        shown.setdefault(str(entry.pop("domain")), []).append(entry)
    return {domain: lines(entries) for domain, entries in shown.items()}


def _without_copies(posts: Sequence[IndexedPost]) -> dict[str, list[IndexedPost]]:
    """Return the posts of each user, without repeated copies of a post."""
    found: dict[str, dict[str, IndexedPost]] = {}
    for post in posts:
        found.setdefault(post.user, {}).setdefault(post.identity, post)
    return {user: list(of_user.values()) for user, of_user in found.items()}
