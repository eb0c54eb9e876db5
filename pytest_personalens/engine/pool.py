"""Runs many jobs at the same time in a pool, with a rate limit for each model and service called."""

from __future__ import annotations

from concurrent.futures import wait
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.agents.checked import AgentRole, offered
from pytest_personalens.core.errors import PersonalensError, SpecError, error_text
from pytest_personalens.engine.job import JobResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor, Future
    from pathlib import Path

    from pytest_personalens.engine.job import ParticipantSpecs
    from pytest_personalens.models import Model
    from pytest_personalens.models.retry import Limiter, Reliable


#: The interval in seconds at which a waiting item checks for its result.
TICK: Final = 0.2


class Engine:
    """Running evaluations, by the node id of the item that will ask for each; used by one thread.

    `executor` runs `size` evaluations at the same time. More wait in the queue, to keep all places busy
    during the slowest dialogue.
    """

    def __init__(self, executor: Executor, size: int) -> None:
        self.size, self._executor = size, executor
        self._under_way: dict[str, Future[JobResult]] = {}
        self.done = 0

    @property
    def room(self) -> int:
        """Return how many more evaluations may be submitted now: the queue holds ten for each place."""
        return max(0, 10 * self.size - len(self._under_way))

    def __contains__(self, key: str) -> bool:
        return key in self._under_way

    def submit(
        self,
        key: str,
        task: Callable[..., JobResult],
        *args: Any,
        ended: Callable[[JobResult], None] | None = None,
    ) -> None:
        """Have `task` run for the item `key`, and then call `ended` with its result."""
        future = self._under_way[key] = self._executor.submit(task, *args)

        def finish(future: Future[JobResult]) -> None:
            if future.cancelled():
                return
            self.done += 1
            if ended is not None and future.exception() is None:
                ended(future.result())

        future.add_done_callback(finish)

    def take(self, key: str, idle: Callable[[], None]) -> JobResult:
        """Wait for the evaluation of the item `key`; call `idle` every `TICK` seconds, also at once."""
        future = self._under_way.pop(key)
        while not future.done():
            idle()
            wait([future], timeout=TICK)
        return future.result()

    def close(self) -> None:
        """Abandon all running evaluations."""
        self._executor.shutdown(wait=False, cancel_futures=True)


class CalledModels:
    """The models of a process, one for each spec, and the service that is its assistant, if any.

    `added` returns the model that a plugin adds for a spec, or None. `before` runs ahead of each call and may
    refuse it. In `folder` the processes of a run share what they learn of the models' servers.
    """

    def __init__(
        self,
        recipe: ParticipantSpecs,
        *,
        added: Callable[[AgentRole, str], Any],
        before: Callable[[], None],
        folder: Path | None = None,
    ) -> None:
        self._recipe, self._added, self._before, self._folder = recipe, added, before, folder
        self._models: dict[str, Reliable] = {}
        self.service: Reliable | None = None
        # There may be more calls than dialogues at the same time, because the readings of a dialogue run in
        # parallel too.
        self._most_calls = max(64, 4 * recipe.side_by_side)

    def model(self, spec: str, flag: str) -> Model | None:
        """Return the model of a spec, or None if the spec names no model.

        All roles share its connections and its rate limit. Raise `SpecError`, which names `flag`, for a model
        that cannot be opened.
        """
        if spec not in self._models:
            model = offered("model", lambda: self._added("model", spec), flag)
            if model is None:
                from pytest_personalens.models.open import open_model

                parameters = dict(self._recipe.parameters)
                model = open_model(spec, parameters, connections=self._most_calls, folder=self._folder)
            if model is None:
                return None
            self._models[spec] = self._reliable(model)
        return self._models[spec]

    def open_service(self, spec: str) -> bool:
        """Open the service of a spec, or raise `SpecError`; return False if the spec names no service."""
        from pytest_personalens.models.services.open import open_service

        service = open_service(
            spec, self._recipe.service, dict(self._recipe.parameters), connections=self._most_calls
        )
        if service is not None:
            self.service = self._reliable(service)
        return service is not None

    def limiters(self) -> list[Limiter]:
        """Return the rate limits of the models and of the service, one for each."""
        return [model.limiter for model in self._all()]

    def refuse_unready(self, *, models: bool) -> None:
        """Raise `SpecError` for the first service or model that no call can reach, such as for want of a key.

        Every run calls the service that is the assistant; `models` says if this run may call models.
        """
        checked = [(self.service, "")] if self.service is not None else []
        if models:
            hint = "; or replay records with --personalens-record none"
            checked += [(model, hint) for model in self._models.values()]
        for model, hint in checked:
            try:
                model.check_ready()
            except Exception as error:
                why, code = error_text(error), "PL307"
                if isinstance(error, PersonalensError):
                    why, code = str(error), error.code
                raise SpecError(f"{model.name}: {why}{hint}", code=code) from None

    def close(self) -> None:
        for model in self._all():
            model.close()

    def _all(self) -> list[Reliable]:
        return [*self._models.values(), *([self.service] if self.service is not None else [])]

    def _reliable(self, model: Model) -> Reliable:
        from pytest_personalens.models.retry import Limiter, Reliable

        limiter = Limiter(start=2 * self._recipe.side_by_side, most=self._most_calls)
        return Reliable(model, limiter=limiter, before=self._before)
