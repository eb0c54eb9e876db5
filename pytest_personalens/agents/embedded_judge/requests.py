"""Compares the values that the user asked for last with the values in the deeds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.embedded_judge.goal import classes
from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pytest_personalens.agents.embedded_judge.goal_parts import AssistantStatement
    from pytest_personalens.core.dialogue import Message

_PUT_ASIDE: Final = re.compile(r"\b(?:not|instead of|rather than|from)\b[^,.;!?]{0,30}")
_DEED: Final = 0.35


def numbers(messages: Sequence[Message], statements: Sequence[AssistantStatement]) -> dict[str, float]:
    """Return how the values of the deeds compare with the user's last values.

    There are numbers for each kind of value.
    """
    asked = [(turn, plain(m.content)) for turn, m in enumerate(messages) if m.role == "user"]
    deeds = [s for s in statements if _is_deed(s)]
    found: dict[str, float] = {}
    times, turn = _latest(asked, slots.times)
    if times:
        got = [t for s in deeds if s.one.line.turn > turn for t in slots.times(s.plain)]
        found |= {
            "time asked": 1.0,
            "time done": float(all(any(t.fits(g) for g in got) for t in times)),
            "other time done": float(bool(got) and not any(t.fits(g) for t in times for g in got)),
            "other half of the day": float(
                any(t.minutes == g.minutes and not t.fits(g) for t in times for g in got)
            ),
        }
    for name, read in (("day", slots.days), ("date", slots.days_of_month), ("count", slots.counts)):
        values, turn = _latest(asked, read)
        if values:
            said = frozenset[Any]().union(*(read(s.plain) for s in deeds if s.one.line.turn > turn))
            same = frozenset(values) & said
            found |= {
                f"{name} asked": 1.0,
                f"{name} done": len(same) / len(values),
                f"other {name} done": float(bool(said) and not same),
            }
    amounts, _ = _latest(asked, slots.amounts)
    if amounts:
        paid = [a for s in deeds for a in slots.amounts(s.plain)]
        found |= {
            "amount asked": 1.0,
            "amount kept": float(any(p <= max(amounts) for p in paid)),
            "amount exceeded": float(bool(paid) and min(paid) > max(amounts)),
        }
    names = frozenset[str]().union(*(slots.names(m.content) for m in messages if m.role == "user"))
    if names:
        told, done = (" ".join(s.plain for s in some) for some in (statements, deeds))
        found |= {
            "names asked": 1.0,
            "names said": _found(names, told),
            "names done": _found(names, done),
            "name left out": float(_found(names, told) < 1),
        }
    wish = classes(content(messages[0].content)) if messages else frozenset()
    every, of_deeds = (frozenset[str]().union(*(s.words for s in some)) for some in (statements, deeds))
    found["wish said"] = len(wish & every) / len(wish) if wish else 1.0
    found["wish done"] = len(wish & of_deeds) / len(wish) if wish else 1.0
    return found


def _is_deed(statement: AssistantStatement) -> bool:
    acts = statement.one.acts
    return acts["deed"] > _DEED or (acts["use"] > 0.5 and acts["question"] < 0.3 and acts["proposal"] < 0.4)


def _latest(
    asked: Sequence[tuple[int, str]], read: Callable[[str], Collection[Any]]
) -> tuple[Collection[Any], int]:
    """Return the values of the last message that names any, and its turn.

    A value that the message rejects ("not 7:30") does not count.
    """
    for turn, text in reversed(asked):
        if values := read(_PUT_ASIDE.sub("", text)):
            return values, turn
    return (), -1


def _found(names: Collection[str], text: str) -> float:
    return sum(plain(n) in text for n in names) / len(names)
