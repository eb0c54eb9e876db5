"""The models and the service that a process calls over a network, each with its rate limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_personalens.agents.checked import AgentRole, offered
from pytest_personalens.core.errors import PersonalensError, SpecError, error_text
from pytest_personalens.models.open import open_model
from pytest_personalens.models.rate_limit import Limiter
from pytest_personalens.models.retry import Reliable

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_personalens.engine.participant_specs import ParticipantSpecs
    from pytest_personalens.models import Model


class CalledModels:
    """The models of a process, one for each spec, and the service that is its assistant.

    `added` returns the model that a plugin adds for a spec, or None. The models call `before` ahead of each
    call; it may refuse the call. `service` is None until a service is opened.
    """

    def __init__(
        self,
        recipe: ParticipantSpecs,
        *,
        added: Callable[[AgentRole, str], Any],
        before: Callable[[], None],
    ) -> None:
        self._recipe, self._added, self._before = recipe, added, before
        self._models: dict[str, Reliable] = {}
        self.service: Reliable | None = None
        # There may be more calls than dialogues at the same time, because the readings of a dialogue run in
        # parallel too.
        self._most_calls = max(64, 4 * recipe.side_by_side)

    def model(self, spec: str, flag: str) -> Model | None:
        """Return the model of a spec, one for all its roles, or None if the spec names no model.

        The roles share its connections and its rate limit. Raise `SpecError`, which names `flag`, for a model
        that cannot be opened.
        """
        if spec not in self._models:
            added = offered("model", lambda: self._added("model", spec), flag)
            model = (
                added
                if added is not None
                else open_model(spec, dict(self._recipe.parameters), connections=self._most_calls)
            )
            if model is None:
                return None
            self._models[spec] = self._reliable(model)
        return self._models[spec]

    def open_service(self, spec: str) -> bool:
        """Open the service of a spec. Return False if the spec names no service.

        Raise `SpecError` for a service that cannot be opened.
        """
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
        """Raise `SpecError` for the service, or if `models` for the first model, that no call can reach."""
        if self.service is not None:
            _refuse_unready(self.service)
        for model in self._models.values() if models else ():
            _refuse_unready(model, otherwise="; or replay records with --personalens-record none")

    def close(self) -> None:
        """Close the connections."""
        for model in self._all():
            model.close()

    def _all(self) -> list[Reliable]:
        return [*self._models.values(), *([self.service] if self.service is not None else [])]

    def _reliable(self, model: Model) -> Reliable:
        limiter = Limiter(start=2 * self._recipe.side_by_side, most=self._most_calls)
        return Reliable(model, limiter=limiter, before=self._before)


def _refuse_unready(model: Reliable, *, otherwise: str = "") -> None:
    try:
        model.check_ready()
    except Exception as error:
        why = str(error) if isinstance(error, PersonalensError) else error_text(error)
        raise SpecError(f"{model.name}: {why}{otherwise}") from None
