"""How many calls to one model may be in flight: grows while all goes well, shrinks when the provider says
stop.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: After a cut, further throttling within these seconds is the echo of the same moment and cuts nothing.
COOLDOWN: Final = 15.0
CUT: Final = 0.8
GROWTH: Final = 1.05
#: Unless so much of what came back since the cut was refused: then the limit is far too high, and is cut
#: again at once, by half.
FLOODED: Final = 0.5
#: A limit that is not used proves nothing: it grows only when at least this share of it is in flight.
SATURATED: Final = 0.8


class Limiter:
    """Doubling from `start` until the first throttling, then careful growth; never less than one call in
    flight.

    A start of 2 is careful with a quota that nobody knows; a run that was told how many dialogues to run side
    by side starts there, and comes down fast where the provider refuses most of it. A provider's error of its
    own (5xx) pauses growth and cuts nothing. Thread-safe; `clock` in seconds.
    """

    def __init__(
        self, *, start: int = 2, most: int = 64, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit, self._most, self._clock = float(min(start, most)), float(most), clock
        self._in_flight = self._clean = 0
        self._back = self._refused = (
            0  # calls that came back since the last cut, and those of them that were refused
        )
        self._slow_start = True
        self._calm_after = 0.0
        self._change = threading.Condition()
        self.throttled = 0

    @property
    def limit(self) -> int:
        """How many calls may be in flight now; at least 1."""
        return max(1, int(self._limit))

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for a place, and hold it while the call runs."""
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

    def succeeded(self) -> None:
        """A call went well. Call it before the slot is given back."""
        with self._change:
            self._back += 1
            if self._clock() < self._calm_after or self._in_flight < SATURATED * self.limit:
                return
            self._clean += 1
            if self._clean < self.limit:
                return  # a round is as many good calls as there are places
            self._clean = 0
            self._limit = min(
                self._most,
                self._limit * 2 if self._slow_start else max(self._limit * GROWTH, self._limit + 0.25),
            )
            self._change.notify_all()

    def was_throttled(self) -> None:
        """The provider refused a call for its rate."""
        with self._change:
            self.throttled += 1
            self._slow_start = False
            self._clean = 0
            self._back += 1
            self._refused += 1
            # What was in flight at the cut comes back refused like the call that led to it: a round of it
            # proves nothing.
            flooded = self._back >= 2 * self.limit and self._refused > FLOODED * self._back
            if self._clock() >= self._calm_after or flooded:
                self._limit = max(1.0, self._limit * (0.5 if flooded else CUT))
                self._calm_after = self._clock() + COOLDOWN
                self._back = self._refused = 0

    def failed(self) -> None:
        """The provider failed for a reason of its own."""
        with self._change:
            self._clean = 0
