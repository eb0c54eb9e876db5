"""Wraps a model so that failed calls are tried again, within a rate that follows what the provider allows."""

from __future__ import annotations

import random
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.core.runtime import SPARE
from pytest_personalens.models.model import late_error, timeout_error
from pytest_personalens.models.read_answer import finished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_personalens.models.model import Answer, Model, Request


#: Seconds after a cut in which further throttling has the same cause. It does not cut the limit again.
COOLDOWN: Final = 15.0
CUT: Final = 0.8
GROWTH: Final = 1.05
#: Exception to the cooldown: if the provider refused more than this share of the calls since the cut, the
#: limit is far too high. It is then halved at once.
FLOODED: Final = 0.5
#: The limit grows only when at least this share of it is in flight, because an unused limit shows nothing.
SATURATED: Final = 0.8


class Limiter:
    """A limit on the calls in flight, never less than one; thread-safe. `clock` returns seconds.

    The limit doubles from `start` until the provider throttles for the first time. After that it grows
    slowly. A start of 2 is careful with an unknown quota. A caller that knows how many dialogues run side by
    side may give a higher start; the limit falls fast if the provider refuses most of the calls. An error of
    the provider itself (5xx) pauses the growth and does not cut the limit.
    """

    def __init__(
        self, *, start: int = 2, most: int = 64, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit, self._most, self._clock = float(min(start, most)), float(most), clock
        self._in_flight = self._clean = 0
        #: Calls that returned since the last cut, and how many of them were refused.
        self._back = self._refused = 0
        self._slow_start = True
        self._calm_after = 0.0
        self._change = threading.Condition()
        self.throttled = 0

    @property
    def limit(self) -> int:
        """Return how many calls may be in flight now, at least 1."""
        return max(1, int(self._limit))

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for a free slot, and hold it while the call runs."""
        with self._change:
            while self._in_flight >= self.limit:
                self._change.wait()
            self._in_flight += 1
        try:
            yield
        finally:
            with self._change:
                self._in_flight -= 1
                self._change.notify_all()

    def record_success(self) -> None:
        """Record a call that succeeded. Call this before the slot is released."""
        with self._change:
            self._back += 1
            if self._clock() < self._calm_after or self._in_flight < SATURATED * self.limit:
                return
            self._clean += 1
            if self._clean < self.limit:
                return  # a round has as many good calls as there are slots
            self._clean = 0
            slow = max(self._limit * GROWTH, self._limit + 0.25)
            self._limit = min(self._most, self._limit * 2 if self._slow_start else slow)
            self._change.notify_all()

    def record_throttling(self) -> None:
        """Record a call that the provider refused because of the call rate."""
        with self._change:
            self.throttled += 1
            self._slow_start = False
            self._clean = 0
            self._back += 1
            self._refused += 1
            # The calls in flight at the cut are refused like the call that led to it. One round of refusals
            # therefore shows nothing.
            flooded = self._back >= 2 * self.limit and self._refused > FLOODED * self._back
            if self._clock() >= self._calm_after or flooded:
                self._limit = max(1.0, self._limit * (0.5 if flooded else CUT))
                self._calm_after = self._clock() + COOLDOWN
                self._back = self._refused = 0

    def record_failure(self) -> None:
        """Record a call that failed because of an error of the provider itself."""
        with self._change:
            self._clean = 0


#: The attempts of one call, those of one that is answered too late, and the longest wait before an attempt
#: in seconds.
ATTEMPTS: Final = 8
LATE_ATTEMPTS: Final = 2
LONGEST_WAIT: Final = 30.0
FIRST_WAIT: Final = 0.5
#: The seconds that a library has, after the timeout, to report by itself what is wrong.
_GRACE: Final = 1.0


class OnEmpty(Protocol):
    """A callback for each empty answer that is thrown away, and is billed too."""

    def __call__(self, answer: Answer, /) -> None:
        """Count the empty answer. Raise a `PersonalensError` to prevent a further attempt."""


def wait_after(attempt: int, asked: float | None, chance: Callable[[], float] = random.random) -> float:
    """Return the seconds to wait after an attempt, from 0: drawn from 0 to ``min(30, 0.5 * 2**attempt)``.

    If the provider `asked` for a longer wait (Retry-After), that is used, up to the same cap of 30 seconds.
    """
    drawn = chance() * min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)
    return min(LONGEST_WAIT, max(drawn, asked or 0.0))


class Reliable:
    """A model that tries a call again after `ModelBusy`, alone and after a wait; any other error is final.

    If a call fails for good and the model has not answered any call yet, its address is probably wrong.
    Further calls are then tried only once until one is answered, so a run against a wrong address ends soon.

    `before` is called before each attempt, and may refuse the attempt with a `PersonalensError`. If the model
    has a `timeout`, its whole answer must arrive within that many seconds. A conversation has a limit of its
    own, and a call that exceeds it is not tried again.
    """

    def __init__(
        self,
        model: Model,
        *,
        limiter: Limiter | None = None,
        before: Callable[[], None] = lambda: None,
        empty_attempts: int = ATTEMPTS,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.name, self.paid = model.name, model.paid
        self.limiter = limiter or Limiter()
        self.model, self._sleep, self._chance, self._before = model, sleep, chance, before
        self._timeout: float | None = getattr(model, "timeout", None)
        self.retries, self._empty_attempts = 0, empty_attempts
        self._answered = self._given_up = False

    def complete(self, request: Request, *, on_empty: OnEmpty = lambda answer, /: None) -> Answer:
        """Return the answer, or raise `ModelError`.

        An answer of nothing is asked for again, `empty_attempts` times in all, and `on_empty` called, where
        chance may give another one. One that ended for a reason is returned as it is, whatever it holds.
        """
        attempts = 1 if self._given_up and not self._answered else ATTEMPTS
        for attempt in range(attempts):
            try:
                with self.limiter.slot():
                    self._before()
                    answer = self._attempt(request)
            except ModelBusy as busy:
                tried = attempt + 1
                if tried == (min(attempts, LATE_ATTEMPTS) if busy.late else attempts):
                    self._given_up = self._given_up or not busy.throttled
                    gave_up = f"gave up after {tried} attempts"
                    why = gave_up if attempts > 1 else "it has not answered once in this run"
                    raise ModelError(f"{busy} ({why})") from busy
                self.retries += 1
                self._sleep(wait_after(attempt, busy.retry_after, self._chance))
            else:
                if not _may_differ(answer, request) or attempt + 1 >= min(attempts, self._empty_attempts):
                    return answer
                on_empty(answer)
                self.retries += 1
                self._sleep(wait_after(attempt, None, self._chance))
        raise AssertionError("unreachable")  # pragma: no cover

    def check_ready(self) -> None:
        """Raise the error that the model can find before any call, if it has a method for that."""
        getattr(self.model, "check_ready", lambda: None)()

    def close(self) -> None:
        """Close the connections of the model, if it has a method for that."""
        getattr(self.model, "close", lambda: None)()

    def _attempt(self, request: Request) -> Answer:
        try:
            answer = finished(self._complete(request), request.answer)
        except ModelBusy as busy:
            if busy.throttled:
                self.limiter.record_throttling()
            else:
                self.limiter.record_failure()
            raise
        self._answered = True
        self.limiter.record_success()
        return answer

    def _complete(self, request: Request) -> Answer:
        talk = request.conversation
        timeout = talk.timeout if talk is not None else self._timeout
        if timeout is None:
            return self.model.complete(request)
        # The timeouts of the libraries apply to a single read. A server that sends a byte now and then would
        # otherwise keep the run waiting without end.
        answer = SPARE.call(timeout + _GRACE, self.model.complete, request)
        if answer is None and talk is not None:
            raise timeout_error(timeout)
        if answer is None:
            raise late_error(timeout)
        given: Answer = answer.result()
        return given


def _may_differ(answer: Answer, request: Request) -> bool:
    """True for an answer of nothing that ended for no reason, to a call whose answers differ by chance."""
    return answer.is_empty and answer.end in ("end", "tool") and not answer.thinks and request.temperature > 0
