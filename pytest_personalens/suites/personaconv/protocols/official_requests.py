"""The requests of the protocol ``official``.

They have the content of the official prompts, in the words of this package.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.suites.personaconv.data import official
from pytest_personalens.suites.personaconv.data.leaks import newer, tells
from pytest_personalens.suites.personaconv.protocols.templates import words_of
from pytest_personalens.suites.personaconv.values import Request

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from pytest_personalens.suites.personaconv.data.official import Target
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
    target = official.score_target(post)
    assert not isinstance(target, str), "the index says that there is one"
    words, reply, leaks = words_of("official"), target.reply, []
    parts = [("task", words.fill("task", kind))]
    example = _own_example(kind, setting, target)
    if other_user is not None:
        other_post, other_name, example = other_user
        parts.append(("stranger", words.fill("stranger")))
        if other_post.user == post.user:
            leaks.append("own-example" if other_name == name else "same-user")
        shown = _card(kind, setting, other_post, other_name, example)
    elif example is not None:
        leaks += ["newer-example"] if newer(reply, [example]) else []
        shown = _card(kind, setting, post, name, example)
    else:
        shown = words.fill("card", "invented")
    if not (kind == "sentiment" and setting == "P-NonConv"):
        ask = words.fill("ask", kind)
        answer = _answer(kind, setting, example)
        parts.append(("example", words.fill("example", card=shown, ask=ask, answer=answer)))
    if kind == "impact":
        parts.append(("sign", words.fill("sign", official.sign(reply))))
        leaks.append("sign")
    if setting == "P-Conv":
        leaks.append("post-score")
    card = _card(kind, setting, post, name, reply)
    parts.append(("answer", words.fill("answer", kind, card=card, ask=words.fill("ask", kind))))
    return Request(parts=tuple(parts), leaks=tuple(leaks))


def text_request(
    setting: Setting, post: Post, name: str, other_user: tuple[Post, str] | None = None
) -> Request:
    """Return the request of next text.

    `other_user` is the post, and its id, whose thread NP-Conv shows.
    """
    target = official.latest(post)[-1]
    words = words_of("official")
    parts, shown, leaks = [("task", words.fill("task", "next-text"))], [], []
    parent, shown_texts = _parent(post, target), []
    if setting != "P-NonConv":
        of, its_name = other_user or (post, name)
        example = official.latest(of)[-2]
        cut = frozenset() if other_user else _from_on(of, example)
        tree = [c for c in _thread(of, example) if c.number not in cut]
        thread = json.dumps(_stored(of, its_name, {c.number for c in tree}, top=example.top))
        fields = {"user": of.user, "parent_author": _parent(of, example)["author"]}
        parts.append(("example", words.fill("thread", thread=thread, text=example.body or "", **fields)))
        shown += tree
        shown_texts.append(example.body)
        if other_user and of.user == post.user:
            leaks.append("own-example" if its_name == name else "same-user")
    if setting == "P-Conv":
        rest = [c for c in post.comments if c.number not in _below(post, target)]
        whole = _stored(post, name, {c.number for c in rest})
        parts.append(("post", words.fill("post", setting, post=json.dumps(whole))))
        shown += rest
    elif setting == "P-NonConv":
        alone = {key: value for key, value in _stored(post, name, ()).items() if key != "comments"}
        parts.append(("post", words.fill("post", setting, post=json.dumps(alone))))
    parts.append(
        (
            "parent",
            words.fill("parent", user=post.user, parent_author=parent["author"], parent=parent["text"]),
        )
    )
    if setting == "NP-Conv":
        parts.append(("post", words.fill("post", setting, parent_score=parent["score"])))
    else:
        leaks.append("post-score")
    parts.append(("answer", words.fill("answer", "next-text", user=post.user)))
    if newer(target, shown):
        leaks.append("newer-comments")
    if tells(target.body or "", [parent["text"], *shown_texts, *(c.body for c in shown)]):
        leaks.append("target-text")
    return Request(parts=tuple(parts), leaks=tuple(leaks))


def _own_example(kind: Kind, setting: Setting, target: Target) -> Comment | None:
    """Return the user's second reply by amount of score.

    Return None if the official scripts invent an example.
    """
    if setting != "P-Conv" or target.example is None:
        return None
    return target.example if kind == "impact" or official.amount(target.example) > 0 else None


def _answer(kind: Kind, setting: Setting, example: Comment | None) -> object:
    if example is None:
        return "positive" if kind == "sentiment" else _INVENTED_SCORE[setting]
    return official.sign(example) if kind == "sentiment" else official.score_of(example)


def _card(kind: Kind, setting: Setting, post: Post, name: str, reply: Comment) -> str:
    parent = _parent(post, reply)
    of_other, most = setting == "NP-Conv", _OTHER_CONTENT.get(kind, _CONTENT)
    return words_of("official").fill(
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


def _thread(post: Post, reply: Comment) -> list[Comment]:
    return [comment for comment in post.comments if comment.top is reply.top]


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
    """Return the post, or one of its threads, with the kept comments.

    The ids are those of the official scripts.
    """
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
    return dict(_shown(raw))


def _shown(raw: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in raw.items():
        if (key == "__sub__" or not key.startswith("_")) and key not in ("comments", "replies"):
            yield key, value
