"""Measures what a dialogue says about each part of a goal.

A part may be done, told, only promised or left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.detail_kinds import details
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.reading.goal import Part, classes, own_words, parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.core.scenario import Task

#: A statement is about a part from this share of the part's words on.
_ABOUT: Final = 0.4
_ABOUT_OWN: Final = 0.3
_INFORMS: Final = 0.3
_STATES: Final = (
    "deed",
    "promise",
    "proposal",
    "failure",
    "slip",
    "question",
    "confirmation",
    "handing back",
    "evasion",
    "fact",
    "use",
)
_LATE: Final = ("deed", "promise", "proposal", "failure", "slip", "handing back", "question")


class AssistantStatement(NamedTuple):
    """A statement of the assistant in the form for a comparison with parts."""

    spoken: Spoken
    words: frozenset[str]
    plain: str
    details: frozenset[str]

    @property
    def informs(self) -> float:
        """Return how surely the statement does or tells something."""
        acts = self.spoken.acts
        return max(acts["deed"], acts["fact"], 0.8 * acts["use"])


def assistant_statements(spoken: Sequence[Spoken]) -> tuple[AssistantStatement, ...]:
    """Return the statements of the assistant."""
    return tuple(
        AssistantStatement(s, classes(s.line.words), plain(s.line.text), details(s.line.text))
        for s in spoken
        if s.line.role == "assistant"
    )


def numbers(task: Task, statements: Sequence[AssistantStatement]) -> list[dict[str, float]]:
    """Return, for each part of the goal, numbers about the assistant's statements.

    The numbers have names.
    """
    all_parts = parts(task)
    return [_numbers(part, own_words(part, all_parts), statements) for part in all_parts]


def is_about(part: Part, words: frozenset[str], statement: AssistantStatement) -> bool:
    """True if the statement has enough of the part's words, or of those that are its own (`words`)."""
    return _covers(_cover(part.words, statement.words), _cover(words, statement.words))


def _covers(share: float, own_share: float) -> bool:
    return own_share >= _ABOUT_OWN or share >= _ABOUT


def _numbers(
    part: Part, own_words: frozenset[str], statements: Sequence[AssistantStatement]
) -> dict[str, float]:
    turns = sorted({s.spoken.line.turn for s in statements})
    by_turn = {t: [s for s in statements if s.spoken.line.turn == t] for t in turns}
    of_turn = {
        t: _cover(part.words, _union(by_turn[t])) * max(s.spoken.acts["deed"] for s in by_turn[t])
        for t in turns
    }
    cover = [(_cover(part.words, s.words), _cover(own_words, s.words)) for s in statements]
    every = _union(statements)
    by_name = {
        "to be told": float(part.to_tell),
        "words": len(part.words) / 8,
        "said": _cover(part.words, every),
        "own words said": _cover(own_words, every),
        "deed": max(
            (c * s.spoken.acts["deed"] for (c, _), s in zip(cover, statements, strict=True)), default=0.0
        ),
        "deed, own words": max(
            (o * s.spoken.acts["deed"] for (_, o), s in zip(cover, statements, strict=True)), default=0.0
        ),
        "informs": max((c * s.informs for (c, _), s in zip(cover, statements, strict=True)), default=0.0),
        "message": max(of_turn.values(), default=0.0),
        "late message": max((of_turn[t] for t in turns[-2:]), default=0.0),
    }
    if statements:
        best = max(
            range(len(statements)),
            key=lambda i: ((cover[i][0] + 0.5 * cover[i][1]) * (0.15 + statements[i].informs), i),
        )
        by_name |= {f"best: {act}": statements[best].spoken.acts[act] for act in _STATES}
        by_name["best: cover"] = cover[best][0]
        if part.slots:
            beside = by_turn[statements[best].spoken.line.turn]
            by_name["details beside"] = _share(part.slots, frozenset().union(*(s.details for s in beside)))
    about = [s for shares, s in zip(cover, statements, strict=True) if _covers(*shares)]
    if about:
        by_name |= {f"last: {act}": about[-1].spoken.acts[act] for act in _LATE}
        by_name["worst"] = max(max(s.spoken.acts["failure"], s.spoken.acts["slip"]) for s in about)
    else:
        by_name["never spoken of"] = 1.0
    if part.slots:
        by_name["has details"] = 1.0
        by_name["details"] = _share(
            part.slots, frozenset().union(*(s.details for s in statements if s.spoken.acts["question"] < 0.5))
        )
    return by_name | _values(part, statements)


def _values(part: Part, statements: Sequence[AssistantStatement]) -> dict[str, float]:
    """Return numbers about the names, hours, days and counts in the goal.

    They show whether a statement keeps a value, or says another one in its place.
    """
    by_name: dict[str, float] = {}
    text = plain(part.text)
    informing = [s.plain for s in statements if s.informs > _INFORMS]
    if part.names:
        reply_text = " ".join(s.plain for s in statements)
        by_name["has names"] = 1.0
        by_name["names"] = sum(plain(n) in reply_text for n in part.names) / len(part.names)
        by_name["names done"] = max(
            (s.informs for s in statements if any(plain(n) in s.plain for n in part.names)), default=0.0
        )
    if wanted := slots.times(text):
        times = [t for s in informing for t in slots.times(s)]
        fits = any(a.fits(b) for a in wanted for b in times)
        by_name |= {"has time": 1.0, "time kept": float(fits), "time other": float(bool(times) and not fits)}
    for name, read in (("day", slots.days), ("count", slots.counts)):
        values: frozenset[object] = frozenset(read(text))
        if values:
            said_values = frozenset[object]().union(*(read(s) for s in informing))
            by_name |= {
                f"has {name}": 1.0,
                f"{name} kept": len(values & said_values) / len(values),
                f"{name} other": float(bool(said_values) and not values & said_values),
            }
    return by_name


def _union(statements: Sequence[AssistantStatement]) -> frozenset[str]:
    return frozenset[str]().union(*(s.words for s in statements))


def _cover(part: frozenset[str], words: frozenset[str]) -> float:
    return len(part & words) / len(part) if part else 0.0


def _share(wanted: frozenset[str], present: frozenset[str]) -> float:
    return len(wanted & present) / len(wanted)
