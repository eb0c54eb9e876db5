"""Counts, prices and limits the model calls of an evaluation."""

from __future__ import annotations

import threading
from copy import copy
from typing import TYPE_CHECKING, Any

from pytest_personalens.core.errors import BudgetSpent, PersonalensError
from pytest_personalens.core.files.links import append_line
from pytest_personalens.core.judging.usage import Price, Usage, price_of
from pytest_personalens.models.model import Answer
from pytest_personalens.models.read_answer import finished
from pytest_personalens.models.retry import Reliable
from pytest_personalens.models.tape import TOKENS, part_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_personalens.models.model import Model, Request
    from pytest_personalens.models.tape import Tape


class Budget:
    """Caps on the calls and the cost of a run; `option` is the name of the option that sets them.

    The processes of the run share the caps through one file that only grows. Each process writes a line of
    fixed length before it makes a call. The position of the line in the file is the number of the call, so
    two processes cannot both take the last call. The cost is written after a call. The run may therefore
    exceed the cap by the cost of the calls in flight.
    """

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
        """Take one call from the budget, or raise `BudgetSpent` if none is left."""
        # After a refusal the budget refuses every call. The file may be gone while threads of a finished run
        # still ask.
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
        """Record the cost of a call, in US dollars."""
        if self._max_usd is not None and usd:
            self._append(f"usd {usd:.12f}", suffix=".usd")

    def spent(self) -> float:
        """Return the US dollars that all processes of the run have spent."""
        path = self._path.with_suffix(".usd")
        lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
        return sum((float(line.split()[1]) for line in lines), 0.0)

    def _append(self, text: str, suffix: str = ".calls") -> int:
        return append_line(self._path.with_suffix(suffix), text)


class Total:
    """The usage of all evaluations of a process so far, for a progress display. The class is thread-safe."""

    def __init__(self) -> None:
        self.usage, self.usd = Usage(), 0.0
        self._lock = threading.Lock()

    def add(self, used: Usage, usd: float) -> None:
        """Add the usage and the cost of one call."""
        with self._lock:
            self.usage, self.usd = self.usage + used, self.usd + usd


class Meter:
    """Counts the model calls of one evaluation by purpose, such as ``judge tc``; thread-safe.

    All calls of models go through here. What the `tape` knows is not asked again; without one, everything is.
    `before` is called before every call, and may refuse the call with a `PersonalensError`.
    """

    def __init__(
        self,
        *,
        budget: Budget | None = None,
        prices: Mapping[str, Price] | None = None,
        total: Total | None = None,
        before: Callable[[], None] = lambda: None,
        tape: Tape | None = None,
    ) -> None:
        self._budget, self._prices, self._total, self._before = budget, prices or {}, total, before
        self._tape = tape
        self._usage: dict[str, Usage] = {}
        self._lock = threading.Lock()

    def on(self, tape: Tape) -> Meter:
        """Return a meter of the same counts whose calls are on another tape."""
        meter = copy(self)
        meter._tape = tape  # noqa: SLF001 (its own class)
        return meter

    @property
    def usage(self) -> dict[str, Usage]:
        """Return the usage of each purpose, sorted by purpose."""
        with self._lock:
            return dict(sorted(self._usage.items()))

    def complete(
        self,
        model: Model,
        request: Request,
        purpose: str,
        *,
        fault: type[PersonalensError] = PersonalensError,
        partial: bool = False,
    ) -> Answer:
        """Return the answer of `model` to `request`.

        An error of the model is raised as a `fault` of the role that the model plays, and so is an answer
        that is empty, cut, filtered or refused. With `partial`, such an answer is returned if it holds
        anything, or if nothing says why it is empty. `BudgetSpent` is raised unchanged when the budget is
        spent, because no role is to blame for it.
        """
        tape = self._tape
        if tape is None or request.conversation is not None:  # a service under test is asked in every run
            return self._buy(model, request, purpose, fault, partial=partial)
        return tape.ask(
            purpose,
            {name: part_digest(tape.scrub(part)) for name, part in _parts(request)} | {"model": model.name},
            lambda: _without_secrets(self._buy(model, request, purpose, fault, partial=partial), tape),
            paid=model.paid,
            write=_as_data,
            read=Answer.model_validate,
            tokens=lambda answer: {
                name: count for name, field in TOKENS.items() if (count := getattr(answer, field))
            },
        )

    def _buy(
        self,
        model: Model,
        request: Request,
        purpose: str,
        fault: type[PersonalensError],
        *,
        partial: bool,
    ) -> Answer:
        self._before()
        if self._budget is not None:
            self._budget.reserve()

        def count_empty(nothing: Answer, /) -> None:
            self._count(model, nothing, purpose)
            if self._budget is not None:
                self._budget.reserve()

        try:
            if isinstance(model, Reliable):
                answer = model.complete(request, on_empty=count_empty)
            else:
                answer = finished(model.complete(request), request.answer)
        except BudgetSpent:
            raise
        except PersonalensError as error:
            raise fault(f"{model.name}: {error}") from error
        self._count(model, answer, purpose)
        usable = not answer.problem or (
            partial and (not answer.is_empty or (answer.end in ("end", "tool") and not answer.thinks))
        )
        if not usable:
            raise fault(f"{model.name}: {answer.problem}")
        return answer

    def _count(self, model: Model, answer: Answer, purpose: str) -> None:
        """Count one answer that the provider billed."""
        used = Usage(
            calls=1,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            cached_tokens=answer.cached_tokens,
            written_tokens=answer.written_tokens,
        )
        with self._lock:
            self._usage[purpose] = self._usage.get(purpose, Usage()) + used
        price = price_of(model.name, self._prices)
        usd = price.of(used) if price is not None else 0.0
        if self._budget is not None:
            self._budget.pay(usd)
        if self._total is not None:
            self._total.add(used, usd)


def _parts(request: Request) -> list[tuple[str, Any]]:
    """Return all that shapes the answer to a request, by the names that a user is told."""
    parts = [
        ("system text", request.system),
        ("earlier turns", request.history),
        ("prompt", request.prompt),
        ("form of the answer", request.answer),
        ("settings", [request.temperature, request.max_tokens]),
    ]
    return [(name, part) for name, part in parts if part]


def _as_data(answer: Answer) -> dict[str, Any]:
    return answer.model_dump(mode="json", exclude_defaults=True, exclude=set(TOKENS.values()))


def _without_secrets(answer: Answer, tape: Tape) -> Answer:
    plain = answer.model_dump(mode="json")
    return answer if (scrubbed := tape.scrub(plain)) == plain else Answer.model_validate(scrubbed)
