"""Says what is wrong with a value that an assistant returned and that is no reply."""

from __future__ import annotations

from pytest_personalens.core.dialogue.message_fields import has, is_message, text_of_part


def problem_of(reply: object) -> str:
    """Return what is wrong with a value that is no reply."""
    if isinstance(reply, (list, tuple)) and any(map(is_message, reply)):
        number, odd = next((n, message) for n, message in enumerate(reply, 1) if not is_message(message))
        return (
            f"message {number} of the list that the assistant returned is {type(odd).__name__} without"
            " content or tool_calls; it must have one of them"
        )
    return f"the assistant returned {type(reply).__name__}; it must return text (str){_text_in(reply)}"


def _text_in(reply: object) -> str:
    """Return where the text is in a value that a framework returned.

    It is empty for an unknown kind of value.
    """
    if isinstance(reply, dict):
        if isinstance(reply.get("messages"), (list, tuple)):
            return ": the text is that of the last message, such as result['messages'][-1].content"
        if "choices" in reply:
            return ": the text is response['choices'][0]['message']['content']"
        return next((f": the text may be reply[{key!r}]" for key in ("text", "output") if key in reply), "")
    if isinstance(reply, (list, tuple)):
        return ": join the texts of its parts" if reply and all(map(text_of_part, reply)) else ""
    if hasattr(reply, "choices"):
        return ": the text is response.choices[0].message.content"
    return next(
        (f": the text may be reply.{name}" for name in ("text", "output", "output_text") if has(reply, name)),
        "",
    )
