"""What the page says of an item: the parts of its request, and whose past is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.suites.personaconv.templates import words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_TITLES: Final = {
    "task": "Task",
    "history": "The user's past",
    "post": "Post",
    "conversation": "Conversation",
    "parent": "Parent",
    "reply": "Reply",
    "answer": "How to answer",
}
_STRANGE: Final = {"history": "A stranger's past, in place of the user's"}
_HAD: Final = {
    "P-Conv": "this user's past, and the conversation",
    "P-NonConv": "this user's past, without the conversation",
    "NP-Conv": "a stranger's past, and the conversation",
    "none": "neither a past nor the conversation",
}


def part_titles(request: str, given: str) -> tuple[str, ...]:
    """Return a title for each paragraph of a request of the protocol ``fixed``.

    Nobody's text can end its paragraph, because it is one line of JSON. Return nothing for any other request.
    """
    words, titles = words_of("fixed"), _TITLES | (_STRANGE if given == "NP-Conv" else {})
    parts = [words.part_of(paragraph) for paragraph in request.split("\n\n")]
    return tuple(titles[part] for part in parts) if all(part in titles for part in parts) else ()


def given_words(settings: Mapping[str, Any], given: str) -> str:
    """Return what the assistant knew in a setting of the protocol ``fixed``.

    In ``official``, the settings differ in more, which only the requests tell.
    """
    return _HAD.get(given, "") if settings.get("protocol") == "fixed" else ""
