"""Compares the values that the user asked for last with the values in the deeds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content
from pytest_personalens.agents.reading.goal import classes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pytest_personalens.agents.embedded_judge.acts.goal_parts import AssistantStatement
    from pytest_personalens.core.dialogue.dialogue import Message

_PUT_ASIDE: Final = re.compile(r"\b(?:not|instead of|rather than|from)\b[^,.;!?]{0,30}")
_DEED: Final = 0.35


def numbers(messages: Sequence[Message], statements: Sequence[AssistantStatement]) -> dict[str, float]:
    """Return how the values of the deeds compare with the user's last values.

    There are numbers for each kind of value.
    """
    user_texts = [(turn, plain(m.content)) for turn, m in enumerate(messages) if m.role == "user"]
    deeds = [s for s in statements if _is_deed(s)]
    by_name: dict[str, float] = {}
    times, turn = _latest(user_texts, slots.times)
    if times:
        done_times = [t for s in deeds if s.spoken.line.turn > turn for t in slots.times(s.plain)]
        by_name |= {
            "time asked": 1.0,
            "time done": float(all(any(t.fits(g) for g in done_times) for t in times)),
            "other time done": float(
                bool(done_times) and not any(t.fits(g) for t in times for g in done_times)
            ),
            "other half of the day": float(
                any(t.minutes == g.minutes and not t.fits(g) for t in times for g in done_times)
            ),
        }
    for name, read in (("day", slots.days), ("date", slots.days_of_month), ("count", slots.counts)):
        values, turn = _latest(user_texts, read)
        if values:
            done_values = frozenset[Any]().union(*(read(s.plain) for s in deeds if s.spoken.line.turn > turn))
            same = frozenset(values) & done_values
            by_name |= {
                f"{name} asked": 1.0,
                f"{name} done": len(same) / len(values),
                f"other {name} done": float(bool(done_values) and not same),
            }
    amounts, _ = _latest(user_texts, slots.amounts)
    if amounts:
        paid = [a for s in deeds for a in slots.amounts(s.plain)]
        by_name |= {
            "amount asked": 1.0,
            "amount kept": float(any(p <= max(amounts) for p in paid)),
            "amount exceeded": float(bool(paid) and min(paid) > max(amounts)),
        }
    names = frozenset[str]().union(*(slots.names(m.content) for m in messages if m.role == "user"))
    if names:
        reply_text, deed_text = (" ".join(s.plain for s in some) for some in (statements, deeds))
        by_name |= {
            "names asked": 1.0,
            "names said": _share_named(names, reply_text),
            "names done": _share_named(names, deed_text),
            "name left out": float(_share_named(names, reply_text) < 1),
        }
    wish = classes(content(messages[0].content)) if messages else frozenset()
    every, of_deeds = (frozenset[str]().union(*(s.words for s in some)) for some in (statements, deeds))
    by_name["wish said"] = len(wish & every) / len(wish) if wish else 1.0
    by_name["wish done"] = len(wish & of_deeds) / len(wish) if wish else 1.0
    return by_name


def _is_deed(statement: AssistantStatement) -> bool:
    acts = statement.spoken.acts
    return acts["deed"] > _DEED or (acts["use"] > 0.5 and acts["question"] < 0.3 and acts["proposal"] < 0.4)


def _latest(
    user_texts: Sequence[tuple[int, str]], read: Callable[[str], Collection[Any]]
) -> tuple[Collection[Any], int]:
    """Return the values of the last message that names any, and its turn.

    A value that the message rejects ("not 7:30") does not count.
    """
    for turn, text in reversed(user_texts):
        if values := read(_PUT_ASIDE.sub("", text)):
            return values, turn
    return (), -1


def _share_named(names: Collection[str], text: str) -> float:
    return sum(plain(n) in text for n in names) / len(names)
