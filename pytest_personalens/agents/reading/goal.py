"""Splits the goal of a task into parts.

The parts come from the dataset, or else from the sentence of the goal.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import GoalPart, Task

_NUMBERED: Final = re.compile(r"(?:^|[;,.]?\s*)\(?\b\d\)\s*")
_TITLE: Final = re.compile(r"\b(Mrs|Mr|Ms|Dr|St)\.")
_CUT: Final = re.compile(
    r"[;.](?:\s|$)(?: ?and )?"
    r"|, (?:and |then )(?=(?:the|a|an|all|both|no|its?|their|his|her|she|he|they|what|where|when|how|which|one|two|three|word|somebody)\b)"
    r"|, (?=(?:the|a|an|its|his|her|their) [\w' -]{3,60}? (?:is|are|has|have|was|were|stands?|rings?|gets?|goes|knows?|runs?)\b)"
    r"|\band\b(?= (?:the|a|an|all|both|no|its?|their|his|her|she|he|they|has|have|is|are|one|two|three|somebody|\w+ (?:is|are|has|have|knows?|stands?|gets?|was|were))\b)"
)
_VERB: Final = re.compile(
    r"\b(?:is|are|has|have|had|was|were|knows?|gets?|stands?|rings?|runs?|goes|gone|leaves|plays?|been|\w{3,}ed|sent|set|put|told|given|made|known|bought"
    r"|shown|held|found|hears?|sees?|can|will|must|does|do)\b"
)
_TOLD: Final = re.compile(
    r"\b(?:stated|told|tells?|named|known|knows?|shown|given|gives?|said|says|hears?|heard|learn\w*|confirmed|clear|informed|explained|listed|compared"
    r"|side by side|recommended|proposed|answer\w*|summar\w+|pointed out|laid out|mentioned|aware|understands?|sees?)\b"
)
_ASKED: Final = {
    "price": r"price|fare|cost|costs|charge|total|budget|fee|how much|money|left|remains?|rate|sum|amount|balance",
    "time": r"hour|hours|time|times|departure|departures|arrival|arrives|departs|leaves|starts?|begins?|clock|opens|closes|o'clock|ends",
    "day": r"day|days|date|dates|week|month|delivery",
    "place": r"address|venue|where|place|area|station|meeting point|gate|platform|stop|shop|cinema|street",
    "seat": r"seats?|row|spot|place on board|cabin|table",
    "name": r"name|named|title|titles|author|film|book|restaurant|hotel|company|airline|artist|artists|game|product|event|provider|who|called|app",
    "number": r"number|reference|code|figures?|how many|score|result|results|gate|size|length",
}
_SLOTS: Final = {slot: re.compile(rf"\b(?:{words})\b") for slot, words in _ASKED.items()}
#: Words for the same deed. A goal uses one of them, and an assistant may use another.
_SAME: Final = (
    "book booked reserve reserved buy bought purchase purchased confirm confirmed hold held secured get got yours paid",
    "set active ring rings wake wakes running on goes",
    "send sent gone delivered out wrote posted forwarded",
    "save saved keep kept note noted written stored list listed add added put in",
    "order ordered way coming arrive arrives delivered cart basket",
    "cancel cancelled canceled remove removed delete deleted off gone drop dropped",
    "move moved change changed shift shifted rebook rebooked reschedule rescheduled put",
    "play playing plays start started starts queue queued running",
    "calendar entered entry scheduled event appointment in diary",
    "price prices cost costs total",
    "user traveller person",
)  # fmt: skip
_CLASS: Final = {
    stem(word): f"={i}" for i, group in reversed(list(enumerate(_SAME))) for word in group.split()
}
#: Words of many goals that no assistant needs to say. Some words that `content` leaves out return in other
#: forms ("knowing").
_GENERIC: Final = content("suitable state learn agree accept clear fit desired") | {
    "know",
    "right",
    "user",
    "want",
}


class Part(NamedTuple):
    """A part of a goal.

    `to_tell` is true for a fact to tell, and false for an action to do. `words`, `slots` and `names` show what
    the part asks for.
    """

    text: str
    to_tell: bool
    words: frozenset[str]
    slots: frozenset[str]
    names: frozenset[str]
    never: bool = False


def parts(task: Task) -> tuple[Part, ...]:
    """Return the parts of the task's goal.

    They come from the dataset, or else from the sentence.
    """
    return tuple(map(_of_dataset, task.parts)) if task.parts else derived(task.goal)


@lru_cache(maxsize=1024)
def _of_dataset(part: GoalPart) -> Part:
    words = (content(part.text) | frozenset().union(*map(content, part.words))) - _GENERIC
    return Part(
        part.text,
        part.kind == "told",
        classes(words),
        frozenset(part.slots) - {"length", "title"},
        frozenset(),
        part.never,
    )


@lru_cache(maxsize=4096)
def derived(goal: str) -> tuple[Part, ...]:
    """Return the parts of a goal that is only a sentence.

    >>> [p.text for p in derived("A flight is booked; the user has been told the arrival time.")]
    ['A flight is booked', 'the user has been told the arrival time']
    """
    whole = _TITLE.sub(r"\1", goal)
    numbered = [p for p in _NUMBERED.split(whole) if p] if len(_NUMBERED.findall(whole)) > 1 else [whole]
    all_parts = [_part(text) for piece in numbered for text in _clauses(piece)]
    return tuple(p for p in all_parts if p.words) or (_part(goal),)


def _clauses(piece: str) -> list[str]:
    """Return the clauses of a text.

    A clause without a verb or without a word of its own is joined with its neighbour.
    """
    raw = [t.strip(" ,;.") for t in _CUT.split(piece) if t and t.strip(" ,;.")]
    joined: list[str] = []
    for text in raw:
        if joined and (not _VERB.search(joined[-1]) or not content(text) - _GENERIC):
            joined[-1] = f"{joined[-1]} and {text}"
        else:
            joined.append(text)
    return joined


def _part(text: str) -> Part:
    folded = plain(text)
    to_tell = bool(_TOLD.search(folded))
    wanted_slots = frozenset(slot for slot, pattern in _SLOTS.items() if to_tell and pattern.search(folded))
    return Part(text, to_tell, classes(content(text) - _GENERIC), wanted_slots, slots.names(f"x {text}"))


def classes(words: frozenset[str]) -> frozenset[str]:
    """Return the words with each word replaced by its class, if it has one.

    So "booked" matches "reserved".
    """
    return frozenset(_CLASS.get(w, w) for w in words)


def deed_classes(words: frozenset[str]) -> frozenset[str]:
    """Return the classes among words that `classes` returned. Nearly all of them are deeds."""
    return frozenset(w for w in words if w.startswith("="))


def own_words(part: Part, every: Sequence[Part]) -> frozenset[str]:
    """Return the words that no other part has."""
    return frozenset(w for w in part.words if sum(w in p.words for p in every) == 1) or part.words
