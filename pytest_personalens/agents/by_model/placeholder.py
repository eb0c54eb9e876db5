"""A model that answers with filler, to estimate costs without a call.

The filler has the expected length.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from pytest_personalens.models import Answer, Request

#: Characters of English prose for each token. Tokenizers differ: o200k has about 5.3, and Claude's 4.6. The
#: smaller number is the safer one.
CHARS: Final = 4.6
#: Tokens of one message: a round has 150 in the paper, most of them the assistant's.
USER: Final = 40
ASSISTANT: Final = 110
#: Tokens that a user agent with reasoning or a state writes beside its message. The number is an assumption.
THOUGHTS: Final = 100
_READING: Final = {"judge tc": 100, "judge p": 400}
_OTHER_READING: Final = 180
#: A reply of the assistant in a transcript, in our form and in that of the official code.
_REPLY: Final = re.compile(r'^{"turn": \d+, "role": "assistant"|^\[ASSISTANT\]:', re.MULTILINE)
_FIRST_TURN: Final = re.compile(r'^{"turn": 0, .*}$', re.MULTILINE)


def output_tokens(purpose: str) -> int:
    """Return the tokens of one answer for a purpose, such as ``judge tc``."""
    return {"user agent": USER, "assistant": ASSISTANT}.get(purpose) or _READING.get(purpose, _OTHER_READING)


class Placeholder:
    """A model that answers with filler and counts the tokens that it would get.

    The filler has the expected length. `whole` says that an assistant gets the dialogue in one message.
    """

    def __init__(self, name: str, role: str, *, whole: bool = False) -> None:
        self.name, self.paid, self._role = name, True, role
        self._whole = whole and role == "assistant"

    def complete(self, request: Request) -> Answer:
        """Return filler, or a verdict that can be parsed."""
        sent = len(request.system) + len(request.prompt) + sum(len(text) for _, text in request.history)
        if request.answer is not None and self._role != "assistant":
            score = request.answer["properties"]["score"]
            value: Any = (
                [1] * score.get("minItems", 0)
                if score["type"] == "array"
                else score["type"] == "boolean" or score["enum"][0]
            )
            data = {"evidence": [_quote(request)], "justification": "so", "score": value}
            return Answer(data=data, input_tokens=round(sent / CHARS))
        if self._role == "judge":
            return Answer(text=_readable(request.prompt), input_tokens=round(sent / CHARS))
        length = ASSISTANT if request.history or self._whole else USER
        begin = "Message: " if self._role == "user agent" else ""
        text = f"{begin}{sent} " + "word " * round(length * CHARS / 5)
        return Answer(text=text, input_tokens=round(sent / CHARS))


def _readable(prompt: str) -> str:
    """Return an answer that the parser of every text form of a reading accepts.

    It has a score for each reply, for the reading by turn; other readings take the first.
    """
    replies = max(1, len(_REPLY.findall(prompt)))
    if "[ASSISTANT]:" in prompt:
        names = ("Personalization", "Naturalness", "Coherence")
        return "\n".join(("VERDICT: True", *(f"{name} Score: 1" for name in names for _ in range(replies))))
    scores = ", ".join("1" * replies)
    return f"Verdict: true\nExplanation: so\nScore: {scores}\nJustification: so"


def _quote(request: Request) -> dict[str, Any]:
    """Return words of the transcript, so that the judge does not ask again."""
    first = _FIRST_TURN.search(f"{request.system}\n{request.prompt}")
    return {"turn": 0, "quote": json.loads(first[0])["content"] if first else "word"}
