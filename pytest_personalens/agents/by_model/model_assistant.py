"""A language model as the assistant under test (paper, Table 4)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.agents.by_model.prompts import Prompts, conversation_text, framed, values_of_context
from pytest_personalens.core.dialogue.message import Cut
from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.models import Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import Context


#: ``base``: the prompt says that the model is an assistant that acts, and gives what the context allows.
#: ``vanilla``: the model gets the conversation alone. Under the paper's protocol it is also asked to help in
#: a natural, engaging and personal way.
Setting = Literal["base", "vanilla"]
_TEMPERATURE: Final = 0.0


def played_reply(model: Model, meter: Meter, request: Request) -> object:
    """Return what a model that plays the assistant replies, `Cut` if not whole; `AssistantFault` if none."""
    answer = meter.complete(model, request, "assistant", fault=AssistantFault, partial=True)
    if answer.is_empty:
        raise AssistantFault(f"{model.name}: {answer.problem}")
    return Cut(answer.text, answer.cut) if answer.cut else answer.text


class ModelAssistant:
    """An assistant that answers a conversation with one call.

    Its knowledge of the person is in the system text. The rest is the chat itself. Under the paper's protocol
    the system text says how to help, and one message holds the rest (Figure 15): what the assistant knows of
    the person, then the conversation, then what to write.
    """

    def __init__(
        self, model: Model, meter: Meter, prompts: Prompts, *, setting: Setting, context: Context
    ) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        #: The paper's prompts hold the texts as they are.
        self._frames = prompts.protocol != "paper"
        self._values = values_of_context(context, frames=self._frames)
        knows = ("assistant_context",) if setting == "base" and context.text() else ()
        self._system: tuple[str, ...] = ("assistant",) if setting == "base" else ()
        self._message: tuple[str, ...] = ()
        if prompts.protocol == "paper":
            self._system = ("assistant",) if setting == "base" else ("assistant_vanilla",)
            self._message = (*knows, "assistant_next" if setting == "base" else "assistant_vanilla_next")
        else:
            self._system += knows
        # The whole prompt is part of the identity, because another context or prompt gives other replies.
        digest = hashlib.sha256("\0".join(filter(None, self._texts(""))).encode()).hexdigest()[:8]
        self.identity = f"{model.name} {setting} {digest}"
        self.paid = model.paid

    def __call__(self, messages: list[dict[str, str]]) -> object:
        """Return the reply, as `Cut` if it is not whole; raise `AssistantFault` if the model gives none."""
        system, prompt = self._texts(conversation_text(messages))
        history = () if self._message else tuple((m["role"], m["content"]) for m in messages[:-1])
        request = Request(system, prompt or messages[-1]["content"], _TEMPERATURE, history=history)
        return played_reply(self._model, self._meter, request)

    def _texts(self, conversation: str) -> tuple[str, str]:
        """Return the system text, and the one message that holds everything or, without it, nothing."""
        said = framed("transcript", conversation) if self._frames and conversation else conversation
        values = {**self._values, "transcript": said}
        system, message = (
            "\n\n".join(self._prompts.fill(name, **values) for name in names)
            for names in (self._system, self._message)
        )
        return system, message
