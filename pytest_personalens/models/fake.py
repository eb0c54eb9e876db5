"""A model for tests, which needs neither a key nor a network."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, repeat
from typing import TypeAlias

from pytest_personalens.core.errors import short_repr
from pytest_personalens.models.base import Answer, Request

_Said: TypeAlias = str | Answer | Exception


class FakeModel:
    """A `Model` whose answers a test gives, in turn, the last of them over and over.

    An answer is a text, an `Answer`, or an exception, which is raised; or a function that takes the `Request`
    and returns one of these. `requests` holds what the model was asked, in order.

    Raise `ValueError` without answers, and `TypeError` for any other answer when its turn comes.
    """

    def __init__(self, *answers: _Said | Callable[[Request], _Said], name: str = "fake", paid: bool = False):
        if not answers:
            raise ValueError("FakeModel(...): give it one answer at least")
        self.name, self.paid, self.requests = name, paid, list[Request]()
        self._answers = chain(answers, repeat(answers[-1]))

    def complete(self, request: Request) -> Answer:
        """Return the next answer, or raise it."""
        self.requests.append(request)
        said = next(self._answers)
        if callable(said):
            said = said(request)
        if isinstance(said, Exception):
            raise said
        if not isinstance(said, (str, Answer)):
            raise TypeError(
                f"FakeModel(...): expected a text, an Answer or an exception, not {short_repr(said)}"
            )
        return Answer(text=said) if isinstance(said, str) else said
