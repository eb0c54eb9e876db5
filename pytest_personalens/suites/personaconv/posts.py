"""Posts: read from files of the official layouts, also from large ones piece by piece; and in an index."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.jsonfile import JsonWindow, read_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: The texts that replace a removed text.
MARKERS: Final = frozenset({"[removed]", "[deleted]"})
_LONGEST_MARKER: Final = max(map(len, MARKERS))
#: The official code's name for the author of a raw post without one.
_UNKNOWN_AUTHOR: Final = "UNKNOWN_AUTHOR"
#: Names that stand for nobody, or for many people together.
NOBODY: Final = MARKERS | {"", _UNKNOWN_AUTHOR}
_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class StoredPost(NamedTuple):
    """One entry of a file: its user, the place of its bytes, and its value."""

    user: str
    start: int
    size: int
    value: object


class PostFile:
    """The posts of one file, in its order. After the last post, `digest` is that of the whole file."""

    def __init__(self, path: Path) -> None:
        self.path, self.digest = path, ""

    def __iter__(self) -> Iterator[StoredPost]:
        """Yield every entry of the file.

        The file holds an object of author -> posts, or one array of posts; its content decides which. Raise
        `DataError` for other content, or for invalid JSON.
        """
        try:
            with self.path.open("rb") as file:
                window = JsonWindow(self.path, file)
                yield from _entries(window)
                self.digest = window.hash.hexdigest()
        except OSError as error:
            raise DataError(self.path, f"cannot be read: {error.strerror}", code="PL201") from None


def _entries(window: JsonWindow) -> Iterator[StoredPost]:
    first = window.peek()
    if first == "[":
        for start, size, value in window.array():
            named = text_field(value, "author") if isinstance(value, dict) else ""
            yield StoredPost(named or _UNKNOWN_AUTHOR, start, size, value)
    elif first == "{":
        for user in window.names():
            if window.peek() != "[":
                problem = "expected a list of posts, as the official data has it"
                raise DataError(window.path, problem, field=user[:80])
            for entry in window.array():
                yield StoredPost(user, *entry)
    else:
        raise window.error("expected an object of author -> posts, or a list of posts")
    if window.peek():
        raise window.invalid("there is more after its end")


@dataclass(slots=True, eq=False)
class Comment:
    """One comment of a post.

    `number` counts from 1 in the order of the post's comments in the file. `parent` is None for an answer to
    the post itself. `body` is None if the file has no text.
    """

    number: int
    parent: Comment | None
    author: str
    body: str | None
    score: object
    timestamp: object
    raw: Mapping[str, Any]

    @property
    def time(self) -> int | None:
        """Return microseconds since 1970, or None if the time cannot be read."""
        return parse_time(self.timestamp)

    @property
    def text(self) -> str:
        """Return the body, or an empty text if it was removed."""
        return visible_text(self.body)

    @property
    def top(self) -> Comment:
        """Return the first comment of its thread."""
        comment = self
        while comment.parent is not None:
            comment = comment.parent
        return comment

    @property
    def path(self) -> str:
        """Return the numbers from the top of its thread down, such as ``c1-c4``."""
        path, comment = f"c{self.number}", self.parent
        while comment is not None:
            path, comment = f"c{comment.number}-{path}", comment.parent
        return path


@dataclass(slots=True, eq=False)
class Post:
    """One post of `user`, which is the key of the post in the file; `replies` are this user's comments.

    `author`, `domain` (the subreddit), `title` and `content` are empty if the post has none.
    """

    user: str
    raw: Mapping[str, Any]
    comments: tuple[Comment, ...]
    replies: tuple[Comment, ...]
    author: str
    domain: str
    title: str
    content: str

    @property
    def text(self) -> str:
        """Return the text under any of the names that files use; it is empty if the text was removed."""
        names = ("content", "body", "selftext")
        return next((text for name in names if (text := visible_text(text_field(self.raw, name)))), "")

    @property
    def time(self) -> int | None:
        """Return microseconds since 1970, or None if the time cannot be read."""
        return parse_time(self.raw.get("timestamp"))


def read_post(user: str, raw: Mapping[str, Any]) -> Post:
    """Return the post with its comments in the order of the file, without entries that are no objects."""
    comments: list[Comment] = []
    waiting: list[tuple[Comment | None, Iterator[object]]] = [(None, iter(_list_in(raw, "comments")))]
    while waiting:
        parent, entries = waiting[-1]
        for entry in entries:
            if isinstance(entry, dict):
                body, author = entry.get("body"), text_field(entry, "author")
                comment = Comment(
                    len(comments) + 1,
                    parent,
                    author,
                    body if isinstance(body, str) else None,
                    entry.get("score"),
                    entry.get("timestamp"),
                    entry,
                )
                comments.append(comment)
                if answers := _list_in(entry, "replies"):
                    waiting.append((comment, iter(answers)))
                    break
        else:
            waiting.pop()
    replies = tuple([c for c in comments if c.author == user])
    texts = [text_field(raw, name) for name in ("author", "__sub__", "title", "content")]
    return Post(user, raw, tuple(comments), replies, *texts)


def text_field(raw: Mapping[str, Any], name: str) -> str:
    """Return the text under the name, or an empty text."""
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def _list_in(raw: Mapping[str, Any], name: str) -> list[object]:
    value = raw.get(name)
    return value if isinstance(value, list) else []


def visible_text(body: str | None) -> str:
    """Return a body, or an empty text if it is blank or was removed."""
    text = (body or "").strip()
    removed = not text or (len(text) <= _LONGEST_MARKER and text.lower() in MARKERS)
    return "" if body is None or removed else body


def parse_time(timestamp: object) -> int | None:
    """Return the microseconds since 1970 of an ISO time (without a zone: in UTC), or None."""
    return _parse_time(timestamp) if isinstance(timestamp, str) else None


@lru_cache(maxsize=1 << 12)
def _parse_time(timestamp: str) -> int | None:
    try:
        time = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - _START) // _MICROSECOND


def finite(score: object) -> int | float | None:
    """Return a score that is a finite number, or None for anything else, also for a boolean."""
    if isinstance(score, bool) or not isinstance(score, int | float):
        return None
    try:
        return score if math.isfinite(score) else None
    except OverflowError:  # the integer is too large for a float
        return None


def label_of(score: float | None) -> str:
    """Return the class of a score; no score is negative."""
    return "positive" if (score or 0) > 0 else "negative"


class IndexedTarget(NamedTuple):
    """A target by the digest of its id, with its class or its score, or the `reason` why there is none."""

    id: str
    label: str = ""
    score: float = 0
    reason: str = ""


class IndexedPost(NamedTuple):
    """One post of a file, without its texts.

    `file`, `start` and `size` are the place of its bytes. `time` is in microseconds. `past` holds the times
    of the user's replies that the history of a later post may show, also in microseconds. `identity` is the
    same for copies of a post.

    `fixed` has a target for each kind. `scored` and `text` are the official targets of scores and of next
    text, and `own_text` is that of next text in NP-Conv. `in_pool` and `lends` say if the official scripts
    show the post in another user's request, as the post of another user.
    """

    file: int
    start: int
    size: int
    user: str
    domain: str
    time: int | None
    identity: str
    comments: int
    past: tuple[int, ...]
    fixed: tuple[IndexedTarget, ...]
    scored: IndexedTarget
    text: IndexedTarget
    own_text: IndexedTarget
    in_pool: bool
    lends: bool


class Index(NamedTuple):
    """The posts of files by user, in the order of each user's first post, with a digest of the files."""

    files: tuple[Path, ...]
    digest: str
    posts: tuple[IndexedPost, ...]

    def read(self, post: IndexedPost) -> Post:
        """Return the whole post. Raise `DataError` if its file has changed meanwhile."""
        return read_post(post.user, read_at(self.files[post.file], post.start, post.size))
