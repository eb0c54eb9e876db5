"""The one call a language model must offer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping


class Request(NamedTuple):
    """One call.

    `history` are earlier turns as (role, text), the first of the user's; `prompt` is the text to be answered
    now, whose first `shared` characters other calls of the same dialogue repeat: a provider may cache up to
    there. `answer` is the JSON schema of the answer wanted; a model that can bind its output returns
    `Completion.data`, any other the text form that the prompt asks for. Temperature 0 to 2, `max_tokens` of
    output.
    """

    system: str
    prompt: str
    temperature: float = 0.0
    max_tokens: int = 800
    history: tuple[tuple[str, str], ...] = ()
    shared: int = 0
    answer: Mapping[str, Any] | None = None


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
