"""A model that answers with filler of the expected length: what prompts would cost, without a call."""

from __future__ import annotations

from typing import Any, Final

from pytest_personalens.models import Completion, Request

#: Characters of English prose a token. Tokenizers differ: o200k has about 5.3, Claude's 4.6; the smaller is the safer.
CHARS: Final = 4.6
#: Tokens of one message: 150 a round in the paper, most of them the assistant's.
USER: Final = 40
ASSISTANT: Final = 110
_READING: Final = {"judge tc": 100, "judge p": 400}
_OTHER_READING: Final = 180


def output_tokens(purpose: str) -> int:
    """Tokens of one answer for a purpose, such as ``judge tc``."""
    return {"user agent": USER, "assistant": ASSISTANT}.get(purpose) or _READING.get(purpose, _OTHER_READING)


class Placeholder:
    """A model that answers with filler of the expected length, and counts the tokens it would be sent."""

    def __init__(self, name: str) -> None:
        self.name, self.paid = name, True

    def complete(self, request: Request) -> Completion:
        sent = len(request.system) + len(request.prompt) + sum(len(text) for _, text in request.history)
        if request.answer is not None:
            score = request.answer["properties"]["score"]
            value: Any = [1] * score.get("minItems", 0) if score["type"] == "array" else score["type"] == "boolean" or score["enum"][0]
            return Completion("", round(sent / CHARS), 0, data={"evidence": [], "justification": "so", "score": value})
        return Completion(f"{sent} " + "word " * round((ASSISTANT if request.history else USER) * CHARS / 5), round(sent / CHARS))
