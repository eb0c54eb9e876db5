"""The interface of a language model: one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from pytest_personalens.core.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.models.answer import Answer


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
