"""The rules for posts as the official files hold them, and for texts that people wrote."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.suite.data_check import Finding
from pytest_personalens.datasets.quality.diversity import words_in
from pytest_personalens.suites.personaconv.data.posts import MARKERS, NOBODY, finite, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.suites.personaconv.data.posts import Comment, Post

_OF_POST: Final = frozenset(
    ("title", "url", "content", "__sub__", "score", "author", "timestamp", "comments", "body", "selftext")
)
_OF_COMMENT: Final = frozenset(("body", "author", "score", "timestamp", "replies"))
#: How a model begins that was asked for a text. People begin a comment with "I have" and "Here is" too.
_PREAMBLE: Final = re.compile(
    r"\s*(?:(?:sure|certainly|of course)[,!.]? here\b|here(?:'s| is| are) (?:the|a|an|my|your)"
    r" (?:comment|reply|post|thread|answer)\b|as an ai\b|as a (?:large )?language model\b|\*\*|#{1,6} )",
    re.IGNORECASE,
)
_ENGLISH: Final = frozenset(
    """
    the a an and or but of to in on at for with from by as is are was were be been has have had he she
    they his her their it its that this which who when where not no one all would will can may than then
    there so if up out about into over after before
    """.split()  # noqa: SIM905  (a block of words reads better than 60 literals)
)
#: A text with a smaller share of the commonest English words is not English. English prose has 0.35 to 0.5.
_ENGLISH_SHARE: Final = 0.2
#: Shorter sentences ("She reads one book a month.") occur twice by chance, in plain prose often.
_SENTENCE_WORDS: Final = 8
#: Rule -> what must hold.
RULES: Final = {
    "post": "every entry of a list of posts is an object",
    "author": "a post names its author, and it is the user under whose name the post stands",
    "domain": "a post names its domain (__sub__) and has a title",
    "content": "the text of a post stands under content",
    "comments": "comments and replies are lists of objects",
    "key": "posts and comments have the fields of the official files and no others",
    "time": "times are ISO texts with a time zone",
    "order": "a comment is newer than what it answers",
    "score": "scores are whole numbers",
    "text": "a comment has a text, and nobody removed it",
    "nobody": "a comment names its author",
    "duplicate": "no post stands in the data twice",
    "preamble": "a text begins with what a person says, and not like an answer of a model",
    "language": "the texts of a post are in English",
    "repeated": "no two posts share a sentence of eight words or more",
}


class Place(NamedTuple):
    """A file, and the number of a user's post there, from 1."""

    file: str
    user: str
    number: int

    def finding(self, rule: str, message: str, part: str = "") -> Finding:
        """Return a finding at this place."""
        return Finding(
            rule, self.file, f"{self.user}, post {self.number}{f', {part}' if part else ''}", message
        )


def check_post(place: Place, post: Post) -> Iterator[Finding]:
    """Yield what is irregular in the form of one post, and its texts that begin like a model's answer."""
    raw = post.raw
    if post.author != post.user or post.user in NOBODY:
        author = repr(post.author) if post.author else "nobody"
        yield place.finding("author", f"the post is by {author}, and stands under {post.user!r}")
    for field in ("__sub__", "title"):
        if not (isinstance(raw.get(field), str) and raw[field].strip()):
            yield place.finding("domain", "expected a text", field)
    if not post.content.strip():
        there = next((name for name in ("body", "selftext") if str(raw.get(name) or "").strip()), "")
        yield place.finding("content", f"the text stands under {there}" if there else "the post has no text")
    yield from _check_fields(place, raw, _OF_POST, "comments", "")
    for comment in post.comments:
        yield from _check_comment(place, post, comment)
    for part, text in (("", post.text), *((comment.path, comment.text) for comment in post.comments)):
        if _PREAMBLE.match(text):
            yield place.finding("preamble", f"begins like a model's answer: {text[:57]!r}", part)


def check_across_posts(places: Sequence[tuple[Place, str]]) -> Iterator[Finding]:
    """Yield the posts in another language, and the sentences that two posts share."""
    first: dict[str, Place] = {}
    for place, text in places:
        tokens = words_in(text)
        if tokens and sum(t in _ENGLISH for t in tokens) / len(tokens) < _ENGLISH_SHARE:
            yield place.finding("language", f"not English: {_cut(text)!r}")
        for sentence in re.split(r"(?<=[.!?:])\s+", text):
            words = words_in(sentence)
            there = first.setdefault(" ".join(words), place)
            if len(words) >= _SENTENCE_WORDS and there != place:
                message = f"stands in {there.user}, post {there.number} too: {_cut(sentence)!r}"
                yield place.finding("repeated", message)


def _cut(text: str, width: int = 60) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 3].rstrip() + "..."


def _check_comment(place: Place, post: Post, comment: Comment) -> Iterator[Finding]:
    part = comment.path
    yield from _check_fields(place, comment.raw, _OF_COMMENT, "replies", part)
    if comment.author in NOBODY:
        yield place.finding("nobody", f"the author is {comment.author!r}", part)
    if comment.body is None:
        yield place.finding("text", "no text", part)
    elif not comment.text:
        removed = comment.body.strip().lower() in MARKERS
        yield place.finding("text", "removed" if removed else "empty", part)
    before = (post if comment.parent is None else comment.parent).time
    if before is not None and comment.time is not None and comment.time <= before:
        yield place.finding("order", "not newer than what it answers", part)


def _check_fields(
    place: Place, raw: Mapping[str, Any], known: frozenset[str], answers: str, part: str
) -> Iterator[Finding]:
    """Yield what is irregular in the fields that posts and comments share."""
    if unknown := sorted(set(raw) - known):
        yield place.finding("key", f"unknown: {', '.join(unknown)[:80]}", part)
    time, votes, entries = raw.get("timestamp"), raw.get("score"), raw.get(answers)
    if parse_time(time) is None:
        yield place.finding("time", f"expected a time such as 2024-05-02T08:00:00Z, found {time!r:.40}", part)
    elif not re.search(r"(?:Z|[+-]\d\d:?\d\d)\Z", str(time)):
        yield place.finding("time", f"no time zone: {time!r:.40}", part)
    score = finite(votes)
    if score is None or score != int(score):
        yield place.finding("score", f"expected a whole number, found {votes!r:.40}", part)
    if not isinstance(entries, list):
        yield place.finding("comments", f"{answers}: expected a list, found {entries!r:.40}", part)
    elif strange := sum(not isinstance(entry, dict) for entry in entries):
        yield place.finding(
            "comments", f"{answers}: {strange} of {len(entries)} entries are no objects", part
        )
