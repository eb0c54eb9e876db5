"""An agent of Amazon Bedrock as the assistant: it keeps its own session and is sent the last message."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from pytest_personalens.core.errors import ModelError
from pytest_personalens.models.aws import PATIENCE, AwsClient
from pytest_personalens.models.base import Completion, Conversation, Request
from pytest_personalens.models.services.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping


class BedrockAgent:
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
        self._aws = AwsClient(
            "bedrock-agent-runtime", "Bedrock", parameters, timeout=PATIENCE, connections=connections
        )

    def complete(self, request: Request) -> Completion:
        """One InvokeAgent call, its stream read to the end.

        Raises `ModelBusy` for what may pass, `ModelError` with advice for what will not.
        """
        assert request.conversation is not None
        with self._aws.errors(self._refusal):
            answer = self._aws.get().invoke_agent(**self._call(request.conversation))
            trace = Trace()
            with closing(answer["completion"]) as events:
                for event in events:
                    trace.add(event)
        return Completion("", reply=trace.reply())

    def check_ready(self) -> None:
        """Call nobody; raise `ModelError` where there is no region, no such profile or no credentials."""
        self._aws.check_ready()

    def close(self) -> None:
        """Close the connections there are."""
        self._aws.close()

    def _call(self, conversation: Conversation) -> dict[str, Any]:
        attributes = (
            {"promptSessionAttributes": {"context": conversation.context}} if conversation.context else {}
        )
        return {
            "agentId": self._agent,
            "agentAliasId": self._alias,
            "sessionId": conversation.session,
            "inputText": conversation.messages[-1]["content"],
            "enableTrace": True,
            "sessionState": {"sessionAttributes": {"user": conversation.user}, **attributes},
        }

    def _refusal(self, code: str, message: str) -> ModelError:
        if code == "AccessDeniedException":
            return ModelError(
                f"AWS denies access to {self.name} ({message}); allow bedrock:InvokeAgent on it"
            )
        if code == "ResourceNotFoundException":
            return ModelError(
                f"no {self.name} in region {self._aws.region}: {message}; check agent, alias, region"
            )
        return ModelError(f"Bedrock refuses the call: {code}: {message}")
