"""The words of reports: reasons, the parts of a request, and whose past is in it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from pytest_personalens.suites.personaconv.protocols.templates import template_of

_WORDS: Final = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
#: Why a post gives no item of a kind, or the name of a leak -> its words.
REASONS: Final[Mapping[str, str]] = _WORDS["reasons"]
_STRANGE: Final = {"history": "A stranger's past, in place of the user's"}


def part_titles(request: str, given: str) -> tuple[str, ...]:
    """Return a title for each paragraph of a request; nothing for one in the words of somebody else.

    In ``fixed`` nobody's text can end its paragraph, because it is one line of JSON. In ``official`` a text
    may have paragraphs. They have an empty title, which means that they go on with the one before.
    """
    paragraphs = request.split("\n\n")
    titles = _WORDS["fixed"] | (_STRANGE if given == "NP-Conv" else {})
    parts = [template_of("fixed").part_of(paragraph) for paragraph in paragraphs]
    if all(part in titles for part in parts):
        return tuple(titles[part] for part in parts)
    parts = [template_of("official").part_of(paragraph) for paragraph in paragraphs]
    if parts[0] != "task":
        return ()
    cards = [place for place, part in enumerate(parts) if part == "card"]
    of_cards = {place: "Post and reply" if place == cards[-1] else "Example" for place in cards}
    return tuple(of_cards.get(place, _WORDS["official"].get(part, "")) for place, part in enumerate(parts))


def given_words(settings: Mapping[str, Any], given: str) -> str:
    """Return what the assistant knew in a setting of the protocol ``fixed``.

    In ``official``, the settings differ in more, which only the requests tell.
    """
    return str(_WORDS["given"].get(given, "")) if settings.get("protocol") == "fixed" else ""
