"""Finds the user's last word where it says that the task is not done, and no deed answers it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.statements import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts import Spoken
    from pytest_personalens.core.dialogue import Message

#: The user says that something else was asked for, or that something is missing.
_NOT_AS_ASKED: Final = re.compile(
    r"\b(?:i|we)(?: have| had)? (?:just |already |clearly |did |even )?(?:said|told you|asked|wrote|typed|meant|ask)\b"
    r"|\bnot what (?:i|we)\b|\bis what i (?:said|told|asked)\b|\b(?:was|is) for \w+\b"
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
_GIVES_UP: Final = re.compile(
    r"\b(?:forget it|useless|hopeless|(?:a|what a) pity|give up|giving up|waste of (?:my )?time|wait,? what|never ?mind(?:,| then|\.|$))\b"
    r"|\b(?:myself|meself)\b|\bguess i will\b|\bto somebody else\b"
    r"|\b(?:i|we) (?:will|shall) (?:just )?(?:manage|ask (?:\w+ )?(?:else|instead)|call them|ring them|find another"
    r"|try (?:another|somewhere|elsewhere))\b"
)
_PLEASED: Final = re.compile(r"\b(?:thanks?|thx|cheers|perfect|great|lovely|brilliant|wonderful|good)\b")
#: A statement answers the user from these probabilities of its acts on.
_ANSWERS: Final = {"deed": 0.4, "use": 0.6, "fact": 0.6}


def last_word(messages: Sequence[Message], statements: Sequence[Spoken]) -> Spoken | None:
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
    return _GIVES_UP if _GIVES_UP.search(text) and not _PLEASED.search(text) else None


def _answers(statement: Spoken) -> bool:
    return any(statement.acts[act] > least for act, least in _ANSWERS.items())
