"""Finds out whether the last reply takes back what was done, or reports that it failed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.statements import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts import Spoken
    from pytest_personalens.core.scenario import Scenario

#: A statement is a failure or a slip from this probability on, and a deed from the other one on.
_SURE, _DEED = 0.8, 0.5
_TAKEN_BACK: Final = re.compile(
    r"\btak(?:e|ing) (?:that|it|this|all of that) back\b|\b(?:has|have|had|was|were|is|been|got) (?:\w+ )?(?:undone|reverted|reversed"
    r"|rolled back|withdrawn|voided|annulled|revoked|declined|rejected|refused)\b|\bdid not (?:go|come) through\b|\b(?:fell|fallen) through\b"
    r"|\b(?:cancell?ed|dropped|released|removed|deleted|lost)(?: it| that| them)? again\b"
    r"|\bno longer (?:booked|reserved|held|set|active|valid|in place|confirmed)\b"
    r"|\bnothing (?:has been|was|is) (?:done|booked|reserved|saved|set|sent|ordered|bought)\b"
    r"|\bnot (?:booked|reserved|saved|set|sent|ordered|bought|done)(?: \w+)? after all\b"
    r"|\bhad to (?:cancel|undo|release|drop|remove|delete)\b"
)
#: A task that asks for such a deed itself.
_ASKED_FOR: Final = re.compile(
    r"\b(?:cancel|chang|exchang|mov|swap|switch|return|withdraw|revok|delet|remov|undo|refund|nothing|not|another|other|off)\w*\b"
)


def at_the_end(scenario: Scenario, statements: Sequence[Spoken]) -> Spoken | None:
    """Return the statement of the last reply that takes back or fails what was done, or None.

    A statement counts if no deed follows it in the reply.
    """
    said = [s for s in statements if s.line.role == "assistant"]
    last = said[-1].line.turn if said else None
    wanted = _ASKED_FOR.search(plain(f"{scenario.task.goal} {scenario.task.intent}"))
    undone: Spoken | None = None
    for statement in said:
        if statement.line.turn != last:
            continue
        acts = statement.acts
        taken_back = not wanted and _TAKEN_BACK.search(plain(statement.line.text))
        if taken_back or max(acts["failure"], acts["slip"]) >= _SURE:
            undone = statement
        elif acts["deed"] >= _DEED:
            undone = None
    return undone
