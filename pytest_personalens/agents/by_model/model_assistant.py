"""A language model as the assistant under test, in the settings of the paper's Table 4."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.agents.by_model.prompts import Prompts
from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.models import Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import Context

#: ``vanilla``: the conversation and nothing else. ``base``: told that it is an assistant that acts, and what the context allows.
Setting = Literal["base", "vanilla"]
_TEMPERATURE: Final = 0.0


class ModelAssistant:
    """Answers a conversation with one call. What it knows of the person stands in its system text; the rest is the chat itself."""

    def __init__(self, model: Model, meter: Meter, prompts: Prompts, *, setting: Setting, context: Context) -> None:
        self._model, self._meter = model, meter
        known = context.text() if setting == "base" else ""
        parts = [prompts.fill("assistant")] if setting == "base" else []
        if known:
            parts.append(prompts.fill("assistant_context", context=known))
        self._system = "\n\n".join(parts)
        # The whole system text is part of who answers: another context or prompt gives other replies.
        self.identity = f"{model.name} {setting} {hashlib.sha256(self._system.encode()).hexdigest()[:8]}"
        self.paid = model.paid

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """The reply. Raises `AssistantFault` when the model gives none."""
        history = tuple((m["role"], m["content"]) for m in messages[:-1])
        request = Request(self._system, messages[-1]["content"], _TEMPERATURE, history=history)
        return self._meter.complete(self._model, request, "assistant", fault=AssistantFault).text
