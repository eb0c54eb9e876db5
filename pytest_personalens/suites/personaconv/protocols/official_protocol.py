"""The items, their order and the requests of the protocol ``official``."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.suites.personaconv.data import official
from pytest_personalens.suites.personaconv.data.plan import Plan
from pytest_personalens.suites.personaconv.protocols.official_requests import score_request, text_request
from pytest_personalens.suites.personaconv.values import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.data.facts import Facts, Found
    from pytest_personalens.suites.personaconv.data.index import Index
    from pytest_personalens.suites.personaconv.data.posts import Comment, Post
    from pytest_personalens.suites.personaconv.values import Kind, Request, Setting

#: The scripts' text for a domain that a post does not name.
_NO_DOMAIN: Final = {"sentiment": "", "impact": "N/A", "next-text": ""}


class Row(NamedTuple):
    """A sample in the form of the official files.

    The ids are positions, such as ``u1p1-c1-c2``. `example` is None if the scripts invent an example or show
    none.
    """

    user: str
    target: str
    label: str | int | float
    domain: str
    example: str | None


class OfficialProtocol:
    """The samples of the official prompt makers.

    The official scripts draw their order in NP-Conv of impact anew each time. Here the seed decides it. Raise
    `SpecError` for NP-Conv of next text together with another setting, because it uses other posts.
    """

    def __init__(
        self, index: Index, *, kinds: Sequence[Kind], settings: Sequence[Setting], seed: str
    ) -> None:
        self._index, self._settings, self._seed = index, settings, seed
        self.plan = Plan(index.posts, kinds)
        if unknown := [setting for setting in settings if setting == "none"]:
            raise SpecError(f"the official protocol has no setting {unknown[0]!r}; use the protocol fixed")
        if "next-text" in kinds and "NP-Conv" in settings and len(settings) > 1:
            raise SpecError(
                "NP-Conv of next text is of other posts in the official protocol, and cannot be a control of"
                " them; leave next-text out of the kinds, or use the protocol fixed"
            )
        self._pool = [place for place, facts in enumerate(index.posts) if facts.in_pool]
        for kind in kinds:
            if kind == "next-text":
                self._plan_texts()
            else:
                self._plan_scores(kind)
        self._drawn = sorted(self.plan.items.get("impact", ()), key=self._digest)
        self._drawn_places = {ref: place for place, ref in enumerate(self._drawn)}

    def truth(self, ref: ScenarioRef, post: Post) -> str | float:
        """Return the true value of the prediction."""
        if ref.kind == "next-text":
            return official.one_line(official.latest(post)[-1].body or "")
        target = _target(post)
        if ref.kind == "sentiment":
            return official.sign(target)
        return float(official.score_of(target) or 0)

    def requests(self, ref: ScenarioRef, post: Post) -> tuple[dict[str, Request], dict[str, dict[str, str]]]:
        """Return the request of each setting.

        The second result is empty, because the official scripts put nothing into a context.
        """
        return {setting: self._request(ref, post, setting) for setting in self._settings}, {}

    def rows(self, kind: Kind, setting: Setting) -> list[Row]:
        """Return all samples of a kind, in the order of the official file."""
        return [self._row(ref, setting) for ref in self.plan.items[kind]]

    def _row(self, ref: ScenarioRef, setting: Setting) -> Row:
        place = self.plan.place(ref)
        post, name = self._index.read(self._index.posts[place]), self.name(place)
        if ref.kind == "next-text":
            replies, strange = official.latest(post), place
            if setting == "NP-Conv":
                strange = self._lender(place)
                replies = [*official.latest(self._read(strange))[:-1], replies[-1]]
            target, example, label = replies[-1], replies[-2], self.truth(ref, post)
            shown = None if setting == "P-NonConv" else f"{self.name(strange)}-{example.path}"
        else:
            target = _target(post)
            label = self.truth(ref, post) if ref.kind == "sentiment" else official.score_of(target) or 0
            shown = self._shown_example(ref, post, setting)
        domain = post.domain or _NO_DOMAIN[ref.kind]
        return Row(ref.user, f"{name}-{target.path}", label, domain, shown)

    def _shown_example(self, ref: ScenarioRef, post: Post, setting: Setting) -> str | None:
        if setting == "NP-Conv":
            _, name, reply = self._strange_reply(ref)
            return f"{name}-{reply.path}"
        target = official.score_target(post)
        example = None if isinstance(target, str) else target.example
        if setting == "P-NonConv" or example is None:
            return None
        if ref.kind == "sentiment" and not official.amount(example):
            return None
        return f"{self.name(self.plan.place(ref))}-{example.path}"

    def name(self, place: int) -> str:
        """Return the official id of the post in that place."""
        user, post = self.plan.numbers[place]
        return f"u{user}p{post}"

    def _request(self, ref: ScenarioRef, post: Post, setting: Setting) -> Request:
        place = self.plan.place(ref)
        name = self.name(place)
        if ref.kind == "next-text":
            lender = self._lender(place) if setting == "NP-Conv" else None
            other_user = None if lender is None else (self._read(lender), self.name(lender))
            return text_request(setting, post, name, other_user)
        strange = self._strange_reply(ref) if setting == "NP-Conv" else None
        return score_request(kind_of(ref), setting, post, name, strange)

    def _strange_reply(self, ref: ScenarioRef) -> tuple[Post, str, Comment]:
        """Return the example of a score in NP-Conv: the post, its id and the reply."""
        if ref.kind == "sentiment":
            place = self._pool[(self.plan.place(ref) + official.OFFSET) % len(self._pool)]
        else:
            partner = (self._drawn_places[ref] + official.OFFSET) % len(self._drawn)
            place = self.plan.place(self._drawn[partner])
        post = self._read(place)
        return post, self.name(place), official.ranked(post)[0]

    def _lender(self, place: int) -> int:
        """Return the place of the post whose thread NP-Conv of next text shows."""
        return (place + official.OFFSET) % len(self._index.posts)

    def _read(self, place: int) -> Post:
        return self._index.read(self._index.posts[place])

    def _plan_scores(self, kind: Kind) -> None:
        scores = []
        for place, facts in enumerate(self._index.posts):
            if facts.scored.reason:
                self.plan.leave_out(kind, place, facts.scored.reason)
            else:
                scores.append((place, facts.scored.score))
        kept, halved = official.in_order(scores)
        for place in halved:
            self.plan.leave_out(kind, place, "halved")
        for place in kept:
            # Without its class, so that a draw has the classes as they are in the file.
            self.plan.add(kind, place, self._index.posts[place].scored._replace(label=""))

    def _plan_texts(self) -> None:
        strange = "NP-Conv" in self._settings
        for place, facts in enumerate(self._index.posts):
            found: Found = facts.own_text if strange else facts.text
            if reason := found.reason or (self._lends_nothing(place) if strange else ""):
                self.plan.leave_out("next-text", place, reason)
            else:
                self.plan.add("next-text", place, found)

    def _lends_nothing(self, place: int) -> str:
        lender: Facts = self._index.posts[self._lender(place)]
        return "" if lender.lends else "no-stranger"

    def _digest(self, ref: ScenarioRef) -> bytes:
        return hashlib.sha256(f"{self._seed}\x1f{ref.id}".encode("utf-8", "surrogatepass")).digest()


def _target(post: Post) -> Comment:
    target = official.score_target(post)
    assert not isinstance(target, str), "the index says that there is one"
    return target.reply
