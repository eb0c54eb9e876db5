"""The requests of the protocol ``official``: the content of the official prompts, in words of our own."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.suites.personaconv.data import official
from pytest_personalens.suites.personaconv.protocols.templates import template_of
from pytest_personalens.suites.personaconv.values import Request

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pytest_personalens.suites.personaconv.data.posts import Comment, Post
    from pytest_personalens.suites.personaconv.values import Kind, Setting

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
