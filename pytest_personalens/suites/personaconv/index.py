"""An index of the posts of large files, in the user's cache folder, so that files are read whole only once.

It allows a draw to read only the posts that it draws.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.destinations import read_cached, store_cached
from pytest_personalens.suites.personaconv import fixed_protocol as fixed
from pytest_personalens.suites.personaconv import official_protocol as official
from pytest_personalens.suites.personaconv.posts import (
    Index,
    IndexedPost,
    IndexedTarget,
    PostFile,
    label_of,
    read_post,
)
from pytest_personalens.suites.personaconv.predictions import KINDS, digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.suites.personaconv.posts import Comment, Post, StoredPost

#: Raise this number if the present code would misread an old index, or if the same file would give other
#: targets.
FORMAT: Final = 3
#: Smaller files (in bytes) are read as fast as their index.
_SMALL: Final = 1 << 20
#: Why an entry of a file gives no item if it is no object.
NO_POST: Final = "no-post"


def open_index(files: Sequence[Path]) -> Index:
    """Return the index of the files.

    The stored index is used if the files are unchanged, by size and time or by digest. A missing, damaged or
    outdated index is built again. An index that cannot be written is not stored. No process waits for
    another. Raise `DataError` for a file without posts.
    """
    files = tuple(files)
    stamps = [_stamp(file) for file in files]
    if sum(size for size, _ in stamps) < _SMALL:
        return _build(files)
    stored_stamps, index = _load(files)
    if index is not None and stored_stamps == stamps:
        return index
    # It may have been copied or touched, with the same content.
    same_sizes = [size for size, _ in stored_stamps] == [size for size, _ in stamps]
    if index is None or not same_sizes or _digest_files(files) != index.digest:
        index = _build(files)
    _store(index, stamps)
    return index


def index_post(file: int, stored: StoredPost) -> IndexedPost:
    """Return the index of an entry of the file with that number."""
    place = (file, stored.start, stored.size, stored.user)
    if not isinstance(stored.value, dict):
        none = IndexedTarget("", reason=NO_POST)
        return IndexedPost(*place, "", None, "", 0, (), (none,) * 3, none, none, none, False, False)
    post = read_post(stored.user, stored.value)
    return IndexedPost(
        *place,
        post.domain,
        post.time,
        digest_of(post.user, post.raw.get("timestamp"), post.title),
        len(post.comments),
        tuple(reply.time or 0 for reply in fixed.past_replies(post)),
        tuple(_target(post, fixed.target_of(post, kind), scored=kind == "sentiment") for kind in KINDS),
        _target(post, official.score_target(post), scored=True),
        _target(post, official.text_target(post)),
        _target(post, official.own_text_target(post)),
        official.in_pool(post),
        official.lends_thread(post),
    )


def _target(post: Post, target: Comment | str, *, scored: bool = False) -> IndexedTarget:
    if isinstance(target, str):
        return IndexedTarget("", reason=target)
    # It does not depend on the place of the post in a file.
    id_ = digest_of(post.user, post.raw.get("timestamp"), post.title, target.timestamp, target.body)
    if not scored:
        return IndexedTarget(id_)
    score = official.score_of(target)
    return IndexedTarget(id_, label_of(score), float(score or 0))


def _build(files: tuple[Path, ...]) -> Index:
    users: dict[str, list[IndexedPost]] = {}
    digests = []
    for number, file in enumerate(files):
        posts = PostFile(file)
        for stored in posts:
            users.setdefault(stored.user, []).append(index_post(number, stored))
        digests.append(posts.digest)
    return Index(files, _join(digests), tuple(post for of_user in users.values() for post in of_user))


def _digest_files(files: Sequence[Path]) -> str:
    digests = []
    for path in files:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return _join(digests)


def _join(digests: Sequence[str]) -> str:
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}", code="PL201") from None
    return status.st_size, status.st_mtime_ns


def _store(index: Index, stamps: Sequence[tuple[int, int]]) -> None:
    head = {"format": FORMAT, "files": stamps, "digest": index.digest}
    # A post is a line, so that no more than one is in memory twice while they are read.
    content = zlib.compress("\n".join(map(json.dumps, (head, *index.posts))).encode("ascii"), 1)
    store_cached("personaconv", index.files, hashlib.sha256(content).digest() + content)


def _load(files: tuple[Path, ...]) -> tuple[list[tuple[int, int]], Index | None]:
    """Return the stored index with the sizes and times of its files, or None for one that cannot be used."""
    content = read_cached("personaconv", files) or b""
    if content[:32] != hashlib.sha256(content[32:]).digest():
        return [], None
    try:
        first, *lines = zlib.decompress(content[32:]).decode("ascii").splitlines()
        head = json.loads(first)
    except (ValueError, zlib.error):
        return [], None
    if head["format"] != FORMAT:
        return [], None
    target = cache(lambda *fields: IndexedTarget(*fields))  # many are equal, and each is kept once
    posts = []
    for line in lines:
        *place, past, of_fixed, scored, text, own_text, in_pool, lends = json.loads(line)
        of_posts = [target(*each) for each in (scored, text, own_text)]
        of_kinds = tuple([target(*each) for each in of_fixed])
        values: list[Any] = [*place, tuple(past), of_kinds, *of_posts, in_pool, lends]
        posts.append(IndexedPost(*values))
    return [(size, time) for size, time in head["files"]], Index(files, head["digest"], tuple(posts))
