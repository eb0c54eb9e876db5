"""Finds what in a reply goes against a preference that the task needs.

The user objects only once, and only if there is no doubt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_user.preferences.alternatives import noun_of
from pytest_personalens.agents.embedded_user.preferences.breaches import AskedType, breach, fits, negated
from pytest_personalens.agents.embedded_user.preferences.constraints import constraint
from pytest_personalens.agents.language.lexicon import asks_for, in_domain
from pytest_personalens.agents.language.slots import near
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import mentions, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_user.listening.replies import Replies, Said
    from pytest_personalens.core.scenario import Scenario


_SAY_ONE: Final = re.compile(
    r"\b(?:say|tell me|pick|choose|name|reply|your choice|let me know|up to you|whichever)\b"
)
#: The task itself moves the hour away from the usual one.
_MOVED: Final = re.compile(
    r"\b(?:later|earlier|another (?:time|day|date)|postpone|put off|moment|reschedule|move|shift)\b"
)


class Objection(NamedTuple):
    """The words of message `turn` that go against the preference (`domain`, `type`).

    `value` is in a form that the user can repeat.
    """

    turn: int
    domain: str
    type: str
    value: str


def needed(reading: Replies) -> list[AskedType]:
    """Return the types that the task needs and whose values say something.

    If the task names no type, all types of its domains count.
    """
    return [
        t for t in reading.types
        if reading.relevant(t[0], t[1]) and not any(re.match(r"no (?:\w+ )?preference|any\b|none\b|whatever\b|don't mind", v, re.IGNORECASE) for v in t[3])
    ]  # fmt: skip


def objections(reading: Replies, turn: int) -> tuple[Objection, ...]:
    """Return what a reply does or proposes against the preferences.

    What the user asked for in this dialogue does not count.
    """
    committed = reading.committed(turn)
    if not committed:
        return ()
    raised = []
    for t in needed(reading):
        wrong = _wrong(reading, t, committed, turn)
        if wrong:
            raised.append(Objection(turn, t[0], t[1], wrong))
    return tuple(raised)


def _wrong(reading: Replies, t: AskedType, committed: Sequence[Said], turn: int) -> str:
    # A statement that only boasts has chosen nothing.
    whole = [s for s in reading.in_turn(turn) if s.act not in ("boast", "echo")]
    if any(fits(t, s.text) for s in whole) or _choice(t, whole):
        return ""
    for statement in committed:
        if len(reading.scenario.domains) > 1 and not _speaks_of(t, statement, reading.scenario):
            continue
        wrong = breach(t, statement.text)
        if wrong and not _wanted(reading, t, wrong, turn):
            return wrong
    return ""


def _choice(t: AskedType, whole: Sequence[Said]) -> bool:
    """True if a reply names several other values and asks the user to choose."""
    named = {v for v in t[2].values if v not in t[3] and any(mentions(v, s.text) for s in whole)}
    return len(named) > 1 and any(s.act == "question" or _SAY_ONE.search(s.plain) for s in whole)


def _speaks_of(t: AskedType, statement: Said, scenario: Scenario) -> bool:
    return (
        in_domain(t[0], statement.text, scenario)
        or asks_for(t[2], statement.text)
        or bool(noun_of(t[1]) and noun_of(t[1]) in stems(statement.text))
    )


def _wanted(reading: Replies, t: AskedType, wrong: str, turn: int) -> bool:
    """True if the user, or the intent, asked for this value."""
    _, name, _, values = t
    rule = constraint(name, values)
    if rule.slots and _MOVED.search(plain(reading.scenario.task.intent)) and rule.breach(plain(wrong)):
        return True
    user_turns = [m.content for i, m in enumerate(reading.messages[:turn]) if m.role == "user"]
    for text in (reading.scenario.task.intent, *user_turns):
        folded = plain(text)
        if mentions(wrong, text) and not negated(wrong, folded):
            return True
        if (rule.breach(folded) and not negated(rule.breach(folded), folded)) or (
            rule.slots and near(folded) and _by_day(wrong, folded)
        ):
            return True
        if rule.party and re.search(
            r"\bwith (?:my|your|a|some|two|three|the)\b|\b(?:friends|family|parents|guests|kids|children|colleagues|us)\b",
            folded,
        ):
            return True
    return False


def _by_day(wrong: str, folded: str) -> bool:
    """True if a day that the user named relative to today explains the wrong value.

    Such a day always explains a wrong day. Only "tonight" explains a wrong hour.
    """
    return wrong[:1].isupper() or wrong == "those days" or "tonight" in near(folded)
