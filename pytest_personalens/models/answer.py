"""The answer of a language model, whatever service gave it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from pytest_personalens.core.dialogue.message import ToolCall
from pytest_personalens.core.dialogue.reply import End, cut_text
from pytest_personalens.core.frozen import Frozen, Text, clean


def _clean(value: Any) -> Any:
    """Return data of JSON whose texts a file can hold."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {_clean(name): _clean(part) for name, part in value.items()}
    return [_clean(part) for part in value] if isinstance(value, (list, tuple)) else value


class Answer(Frozen):
    """What a model answered, why it ended there, and the tokens that it cost.

    `text` is what the model says, without its thoughts; `thinks` is true if there were any. `data` is the
    form that `Request.answer` asks for, filled in. `calls` are the model's other tool calls, and those whose
    arguments cannot be read. `end` says why the answer ended, `word` is the service's own word for it, and
    `limit` the number of tokens that it could have, 0 if unknown.

    The provider billed `input_tokens` at full price. It read `cached_tokens` from its cache and wrote
    `written_tokens` to it. A count is 0 where the service does not report it. `reply` is what a service
    returned that is the assistant under test: a text, a message, or a list of messages.
    """

    text: Text = ""
    data: Annotated[dict[str, Any] | None, AfterValidator(_clean)] = None
    calls: tuple[ToolCall, ...] = ()
    end: End = "end"
    word: Text = ""
    limit: int = Field(default=0, ge=0)
    thinks: bool = False
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    written_tokens: int = Field(default=0, ge=0)
    reply: Annotated[Any, AfterValidator(_clean)] = None

    @property
    def is_empty(self) -> bool:
        """True if nothing came that a role could use."""
        return not self.text.strip() and self.data is None and not self.calls and self.reply is None

    @property
    def cut(self) -> str:
        """How the answer was cut or spoilt, such as "cut off at 4,000 tokens"; empty if it is whole."""
        return cut_text(self.end, self.word, self.limit)

    @property
    def problem(self) -> str:
        """What is wrong with an answer that is not whole, and what to do; empty if nothing is."""
        advice = {
            "length": "raise max_tokens in the spec, as in ?max_tokens=16000 (thoughts take tokens too)",
            "filter": "change the filter, or take another model for this role",
            "error": "take ?tools=off, or another model for this role",
        }
        if self.end == "refusal":
            said = f": {self.text[:200]!r}" if self.text.strip() else ""
            return f"the model refuses to answer{said}; take another model for this role"
        if self.cut:
            nothing = " before it said anything" if self.is_empty else ""
            longer = "window" in self.cut and "give the server a longer context, or take another model"
            return f"the answer was {self.cut}{nothing}; {longer or advice[self.end]}"
        if self.is_empty and self.thinks:
            return "the model answered thoughts and nothing else; raise max_tokens, or turn its thoughts off"
        return "the model answered nothing" if self.is_empty else ""
