"""The parts of a goal that is only a sentence, for tool calls and states to be held against."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_personalens.agents.embedded.reader.text import content, plain
from pytest_personalens.core.scenario import GoalPart, Slot

_NUMBERED: Final = re.compile(r"(?:^|[;,.]?\s*)\(?\b\d\)\s*")
_TITLE: Final = re.compile(r"\b(Mrs|Mr|Ms|Dr|St)\.")
_BEGINS: Final = r"(?:the|a|an|all|both|no|its?|their|his|her|she|he|they|what|where|when|how|which|one|two|three|word|somebody)"
_CUT: Final = re.compile(
    rf"[;.](?:\s|$)(?: ?and )?|, (?:and |then )(?={_BEGINS}\b)"
    r"|, (?=(?:the|a|an|its|his|her|their) [\w' -]{3,60}? (?:is|are|has|have|was|were|stands?|rings?|gets?|goes|knows?|runs?)\b)"
    rf"|\band\b(?= (?:{_BEGINS}|has|have|is|are|\w+ (?:is|are|has|have|knows?|stands?|gets?|was|were))\b)"
)
_VERB: Final = re.compile(
    r"\b(?:is|are|has|have|had|was|were|knows?|gets?|stands?|rings?|runs?|goes|gone|leaves|plays?|been|\w{3,}ed|sent|set|put|told|given|made|known|bought"
    r"|shown|held|found|hears?|sees?|can|will|must|does|do)\b"
)
_TOLD: Final = re.compile(
    r"\b(?:stated|told|tells?|named|known|knows?|shown|given|gives?|said|says|hears?|heard|learn\w*|confirmed|clear|informed|explained|listed|compared"
    r"|side by side|recommended|proposed|answer\w*|summar\w+|pointed out|laid out|mentioned|aware|understands?|sees?)\b"
)
_ASKED: Final[dict[Slot, re.Pattern[str]]] = {
    "price": re.compile(
        r"\b(?:price|fare|costs?|charge|total|budget|fee|how much|money|rate|sum|amount|balance)\b"
    ),
    "time": re.compile(
        r"\b(?:hours?|times?|departures?|arrival|arrives|departs|leaves|starts?|begins?|clock|opens|closes|ends)\b"
    ),
    "day": re.compile(r"\b(?:days?|dates?|week|month|delivery)\b"),
    "seat": re.compile(r"\b(?:seats?|row|spot|place on board|cabin|table)\b"),
    "number": re.compile(
        r"\b(?:number|reference|code|figures?|how many|scores?|results?|gate|size|length)\b"
    ),
}
#: Words of many goals that no assistant needs to say.
_GENERIC: Final = content("suitable state learn agree accept clear fit desired know right user want")


@lru_cache(maxsize=1024)
def parts_of(goal: str) -> tuple[GoalPart, ...]:
    """Return the parts of a goal that is a sentence.

    >>> [(p.kind, p.text) for p in parts_of("A flight is booked; the user has been told the arrival time.")]
    [('done', 'A flight is booked'), ('told', 'the user has been told the arrival time')]
    """
    whole = _TITLE.sub(r"\1", goal)
    numbered = [p for p in _NUMBERED.split(whole) if p] if len(_NUMBERED.findall(whole)) > 1 else [whole]
    parts = [_part(text) for piece in numbered for text in _clauses(piece)]
    return tuple(p for p in parts if p.words) or (_part(goal),)


def _clauses(piece: str) -> list[str]:
    """Return the clauses; one without a verb or without a word of its own is joined with the one before."""
    joined: list[str] = []
    for text in [t.strip(" ,;.") for t in _CUT.split(piece) if t and t.strip(" ,;.")]:
        if joined and (not _VERB.search(joined[-1]) or not content(text) - _GENERIC):
            joined[-1] = f"{joined[-1]} and {text}"
        else:
            joined.append(text)
    return joined


def _part(text: str) -> GoalPart:
    told = bool(_TOLD.search(plain(text)))
    slots = tuple(slot for slot, pattern in _ASKED.items() if told and pattern.search(plain(text)))
    words = tuple(sorted(content(text) - _GENERIC))
    return GoalPart(text=text, kind="told" if told else "done", slots=slots, words=words)
