"""The interface of a language model: one call, and its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, runtime_checkable

from pydantic import AfterValidator, Field

from pytest_personalens.core.dialogue.message import ToolCall
from pytest_personalens.core.dialogue.reply import End, cut_text
from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.core.frozen import Frozen, Text, clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


class Conversation(NamedTuple):
    """What a service is sent that is the assistant under test: the messages so far, and whose they are.

    `session` is an id that no other dialogue has, in no other run; `context` is what the assistant may know,
    as text. The answer must be whole within `timeout` seconds.
    """

    messages: Sequence[Mapping[str, Any]]
    user: str
    session: str
    context: str
    timeout: float


class Request(NamedTuple):
    """One call to a language model.

    `history` holds the earlier turns as (role, text); the first of them is a turn of the user. `prompt` is
    the text that the model answers now. Other calls of the same dialogue repeat its first `shared`
    characters, so a provider may cache the prompt up to there. `answer` is the JSON schema of the wanted
    answer. A model that can bind its output to a schema returns `Answer.data`. Any other model returns
    the text form that the prompt asks for, or the object as JSON. `temperature` is a number from 0 to 2.
    `max_tokens` limits the output. `conversation` is set for a service that is the assistant under test.
    """

    system: str
    prompt: str
    temperature: float = 0.0
    max_tokens: int = 800
    history: tuple[tuple[str, str], ...] = ()
    shared: int = 0
    answer: Mapping[str, Any] | None = None
    conversation: Conversation | None = None


def with_system_in_first_message(request: Request) -> Request:
    """Return the request with the system text at the start of the first message, for a model without one."""
    if not request.system:
        return request
    head = request.system if request.system.endswith("\n") else f"{request.system}\n\n"
    if not request.history:
        return request._replace(
            system="",
            prompt=head + request.prompt,
            shared=len(head) + request.shared if request.shared else 0,
        )
    (role, text), *later = request.history
    return request._replace(system="", history=((role, head + text), *later))


def timeout_error(timeout: float) -> ModelError:
    """Return the error for a service that was too slow. It is not asked again, because it may be at work."""
    return ModelError(f"the assistant did not answer within {timeout:g} s (personalens_turn_timeout)")


def late_error(timeout: float) -> ModelBusy:
    """Return the error for a model that was too slow."""
    return ModelBusy(f"no whole answer within {timeout:g} s; give it longer with ?timeout=", late=True)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in the header Retry-After, or None if it is missing or holds no number."""
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return None


@runtime_checkable
class Model(Protocol):
    """A language model with one method.

    `name` identifies the model and its parameters. It is part of the evidence of every verdict, so the plugin
    never replays a verdict of another model. `paid` is true when a call costs money. The plugin calls such a
    model only under ``--personalens-record live``, ``new`` or ``all``.

    A model may have a method `check_ready()`. It takes no argument, calls no model, and raises if no call can
    succeed, for example because a key is missing. The plugin calls it before such a run begins.
    """

    name: str
    paid: bool

    def complete(self, request: Request) -> Answer:
        """Return the answer to `request`. Several threads call this at once in a concurrent run.

        Raise `ModelBusy` for a failure that may pass within a moment; the caller tries again. The plugin
        reports any other error as the fault of the role that the model plays.
        """
        ...
