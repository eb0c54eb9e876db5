"""What the page says of an item: the parts of its request, and whose past is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.suites.personaconv.protocols.templates import words_of

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
#: The same of the protocol ``official``, whose posts are cards or JSON.
_OFFICIAL: Final = {
    "task": "Task",
    "sign": "Hint: the sign of the answer",
    "stranger": "About the example",
    "thread": "Example: another thread",
    "post": "Post",
    "parent": "Parent",
    "answer": "How to answer",
}
_HAD: Final = {
    "P-Conv": "this user's past, and the conversation",
    "P-NonConv": "this user's past, without the conversation",
    "NP-Conv": "a stranger's past, and the conversation",
    "none": "neither a past nor the conversation",
}


def part_titles(request: str, given: str) -> tuple[str, ...]:
    """Return a title for each paragraph of a request; nothing for one in the words of somebody else.

    In ``fixed`` nobody's text can end its paragraph, because it is one line of JSON. In ``official`` a text
    may have paragraphs. They have an empty title, which means that they go on with the one before.
    """
    words, titles = words_of("fixed"), _TITLES | (_STRANGE if given == "NP-Conv" else {})
    parts = [words.part_of(paragraph) for paragraph in request.split("\n\n")]
    if all(part in titles for part in parts):
        return tuple(titles[part] for part in parts)
    return _official_titles(request)


def _official_titles(request: str) -> tuple[str, ...]:
    words = words_of("official")
    parts = [words.part_of(paragraph) for paragraph in request.split("\n\n")]
    if parts[0] != "task":
        return ()
    last = max((place for place, part in enumerate(parts) if part == "card"), default=None)
    cards = {place: "Example" for place, part in enumerate(parts) if part == "card"}
    titles = cards | ({} if last is None else {last: "Post and reply"})
    return tuple(titles.get(place, _OFFICIAL.get(part, "")) for place, part in enumerate(parts))


def given_words(settings: Mapping[str, Any], given: str) -> str:
    """Return what the assistant knew in a setting of the protocol ``fixed``.

    In ``official``, the settings differ in more, which only the requests tell.
    """
    return _HAD.get(given, "") if settings.get("protocol") == "fixed" else ""
