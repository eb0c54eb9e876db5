"""An agent on Amazon Bedrock AgentCore as the assistant: each dialogue has a session of its own there."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelError
from pytest_personalens.models.aws import PATIENCE, AwsClient
from pytest_personalens.models.base import Completion, Request
from pytest_personalens.models.services.answer import MOST_BYTES, Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.models.services.template import Template

#: What is sent where no template says it: what the runtime's own examples read, and beside it who speaks.
REQUEST: Final = '{"prompt": "{message}", "user": "{user}", "context": "{context}"}'
ARN: Final = re.compile(r"arn:aws[\w-]*:bedrock-agentcore:(?P<region>[a-z0-9-]+):\d{12}:runtime/[\w/:.-]+")


class AgentCore:
    """A runtime behind ``agentcore:ARN?qualifier=...&profile=...``, in the region of its ARN."""

    paid = False

    def __init__(
        self,
        arn: str,
        template: Template,
        answer: Answer,
        parameters: Mapping[str, Any],
        *,
        connections: int,
    ) -> None:
        self.name = f"agentcore:{arn}"
        self.tells_context = template.tells_context
        self._arn, self._template, self._answer = arn, template, answer
        self._qualifier = {"qualifier": parameters["qualifier"]} if "qualifier" in parameters else {}
        match = ARN.fullmatch(arn)
        self._aws = AwsClient(
            "bedrock-agentcore",
            "AgentCore",
            parameters,
            timeout=PATIENCE,
            connections=connections,
            region=match["region"] if match is not None else None,
        )

    def complete(self, request: Request) -> Completion:
        """One InvokeAgentRuntime call, its answer read to the end.

        Raises `ModelBusy` for what may pass, `ModelError` with advice for what will not.
        """
        assert request.conversation is not None
        with self._aws.errors(self._refusal):
            answer = self._aws.get().invoke_agent_runtime(
                agentRuntimeArn=self._arn,
                runtimeSessionId=request.conversation.session,
                payload=self._template.filled(request.conversation),
                contentType="application/json",
                accept="application/json, text/event-stream",
                **self._qualifier,
            )
            with closing(answer["response"]) as response:
                body = response.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise ModelError(f"the agent's answer has more than {MOST_BYTES:,} bytes, which is the limit")
        return Completion("", reply=self._answer.reply(body, answer.get("contentType", "")))

    def check_ready(self) -> None:
        """Call nobody; raise `ModelError` without credentials, or with a boto3 that is too old."""
        self._aws.check_ready()

    def close(self) -> None:
        """Close the connections there are."""
        self._aws.close()

    def _refusal(self, code: str, message: str) -> ModelError:
        if code == "AccessDeniedException":
            return ModelError(
                f"AWS denies access to {self.name} ({message}); allow"
                " bedrock-agentcore:InvokeAgentRuntime on it"
            )
        if code == "ResourceNotFoundException":
            return ModelError(f"no {self.name}: {message}; check the ARN and ?qualifier=")
        return ModelError(f"AgentCore refuses the call: {code}: {message}")
