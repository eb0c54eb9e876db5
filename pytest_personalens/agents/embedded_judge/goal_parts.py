"""The parts of a goal, and what a dialogue says of each: whether it was done, told, only promised, left out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts import Spoken
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
#: Words for the same deed; a goal says one of them, an assistant another.
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
_CLASS: Final = {stem(word): f"={i}" for i, group in reversed(list(enumerate(_SAME))) for word in group.split()}
#: Words of many goals that no assistant needs to say; what `content` leaves out comes back in other forms ("knowing").
_GENERIC: Final = content("suitable state learn agree accept clear fit desired") | {"know", "right", "user", "want"}
#: From this share of its words on, a statement is about a part.
_ABOUT: Final = 0.4
_ABOUT_OWN: Final = 0.3
_INFORMS: Final = 0.3
_STATES: Final = ("deed", "promise", "proposal", "failure", "slip", "question", "confirmation", "handing back", "evasion", "fact", "use")
_LATE: Final = ("deed", "promise", "proposal", "failure", "slip", "handing back", "question")


class Part(NamedTuple):
    """A part of a goal: its text, whether it is to be told rather than done, and what it asks for."""

    text: str
    told: bool
    words: frozenset[str]
    slots: frozenset[str]
    names: frozenset[str]
    never: bool = False


def parts(task: Task) -> tuple[Part, ...]:
    """The parts of the task's goal: as the dataset has them, else read from the sentence."""
    return tuple(map(_given, task.parts)) if task.parts else derived(task.goal)


@lru_cache(maxsize=1024)
def _given(part: GoalPart) -> Part:
    words = (content(part.text) | frozenset().union(*map(content, part.words))) - _GENERIC
    return Part(part.text, part.kind == "told", classes(words), frozenset(part.slots) - {"length", "title"}, frozenset(), part.never)


@lru_cache(maxsize=4096)
def derived(goal: str) -> tuple[Part, ...]:
    """The parts of a goal that is a sentence only.

    >>> [p.text for p in derived("A flight is booked; the user has been told the arrival time.")]
    ['A flight is booked', 'the user has been told the arrival time']
    """
    whole = _TITLE.sub(r"\1", goal)
    numbered = [p for p in _NUMBERED.split(whole) if p] if len(_NUMBERED.findall(whole)) > 1 else [whole]
    found = [_part(text) for piece in numbered for text in _clauses(piece)]
    return tuple(p for p in found if p.words) or (_part(goal),)


def _clauses(piece: str) -> list[str]:
    """The clauses of a text; what has no verb or no word of its own goes with its neighbour."""
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
    told = bool(_TOLD.search(folded))
    asked = frozenset(slot for slot, pattern in _SLOTS.items() if told and pattern.search(folded))
    return Part(text, told, classes(content(text) - _GENERIC), asked, slots.names(f"x {text}"))


def classes(words: frozenset[str]) -> frozenset[str]:
    """Words by their class where they have one, so that "booked" finds "reserved"."""
    return frozenset(_CLASS.get(w, w) for w in words)


class Said(NamedTuple):
    """A statement of the assistant as it is held against parts."""

    one: Spoken
    words: frozenset[str]
    plain: str
    details: frozenset[str]

    @property
    def informs(self) -> float:
        """How surely it does or tells something."""
        acts = self.one.acts
        return max(acts["deed"], acts["fact"], 0.8 * acts["use"])


def said(spoken: Sequence[Spoken]) -> tuple[Said, ...]:
    """The statements of the assistant."""
    return tuple(
        Said(s, classes(s.line.words), plain(s.line.text), slots.details(s.line.text)) for s in spoken if s.line.role == "assistant"
    )


def numbers(task: Task, statements: Sequence[Said]) -> list[dict[str, float]]:
    """For each part of the goal what the assistant's statements say of it, in numbers by name."""
    found = parts(task)
    return [_numbers(part, _own(part, found), statements) for part in found]


