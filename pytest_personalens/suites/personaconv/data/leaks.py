"""The leaks in a request of the official protocol, by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.suites.personaconv.data.posts import Comment

#: Leak -> its text in the report.
LEAKS: Final = {
    "sign": "the sign of the score is in the request",
    "post-score": "the post's score and time are in the request",
    "newer-example": "the example is newer than the target",
    "newer-comments": "comments that are newer than the target are in the request",
    "target-text": "the text that is to be foretold is in the request",
    "own-example": "the example is the target itself",
    "same-user": "the stranger's example is of the same user",
}


def newer(target: Comment, shown: Iterable[Comment]) -> bool:
    """True if a comment in the request is at least as new as the target.

    A comment without a time does not count.
    """
    limit = target.time
    return limit is not None and any(
        (time := comment.time) is not None and time >= limit for comment in shown if comment is not target
    )


def tells(text: str, shown: Iterable[str | None]) -> bool:
    """True if one of the texts in the request holds `text`.

    Spaces and line ends do not count.
    """
    words = " ".join(text.split())
    if not words:
        return False
    whole = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
    return any(whole.search(" ".join(each.split())) is not None for each in shown if each)
