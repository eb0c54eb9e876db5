"""The details that a request gives: days, hours, numbers, sums, places and names, in the user's own words."""

from __future__ import annotations

import re

MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_WORD = r"(?:(?:Mr|Mrs|Ms|Dr|St)\.|[A-Z][\w'-]*)"
NAME = rf"{_WORD}(?: (?:of |de |la |el |van |von |bin )*{_WORD})*"
NUMBER = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
#: What stands before the name of a place that one goes to or stays in.
_TOWARDS = "|".join(
    [
        r"(?:move|train|work|coach(?: ticket)?|flights?|fares|trip) to",
        r"(?:family|graduation|wedding|car|booking|nights|tonight) in",
    ]
)
#: What stands before the names of people who come along or are written to.
_COMPANY = "|".join(
    [
        r"with|write to|wait for (?:me|you),|friends,?|invited:|people,",
        r"place on [^:]+:|night on \w+ for",
    ]
)

#: The name of a place in a template, and the words in a request that fill it. The n-th match fills place n.
DETAILS = {
    name: re.compile(pattern)
    for name, pattern in {
        "day": rf"\b((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?: \d+ {MONTH}| next week)?|tomorrow)\b",
        "hour": r"\b(\d\d:\d\d)\b",
        "sum": r"(\$\d+)",
        "percent": r"(\d+) %",
        "hours": rf"\b({NUMBER} hours)\b",
        "span": rf"\b((?:{NUMBER}|a|an) (?:days?|weeks?|months?))\b",
        "nights": rf"\b({NUMBER} nights?)\b",
        "count": rf"\b({NUMBER}) (?:\w+ )?(?:tickets|places|seats)\b",
        "city": rf"\b(?:{_TOWARDS}) ((?:the )?{NAME})",
        "address": rf"\bmove to (.+?) on (?={NAME})",
        "people": rf"\b(?:{_COMPANY}) ({NAME}(?:, {NAME})*(?: and {NAME})?)",
    }.items()
}


def told(name: str, number: int, said: list[str]) -> str | None:
    """The n-th detail of this name in the last message that has one, or None."""
    for text in reversed(said):
        found = DETAILS[name].findall(text)
        if found:
            return found[number - 1] if number <= len(found) else None
    return None


#: Values that a correction may name: "not 18:00 but 18:15", "Friday, please".
_VALUES = [
    re.compile(pattern)
    for pattern in (
        r"\b\d{1,2}:\d\d(?: [AP]M)?\b",
        r"\$\d+",
        rf"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day(?: \d+ {MONTH})?|tomorrow|tonight)\b",
        rf"\b(?:{NUMBER} or )?{NUMBER} (?:minutes|hours|days|weeks|nights|tickets|people)\b",
    )
]


def corrected(deed: str, said: list[str]) -> str:
    """The deed with the values that later messages name in place of its own."""
    for text in said:
        for values in _VALUES:
            named = dict.fromkeys(values.findall(text))
            old = [v for v in dict.fromkeys(values.findall(deed)) if v in named or len(named) == 1]
            new = [v for v in named if v not in deed]
            if len(old) == len(new) == 1:
                deed = deed.replace(old[0], new[0])
    return deed


def later(hour: str, minutes: int) -> str:
    """The time of day some minutes after another."""
    total = int(hour[:2]) * 60 + int(hour[3:]) + minutes
    return f"{total // 60 % 24:02}:{total % 60:02}"
