"""The words for what the user knows: its facts, and its preferences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.reader.text import fold, stems
from pytest_personalens.agents.embedded.user.voice import lower_first
from pytest_personalens.core.facts import RANGE
from pytest_personalens.core.runtime import once
from pytest_personalens.core.scenario import DOMAINS, PreferenceWords
from pytest_personalens.datasets.embedded.packaged import PackagedFiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.facts import Fact
    from pytest_personalens.core.scenario import Scenario

_HOW_MANY: Final = re.compile(r"(?:for )?how many (?:more )?(people|guests|tickets|places|seats|nights|rooms|books|titles|hours|years|weeks|days|rides|members)\b")  # fmt: skip
#: Preferences of which all values apply together, those of which a person names one, what one likes and uses.
_TOGETHER, _ONE, _LIKES, _USES = (
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"dietary|amenit|feature|genre|authors?|books|series|actors|media|artists|bands|albums|sports|team|sectors",
        r"time|days|season|frequency|recurring|duration|group size|price",
        r"genre|authors?|books|series|actors|media|artists|bands|albums|sports|team|game name|sectors|event type|category|destination",
        r"platform|app|airline|company|chain|source|brand",
    )
)
#: Seats and other things of which one has one.
_SEATS: Final = {
    "window": "a window seat", "aisle": "an aisle seat", "front row": "the front row", "back row": "the back row", "middle row": "a middle row", "exit row": "the exit row", "upper deck": "the upper deck",
}  # fmt: skip
_THING: Final = re.compile(r"(?:single|double|twin|family) room|shared dormitory|gym|pool|kitchenette|desk in the room|airport shuttle|multiplex|matinee|child seat|roof rack|automatic gearbox|power outlet|compact|estate|suv|minivan"
    r"|pickup truck|convertible|recliner|balcony|reserved seat|single seat|family compartment|wheelchair space|prayer mat|bicycle space|small group|large group|sleeper")  # fmt: skip
_UPPER: Final = re.compile(r".*[A-Z\d]")
#: Words of a type's name that tell nothing of what it is.
_FILLER: Final = frozenset(stems("preferred preference favorite favourite frequent type kind"))


def spoken(fact: Fact) -> str:
    """Return what a person says of a fact: ``three people``, ``Friday 10 April``."""
    text = fact.says or fact.example
    unit = _HOW_MANY.match(fact.what)
    if fact.kind == "count" and unit and re.fullmatch(r"\w+", text):
        noun, one = unit[1], text in ("one", "1")
        return f"{text} {'person' if one and noun == 'people' else noun.removesuffix('s') if one else noun}"
    if fact.kind == "count" and "percent" in fact.what:
        return f"{text} percent"
    named = fact.kind in ("person", "place", "provider", "text", "date") or _UPPER.match(text)
    return text if named else article(fact.name, lower_first(text))


def article(name: str, text: str) -> str:
    """Return the words of a thing with an article where it is one of a kind: "a gym or a desk in the room"."""
    if " or " in text:
        return " or ".join(article(name, part) for part in text.split(" or "))
    folded = text.lower()
    if "seat" in name.lower() and folded in _SEATS:
        return _SEATS[folded]
    return (
        f"{'an' if folded[0] in 'aeio' or folded == 'suv' else 'a'} {text}"
        if _THING.fullmatch(folded)
        else text
    )


def is_range(fact: Fact) -> bool:
    """True for a fact that any value between two ends fits."""
    return len(fact.right) == 1 and RANGE in fact.right[0]


def bank_of(fact: Fact) -> str:
    """Return the bank of phrases that tells a fact."""
    if is_range(fact):
        return "tell_range"
    if fact.kind == "count" and re.search(r"\b(?:people|guests|passengers)\b", fact.what):
        return "tell_alone" if fact.right[:1] == ("1",) else "tell_people"
    return {"date": "tell_date", "time": "tell_time"}.get(fact.kind, "tell")


def preferred(name: str, held: Sequence[str], *, most: int = 2) -> str:
    """Return the values of a preference as a person says them, at most two: "jazz and soul"."""
    # Text in brackets explains a value and is not said: "10 minutes before (calls)".
    texts = [re.sub(r"\s*\([^)]*\)", "", v).strip() or v for v in held[: 1 if _ONE.search(name) else most]]
    said = [article(name, text if _UPPER.match(text) else lower_first(text)) for text in texts]
    said = [f"{text} quality" if "quality" in name.lower() and " " not in text else text for text in said]
    return (" and " if _TOGETHER.search(name) else " or ").join(dict.fromkeys(said))


def bank_of_preference(name: str) -> str:
    """Return the bank of phrases that tells a preference of a type."""
    liked = "prefer_like" if _LIKES.search(name) else "prefer_use" if _USES.search(name) else "prefer"
    return "diet" if "dietary" in name.lower() else liked


def words_of(scenario: Scenario, domain: str, name: str) -> PreferenceWords:
    """Return the words for a type of preference: those of the scenario, or else those of the embedded data."""
    own = scenario.words[domain].types.get(name) if domain in scenario.words else None
    if own is not None or domain not in DOMAINS:
        return own or PreferenceWords()
    return _embedded().domain(domain).as_said().types.get(name, PreferenceWords())


@once
def _embedded() -> PackagedFiles:
    return PackagedFiles()


def topic(name: str) -> frozenset[str]:
    """Return the stems of what a type of preference is about: "seat" of "Seat Preference"."""
    return frozenset(stems(fold(name))) - _FILLER
