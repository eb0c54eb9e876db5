"""The protocol of the official scripts: its items, and the requests that a model is shown."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.suites.personaconv.data import official_targets as official
from pytest_personalens.suites.personaconv.data.item_plan import PostsPlan
from pytest_personalens.suites.personaconv.predictions import Request, kind_of
from pytest_personalens.suites.personaconv.protocols.fixed_protocol import template_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.data.index import Index
    from pytest_personalens.suites.personaconv.data.posts import Comment, Post
    from pytest_personalens.suites.personaconv.predictions import Kind, Setting

#: The highest number of characters of a post's text, and of a parent's text in P-Conv.
_CONTENT: Final = 500
_OTHER_CONTENT: Final = {"sentiment": 150, "impact": 300}
_PARENT: Final = 100
#: The answers of the invented examples.
_INVENTED_SCORE: Final = {"P-Conv": 25, "P-NonConv": 18, "NP-Conv": 25}


def score_request(
    kind: Kind, setting: Setting, post: Post, name: str, other_user: tuple[Post, str, Comment] | None = None
) -> Request:
    """Return the request of sentiment or impact.

    `name` is the official id of the post. `other_user` is the example of NP-Conv: the post, its id and the
    reply.
    """
    target = official.find_score_target(post)
    template, reply, leaks = template_of("official"), target.reply, []
    ask, parts = template.fill("ask", kind), [("task", template.fill("task", kind))]
    example = target.example if setting == "P-Conv" else None
    if kind == "sentiment" and example is not None and not official.amount(example):
        example = None  # the official scripts invent one
    shown = template.fill("card", "invented")
    if other_user is not None:
        other_post, other_name, example = other_user
        parts.append(("stranger", template.fill("stranger")))
        leaks += _own_leaks(post, name, other_post, other_name)
        shown = _card(kind, setting, other_post, other_name, example)
    elif example is not None:
        leaks += ["newer-example"] if _is_newer(reply, [example]) else []
        shown = _card(kind, setting, post, name, example)
    if not (kind == "sentiment" and setting == "P-NonConv"):
        answer = _answer(kind, setting, example)
        parts.append(("example", template.fill("example", card=shown, ask=ask, answer=answer)))
    if kind == "impact":
        parts.append(("sign", template.fill("sign", official.sign(reply))))
        leaks.append("sign")
    if setting == "P-Conv":
        leaks.append("post-score")
    card = _card(kind, setting, post, name, reply)
    parts.append(("answer", template.fill("answer", kind, card=card, ask=ask)))
    return Request(parts=tuple(parts), leaks=tuple(leaks))


def text_request(
    setting: Setting, post: Post, name: str, other_user: tuple[Post, str] | None = None
) -> Request:
    """Return the request of next text; `other_user` is the post, and its id, whose thread NP-Conv shows."""
    target = official.replies_by_time(post)[-1]
    template, parent = template_of("official"), _parent(post, target)
    parts, leaks = [("task", template.fill("task", "next-text"))], []
    shown: list[Comment] = []
    shown_texts = [parent["text"]]
    if setting != "P-NonConv":
        lender, lender_name = other_user or (post, name)
        example = official.replies_by_time(lender)[-2]
        cut = frozenset() if other_user else _from_on(lender, example)
        tree = [c for c in lender.comments if c.top is example.top and c.number not in cut]
        thread = json.dumps(_stored(lender, lender_name, {c.number for c in tree}, top=example.top))
        fields = {"user": lender.user, "parent_author": _parent(lender, example)["author"]}
        parts.append(("example", template.fill("thread", thread=thread, text=example.body or "", **fields)))
        shown += tree
        shown_texts.append(example.body)
        leaks += _own_leaks(post, name, lender, lender_name) if other_user else []
    if setting == "P-Conv":
        rest = [c for c in post.comments if c.number not in _below(post, target)]
        whole = _stored(post, name, {c.number for c in rest})
        parts.append(("post", template.fill("post", setting, post=json.dumps(whole))))
        shown += rest
    elif setting == "P-NonConv":
        alone = {key: value for key, value in _stored(post, name, ()).items() if key != "comments"}
        parts.append(("post", template.fill("post", setting, post=json.dumps(alone))))
    fields = {"user": post.user, "parent_author": parent["author"], "parent": parent["text"]}
    parts.append(("parent", template.fill("parent", **fields)))
    if setting == "NP-Conv":
        parts.append(("post", template.fill("post", setting, parent_score=parent["score"])))
    else:
        leaks.append("post-score")
    parts.append(("answer", template.fill("answer", "next-text", user=post.user)))
    if _is_newer(target, shown):
        leaks.append("newer-comments")
    if _holds_text(target.body or "", [*shown_texts, *(c.body for c in shown)]):
        leaks.append("target-text")
    return Request(parts=tuple(parts), leaks=tuple(leaks))


def _own_leaks(post: Post, name: str, other_post: Post, other_name: str) -> list[str]:
    """Return a leak if the example of another user is of the same user after all."""
    if other_post.user != post.user:
        return []
    return ["own-example" if other_name == name else "same-user"]


def _is_newer(target: Comment, shown: Iterable[Comment]) -> bool:
    """True if a comment with a time in the request is at least as new as the target."""
    limit = target.time
    return limit is not None and any(
        (time := comment.time) is not None and time >= limit for comment in shown if comment is not target
    )


def _holds_text(text: str, shown: Iterable[str | None]) -> bool:
    """True if one of the texts in the request holds `text`; spaces and line ends do not count."""
    words = " ".join(text.split())
    if not words:
        return False
    whole = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
    return any(whole.search(" ".join(each.split())) is not None for each in shown if each)


def _answer(kind: Kind, setting: Setting, example: Comment | None) -> object:
    if example is None:
        return "positive" if kind == "sentiment" else _INVENTED_SCORE[setting]
    return official.sign(example) if kind == "sentiment" else official.score_of(example)


def _card(kind: Kind, setting: Setting, post: Post, name: str, reply: Comment) -> str:
    parent = _parent(post, reply)
    of_other, most = setting == "NP-Conv", _OTHER_CONTENT.get(kind, _CONTENT)
    return template_of("official").fill(
        "card",
        setting,
        post=name,
        domain=post.domain,
        author=post.author,
        score=post.raw.get("score"),
        time=post.raw.get("timestamp"),
        title=post.title,
        content=post.content[: most if of_other else _CONTENT],
        parent_author=parent["author"],
        parent=parent["text"] if of_other else parent["text"][:_PARENT],
        parent_score=parent["score"],
        reply=f"{name}-{reply.path}",
        user=reply.author,
        reply_time=reply.timestamp,
        text=reply.body or "",
    )


def _parent(post: Post, reply: Comment) -> dict[str, Any]:
    """Return the author, the text and the score that a reply answers."""
    parent = reply.parent
    if parent is None:
        return {"author": post.author, "text": post.content, "score": post.raw.get("score")}
    return {"author": parent.author, "text": parent.body or "", "score": parent.score}


def _below(post: Post, reply: Comment) -> frozenset[int]:
    """Return the numbers of a reply and of everything below it."""
    numbers = {reply.number}
    for comment in post.comments:  # parents come before their answers
        if comment.parent is not None and comment.parent.number in numbers:
            numbers.add(comment.number)
    return frozenset(numbers)


def _from_on(post: Post, reply: Comment) -> frozenset[int]:
    """Return the numbers of a reply and its later siblings, with everything below."""
    later = [c for c in post.comments if c.parent is reply.parent and c.number >= reply.number]
    return frozenset(number for comment in later for number in _below(post, comment))


def _stored(post: Post, name: str, kept: Collection[int], *, top: Comment | None = None) -> Mapping[str, Any]:
    """Return the post, or one of its threads, with the kept comments and their official ids."""
    nodes: dict[int, dict[str, Any]] = {}
    root = {**_public(post.raw), "id": name, "parent_id": None, "type": "post", "comments": []}
    for comment in post.comments:
        if comment.number not in kept:
            continue
        own = f"{name}-{comment.path}"
        node = {**_public(comment.raw), "id": own, "parent_id": own.rpartition("-")[0], "type": "comment"}
        nodes[comment.number] = node | {"replies": []}
        above = root["comments"] if comment.parent is None else nodes[comment.parent.number]["replies"]
        above.append(nodes[comment.number])
    return root if top is None else nodes.get(top.number, {})


def _public(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a post or comment that the official scripts show, without what is below it."""
    return {
        key: value
        for key, value in raw.items()
        if (key == "__sub__" or not key.startswith("_")) and key not in ("comments", "replies")
    }


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
            raise SpecError(
                "the official protocol has no setting 'none'; use the protocol fixed", code="PL108"
            )
        if "next-text" in kinds and "NP-Conv" in settings and len(settings) > 1:
            raise SpecError(
                "NP-Conv of next text is of other posts in the official protocol, and cannot be a control of"
                " them; leave next-text out of the kinds, or use the protocol fixed",
                code="PL108",
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
