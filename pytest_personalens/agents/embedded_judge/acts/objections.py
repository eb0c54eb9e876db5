"""Finds where the user gives up, or says at the end that the task is not done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.statements import of_message, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.core.dialogue.dialogue import Message

#: The user ends the task, whatever follows.
_GIVEN_UP: Final = re.compile(
    r"\b(?:forget it|i give up|i will (?:do|sort|manage|book|set|find|see to) (?:it|that|this) (?:myself|out myself|on my own)"
    r"|is not getting anywhere|waste of (?:my )?time)\b"
)
#: The user says that something else was asked for, or that something is missing.
_NOT_AS_ASKED: Final = re.compile(
    r"\b(?:i|we)(?: have| had)? (?:just |already |clearly |did |even )?(?:said|told you|asked|wrote|typed|meant|ask)\b"
    r"|\bnot what (?:i|we)\b|\bis what i (?:said|told|asked)\b|\b(?:it|that) was for \w+\b|\bis for the \d"
    r"|\b(?:is|was|are|were) (?:still |just |completely |all )?(?:wrong|missing|empty)\b|\bthe wrong \w+\b"
    r"|\bwrong (?:day|time|date|one|place|number|person|film|train|flight|room|name|city|hotel|week|hour|way)\b"
    r"|\byou (?:forgot|left out|missed|have not|did not|still have not|have left|have forgotten|skipped|never)\b"
    r"|\bstill (?:not|empty|missing|no|have no|do not|nothing|says|shows|waiting)\b"
    r"|\bis not (?:there|what|in|mine)\b|\bwhere is (?:it|my|the)\b|\bonly half\b"
)
#: The user is content, or takes it as it is.
_CONTENT: Final = re.compile(
    r"\b(?:thanks?|thx|cheers|perfect|exactly|great|lovely|well done|all (?:i|we)|how i|now i|what i (?:wanted|needed)|just what|like i|as i"
    r"|no problem|does not matter|fine|okay|ok|beautiful|brilliant|wonderful|legend|it is right|now it|but (?:she|he))\b"
)
#: The user is let down, or goes another way.
_LET_DOWN: Final = re.compile(
    r"\b(?:useless|hopeless|(?:a|what a) pity|giving up|wait,? what|never ?mind(?:,| then|\.|$))\b"
    r"|\b(?:myself|meself)\b|\bguess i will\b|\bto somebody else\b"
    r"|\b(?:i|we) (?:will|shall) (?:just )?(?:manage|ask (?:\w+ )?(?:else|instead)|call them|ring them|find another"
    r"|try (?:another|somewhere|elsewhere))\b"
)
_PLEASED: Final = re.compile(r"\b(?:thanks?|thx|cheers|perfect|great|lovely|brilliant|wonderful|good)\b")
#: A statement answers the user from these probabilities of its acts on.
_ANSWERS: Final = {"deed": 0.4, "use": 0.6, "fact": 0.6}


def giving_up(messages: Sequence[Message]) -> tuple[int, str] | None:
    """Return the turn and the sentence in which the user gives up, or None. The opening never counts."""
    return next(
        (
            (turn, quote)
            for turn, message in enumerate(messages)
            if message.role == "user" and turn
            for text, quote in of_message(message.content)
            if _GIVEN_UP.search(plain(text))
        ),
        None,
    )


def at_the_end(messages: Sequence[Message], statements: Sequence[Spoken]) -> Spoken | None:
    """Return what the user says at the end against the work of the assistant, or None.

    It counts if no later statement of the assistant does or tells anything. The opening never counts.
    """
    turn = max((i for i, m in enumerate(messages) if m.role == "user"), default=0)
    text = plain(messages[turn].content) if turn else ""
    sign = _sign(text)
    if sign is None or any(s.line.turn > turn and _answers(s) for s in statements):
        return None
    said = [s for s in statements if s.line.turn == turn]
    return next((s for s in said if sign.search(plain(s.line.text))), said[-1] if said else None)


def _sign(text: str) -> re.Pattern[str] | None:
    if _NOT_AS_ASKED.search(text) and not _CONTENT.search(text):
        return _NOT_AS_ASKED
    return _LET_DOWN if _LET_DOWN.search(text) and not _PLEASED.search(text) else None


def _answers(statement: Spoken) -> bool:
    return any(statement.acts[act] > least for act, least in _ANSWERS.items())
