"""Opens the service that a spec names as the assistant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.models.services import FLAG, ServiceSettings
from pytest_personalens.models.services.aws_agents import ARN, AgentCore, BedrockAgent
from pytest_personalens.models.services.aws_agents import REQUEST as TO_AGENTCORE
from pytest_personalens.models.services.http import HEADERS, HttpService, read_headers, read_url
from pytest_personalens.models.services.http import REQUEST as TO_HTTP
from pytest_personalens.models.services.replies import REPLY, ReplyReader
from pytest_personalens.models.services.template import REQUEST as TEMPLATE
from pytest_personalens.models.services.template import Template
from pytest_personalens.models.specs import SERVICES, read_spec

if TYPE_CHECKING:
    from collections.abc import Mapping

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