def _own(part: Part, every: Sequence[Part]) -> frozenset[str]:
    """The words that no other part has."""
    return frozenset(w for w in part.words if sum(w in p.words for p in every) == 1) or part.words


def _numbers(part: Part, own: frozenset[str], statements: Sequence[Said]) -> dict[str, float]:
    turns = sorted({s.one.line.turn for s in statements})
    by_turn = {t: [s for s in statements if s.one.line.turn == t] for t in turns}
    of_turn = {t: _cover(part.words, _union(by_turn[t])) * max(s.one.acts["deed"] for s in by_turn[t]) for t in turns}
    cover = [(_cover(part.words, s.words), _cover(own, s.words)) for s in statements]
    every = _union(statements)
    found = {
        "to be told": float(part.told),
        "words": len(part.words) / 8,
        "said": _cover(part.words, every),
        "own words said": _cover(own, every),
        "deed": max((c * s.one.acts["deed"] for (c, _), s in zip(cover, statements, strict=True)), default=0.0),
        "deed, own words": max((o * s.one.acts["deed"] for (_, o), s in zip(cover, statements, strict=True)), default=0.0),
        "informs": max((c * s.informs for (c, _), s in zip(cover, statements, strict=True)), default=0.0),
        "message": max(of_turn.values(), default=0.0),
        "late message": max((of_turn[t] for t in turns[-2:]), default=0.0),
    }
    if statements:
        best = max(range(len(statements)), key=lambda i: ((cover[i][0] + 0.5 * cover[i][1]) * (0.15 + statements[i].informs), i))
        found |= {f"best: {act}": statements[best].one.acts[act] for act in _STATES}
        found["best: cover"] = cover[best][0]
        if part.slots:
            beside = by_turn[statements[best].one.line.turn]
            found["details beside"] = _share(part.slots, frozenset().union(*(s.details for s in beside)))
    about = [s for (c, o), s in zip(cover, statements, strict=True) if o >= _ABOUT_OWN or c >= _ABOUT]
    if about:
        found |= {f"last: {act}": about[-1].one.acts[act] for act in _LATE}
        found["worst"] = max(max(s.one.acts["failure"], s.one.acts["slip"]) for s in about)
    else:
        found["never spoken of"] = 1.0
    if part.slots:
        found["has details"] = 1.0
        found["details"] = _share(part.slots, frozenset().union(*(s.details for s in statements if s.one.acts["question"] < 0.5)))
    return found | _values(part, statements)


def _values(part: Part, statements: Sequence[Said]) -> dict[str, float]:
    """The names, hours, days and counts in the goal itself: kept, or other ones said in their place."""
    found: dict[str, float] = {}
    text = plain(part.text)
    informing = [s.plain for s in statements if s.informs > _INFORMS]
    if part.names:
        told = " ".join(s.plain for s in statements)
        found["has names"] = 1.0
        found["names"] = sum(plain(n) in told for n in part.names) / len(part.names)
        found["names done"] = max((s.informs for s in statements if any(plain(n) in s.plain for n in part.names)), default=0.0)
    if wanted := slots.times(text):
        got = [t for s in informing for t in slots.times(s)]
        fits = any(a.fits(b) for a in wanted for b in got)
        found |= {"has time": 1.0, "time kept": float(fits), "time other": float(bool(got) and not fits)}
    for name, read in (("day", slots.days), ("count", slots.counts)):
        values: frozenset[object] = frozenset(read(text))
        if values:
            said_values = frozenset[object]().union(*(read(s) for s in informing))
            found |= {
                f"has {name}": 1.0,
                f"{name} kept": len(values & said_values) / len(values),
                f"{name} other": float(bool(said_values) and not values & said_values),
            }
    return found


def _union(statements: Sequence[Said]) -> frozenset[str]:
    return frozenset[str]().union(*(s.words for s in statements))


def _cover(part: frozenset[str], words: frozenset[str]) -> float:
    return len(part & words) / len(part) if part else 0.0


def _share(wanted: frozenset[str], found: frozenset[str]) -> float:
    return len(wanted & found) / len(wanted)
