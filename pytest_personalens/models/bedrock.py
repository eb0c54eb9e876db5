"""Models on AWS Bedrock, called with the Converse API of boto3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.models.aws import AwsClient
from pytest_personalens.models.base import Request, with_system_in_first_message
from pytest_personalens.models.bedrock_models import model_id, retired
from pytest_personalens.models.learnt import Learnt, limited
from pytest_personalens.models.reading import read_answer

if TYPE_CHECKING:
    from pytest_personalens.models.answer import Answer
    from pytest_personalens.models.specs import Spec

_TOOL: Final = "answer"
_NO_REFUSAL: Final = (401, 429)


class Bedrock(AwsClient):
    """A model behind ``bedrock:MODEL?region=...&profile=...``.

    A part of the request that the model refuses is not sent again.
    """

    paid = True

    def __init__(self, spec: Spec, *, connections: int = 64, learnt: Learnt | None = None) -> None:
        self.name, self._spec = spec.name, spec
        self.timeout: float = spec.parameters.get("timeout", 120.0)
        super().__init__(
            "bedrock-runtime", "Bedrock", spec.parameters, timeout=self.timeout, connections=connections
        )
        self._tools = spec.parameters.get("tools", True)
        self._cache = spec.parameters.get("cache", True)
        self.learnt = learnt or Learnt()
        self._model = ""

    def complete(self, request: Request) -> Answer:
        """Make one Converse call. Raise `ModelBusy` for what may pass, and `ModelError` for what will not."""
        from botocore.exceptions import ClientError

        with self.convert_errors():
            client = self.client()
            self._model = model_id(self._spec.model, self.region)
            while True:
                body = self._body(request, self.learnt.parts())
                tokens = body["inferenceConfig"].get("maxTokens", 0)
                try:
                    response = client.converse(**body)
                except ClientError as error:
                    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
                    if status in _NO_REFUSAL or not self.learnt.learn(str(error), _sent(body), tokens):
                        raise
                else:
                    if not response.get("output"):  # boto3 makes nothing of a body that is no answer
                        raise ModelBusy(
                            "Bedrock's answer (status 200) holds no message: it breaks off, or is a proxy's"
                        )
                    return read_answer(response, "Bedrock").model_copy(update={"limit": tokens})

    def refusal(self, code: str, message: str) -> ModelError:
        """Return the error to raise for an error of this service alone."""
        gone = "model identifier is invalid" in message or "end of its life" in message
        if (code == "ResourceNotFoundException" or gone) and (advice := retired(self._model)):
            return ModelError(f"no model {self._model!r} in region {self.region}: {advice} ({message})")
        if code == "AccessDeniedException":
            return ModelError(
                f"AWS denies access to {self._model} ({message}); allow bedrock:InvokeModel on it, and"
                " request the model"
            )
        if "on-demand throughput" in message:
            return ModelError(
                f"{self._model} is called through an inference profile; write its id, such as"
                f" us.{self._model}"
            )
        if code == "ResourceNotFoundException" or gone:
            return ModelError(
                f"no model {self._model!r} in region {self.region} ({message}); check the id, or give"
                " ?region=..."
            )
        return super().refusal(code, message)

    def _body(self, request: Request, refused: frozenset[str]) -> dict[str, Any]:
        """Return the arguments of a call without what the model refuses."""
        p = self._spec.parameters
        if "system" in refused:
            request = with_system_in_first_message(request)
        cached = self._cache and request.shared and "cache" not in refused
        point = [{"cachePoint": {"type": "default"}}] if cached else []
        prompt: list[dict[str, Any]] = [{"text": request.prompt}]
        if point:
            # Bedrock refuses an empty content block.
            rest = request.prompt[request.shared :]
            prompt = [{"text": request.prompt[: request.shared]}, *point, *([{"text": rest}] if rest else [])]
        sampling: dict[str, Any] = {}
        if "temperature" not in refused:
            sampling["temperature"] = float(p.get("temperature", request.temperature))
        if "max_tokens" not in refused:
            sampling["maxTokens"] = limited(int(p.get("max_tokens", request.max_tokens)), refused)
        body: dict[str, Any] = {
            "modelId": self._model,
            "messages": [
                *({"role": role, "content": [{"text": text}]} for role, text in request.history),
                {"role": "user", "content": prompt},
            ],
            "inferenceConfig": sampling,
        }
        if request.system:
            body["system"] = [{"text": request.system}]
        if request.answer is not None and self._tools and "tools" not in refused:
            tool = {"name": _TOOL, "description": "Give the answer.", "inputSchema": {"json": request.answer}}
            body["toolConfig"] = {"tools": [{"toolSpec": tool}]}
            if "tool_choice" not in refused:
                body["toolConfig"]["toolChoice"] = {"tool": {"name": _TOOL}}
        return body


def _sent(body: dict[str, Any]) -> list[str]:
    """Return the parts of a request that a model may refuse."""
    sampling, tools = body["inferenceConfig"], body.get("toolConfig", {})
    content = [part for message in body["messages"] for part in message["content"]]
    present = {
        "temperature": "temperature" in sampling,
        "max_tokens": "maxTokens" in sampling,
        "cache": any("cachePoint" in part for part in content),
        "tools": bool(tools),
        "tool_choice": "toolChoice" in tools,
        "system": "system" in body,
    }
    return [name for name, is_sent in present.items() if is_sent]
