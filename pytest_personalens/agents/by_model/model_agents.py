"""Opens the agents that models play in a run, by its protocol, its prompts and its kind of user agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.options.settings import OFFICIAL_PROMPTS

if TYPE_CHECKING:
    from pytest_personalens.agents.by_model.model_speakers import ModelAssistant
    from pytest_personalens.agents.by_model.official_prompts import OfficialAssistant, OfficialPrompts
    from pytest_personalens.agents.by_model.prompts import Prompts
    from pytest_personalens.core.dialogue.dialogue import UserAgent
    from pytest_personalens.core.judging.verdict import Judge
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.models import Model
    from pytest_personalens.models.meter import Meter


class PromptSettings(NamedTuple):
    """What a model that plays an agent is told; `prompts` is a folder, or ``official:PATH``."""

    protocol: str = "default"
    prompts: str | None = None
    official_bugs: str = "reproduce"
    user_agent: Literal["plain", "reasoning", "state"] = "plain"

    @property
    def official(self) -> bool:
        """True if the prompts are those of a checkout of the official repository."""
        return bool(self.prompts and self.prompts.startswith(OFFICIAL_PROMPTS))

    @property
    def named(self) -> str:
        """The protocol: "official" for the prompts of a checkout, "paper", or empty for the default."""
        return "official" if self.official else "paper" if self.protocol == "paper" else ""

    def refuse_manner(self, manner: str) -> None:
        """Raise `SpecError` for a manner of the user where the protocol has none."""
        if manner and self.named:
            problem = f"personalens_manner = {manner}: the prompts of {self.flag} have no manners"
            raise SpecError(f"{problem}; leave one of them out", code="PL108")

    @property
    def flag(self) -> str:
        """Return the option that selects the protocol."""
        key = f"prompts={self.prompts}" if self.official else f"protocol={self.protocol}"
        return f"-o personalens_{key}"


class ModelAgents:
    """Makes a user agent, a judge or an assistant of a model; `DataError` or `SpecError` for bad prompts."""

    def __init__(self, settings: PromptSettings | None = None, root: Path | None = None) -> None:
        self._settings = settings or PromptSettings()
        prompts, root = self._settings.prompts, root or Path()
        self._official: OfficialPrompts | None = None
        if prompts and self._settings.official:
            from pytest_personalens.agents.by_model.official_prompts import (
                OfficialPrompts,
                mended_bugs,
                read_checkout,
            )

            templates = read_checkout(root / prompts.removeprefix(OFFICIAL_PROMPTS))
            self._official = OfficialPrompts(templates, mended_bugs(self._settings.official_bugs))
            return
        from pytest_personalens.agents.by_model.prompts import Prompts

        self._prompts: Prompts = Prompts(
            root / prompts if prompts else None,
            protocol="paper" if self._settings.protocol == "paper" else "default",
        )

    def user_agent(self, model: Model, meter: Meter, manner: str = "") -> UserAgent:
        """Return the user agent that `model` plays, in a manner if one is named."""
        self._settings.refuse_manner(manner)
        if self._official is not None:
            from pytest_personalens.agents.by_model.official_prompts import OfficialUserAgent

            return OfficialUserAgent(model, meter, self._official)
        from pytest_personalens.agents.by_model.model_speakers import ModelUserAgent

        thinks = self._settings.user_agent
        return ModelUserAgent(model, meter, self._prompts, thinks=thinks, manner=manner)

    def judge(self, model: Model, meter: Meter, *, temperature: float = 0.0) -> Judge:
        """Return the judge that `model` plays."""
        if self._official is not None:
            from pytest_personalens.agents.by_model.official_prompts import OfficialJudge

            return OfficialJudge(model, meter, self._official, temperature=temperature)
        if self._settings.protocol == "paper":
            from pytest_personalens.agents.by_model.model_judge import PaperJudge

            return PaperJudge(model, meter, self._prompts, temperature=temperature)
        from pytest_personalens.agents.by_model.model_judge import ModelJudge

        return ModelJudge(model, meter, self._prompts, temperature=temperature)

    def assistant(
        self, model: Model, meter: Meter, *, setting: Literal["base", "vanilla"], context: Context
    ) -> ModelAssistant | OfficialAssistant:
        """Return the assistant that `model` plays, who knows `context`."""
        if self._official is not None:
            from pytest_personalens.agents.by_model.official_prompts import OfficialAssistant

            return OfficialAssistant(model, meter, self._official, setting=setting, context=context)
        from pytest_personalens.agents.by_model.model_speakers import ModelAssistant

        return ModelAssistant(model, meter, self._prompts, setting=setting, context=context)
