"""The items, their order and the requests of the protocol ``official``."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pytest_personalens.core.errors import SpecError
from pytest_personalens.suites.personaconv.data import official
from pytest_personalens.suites.personaconv.data.plan import PostsPlan
from pytest_personalens.suites.personaconv.protocols.official_requests import score_request, text_request
from pytest_personalens.suites.personaconv.values import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.data.index import Index
    from pytest_personalens.suites.personaconv.data.posts import Comment, Post
    from pytest_personalens.suites.personaconv.values import Kind, Request, Setting


class OfficialProtocol:
    """The samples of the official prompt makers.

    The official scripts draw their order in NP-Conv of impact anew each time. Here the seed decides it. Raise
    `SpecError` for NP-Conv of next text together with another setting, because it uses other posts.
    """

    def __init__(
        self, index: Index, *, kinds: Sequence[Kind], settings: Sequence[Setting], seed: str
    ) -> None:
        self._index, self._settings, self._seed = index, settings, seed
        self.plan = PostsPlan(index.posts, kinds)
        if "none" in settings:
            raise SpecError("the official protocol has no setting 'none'; use the protocol fixed")
        if "next-text" in kinds and "NP-Conv" in settings and len(settings) > 1:
            raise SpecError(
                "NP-Conv of next text is of other posts in the official protocol, and cannot be a control of"
                " them; leave next-text out of the kinds, or use the protocol fixed"
            )
        for kind in kinds:
            if kind == "next-text":
                self._plan_texts()
            else:
                self._plan_scores(kind)
        self._pool = [place for place, post in enumerate(index.posts) if post.in_pool]
        self._shuffled = sorted(self.plan.items.get("impact", ()), key=self._digest)
        self._shuffled_places = {ref: place for place, ref in enumerate(self._shuffled)}

    def truth(self, ref: ScenarioRef, post: Post) -> str | float:
        """Return the true value of the prediction."""
        if ref.kind == "next-text":
            return official.one_line(official.replies_by_time(post)[-1].body or "")
        target = official.find_score_target(post).reply
        if ref.kind == "sentiment":
            return official.sign(target)
        return float(official.score_of(target) or 0)

    def requests(self, ref: ScenarioRef, post: Post) -> tuple[dict[str, Request], dict[str, dict[str, str]]]:
        """Return the request of each setting, and nothing for a context, as in the official scripts."""
        return {setting: self._request(ref, post, setting) for setting in self._settings}, {}

    def name(self, place: int) -> str:
        """Return the official id of the post in that place."""
        user, post = self.plan.numbers[place]
        return f"u{user}p{post}"

    def read(self, place: int) -> Post:
        return self._index.read(self._index.posts[place])

    def lender(self, place: int) -> int:
        """Return the place of the post whose thread NP-Conv of next text shows for the post in that place."""
        return (place + official.OFFSET) % len(self._index.posts)

    def other_users_reply(self, ref: ScenarioRef) -> tuple[Post, str, Comment]:
        """Return the example of a score in NP-Conv: the post, its id and the reply."""
        if ref.kind == "sentiment":
            place = self._pool[(self.plan.place(ref) + official.OFFSET) % len(self._pool)]
        else:
            partner = (self._shuffled_places[ref] + official.OFFSET) % len(self._shuffled)
            place = self.plan.place(self._shuffled[partner])
        post = self.read(place)
        return post, self.name(place), official.ranked_replies(post)[0]

    def _request(self, ref: ScenarioRef, post: Post, setting: Setting) -> Request:
        place, with_other_user = self.plan.place(ref), setting == "NP-Conv"
        name = self.name(place)
        if ref.kind == "next-text":
            lender = self.lender(place)
            other_user = (self.read(lender), self.name(lender)) if with_other_user else None
            return text_request(setting, post, name, other_user)
        example = self.other_users_reply(ref) if with_other_user else None
        return score_request(kind_of(ref), setting, post, name, example)

    def _plan_scores(self, kind: Kind) -> None:
        targets = [post.scored for post in self._index.posts]
        for place, target in enumerate(targets):
            if target.reason:
                self.plan.leave_out(kind, place, target.reason)
        kept, halved = official.order_samples([(p, t.score) for p, t in enumerate(targets) if not t.reason])
        for place in halved:
            self.plan.leave_out(kind, place, "halved")
        for place in kept:
            # Without its class, so that a draw has the classes as they are in the file.
            self.plan.add(kind, place, targets[place]._replace(label=""))

    def _plan_texts(self) -> None:
        with_other_user = "NP-Conv" in self._settings
        for place, post in enumerate(self._index.posts):
            target = post.own_text if with_other_user else post.text
            lends = not with_other_user or self._index.posts[self.lender(place)].lends
            if reason := target.reason or ("" if lends else "no-stranger"):
                self.plan.leave_out("next-text", place, reason)
            else:
                self.plan.add("next-text", place, target)

    def _digest(self, ref: ScenarioRef) -> bytes:
        return hashlib.sha256(f"{self._seed}\x1f{ref.id}".encode("utf-8", "surrogatepass")).digest()
