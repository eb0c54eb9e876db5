"""Agents of AWS as the assistant: of Amazon Bedrock, and on Amazon Bedrock AgentCore.

Each dialogue has a session of its own there. An agent of Bedrock is sent the last message alone.
"""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelError
from pytest_personalens.models.answer import Answer
from pytest_personalens.models.aws import PATIENCE, AwsClient
from pytest_personalens.models.base import Request
from pytest_personalens.models.services.replies import MOST_BYTES, ReplyReader
from pytest_personalens.models.services.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.models.services.template import Template

#: What is sent where no template says it: what the runtime's own examples read, and beside it who speaks.
REQUEST: Final = '{"prompt": "{message}", "user": "{user}", "context": "{context}"}'
ARN: Final = re.compile(r"arn:aws[\w-]*:bedrock-agentcore:(?P<region>[a-z0-9-]+):\d{12}:runtime/[\w/:.-]+")


class BedrockAgent(AwsClient):
    """An agent behind ``bedrock-agent:AGENT/ALIAS?region=...&profile=...``.

    Its trace tells which tools it called. What the assistant may know stands in the prompt session
    attribute ``context``, which the default templates of an agent show to its model; the user's id is the
    session attribute ``user``.
    """

    paid = False
    tells_context = True

    def __init__(self, agent: str, alias: str, parameters: Mapping[str, Any], *, connections: int) -> None:
        self.name = f"bedrock-agent:{agent}/{alias}"
        self._agent, self._alias = agent, alias
        super().__init__(
            "bedrock-agent-runtime", "Bedrock", parameters, timeout=PATIENCE, connections=connections
        )

    def complete(self, request: Request) -> Answer:
        """Make one call. Raise `ModelBusy` for what may pass, and `ModelError` for what will not."""
        assert request.conversation is not None
        said = request.conversation
        known = {"promptSessionAttributes": {"context": said.context}} if said.context else {}
        trace = Trace()
        with self.convert_errors():
            answer = self.client().invoke_agent(
                agentId=self._agent,
                agentAliasId=self._alias,
                sessionId=said.session,
                inputText=said.messages[-1]["content"],
                enableTrace=True,
                sessionState={"sessionAttributes": {"user": said.user}, **known},
            )
            with closing(answer["completion"]) as events:
                for event in events:
                    trace.add(event)
        return Answer(reply=trace.reply())

    def refusal(self, code: str, message: str) -> ModelError:
        """Return the error to raise for an error of this service alone."""
        if code == "AccessDeniedException":
            return ModelError(
                f"AWS denies access to {self.name} ({message}); allow bedrock:InvokeAgent on it"
            )
        if code == "ResourceNotFoundException":
            return ModelError(
                f"no {self.name} in region {self.region}: {message}; check agent, alias, region"
            )
        return super().refusal(code, message)


class AgentCore(AwsClient):
    """A runtime behind ``agentcore:ARN?qualifier=...&profile=...``, in the region of its ARN."""

    paid = False

    def __init__(
        self,
        arn: str,
        template: Template,
        answer: ReplyReader,
        parameters: Mapping[str, Any],
        *,
        connections: int,
    ) -> None:
        self.name = f"agentcore:{arn}"
        self.tells_context = template.tells_context
        self._arn, self._template, self._answer = arn, template, answer
        self._qualifier = {"qualifier": parameters["qualifier"]} if "qualifier" in parameters else {}
        match = ARN.fullmatch(arn)
        super().__init__(
            "bedrock-agentcore",
            "AgentCore",
            parameters,
            timeout=PATIENCE,
            connections=connections,
            region=match["region"] if match is not None else None,
        )

    def complete(self, request: Request) -> Answer:
        """Make one call. Raise `ModelBusy` for what may pass, and `ModelError` for what will not."""
        assert request.conversation is not None
        with self.convert_errors():
            answer = self.client().invoke_agent_runtime(
                agentRuntimeArn=self._arn,
                runtimeSessionId=request.conversation.session,
                payload=self._template.fill(request.conversation),
                contentType="application/json",
                accept="application/json, text/event-stream",
                **self._qualifier,
            )
            with closing(answer["response"]) as response:
                body = response.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise ModelError(f"the agent's answer has more than {MOST_BYTES:,} bytes, which is the limit")
        return self._answer.read(body, answer.get("contentType", ""))

    def refusal(self, code: str, message: str) -> ModelError:
        """Return the error to raise for an error of this service alone."""
        if code == "AccessDeniedException":
            return ModelError(
                f"AWS denies access to {self.name} ({message}); allow bedrock-agentcore:InvokeAgentRuntime"
                " on it"
            )
        if code == "ResourceNotFoundException":
            return ModelError(f"no {self.name}: {message}; check the ARN and ?qualifier=")
        return super().refusal(code, message)
