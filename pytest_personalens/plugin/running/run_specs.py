"""What opens the agents of a run: settings, and values that only a configuration holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.agents.by_model.model_agents import PromptSettings
from pytest_personalens.core.dialogue.state import read_fields
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.usage import read_prices
from pytest_personalens.core.suite_names import STATE
from pytest_personalens.engine.participant_specs import ParticipantSpecs
from pytest_personalens.models.services import ServiceSettings
from pytest_personalens.models.specs import read_parameters

if TYPE_CHECKING:
    import pytest

    from pytest_personalens.core.judging.usage import Price
    from pytest_personalens.core.options.settings import Settings


def participant_specs(config: pytest.Config, s: Settings) -> ParticipantSpecs:
    """Return the values from which each process opens the agents of a run."""
    return ParticipantSpecs(
        root=str(config.rootpath),
        suite=s.suite,
        settings=tuple(s._asdict().items()),
        user_model=s.user_model,
        judge_model=s.judge_model,
        judge_votes=s.judge_votes,
        assistant=s.assistant,
        assistant_prompt=s.assistant_prompt,
        service=ServiceSettings(
            s.assistant_request,
            s.assistant_reply or "",
            tuple(_lines(config, "personalens_assistant_headers")),
        ),
        prompt_settings=PromptSettings(s.protocol, s.prompts, s.official_bugs, s.user_agent),
        parameters=tuple(_parameters(config).items()),
        prices=tuple(read_prices_of(config).items()),
        side_by_side=s.concurrency,
    )


def read_prices_of(config: pytest.Config) -> dict[str, Price]:
    """Return the prices that the configuration names, by model."""
    try:
        return read_prices(_lines(config, "personalens_prices"))
    except SpecError as error:
        raise SpecError(f"personalens_prices: {error}") from None


def read_fields_of(config: pytest.Config) -> dict[str, tuple[str, ...]]:
    """Return which facts each field of a state holds, as the configuration says.

    Raise `SpecError` for a line that cannot be read.
    """
    return read_fields(_lines(config, STATE))


def _parameters(config: pytest.Config) -> dict[str, str]:
    try:
        return read_parameters(_lines(config, "personalens_model_parameters"))
    except SpecError as error:
        raise SpecError(f"personalens_model_parameters: {error}") from None


def _lines(config: pytest.Config, name: str) -> list[str]:
    # Lists in a TOML configuration may hold values of any type.
    return [line for line in map(str, config.getini(name)) if line.strip()]
