"""Google's Agent Development Kit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_personalens.adapters.shape import ReplyMessages, call_message, result_message, text_message


def from_adk(events: Iterable[Any]) -> ReplyMessages:
    """OpenAI-shaped messages from the events of one run of a `Runner`; pieces of a stream are left out, for
    the whole comes after them.
    """
    turn: ReplyMessages = []
    for event in events:
        parts = (event.content.parts or []) if event.content is not None and not event.partial else []
        text = "".join(part.text for part in parts if part.text and not part.thought)
        calls = [part.function_call for part in parts if part.function_call is not None]
        answers = [part.function_response for part in parts if part.function_response is not None]
        turn += [result_message(answer.id, answer.response) for answer in answers]
        if calls:
            turn.append(
                {**call_message(*((call.id, call.name, call.args) for call in calls)), "content": text}
            )
        elif text:
            turn.append(text_message(text))
    return turn
