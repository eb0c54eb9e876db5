"""A language model as the assistant under test (paper, Table 4)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.agents.by_model.prompts import Prompts, conversation_text, values_of_context
from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.models import Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import Context

#: ``vanilla``: the model gets only the conversation. ``base``: the prompt also says that it is an assistant
#: that acts, and gives what the context allows.
Setting = Literal["base", "vanilla"]
_TEMPERATURE: Final = 0.0


class ModelAssistant:
    """An assistant that answers a conversation with one call.

    Its knowledge of the person is in the system text. The rest is the chat itself. Under the paper's protocol
    the setting *base* tells it to personalize, and shows it everything in one message (Figure 15).
    """

    def __init__(
        self, model: Model, meter: Meter, prompts: Prompts, *, setting: Setting, context: Context
    ) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        self._values, has_context = values_of_context(context), bool(context.text())
        self._system_templates = (
            ("assistant", *(("assistant_context",) if has_context else ())) if setting == "base" else ()
        )
        self._message_template = "assistant_next" if setting == "base" and "assistant_next" in prompts else ""
        # The whole prompt is part of the identity, because another context or prompt gives other replies.
        digest = hashlib.sha256("\0".join(filter(None, self._texts(""))).encode()).hexdigest()[:8]
        self.identity = f"{model.name} {setting} {digest}"
        self.paid = model.paid

    def __call__(self, messages: list[dict[str, str]]) -> str:
        """Return the reply.

        Raise `AssistantFault` if the model gives none.
        """
        system, prompt = self._texts(conversation_text(messages))
        history = () if self._message_template else tuple((m["role"], m["content"]) for m in messages[:-1])
        request = Request(system, prompt or messages[-1]["content"], _TEMPERATURE, history=history)
        return self._meter.complete(self._model, request, "assistant", fault=AssistantFault).text

    def _texts(self, conversation: str) -> tuple[str, str]:
        """Return the system text, and the one message that holds everything.

        The message is empty if the setting does not use one.
        """
        values = {**self._values, "transcript": conversation}
        system = "\n\n".join(self._prompts.fill(name, **values) for name in self._system_templates)
        return system, self._prompts.fill(self._message_template, **values) if self._message_template else ""
