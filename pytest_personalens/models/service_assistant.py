"""The assistant that is a service: an agent of Bedrock, a runtime of AgentCore, or one behind HTTP."""

from __future__ import annotations

import json
import re
import uuid
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.dialogue.message import Cut
from pytest_personalens.core.errors import AssistantFault, ModelError, SpecError
from pytest_personalens.models.aws_client import PATIENCE, AwsClient
from pytest_personalens.models.http_service import (
    HEADERS,
    MOST_BYTES,
    REPLY,
    TEMPLATE,
    TO_HTTP,
    HttpService,
    ReplyReader,
    Template,
    read_headers,
    read_url,
)
from pytest_personalens.models.model import Answer, Conversation, Request
from pytest_personalens.models.specs import FLAG, SERVICES, ServiceSettings, read_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_personalens.core.dialogue.message import AssistantMessages
    from pytest_personalens.core.scenario import Context
    from pytest_personalens.models.meter import Meter
    from pytest_personalens.models.retry import Reliable


class Trace:
    """Collects the events of one turn. An observation answers the last call of its kind."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._messages: list[dict[str, Any]] = []
        self._open: list[tuple[str, str]] = []
        self._calls = 0

    def add(self, event: Mapping[str, Any]) -> None:
        """Take in an event. Raises `ModelError` for an agent that leaves its tools to who calls it."""
        if "chunk" in event:
            self._text += event["chunk"].get("bytes", b"")
        if "returnControl" in event:
            raise ModelError(
                f"the agent leaves the call of {_returned(event['returnControl'])} to its caller (return of"
                " control), and this plugin runs no tool; name a callable that does"
            )
        step = event.get("trace", {}).get("trace", {}).get("orchestrationTrace", {})
        if "invocationInput" in step:
            self._call(step["invocationInput"])
        if "observation" in step:
            self._result(step["observation"])

    def reply(self) -> list[dict[str, Any]]:
        """Return the turn as a list of messages, the last of which is what the agent says."""
        text = self._text.decode("utf-8", "replace")
        return [*self._messages, {"role": "assistant", "content": text}]

    def _call(self, invocation: Mapping[str, Any]) -> None:
        for kind, read in _CALLS.items():
            if kind not in invocation:
                continue
            name, arguments = read(invocation[kind])
            self._calls += 1
            self._open.append((kind.removesuffix("Input"), f"call-{self._calls}"))
            function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            call = {"id": f"call-{self._calls}", "type": "function", "function": function}
            self._messages.append({"role": "assistant", "content": "", "tool_calls": [call]})

    def _result(self, observation: Mapping[str, Any]) -> None:
        for kind, read in _RESULTS.items():
            waiting = [call for call in self._open if call[0] == kind.removesuffix("Output")]
            if kind in observation and waiting:
                self._open.remove(waiting[-1])
                content = read(observation[kind])
                self._messages.append({"role": "tool", "tool_call_id": waiting[-1][1], "content": content})


def _action(call: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A function of an action group; or an operation of its API, by its path."""
    of_body = [p for fields in call.get("requestBody", {}).get("content", {}).values() for p in fields]
    parameters = [*call.get("parameters", []), *of_body]
    name = (
        call.get("function") or call.get("apiPath", "").strip("/") or call.get("actionGroupName") or "action"
    )
    return name, {p.get("name", ""): _typed(p.get("value", ""), p.get("type", "")) for p in parameters}


def _typed(value: str, kind: str) -> Any:
    """A parameter's value, which the trace tells as text, as its type says."""
    if kind.lower() in ("string", ""):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _returned(control: Mapping[str, Any]) -> str:
    inputs = [v for invocation in control.get("invocationInputs", []) for v in invocation.values()]
    return ", ".join(str(v.get("function") or v.get("apiPath") or "a tool") for v in inputs) or "a tool"


#: Field of an invocation's input -> its name and arguments; a tool of Bedrock's own has Bedrock's word.
_CALLS: Final[Mapping[str, Callable[[Any], tuple[str, dict[str, Any]]]]] = {
    "actionGroupInvocationInput": _action,
    "knowledgeBaseLookupInput": lambda v: ("knowledge_base", {"text": v.get("text", "")}),
    "codeInterpreterInvocationInput": lambda v: ("code_interpreter", {"code": v.get("code", "")}),
    "agentCollaboratorInvocationInput": lambda v: (
        v.get("agentCollaboratorName") or "collaborator",
        {"text": v.get("input", {}).get("text", "")},
    ),
}
#: Field of an observation -> its text.
_RESULTS: Final[Mapping[str, Callable[[Any], str]]] = {
    "actionGroupInvocationOutput": lambda v: v.get("text", ""),
    "knowledgeBaseLookupOutput": lambda v: "\n".join(
        r.get("content", {}).get("text", "") for r in v.get("retrievedReferences", [])
    ),
    "codeInterpreterInvocationOutput": lambda v: v.get("executionOutput") or v.get("executionError") or "",
    "agentCollaboratorInvocationOutput": lambda v: v.get("output", {}).get("text", ""),
}


#: What is sent where no template says it: what the runtime's own examples read, and beside it who speaks.
TO_AGENTCORE: Final = '{"prompt": "{message}", "user": "{user}", "context": "{context}"}'
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
