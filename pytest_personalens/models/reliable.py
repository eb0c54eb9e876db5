"""A model whose calls are tried again when that may help, within the rate that its provider bears."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Final

from pytest_personalens.errors import ModelBusy, ModelError
from pytest_personalens.models.limiter import Limiter

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.models.base import Completion, Model, Request

#: Attempts of one call, and the longest wait before one of them in seconds.
ATTEMPTS: Final = 8
LONGEST_WAIT: Final = 30.0
FIRST_WAIT: Final = 0.5


class Reliable:
    """Wraps a model: `ModelBusy` is tried again with exponential backoff and full jitter, anything else is final.

    The wait before attempt k is drawn from 0 to ``min(30, 0.5 * 2**k)`` seconds, or is what the provider asked for
    (Retry-After) where it is longer, up to the cap. A retry repeats this call and nothing else.
    """

    def __init__(
        self,
        model: Model,
        *,
        limiter: Limiter | None = None,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.name, self.paid = model.name, model.paid
        self.limiter = limiter or Limiter()
        self._model, self._sleep, self._chance = model, sleep, chance
        self.retries = 0

    def complete(self, request: Request) -> Completion:
        """The completion. Raises `ModelError` when it cannot be had."""
        for attempt in range(ATTEMPTS):
            try:
                with self.limiter.slot():
                    completion = self._attempt(request)
            except ModelBusy as busy:
                if attempt == ATTEMPTS - 1:
                    raise ModelError(f"{busy} (gave up after {ATTEMPTS} attempts)") from busy
                self.retries += 1
                self._sleep(self._wait(attempt, busy.retry_after))
            else:
                return completion
        raise AssertionError("unreachable")  # pragma: no cover

    def close(self) -> None:
        """Close the model's connections, where it knows how to."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()

    def _attempt(self, request: Request) -> Completion:
        try:
            completion = self._model.complete(request)
        except ModelBusy as busy:
            if busy.throttled:
                self.limiter.was_throttled()
            else:
                self.limiter.failed()
            raise
        if not completion.text.strip() and completion.data is None:
            raise ModelBusy("the model answered nothing")
        self.limiter.succeeded()
        return completion

    def _wait(self, attempt: int, asked: float | None) -> float:
        drawn = self._chance() * min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)
        return min(LONGEST_WAIT, max(drawn, asked or 0.0))
