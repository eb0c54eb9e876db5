"""The one call a language model must offer."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable


class Request(NamedTuple):
    """One call: a system text, one user prompt, and the sampling parameters of the benchmark (paper, Appendix D)."""

    system: str
    prompt: str
    temperature: float = 0.0
    max_tokens: int = 800


class Completion(NamedTuple):
    """The model's answer, and the tokens it cost where the model tells (0 where it does not)."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


@runtime_checkable
class Model(Protocol):
    """A language model behind one method.

    `name` identifies model and parameters: it is part of the evidence of every verdict, so that a verdict of
    another model is never replayed. `paid` is true when a call costs money; such a model is only called under
    ``--personalens-live`` or a snapshot-update flag.
    """

    name: str
    paid: bool

    def complete(self, request: Request) -> Completion:
        """The completion of `request`. Whatever is raised is reported as the fault of the role the model plays."""
        ...
