"""Why a record does not answer what is asked now: the first turn that differs, or what else has changed."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.core.dialogue.message import call_lines, number_call_ids, strip_tool_calls
from pytest_personalens.core.dialogue.state import state_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.core.dialogue.message import Message, Role
    from pytest_personalens.core.scenario import BaseScenario
    from pytest_personalens.engine.record import Record


class TurnDifference(NamedTuple):
    """The first turn of a dialogue that differs from its record, with both texts.

    `before` is empty if the record had ended. If only the tool calls differ, `calls` is true, and the texts
    are those of the calls.
    """

    turn: int
    role: Role
    before: str
    now: str
    calls: bool = False

    def __str__(self) -> str:
        turn = f"the {self.role}'s turn {self.turn}"
        if self.calls:
            return f"the tool calls of {turn} differ"
        return f"{turn} differs" if self.before else f"the dialogue ended before {turn}"


def first_difference(before: Sequence[Message], now: Sequence[Message]) -> TurnDifference | None:
    """Return the first turn that differs from the record, or None.

    `now` may be only the beginning of a dialogue. The ids of tool calls do not count.
    """
    for turn, (stored, message) in enumerate(zip_longest(number_call_ids(before), number_call_ids(now))):
        if stored == message or message is None:
            continue
        if stored is not None and stored.content == message.content:
            then, today = ("; ".join(call_lines(m)) or "no tool call" for m in (stored, message))
            return TurnDifference(turn, message.role, then, today, calls=True)
        return TurnDifference(turn, message.role, stored.content if stored else "", message.content)
    return None


def why_stale(
    record: Record | None, scenario: BaseScenario, role: str, asked: Mapping[str, str], heard: object
) -> str:
    """Return why the record does not answer what a role is asked, as far as it can be told.

    `heard` is the dialogue that is judged, or the messages that the user has heard so far.
    """
    if record is None:
        return ""
    before = record.dialogue
    departs: object = None
    if isinstance(heard, Dialogue):
        departs = first_difference(before.messages, heard.messages)
        departs = departs or state_difference(before.state, heard.state)
    elif isinstance(heard, (list, tuple)):
        departs = first_difference(strip_tool_calls(before.messages), heard)
    if departs:
        return str(departs)
    name = role.partition(" ")[0] if role.startswith("judge ") else role
    of_role = [row for row in record.rows if row.role.startswith(name)]
    # The row that differs least says best what has changed.
    nearest = max(of_role, key=lambda row: len(row.asked.items() & asked.items()), default=None)
    was = nearest.asked if nearest is not None else asked
    changed = [part for part in asked if was.get(part) != asked[part]]
    for part in ("model", "agent"):
        if part in changed and part in was:
            return f"the {name} was {was[part]}, and is {asked[part]} now"
    if record.content != scenario.digest:
        return "its scenario has changed"
    if role != name and not any(row.role == role for row in of_role):
        return f"no verdict on {role.partition(' ')[2]} for this dialogue"
    if told := [part for part in changed if part not in ("transcript", "dialogue")]:
        return f"the {name}'s {' and '.join(told)} {'have' if len(told) > 1 else 'has'} changed"
    return f"it ends before turn {len(before.messages)}"
