"""The plain values from which each process opens the agents of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pytest_personalens.agents.by_model.model_agents import PromptSettings
from pytest_personalens.agents.by_model.official.bugs import mended_bugs
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.models.services import ServiceSettings

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_personalens.core.judging.usage import Price


class ParticipantSpecs(NamedTuple):
    """The plain values that are needed to open the agents, which can be pickled and hold no secret.

    Imports and relative paths start at the folder `root`. `side_by_side` is the number of dialogues that one
    process runs at the same time. `settings` are those of the run by name, for the agents of its suite.
    """

    root: str
    suite: str = FIRST_SUITE
    settings: tuple[tuple[str, Any], ...] = ()
    user_model: str = "embedded"
    judge_model: str = "embedded"
    judge_votes: int = 1
    assistant: str | None = None
    assistant_prompt: Literal["base", "vanilla"] = "base"
    service: ServiceSettings = ServiceSettings()
    prompt_settings: PromptSettings = PromptSettings()
    parameters: tuple[tuple[str, str], ...] = ()
    prices: tuple[tuple[str, Price], ...] = ()
    side_by_side: int = 1


def refuse_prompts_for_nobody(specs: ParticipantSpecs, played: Collection[str]) -> None:
    """Raise `SpecError` for prompts that no model is given; `played` are the roles that models play."""
    prompts = specs.prompt_settings
    mended_bugs(prompts.official_bugs)
    if prompts.named and not played:
        raise SpecError(
            f"{prompts.flag}: it shapes what models are told, and no model plays a role in this run; "
            "name one with --personalens-user-model, --personalens-judge-model or --personalens-assistant",
            code="PL303",
        )
    if prompts.user_agent != "plain" and ("user agent" not in played or prompts.official):
        why = (
            "the official prompts have no such user agent" if prompts.official else "no model plays the user"
        )
        raise SpecError(
            f"personalens_user_agent = {prompts.user_agent}: {why}; leave it out, or name one with"
            " --personalens-user-model",
            code="PL108",
        )
    if prompts.named and specs.judge_votes > 1:
        raise SpecError(
            f"personalens_judge_votes: a judge is asked once under {prompts.flag}; leave one of them out",
            code="PL108",
        )
