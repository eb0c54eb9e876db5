"""Finds what in a reply goes against a preference that the task needs.

The user objects only once, and only if there is no doubt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_user.listening.questions import kind_of, options
from pytest_personalens.agents.embedded_user.preferences.alternatives import noun_of
from pytest_personalens.agents.embedded_user.preferences.breaches import AskedType, breach, fits, negated
from pytest_personalens.agents.embedded_user.preferences.constraints import constraint
from pytest_personalens.agents.language.lexicon import asks_for, in_domain
from pytest_personalens.agents.language.slots import near
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import mentions, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.language.reading import DialogueReading
    from pytest_personalens.agents.reading.statements import Statement
    from pytest_personalens.core.scenario import Scenario


_SAY_ONE: Final = re.compile(
    r"\b(?:say|tell me|pick|choose|name|reply|your choice|let me know|up to you|whichever)\b"
)
#: The task itself moves the hour away from the usual one.
_MOVED: Final = re.compile(
    r"\b(?:later|earlier|another (?:time|day|date)|postpone|put off|moment|reschedule|move|shift)\b"
)
#: A statement with more about what was done: "Your seat is ...", "Second class, 9:12.".
_ABOUT_IT: Final = re.compile(
    r"^\W*(?:it|this|that|you|your|the \w+(?: \w+)? (?:is|leaves|departs|starts|begins|rings|runs|costs|comes)|for|at|on|with|from|in)\b"
)
_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|am|be|has|have|had|do|does|did|can|will|would|could|should|may|might|must|says?|said|runs?|rains?|opens?|closes?|needs?|wants?|likes?|prefers?|takes?|comes?|goes|shows?|means?|plays?)\b"
)


class Objection(NamedTuple):
    """The words of a reply that go against the preference (`domain`, `type`).

    `value` is in a form that the user can repeat.
    """

    domain: str
    type: str
    value: str


def needed(reading: DialogueReading) -> list[AskedType]:
    """Return the types that the task needs and whose values say something.

    If the task names no type, all types of its domains count.
    """
    return [
        t for t in reading.types
        if reading.relevant(t[0], t[1]) and not any(re.match(r"no (?:\w+ )?preference|any\b|none\b|whatever\b|don't mind", v, re.IGNORECASE) for v in t[3])
    ]  # fmt: skip


def objections(reading: DialogueReading, statements: Sequence[Statement], turn: int) -> tuple[Objection, ...]:
    """Return what a reply does or proposes against the preferences.

    `statements` are those of the reply at message `turn`. What the user asked for in this dialogue does not
    count.
    """
    committed = _committed(statements, reading.messages[turn].content)
    if not committed:
        return ()
    found = ((t, _wrong(reading, t, committed, statements, turn)) for t in needed(reading))
    return tuple(Objection(t[0], t[1], wrong) for t, wrong in found if wrong)


def _committed(statements: Sequence[Statement], reply: str) -> list[Statement]:
    """Return what a reply has done or proposes, with the lines that say more about it.

    A list to choose from does not count.
    """
    acts = {s.act for s in statements}
    if not acts & {"done", "proposed", "confirming"}:
        return []
    choosing = any(s.act == "asked" and kind_of(plain(s.text)) in ("which", "either") for s in statements)
    if options(reply) and ("done" not in acts or choosing):
        return []
    # Among told statements, "Second class, 9:12." says more about the deed, and "It rains at 9:12." does not.
    return [
        s
        for s in statements
        if s.act in ("done", "proposed")
        or (s.act == "told" and (_ABOUT_IT.search(plain(s.text)) or not _VERB.search(plain(s.text))))
    ]


def _wrong(
    reading: DialogueReading,
    t: AskedType,
    committed: Sequence[Statement],
    whole: Sequence[Statement],
    turn: int,
) -> str:
    if any(fits(t, s.text) for s in whole) or _choice(t, whole):
        return ""
    for statement in committed:
        if len(reading.scenario.domains) > 1 and not _speaks_of(t, statement.text, reading.scenario):
            continue
        wrong = breach(t, statement.text)
        if wrong and not _wanted(reading, t, wrong, turn):
            return wrong
    return ""


def _choice(t: AskedType, whole: Sequence[Statement]) -> bool:
    """True if a reply names several other values and asks the user to choose."""
    named = {v for v in t[2].values if v not in t[3] and any(mentions(v, s.text) for s in whole)}
    return len(named) > 1 and any(s.act == "asked" or _SAY_ONE.search(plain(s.text)) for s in whole)


def _speaks_of(t: AskedType, text: str, scenario: Scenario) -> bool:
    return (
        in_domain(t[0], text, scenario)
        or asks_for(t[2], text)
        or bool(noun_of(t[1]) and noun_of(t[1]) in stems(text))
    )


def _wanted(reading: DialogueReading, t: AskedType, wrong: str, turn: int) -> bool:
    """True if the user, or the intent, asked for this value."""
    _, name, _, values = t
    rule = constraint(name, values)
    if rule.slots and _MOVED.search(plain(reading.scenario.task.intent)) and rule.breach(plain(wrong)):
        return True
    user_turns = [m.content for m in reading.messages[:turn] if m.role == "user"]
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
