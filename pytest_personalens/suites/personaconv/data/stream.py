"""Reads posts one by one from a file of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.json_stream import JsonWindow
from pytest_personalens.suites.personaconv.data.posts import UNKNOWN_AUTHOR, text_field

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
            raise DataError(self.path, f"cannot be read: {error.strerror}") from None


def _entries(window: JsonWindow) -> Iterator[StoredPost]:
    first = window.peek()
    if first == "[":
        for start, size, value in window.array():
            named = text_field(value, "author") if isinstance(value, dict) else ""
            yield StoredPost(named or UNKNOWN_AUTHOR, start, size, value)
    elif first == "{":
        for user in window.names():
            if window.peek() != "[":
                raise DataError(
                    window.path, "expected a list of posts, as the official data has it", field=user[:80]
                )
            for start, size, value in window.array():
                yield StoredPost(user, start, size, value)
    else:
        raise window.error("expected an object of author -> posts, or a list of posts")
    if window.peek():
        raise window.error("there is more after its end")
