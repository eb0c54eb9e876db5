"""A model whose calls are tried again when that may help, within the rate that its provider bears."""

from __future__ import annotations

import random
import time
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.core.threads import ThreadBeside
from pytest_personalens.models.base import late
from pytest_personalens.models.rate_limit import Limiter

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.models.base import Completion, Model, Request

#: Attempts of one call, and the longest wait before one of them in seconds.
ATTEMPTS: Final = 8
LONGEST_WAIT: Final = 30.0
FIRST_WAIT: Final = 0.5
#: Seconds in which a library may tell by itself what is wrong.
_GRACE: Final = 1.0
_BESIDE: Final = ThreadBeside()


class Empty(Protocol):
    """Is told each answer that held nothing, which is billed all the same,
    and whether it is asked for again.
    """

    def __call__(self, completion: Completion, /, *, again: bool) -> None:
        """Count it. Raises a `PersonalensError` to have no further one asked for."""


class Reliable:
    """Wraps a model: `ModelBusy` is tried again with exponential backoff and full jitter, anything else is
    final.

    The wait before attempt k is drawn from 0 to ``min(30, 0.5 * 2**k)`` seconds, or is what the provider
    asked for (Retry-After) where it is longer, up to the cap. A retry repeats this call and nothing else.
    Once a call was given up and the model has yet to answer anything, the mistake is likelier in its address
    than in the moment: further calls are tried once, so that a run against a wrong address ends soon, until
    one is answered. `before` is called ahead of each attempt, and may refuse it by raising a
    `PersonalensError`. A model with a `timeout` has so many seconds for its whole answer. A
    conversation brings its own limit, and is not tried again past it.
    """

    def __init__(
        self,
        model: Model,
        *,
        limiter: Limiter | None = None,
        before: Callable[[], None] = lambda: None,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.name, self.paid = model.name, model.paid
        self.limiter = limiter or Limiter()
        self.model, self._sleep, self._chance, self._before = model, sleep, chance, before
        self._timeout: float | None = getattr(model, "timeout", None)
        self.retries = 0
        self._answered = self._given_up = False

    def complete(self, request: Request, *, empty: Empty = lambda completion, *, again: None) -> Completion:
        """The completion.

        Raises `ModelError` when it cannot be had. `empty` is told of answers that held nothing.
        """
        attempts = 1 if self._given_up and not self._answered else ATTEMPTS
        for attempt in range(attempts):
            try:
                with self.limiter.slot():
                    self._before()
                    completion = self._attempt(request, partial(empty, again=attempt < attempts - 1))
            except ModelBusy as busy:
                if attempt == attempts - 1:
                    self._given_up = self._given_up or not busy.throttled
                    why = (
                        f"gave up after {attempts} attempts"
                        if attempts > 1
                        else "it has not answered once in this run"
                    )
                    raise ModelError(f"{busy} ({why})") from busy
                self.retries += 1
                self._sleep(self._wait(attempt, busy.retry_after))
            else:
                return completion
        raise AssertionError("unreachable")  # pragma: no cover

    def check_ready(self) -> None:
        """Raise what the model knows beforehand to be wrong; some know nothing beforehand."""
        getattr(self.model, "check_ready", lambda: None)()

    def close(self) -> None:
        """Close the model's connections, where it knows how to."""
        close = getattr(self.model, "close", None)
        if close is not None:
            close()

    def _attempt(self, request: Request, empty: Callable[[Completion], None]) -> Completion:
        try:
            completion = self._complete(request)
        except ModelBusy as busy:
            if busy.throttled:
                self.limiter.was_throttled()
            else:
                self.limiter.failed()
            raise
        if not completion.text.strip() and completion.data is None and completion.reply is None:
            empty(completion)
            raise ModelBusy("the model answered nothing")
        self._answered = True
        self.limiter.succeeded()
        return completion

    def _complete(self, request: Request) -> Completion:
        talk = request.conversation
        timeout = talk.timeout if talk is not None else self._timeout
        if timeout is None:
            return self.model.complete(request)
        # The timeouts of the libraries are those of a read: a server that sends a byte now and then would be
        # waited for without end.
        answer = _BESIDE.call(timeout + _GRACE, self.model.complete, request)
        if answer is None and talk is not None:
            raise late(timeout)
        if answer is None:
            raise ModelBusy(f"no whole answer within {timeout:g} s (?timeout=)")
        completion: Completion = answer.result()
        return completion

    def _wait(self, attempt: int, seconds: float | None) -> float:
        drawn = self._chance() * min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)
        return min(LONGEST_WAIT, max(drawn, seconds or 0.0))
