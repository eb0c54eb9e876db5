"""The one call a language model must offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from pytest_personalens.core.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Conversation(NamedTuple):
    """What a service hears that is the assistant under test: the messages so far, and whose they are.

    `session` is an id that no other dialogue has, in no other run; `context` is what the assistant may know,
    as text. The answer must be whole within `timeout` seconds.
    """

    messages: Sequence[Mapping[str, Any]]
    user: str
    session: str
    context: str
    timeout: float


class Request(NamedTuple):
    """One call.

    `history` are earlier turns as (role, text), the first of the user's; `prompt` is the text to be answered
    now, whose first `shared` characters other calls of the same dialogue repeat: a provider may cache up to
    there. `answer` is the JSON schema of the answer wanted; a model that can bind its output returns
    `Completion.data`, any other the text form that the prompt asks for. Temperature 0 to 2, `max_tokens` of
    output. `conversation` is set for a service that is the assistant under test.
    """

    system: str
    prompt: str
    temperature: float = 0.0
    max_tokens: int = 800
    history: tuple[tuple[str, str], ...] = ()
    shared: int = 0
    answer: Mapping[str, Any] | None = None
    conversation: Conversation | None = None


class Completion(NamedTuple):
    """The model's answer, and the tokens it cost where the model tells (0 where it does not).

    `input_tokens` were billed at full price, `cached_tokens` were read from the provider's cache,
    `written_tokens` written to it. `data` is set when the model filled in the schema of `Request.answer`.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    data: Mapping[str, Any] | None = None
    reply: object = None


def late(timeout: float) -> ModelError:
    """What to raise for a service that did not answer in time. It is not asked again: it may be at work."""
    return ModelError(f"the assistant did not answer within {timeout:g} s (personalens_turn_timeout)")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a provider asks to wait, from the header Retry-After;
    None where it holds no number.
    """
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return None


@runtime_checkable
class Model(Protocol):
    """A language model behind one method.

    `name` identifies model and parameters: it is part of the evidence of every verdict, so that a verdict of
    another model is never replayed. `paid` is true when a call costs money; such a model is only called under
    ``--personalens-record live``, ``new`` or ``all``. A model may have a method `check_ready()`, which takes
    nothing, calls no model and raises where no call can succeed, for want of a key for example: it is asked
    before such a run begins.
    """

    name: str
    paid: bool

    def complete(self, request: Request) -> Completion:
        """The completion of `request`.

        Raise `ModelBusy` for what may work a moment later: it is tried again. Whatever else is raised is
        reported as the fault of the role the model plays. Called from several threads at once when the run is
        concurrent.
        """
        ...
