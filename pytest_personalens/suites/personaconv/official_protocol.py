"""The protocol of the official scripts: its targets and items, and the requests that a model is shown.

The rules were read in the official repository (branch Latest 72ee237), and checked against the output of its
six prompt makers for 85 posts. A number in a function here is one of their rules, even if it looks odd.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.datasets.dataset import digest
from pytest_personalens.suites.personaconv.posts import MARKERS, label_of, visible_text
from pytest_personalens.suites.personaconv.predictions import Protocol, Request, template_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pytest_personalens.core.scenario import ScenarioRef
    from pytest_personalens.suites.personaconv.posts import Comment, Post

#: The distance of the other user of NP-Conv, in places of the file or of the samples.
_OFFSET: Final = 200
#: The fewest authors and replies of a post that has a target, and the amount that the target's score exceeds.
_LEAST_AUTHORS: Final = 4
_LEAST_REPLIES: Final = 3
_AMOUNT: Final = 3
#: The same of a post whose best reply may be another user's example.
_POOL_AUTHORS: Final = 3
_POOL_AMOUNT: Final = 1
#: Next text: the fewest threads that the user answered in, and the largest share of comments removed.
_LEAST_THREADS: Final = 2
_REMOVED_SHARE: Final = 0.33
#: A score beyond it is no number that the scripts can take.
_MOST: Final = 1e300
#: The highest number of characters of a post's text, and of a parent's text in P-Conv.
_CONTENT: Final = 500
_OTHER_CONTENT: Final = {"sentiment": 150, "impact": 300}
_PARENT: Final = 100
#: The answers of the invented examples.
_INVENTED_SCORE: Final = {"P-Conv": 25, "P-NonConv": 18, "NP-Conv": 25}


def score_of(comment: Comment) -> int | float | None:
    """Return the score as the official scripts take it: any number or a boolean, but no text."""
    score = comment.score
    return score if isinstance(score, int | float) and not abs(score) > _MOST else None


def amount(comment: Comment) -> int | float:
    """Return the score without its sign, or 0 if there is none."""
    return abs(score_of(comment) or 0)


def ranked_replies(post: Post) -> list[Comment]:
    """Return the replies that can be a target of sentiment and impact, the largest amount of score first.

    The first is the target, and the second its example.
    """
    replies = [
        (amount(reply), time, reply)
        for reply in post.replies
        if score_of(reply) is not None
        and reply.text
        and (visible_text(post.content) if reply.parent is None else reply.parent.text)
        and (time := reply.time) is not None
    ]
    return [reply for _, _, reply in sorted(replies, key=lambda each: each[:2], reverse=True)]


def score_target(post: Post) -> Comment | str:
    """Return the target of sentiment and impact, or why the post has none."""
    if len(_authors(post)) < _LEAST_AUTHORS:
        return "few-authors"
    if sum(1 for reply in post.replies if reply.text) < _LEAST_REPLIES:
        return "few-replies"
    replies = ranked_replies(post)
    if not replies:
        return "no-target"
    return "weak-score" if amount(replies[0]) <= _AMOUNT else replies[0]


def in_pool(post: Post) -> bool:
    """True for a post whose best reply may be another user's example of sentiment."""
    enough = len(_authors(post)) >= _POOL_AUTHORS
    return enough and any(amount(reply) > _POOL_AMOUNT for reply in ranked_replies(post)[:1])


def replies_by_time(post: Post) -> list[Comment]:
    """Return the user's replies with a time and a body, which may be empty, the latest last.

    The last is the target of next text, and the one before it the example.
    """
    timed = [
        (time, reply) for reply in post.replies if reply.body is not None and (time := reply.time) is not None
    ]
    return [reply for _, reply in sorted(timed, key=lambda each: each[0])]


def text_target(post: Post) -> Comment | str:
    """Return the target of next text, or the reason why the post has none."""
    replies = replies_by_time(post)
    if len(replies) < 2:
        return "few-replies"
    if replies[-1].body in MARKERS:
        return "removed-target"
    if _answered_threads(post) < _LEAST_THREADS:
        return "few-threads"
    return "removed-thread" if _removed_share(post, replies[-1]) > _REMOVED_SHARE else replies[-1]


def own_text_target(post: Post) -> Comment | str:
    """Return the target of next text in NP-Conv, which asks less of the post, or why there is none."""
    replies = replies_by_time(post)
    if not replies:
        return "few-replies"
    return replies[-1] if _is_filled(replies[-1]) else "removed-target"


