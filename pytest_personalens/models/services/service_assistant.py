"""Opens the service that a spec names as the assistant of one dialogue; it is called in every run."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.dialogue.message import Cut
from pytest_personalens.core.errors import AssistantFault, SpecError
from pytest_personalens.models.base import Conversation, Request
from pytest_personalens.models.services import FLAG, ServiceSettings
from pytest_personalens.models.services.aws_agents import ARN, AgentCore, BedrockAgent
from pytest_personalens.models.services.aws_agents import REQUEST as TO_AGENTCORE
from pytest_personalens.models.services.http import HEADERS, HttpService, read_headers, read_url
from pytest_personalens.models.services.http import REQUEST as TO_HTTP
from pytest_personalens.models.services.replies import REPLY, ReplyReader, Template
from pytest_personalens.models.services.replies import REQUEST as TEMPLATE
from pytest_personalens.models.specs import SERVICES, read_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

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


#: An agent and its alias, by their ids.
_AGENT: Final = re.compile(r"([0-9a-zA-Z]{1,10})/([0-9a-zA-Z]{1,10})")


Service = HttpService | BedrockAgent | AgentCore


def open_service(
    text: str, settings: ServiceSettings, defaults: Mapping[str, str], *, connections: int
) -> Service | None:
    """Return the service of a spec, or None for a spec of something else. Raise `SpecError` for a bad one.

    Nothing is connected before its first call. `defaults` are parameters for specs that do not name them.
    """
    url = read_url(text)
    if url is not None:
        template = Template(settings.request or TO_HTTP)
        headers = read_headers(settings.headers)
        return HttpService(url, template, ReplyReader(settings.reply), headers, connections=connections)
    spec = read_spec(text, SERVICES)
    if spec is None:
        return None
    parameters = spec.with_defaults(defaults, SERVICES).parameters
    unused: dict[str, object] = {HEADERS: settings.headers}
    if spec.provider == "bedrock-agent":
        unused |= {TEMPLATE: settings.request, REPLY: settings.reply}
    for key in (key for key, value in unused.items() if value):
        raise SpecError(f"{key}: it is not used for {spec.provider}; leave it out", code="PL108")
    if spec.provider == "bedrock-agent":
        match = _AGENT.fullmatch(spec.model)
        if match is None:
            raise SpecError(
                f"{FLAG}: expected bedrock-agent:AGENT/ALIAS, two ids of up to 10 letters, not {text!r}",
            )
        return BedrockAgent(match[1], match[2], parameters, connections=connections)
    if ARN.fullmatch(spec.model) is None:
        raise SpecError(
            f"{FLAG}: expected agentcore:ARN, an arn:aws:bedrock-agentcore:...:runtime/..., not {text!r}"
        )
    template, answer = Template(settings.request or TO_AGENTCORE), ReplyReader(settings.reply)
    return AgentCore(spec.model, template, answer, parameters, connections=connections)
