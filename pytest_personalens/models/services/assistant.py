"""A service as the assistant of one dialogue: called once for each of the user's messages, in every run."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.dialogue.message import Cut
from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.models.base import Conversation, Request

if TYPE_CHECKING:
    from pytest_personalens.core.dialogue.message import AssistantMessages
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.models.meter import Meter
    from pytest_personalens.models.retry import Reliable

#: Bedrock's agents take 100 characters.
_LONGEST_ID: Final = 60


class ServiceAssistant:
    """Answers a conversation by one call of a service, which is tried again as a model's is.

    The session is another one in each run: a service may keep it longer than a run takes.
    """

    def __init__(self, service: Reliable, meter: Meter, context: Context) -> None:
        self._service, self._meter, self._context = service, meter, context
        self._session = f"{context.dialogue[:_LONGEST_ID] or 'dialogue'}-{uuid.uuid4().hex}"

    @property
    def tells_context(self) -> bool:
        """True if the service is told what the assistant may know."""
        return bool(getattr(self._service.model, "tells_context", False))

    def told(self, context: Context) -> ServiceAssistant:
        """Return the assistant of another context, such as that of another session."""
        return ServiceAssistant(self._service, self._meter, context)

    def reply(self, messages: AssistantMessages, timeout: float) -> object:
        """Return the reply. Raise `AssistantFault` if there is none within `timeout` seconds."""
        talk = Conversation(messages, self._context.user, self._session, self._context.text(), timeout)
        request = Request("", messages[-1]["content"], conversation=talk)
        answer = self._meter.complete(self._service, request, "assistant", fault=AssistantFault, partial=True)
        return Cut(answer.reply, answer.cut) if answer.cut else answer.reply