def lends_thread(post: Post) -> bool:
    """True if NP-Conv of next text may show the post's thread for another post."""
    target = text_target(post)
    return not isinstance(target, str) and _is_filled(target)


def _authors(post: Post) -> set[str]:
    return {post.author, *(comment.author for comment in post.comments)} - {""}


def _is_filled(reply: Comment) -> bool:
    return bool(reply.body) and reply.body not in MARKERS


def _answered_threads(post: Post) -> int:
    """Return the number of threads with the user whose first comment has an answer."""
    answered = {comment.parent.number for comment in post.comments if comment.parent is not None}
    return len({top.number for reply in post.replies if (top := reply.top).number in answered})


def _removed_share(post: Post, target: Comment) -> float:
    thread = target.top
    removed = Counter(comment.body in MARKERS for comment in post.comments if comment.top is thread)
    return removed[True] / removed.total()


class OfficialProtocol(Protocol):
    """The samples of the official prompt makers.

    The official scripts draw their order in NP-Conv of impact anew each time. Here the seed decides it. Raise
    `SpecError` for NP-Conv of next text together with another setting, because it uses other posts.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "none" in self._settings:
            raise SpecError(
                "the official protocol has no setting 'none'; use the protocol fixed", code="PL108"
            )
        if "next-text" in self.plan.items and "NP-Conv" in self._settings and len(self._settings) > 1:
            raise SpecError(
                "NP-Conv of next text is of other posts in the official protocol, and cannot be a control of"
                " them; leave next-text out of the kinds, or use the protocol fixed",
                code="PL108",
            )
        for kind in self.plan.items:
            if kind == "next-text":
                self._plan_texts()
            else:
                self._plan_scores(kind)
        self._pool = [place for place, post in enumerate(self._index.posts) if post.in_pool]
        self._shuffled = sorted(self.plan.items.get("impact", ()), key=lambda ref: digest(self._seed, ref.id))
        self._shuffled_places = {ref: place for place, ref in enumerate(self._shuffled)}

    def truth(self, ref: ScenarioRef, post: Post) -> str | float:
        if ref.kind == "next-text":
            text = replies_by_time(post)[-1].body or ""
            return text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ").strip()
        score = score_of(ranked_replies(post)[0])
        return label_of(score) if ref.kind == "sentiment" else float(score or 0)

    def requests(self, ref: ScenarioRef, post: Post) -> tuple[dict[str, Request], dict[str, dict[str, str]]]:
        """Return the request of each setting, and nothing for a context, as in the official scripts."""
        place = self.plan.place(ref)
        requests: dict[str, Request] = {}
        for setting in self._settings:
            if ref.kind == "next-text":
                lender = self.lender(place) if setting == "NP-Conv" else place
                other = (self.read(lender), self.name(lender)) if setting == "NP-Conv" else None
                requests[setting] = _text_request(setting, post, self.name(place), other)
            else:
                example = self.other_users_reply(ref) if setting == "NP-Conv" else None
                requests[setting] = _score_request(ref.kind, setting, post, self.name(place), example)
        return requests, {}

    def name(self, place: int) -> str:
        """Return the official id of the post in that place."""
        user, post = self.plan.numbers[place]
        return f"u{user}p{post}"

    def read(self, place: int) -> Post:
        return self._index.read(self._index.posts[place])

    def lender(self, place: int) -> int:
        """Return the place of the post whose thread NP-Conv of next text shows for the post in that place."""
        return (place + _OFFSET) % len(self._index.posts)

    def other_users_reply(self, ref: ScenarioRef) -> tuple[Post, str, Comment]:
        """Return the example of a score in NP-Conv: the post, its id and the reply."""
        if ref.kind == "sentiment":
            place = self._pool[(self.plan.place(ref) + _OFFSET) % len(self._pool)]
        else:
            partner = (self._shuffled_places[ref] + _OFFSET) % len(self._shuffled)
            place = self.plan.place(self._shuffled[partner])
        post = self.read(place)
        return post, self.name(place), ranked_replies(post)[0]

    def _plan_scores(self, kind: str) -> None:
        """Add the negative samples in file order, then the upper half of the positive ones by score."""
        targets = [post.scored for post in self._index.posts]
        usable = [(place, target.score) for place, target in enumerate(targets) if not target.reason]
        positive = sorted((each for each in usable if each[1] > 0), key=lambda each: each[1])
        half = len(positive) // 2
        for place, target in enumerate(targets):
            if target.reason:
                self.plan.add(kind, place, target)
        for place, _ in positive[:half]:
            self.plan.add(kind, place, targets[place]._replace(reason="halved"))
        for place, _ in [*(each for each in usable if not each[1] > 0), *positive[half:]]:
            # Without its class, so that a draw has the classes as they are in the file.
            self.plan.add(kind, place, targets[place]._replace(label=""))

    def _plan_texts(self) -> None:
        with_other_user = "NP-Conv" in self._settings
        for place, post in enumerate(self._index.posts):
            target = post.own_text if with_other_user else post.text
            if with_other_user and not target.reason and not self._index.posts[self.lender(place)].lends:
                target = target._replace(reason="no-stranger")
            self.plan.add("next-text", place, target)


def _score_request(
    kind: str, setting: str, post: Post, name: str, other_user: tuple[Post, str, Comment] | None
) -> Request:
    """Return the request of sentiment or impact.

    `name` is the official id of the post. `other_user` is the example of NP-Conv: the post, its id and the
    reply.
    """
    reply, *others = ranked_replies(post)
    template, leaks = template_of("official"), []
    ask, parts = template.fill("ask", kind), [("task", template.fill("task", kind))]
    example = others[0] if others and setting == "P-Conv" else None
    if kind == "sentiment" and example is not None and not amount(example):
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
        answer: object = _INVENTED_SCORE[setting] if kind == "impact" else "positive"
        if example is not None:
            answer = score_of(example) if kind == "impact" else label_of(score_of(example))
        parts.append(("example", template.fill("example", card=shown, ask=ask, answer=answer)))
    if kind == "impact":
        parts.append(("sign", template.fill("sign", label_of(score_of(reply)))))
        leaks.append("sign")
    if setting == "P-Conv":
        leaks.append("post-score")
    card = _card(kind, setting, post, name, reply)
    parts.append(("answer", template.fill("answer", kind, card=card, ask=ask)))
    return Request(parts=tuple(parts), leaks=tuple(leaks))


def _text_request(setting: str, post: Post, name: str, other_user: tuple[Post, str] | None) -> Request:
    """Return the request of next text; `other_user` is the post, and its id, whose thread NP-Conv shows."""
    target = replies_by_time(post)[-1]
    template, parent = template_of("official"), _parent(post, target)
    parts, leaks = [("task", template.fill("task", "next-text"))], []
    shown: list[Comment] = []
    shown_texts = [parent["text"]]
    if setting != "P-NonConv":
        lender, lender_name = other_user or (post, name)
        example = replies_by_time(lender)[-2]
        cut = frozenset() if other_user else _from_on(lender, example)
        tree = [c for c in lender.comments if c.top is example.top and c.number not in cut]
        thread = json.dumps(_stored(lender, lender_name, {c.number for c in tree}, top=example.top))
        fields = {"user": lender.user, "parent_author": _parent(lender, example)["author"]}
        parts.append(("example", template.fill("thread", thread=thread, text=example.body or "", **fields)))
        shown += tree
        shown_texts.append(example.body)
        leaks += _own_leaks(post, name, lender, lender_name) if other_user else []
    if setting == "P-Conv":
        below = _below(post, target)
        rest = [c for c in post.comments if c.number not in below]
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
    times = [comment.time for comment in shown if comment is not target]
    return limit is not None and any(time is not None and time >= limit for time in times)


def _holds_text(text: str, shown: Iterable[str | None]) -> bool:
    """True if one of the texts in the request holds `text`; spaces and line ends do not count."""
    words = " ".join(text.split())
    if not words:
        return False
    whole = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
    return any(whole.search(" ".join(each.split())) is not None for each in shown if each)


def _card(kind: str, setting: str, post: Post, name: str, reply: Comment) -> str:
    parent = _parent(post, reply)
    of_other = setting == "NP-Conv"
    return template_of("official").fill(
        "card",
        setting,
        post=name,
        domain=post.domain,
        author=post.author,
        score=post.raw.get("score"),
        time=post.raw.get("timestamp"),
        title=post.title,
        content=post.content[: _OTHER_CONTENT[kind] if of_other else _CONTENT],
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


def _below(post: Post, *replies: Comment) -> frozenset[int]:
    """Return the numbers of replies and of everything below them."""
    numbers = {reply.number for reply in replies}
    for comment in post.comments:  # parents come before their answers
        if comment.parent is not None and comment.parent.number in numbers:
            numbers.add(comment.number)
    return frozenset(numbers)


def _from_on(post: Post, reply: Comment) -> frozenset[int]:
    """Return the numbers of a reply and its later siblings, with everything below."""
    return _below(post, *(c for c in post.comments if c.parent is reply.parent and c.number >= reply.number))


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
