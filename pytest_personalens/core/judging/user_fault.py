"""A fault of the simulated user, as an audit of its dialogue finds it."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from pytest_personalens.core.frozen import Frozen, Text

#: What a simulated user may do wrong: it says another value than a fact of the scenario, ends the dialogue
#: before the deed, thanks for what was not done, speaks for the assistant, or says a sentence twice.
FaultCode = Literal["contradicted", "ended-early", "thanked-early", "spoke-as-assistant", "repeated"]
#: The fault that costs no dialogue.
HARMLESS: Final[FaultCode] = "repeated"


class UserFault(Frozen):
    """One fault of the simulated user at message `turn` of the dialogue, counted from 0.

    `quote` is the part of the message that shows it. It is empty if the user left without a word; `turn` is
    then the reply that it left. `text` is a plain sentence without a full stop, with both values where there
    are some: "says Saturday, the scenario says Friday 27 November".
    """

    code: FaultCode
    turn: int = Field(ge=0)
    quote: Text = ""
    text: Text
