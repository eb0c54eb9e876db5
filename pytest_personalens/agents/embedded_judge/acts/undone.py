"""Finds out whether the last reply takes back what was done, or reports that it failed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.reading.acts import DONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
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
_ACT: Final = rf"(?:{DONE}|delivered|secured|paid|held|completed|done|reached|opened|played)"
_FAILED: Final = re.compile(
    rf"\b(?:could|can) not (?:yet )?be (?:\w+ )?{_ACT}\b|\bwas not able to\b|\bdid not (?:go|come|get|work|accept|take|succeed)\b"
    r"|\b(?:rejected|declined|refused|bounced|failed|said no)\b"
    r"|\b(?:not|never) (?:yet )?(?:possible|delivered|reserved|booked|sent|completed|processed|available|confirmed)\b"
    r"|\bno longer (?:stands|holds|exists|valid|booked|reserved|available|in place)\b"
    r"|\b(?:is|are) not (?:answering|responding|reachable|working)\b|\bturned (?:it|them|both|me|us) (?:down|away|back)\b"
)
#: The failure of one way, with another way beside it.
_OTHER_WAY: Final = re.compile(
    r"\b(?:so i|instead|but i (?:have|found|got)|therefore|in its place|alternative)\b"
)
#: A report of a deed, which mends a failure before it.
_DONE: Final = re.compile(
    rf"\b(?:i|we) (?:have )?(?:\w+ )?{_ACT}\b|\b(?:is|are|has been|have been|was|were) (?:\w+ )?{_ACT}\b"
    rf"|^(?:\w+: )?(?:booked|reserved|bought|ordered|sent|added|saved|confirmed)\b"
)
#: A task that asks for such a deed itself.
_ASKED_FOR: Final = re.compile(
    r"\b(?:cancel|chang|exchang|mov|swap|switch|return|withdraw|revok|delet|remov|undo|refund|nothing|not|another|other|off)\w*\b"
)
#: A goal that asks to leave something undone.
_TO_BE_LEFT: Final = re.compile(r"\b(?:nothing|no|not|without)\b")


def at_the_end(scenario: Scenario, statements: Sequence[Spoken]) -> Spoken | None:
    """Return the statement of the last reply that takes back or fails what was done, or None.

    A statement counts if no deed follows it in the reply. After a failure in plain words, only a report of a
    deed in plain words counts as one.
    """
    said = [s for s in statements if s.line.role == "assistant"]
    last = said[-1].line.turn if said else None
    goal = plain(scenario.task.goal)
    wanted = _ASKED_FOR.search(f"{goal} {plain(scenario.task.intent)}")
    to_be_left = _TO_BE_LEFT.search(goal)
    undone: Spoken | None = None
    in_words = False
    for statement in said:
        if statement.line.turn != last:
            continue
        acts, text = statement.acts, plain(statement.line.text)
        if not to_be_left and _FAILED.search(text) and not _OTHER_WAY.search(text):
            undone, in_words = statement, True
        elif (not wanted and _TAKEN_BACK.search(text)) or max(acts["failure"], acts["slip"]) >= _SURE:
            undone, in_words = statement, False
        elif undone is not None and (
            _DONE.search(text) or _OTHER_WAY.search(text) if in_words else acts["deed"] >= _DEED
        ):
            undone = None
    return undone
