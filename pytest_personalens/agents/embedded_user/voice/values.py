"""The words for a preference: its kind of answer, and its values inside a sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.voice.style import lower_first

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The kind of answer by the type's name; the first that fits counts. The kinds are lists of phrases.toml.
_KINDS: Final = (
    ("clock", r"timezone"),
    ("manner", r"preferred communication style|ambiance|audio quality"),
    ("often", r"frequency|recurring"),
    ("long", r"duration"),
    ("party", r"group size|multiplayer"),
    ("who", r"frequent contact"),
    ("price", r"price"),
    ("when", r"(?:travel|departure|appointment|viewing|reading|alarm) time|days of week|season"),
    ("use", r"platform|app|airline|company|chain|source|news|brand"),
    ("like", r"genre|authors?|books|series|actors|media|artists|bands|albums|sports|team|game name|sectors|event type|destination|category|playlist"),
)  # fmt: skip
#: The most values in one answer. More would be a recital.
_MOST: Final = 2
#: Kinds of answers with one value: nobody wants a thing "weekly or monthly".
_ONE: Final = frozenset(
    {"answer_often", "answer_long", "answer_party", "answer_price", "answer_when", "answer_clock"}
)
#: Types whose values all apply together, and not one or the other.
_TOGETHER: Final = re.compile(r"dietary|amenity|feature|genre|authors?|books|series|actors|media|artists|bands|albums|sports|team|contact|sectors|source|game name|playlist", re.IGNORECASE)  # fmt: skip
_SEATS: Final = {
    "window": "a window seat", "aisle": "an aisle seat", "front row": "the front row", "back row": "the back row", "middle row": "a middle row",
    "upper deck": "the upper deck", "exit row": "the exit row", "front of the plane": "a seat at the front of the plane", "balcony": "the balcony",
    "reserved seat": "a reserved seat", "single seat": "a single seat", "family compartment": "a family compartment", "recliner": "a recliner",
    "wheelchair space": "a wheelchair space", "general admission": "general admission",
}  # fmt: skip
_SAID: Final = {
    "as a pair": "two of us, as a pair", "small group": "a small group", "large group": "a large group",
    "couple": "two of us, as a couple", "family with children": "a family with children", "group of friends": "a group of friends",
    "compact": "a compact", "estate": "an estate", "suv": "an SUV", "minivan": "a minivan", "pickup truck": "a pickup truck",
    "convertible": "a convertible", "single room": "a single room", "double room": "a double room", "twin room": "a twin room",
    "family room": "a family room", "shared dormitory": "a shared dormitory", "sleeper": "the sleeper",
    "power outlet": "a power outlet", "quiet coach": "the quiet coach", "bicycle space": "a bicycle space", "dining car": "a dining car",
    "gym": "a gym", "pool": "a pool", "kitchenette": "a kitchenette", "prayer mat": "a prayer mat", "airport shuttle": "an airport shuttle",
    "desk in the room": "a desk in the room", "multiplex": "a multiplex", "arthouse": "an arthouse cinema", "drive-in": "a drive-in",
    "matinee": "a matinee", "late show": "the late show", "weekend afternoon": "a weekend afternoon", "temple bell": "the temple bell",
    "classic ring": "the classic ring", "child seat": "a child seat", "roof rack": "a roof rack", "automatic gearbox": "an automatic gearbox",
    "near a park": "somewhere near a park", "old town": "the old town", "quiet suburb": "a quiet suburb", "premium": "premium class",
    "red-eye": "the red-eye", "specialist": "a specialist",

    "highlights": "the highlights", "text ticker": "the text ticker",
    "shift days": "my shift days", "business": "business class",
    "economy": "economy class",
}  # fmt: skip
_INITIALS: Final = re.compile(r"(?:[A-Z][^a-z]|.*[A-Z].*|.*\d.*)")


def kind(name: str) -> str:
    """Return the bank of phrases that answers for a type: "answer_when".

    The bank is "answer" for a type of no special kind.
    """
    folded = name.lower()
    return next((f"answer_{k}" for k, pattern in _KINDS if re.search(pattern, folded)), "answer")


def said_aloud(name: str, values: Sequence[str]) -> str:
    """Return the values of the type `name` in spoken form, at most two of them.

    Examples are "a window seat" and "jazz and soul".
    """
    most = _MOST if _TOGETHER.search(name) or kind(name) not in _ONE else 1
    said = list(dict.fromkeys(_spoken(name, v) for v in values[:most]))
    return (" and " if _TOGETHER.search(name) else " or ").join(said)


def aside(name: str, said: str) -> str:
    """Return the text of `said_aloud` as a second answer in the same sentence."""
    folded = name.lower()
    if "communication style" in folded and "preferred" in folded:
        return f"in {'an' if said[0] in 'aeiou' else 'a'} {said} tone"
    if "ambiance" in folded:
        return f"somewhere {said}" if re.fullmatch(r"quiet|lively|family-friendly|candlelit", said) else said
    return f"to {said}" if "contact" in folded else said


def bare(said: str) -> str:
    """Return the text of `said_aloud` without the preposition of an answer to "when".

    An example is "Saturdays" for "on Saturdays".
    """
    return " or ".join(re.sub(r"^(?:at|in the|in|on|around) (?!my)", "", part) for part in said.split(" or "))


def _spoken(name: str, value: str) -> str:
    # Text in brackets explains a value and is not said: "10 minutes before (calls)".
    text = re.sub(r"\s*\([^)]*\)", "", value).strip() or value
    folded = text.lower()
    if "audio quality" in name.lower() and " " not in folded:
        return f"{folded} quality"
    if re.search(r"seat", name, re.IGNORECASE) and "class" not in name.lower() and folded in _SEATS:
        return _SEATS[folded]
    if folded in _SAID:
        return _SAID[folded]
    if kind(name) == "answer_when":
        return _when(text)
    return text if _INITIALS.fullmatch(text) else lower_first(text)


def _when(text: str) -> str:
    folded = text.lower()
    if re.fullmatch(r"\d{1,2}[:.]\d{2}.*", folded):
        return f"at {text}"
    if re.fullmatch(r"(?:late |early )?(?:morning|afternoon|evening)", folded):
        return f"in the {folded}"
    if re.fullmatch(r"spring|summer|autumn|fall|winter", folded):
        return f"in {folded}"
    if re.fullmatch(
        r"(?:mon|tues|wednes|thurs|fri|satur|sun)day.*s|weekday evenings|weekends|weekdays", folded
    ):
        return f"on {text}"
    return {
        "commute": "on my commute",
        "lunch break": "in my lunch break",
        "midday": "around midday",
        "late night": "late night",
    }.get(folded, text if _INITIALS.fullmatch(text) else lower_first(text))
