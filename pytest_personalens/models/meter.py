"""What an evaluation asks of models: counted by purpose, priced,
and refused once the run's means are spent.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import BudgetSpent, PersonalensError
from pytest_personalens.core.usage import Price, Usage, price_of
from pytest_personalens.models.retry import Reliable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_personalens.models.base import Completion, Model, Request


class Budget:
    """Caps on the calls and the money of a run, shared by its processes through one file that only grows.

    Each call writes a line of fixed length before it is made; its place in the file is its number, so no two
    processes can both take the last call. Money is written after a call: it may be overdrawn by what the
    calls in flight cost. `option` is what sets the caps.
    """

    _LINE: Final = 32

    def __init__(
        self,
        path: Path,
        *,
        max_calls: int | None = None,
        max_usd: float | None = None,
        option: str = "--personalens-budget",
    ) -> None:
        self._path, self._max_calls, self._max_usd, self._option = path, max_calls, max_usd, option
        self._refusal: str | None = None

    def reserve(self) -> None:
        """Take one call. Raises `BudgetSpent` if none is left."""
        # Once refused, always refused: the file may be gone while threads of a run that ended still ask.
        self._refusal = self._refusal or self._why_not()
        if self._refusal is not None:
            raise BudgetSpent(self._refusal)

    def _why_not(self) -> str | None:
        if self._max_usd is not None and (spent := self.spent()) >= self._max_usd:
            return f"the run has spent ${spent:.2f}, the cap of {self._option} is ${self._max_usd:.2f}"
        if self._max_calls is not None and self._append("call") > self._max_calls:
            return f"the run has made {self._max_calls} model calls, the cap of {self._option}"
        return None

    def pay(self, usd: float) -> None:
        """Enter what a call cost."""
        if self._max_usd is not None and usd:
            self._append(f"usd {usd:.12f}", suffix=".usd")

    def spent(self) -> float:
        """US dollars spent by all processes of the run."""
        path = self._path.with_suffix(".usd")
        return (
            sum(float(line.split()[1]) for line in path.read_text(encoding="ascii").splitlines())
            if path.exists()
            else 0.0
        )

    def _append(self, text: str, suffix: str = ".calls") -> int:
        file = os.open(self._path.with_suffix(suffix), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, text.ljust(self._LINE - 1).encode("ascii") + b"\n")
            return os.lseek(file, 0, os.SEEK_CUR) // self._LINE
        finally:
            os.close(file)


class Total:
    """What all evaluations of a process have used so far, for somebody who watches. Thread-safe."""

    def __init__(self) -> None:
        self.usage, self.usd = Usage(), 0.0
        self._lock = threading.Lock()

    def add(self, used: Usage, usd: float) -> None:
        """Count one call."""
        with self._lock:
            self.usage, self.usd = self.usage + used, self.usd + usd


class Meter:
    """One evaluation's calls to models, by purpose: ``user agent``, ``assistant``, ``judge tc`` and so on.
    Thread-safe.

    `before` is called ahead of every call and may refuse it by raising a `PersonalensError`.
    """

    def __init__(
        self,
        *,
        budget: Budget | None = None,
        prices: Mapping[str, Price] | None = None,
        total: Total | None = None,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._budget, self._prices, self._total, self._before = budget, prices or {}, total, before
        self._usage: dict[str, Usage] = {}
        self._lock = threading.Lock()

    @property
    def usage(self) -> dict[str, Usage]:
        """Purpose -> what was used for it."""
        with self._lock:
            return dict(sorted(self._usage.items()))

    def complete(
        self,
        model: Model,
        request: Request,
        purpose: str,
        *,
        fault: type[PersonalensError] = PersonalensError,
    ) -> Completion:
        """Have `model` answer.

        What it cannot is a `fault` of the role it plays; `BudgetSpent`, when nothing is left, is nobody's.
        """
        self._before()
        if self._budget is not None:
            self._budget.reserve()

        def empty(nothing: Completion, /, *, again: bool) -> None:
            self._count(model, nothing, purpose)
            if again and self._budget is not None:
                self._budget.reserve()

        try:
            completion = (
                model.complete(request, empty=empty)
                if isinstance(model, Reliable)
                else model.complete(request)
            )
        except BudgetSpent:
            raise
        except PersonalensError as error:
            raise fault(f"{model.name}: {error}") from error
        self._count(model, completion, purpose)
        return completion

    def _count(self, model: Model, completion: Completion, purpose: str) -> None:
        """Enter one answer, which was billed."""
        used = Usage(
            calls=1,
            input_tokens=completion.input_tokens,
            output_tokens=completion.output_tokens,
            cached_tokens=completion.cached_tokens,
            written_tokens=completion.written_tokens,
        )
        with self._lock:
            self._usage[purpose] = self._usage.get(purpose, Usage()) + used
        price = price_of(model.name, self._prices)
        usd = price.of(used) if price is not None else 0.0
        if self._budget is not None:
            self._budget.pay(usd)
        if self._total is not None:
            self._total.add(used, usd)
