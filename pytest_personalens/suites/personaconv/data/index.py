"""An index of the posts of large files, in the user's cache folder.

The files are thus read completely only once.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import DataError
from pytest_personalens.datasets.toml_cache import cache_folder, write_cached
from pytest_personalens.suites.personaconv.data.facts import Facts, Found, facts_of
from pytest_personalens.suites.personaconv.data.posts import read_post
from pytest_personalens.suites.personaconv.data.stream import PostFile, read_at

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.suites.personaconv.data.posts import Post

#: Raise this number if the present code would misread an old index, or if the same file would give other
#: targets.
FORMAT: Final = 3
#: Smaller files (in bytes) are read as fast as their index.
_SMALL: Final = 1 << 20


class Index(NamedTuple):
    """The posts of files, with a digest of the files.

    The posts are sorted by user, in the order of each user's first post.
    """

    files: tuple[Path, ...]
    digest: str
    posts: tuple[Facts, ...]

    def read(self, facts: Facts) -> Post:
        """Return the whole post.

        Raise `DataError` if its file has changed meanwhile.
        """
        return read_post(facts.user, read_at(self.files[facts.file], facts.start, facts.size))


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
    stored = _load(files)
    if stored is not None:
        of_files, digest, posts = stored
        index = Index(files, digest, posts)
        if of_files == stamps:
            return index
        if [size for size, _ in of_files] == [size for size, _ in stamps] and _digest(files) == digest:
            _store(index, stamps)  # copied or touched, but with the same content
            return index
    index = _build(files)
    _store(index, stamps)
    return index


def index_file(files: Sequence[Path]) -> Path:
    """Return the path of the files' index.

    Raise `RuntimeError` if the user has no home folder.
    """
    name = hashlib.sha256(b"\0".join(os.fsencode(file.resolve()) for file in files)).hexdigest()[:16]
    return cache_folder() / f"personaconv-{name}.index"


def _build(files: tuple[Path, ...]) -> Index:
    users: dict[str, list[Facts]] = {}
    digests = []
    for number, file in enumerate(files):
        posts = PostFile(file)
        for stored in posts:
            users.setdefault(stored.user, []).append(facts_of(number, stored))
        digests.append(posts.digest)
    return Index(files, _joined(digests), tuple(facts for of_user in users.values() for facts in of_user))


def _digest(files: Sequence[Path]) -> str:
    digests = []
    for path in files:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return _joined(digests)


def _joined(digests: Sequence[str]) -> str:
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError as error:
        raise DataError(file, f"cannot be read: {error.strerror}") from None
    return status.st_size, status.st_mtime_ns


def _store(index: Index, stamps: Sequence[tuple[int, int]]) -> None:
    head = {"format": FORMAT, "files": stamps, "digest": index.digest}
    # A post is a line, so that no more than one is in memory twice while they are read.
    content = zlib.compress("\n".join(map(json.dumps, (head, *index.posts))).encode("ascii"), 1)
    with suppress(OSError, RuntimeError):
        write_cached(index_file(index.files), hashlib.sha256(content).digest() + content)


def _load(files: Sequence[Path]) -> tuple[list[tuple[int, int]], str, tuple[Facts, ...]] | None:
    try:
        content = index_file(files).read_bytes()
        if content[:32] != hashlib.sha256(content[32:]).digest():
            return None
        lines = zlib.decompress(content[32:]).decode("ascii").splitlines()
        head: dict[str, Any] = json.loads(lines[0])
    except (OSError, RuntimeError, ValueError, zlib.error):
        return None
    if head["format"] != FORMAT:
        return None
    stamps = [(size, time) for size, time in head["files"]]
    shared = _Shared()
    return stamps, head["digest"], tuple([_facts(json.loads(line), shared) for line in lines[1:]])


class _Shared(dict[tuple[Any, ...], Found]):
    """The targets and reasons of all posts, each once; many are equal."""

    def __missing__(self, key: tuple[Any, ...]) -> Found:
        found = self[key] = Found(*key)
        return found


def _facts(entry: list[Any], shared: _Shared) -> Facts:
    *first, past, fixed, scored, text, own_text, in_pool, lends = entry
    plans = [shared[tuple(values)] for values in (*fixed, scored, text, own_text)]
    values: list[Any] = [*first, tuple(past), tuple(plans[:3]), *plans[3:], in_pool, lends]
    return Facts(*values)
