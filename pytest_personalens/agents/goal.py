"""The parts of a goal, and how much of each the assistant's sentences reach."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.lexicon import in_domain
from pytest_personalens.agents.text import content, fold, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.acts import Spoken
    from pytest_personalens.scenario import Scenario

_CUT: Final = re.compile(
    r"[;.]\s|, (?:and )?|\band\b(?= (?:the|a|an|all|both|no|its?|their|his|her|she|he|they|has|have|is|are|one|two|three)\b)"
)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "today", "tomorrow", "tonight")
_DATUM: Final = re.compile(rf"\b(?:{'|'.join(_DAYS)}|am|pm|\d+(?:[:.,]\d+)*)\b")
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
#: Words of many goals that no assistant needs to say; what `content` leaves out comes back in other forms ("knowing").
_GENERIC: Final = content("suitable state learn agree accept clear fit desired") | {"know", "right", "user", "want"}


def _classes() -> dict[str, int]:
    return {stem(word): i for i, group in reversed(list(enumerate(_SAME))) for word in group.split()}


_CLASS: Final = _classes()


def parts(goal: str) -> tuple[frozenset[str], ...]:
    """The goal's parts as the words that matter in each."""
    found = (content(part) - _GENERIC for part in _CUT.split(goal))
    return tuple(part for part in found if part)


def reached(scenario: Scenario, spoken: Sequence[Spoken]) -> dict[str, float]:
    """How far the assistant's sentences reach the goal, each with the probabilities of its acts; all values from 0 to 1 but counts.

    Part by part: the best share of its words in a sentence that reads as a deed, and in any; by domain of a multi-domain task;
    and the data (days, hours, numbers) of the goal that are never said, or said otherwise.
    """
    wanted = parts(scenario.task.goal)
    lines = [(_widen(content(line.text)), acts) for line, acts in spoken]
    said = frozenset().union(*(words for words, _ in lines)) if lines else frozenset()
    done = [max((_cover(p, words) * acts["deed"] for words, acts in lines), default=0.0) for p in wanted]
    told = [_cover(p, said) for p in wanted]
    data = set(_DATUM.findall(fold(scenario.task.goal)))
    intent = set(_DATUM.findall(fold(scenario.task.intent)))
    text = " ".join(fold(line.text) for line, _ in spoken)
    deeds = " ".join(fold(line.text) for line, acts in spoken if acts["deed"] > 0.3)
    days = {d for d in data | intent if d in _DAYS}
    other = {d for d in _DATUM.findall(deeds) if d in _DAYS} - days
    domains = [max((acts["deed"] for line, acts in spoken if in_domain(d, line.text)), default=0.0) for d in scenario.domains]
    return {
        "parts": float(len(wanted)),
        "least done": min(done, default=0.0),
        "mean done": sum(done) / max(1, len(done)),
        "least told": min(told, default=0.0),
        "mean told": sum(told) / max(1, len(told)),
        "data told": len(data & set(_DATUM.findall(text))) / len(data) if data else 1.0,
        "data done": len(data & set(_DATUM.findall(deeds))) / len(data) if data else 1.0,
        "other day": float(bool(days and other and not days & set(_DATUM.findall(deeds)))),
        "domains": float(len(scenario.domains)),
        "least domain": min(domains, default=0.0) if len(domains) > 1 else 1.0,
    }


def _cover(part: frozenset[str], words: frozenset[str]) -> float:
    return len(_widen(part) & words) / len(_widen(part))


def _widen(words: frozenset[str]) -> frozenset[str]:
    """Words by their class where they have one, so that "booked" finds "reserved"."""
    return frozenset(f"={_CLASS[w]}" if w in _CLASS else w for w in words)
