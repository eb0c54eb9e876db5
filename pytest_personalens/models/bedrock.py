"""Models on AWS Bedrock, called with the Converse API of boto3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelError
from pytest_personalens.models.aws import AwsClient
from pytest_personalens.models.base import Completion, Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.models.specs import Spec

#: Short names for model ids; those of the official repository come first. Any other id is passed through.
#: ``{geo}`` is the prefix of the inference profile for the region, because these models cannot be called by
#: their own id.
ALIASES: Final[Mapping[str, str]] = {
    "claude-3-haiku-v1": "anthropic.claude-3-haiku-20240307-v1:0",
    "claude-3-sonnet-v1": "anthropic.claude-3-sonnet-20240229-v1:0",
    "claude-3-5-haiku-v1": "{geo}.anthropic.claude-3-5-haiku-20241022-v1:0",
    "claude-3-5-sonnet-v1": "anthropic.claude-3-5-sonnet-20240620-v1:0",
    "claude-3-5-sonnet-v2": "{geo}.anthropic.claude-3-5-sonnet-20241022-v2:0",
    "claude-3-7-sonnet-v1": "{geo}.anthropic.claude-3-7-sonnet-20250219-v1:0",
    "claude-sonnet-4": "{geo}.anthropic.claude-sonnet-4-20250514-v1:0",
    "claude-sonnet-4-5": "{geo}.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "claude-haiku-4-5": "{geo}.anthropic.claude-haiku-4-5-20251001-v1:0",
    "nova-micro": "amazon.nova-micro-v1:0",
    "nova-lite": "amazon.nova-lite-v1:0",
    "nova-pro": "amazon.nova-pro-v1:0",
    "llama-3-1-8b": "{geo}.meta.llama3-1-8b-instruct-v1:0",
    "llama-3-1-70b": "{geo}.meta.llama3-1-70b-instruct-v1:0",
    "llama-3-3-70b": "{geo}.meta.llama3-3-70b-instruct-v1:0",
    "mistral-7b": "mistral.mistral-7b-instruct-v0:2",
    "mixtral-8x7b": "mistral.mixtral-8x7b-instruct-v0:1",
    "mistral-large": "mistral.mistral-large-2402-v1:0",
    # The official repository of the benchmark uses these names.
    "llama-3-70b-instruct-v1": "meta.llama3-70b-instruct-v1:0",
    "llama-3-1-8b-instruct-v1": "{geo}.meta.llama3-1-8b-instruct-v1:0",
    "llama-3-1-70b-instruct-v1": "{geo}.meta.llama3-1-70b-instruct-v1:0",
    "llama-3-3-70b-instruct-v1": "{geo}.meta.llama3-3-70b-instruct-v1:0",
    "mistral-7b-instruct-v2": "mistral.mistral-7b-instruct-v0:2",
    "mixtral-8x7b-instruct-v1": "mistral.mixtral-8x7b-instruct-v0:1",
}
_GEO: Final = {"us": "us", "ca": "us", "sa": "us", "eu": "eu", "ap": "apac"}
_TOOL: Final = "answer"


class Bedrock(AwsClient):
    """A model behind ``bedrock:MODEL?region=...&profile=...``."""

    paid = True

    def __init__(self, spec: Spec, *, connections: int = 64) -> None:
        self.name, self._spec = spec.name, spec
        self.timeout: float = spec.parameters.get("timeout", 120.0)
        super().__init__(
            "bedrock-runtime", "Bedrock", spec.parameters, timeout=self.timeout, connections=connections
        )
        #: What the model may refuse; each is then left out of further calls.
        self._tools = spec.parameters.get("tools", True)
        self._cache = spec.parameters.get("cache", True)
        self._system = True
        self._model = ""

    def complete(self, request: Request) -> Completion:
        """Make one Converse call. Raise `ModelBusy` for what may pass, and `ModelError` for what will not."""
        from botocore.exceptions import ClientError

        with self.convert_errors():
            client = self.client()
            geo = _GEO.get(self.region.partition("-")[0], "us")
            self._model = ALIASES.get(self._spec.model, self._spec.model).replace("{geo}", geo)
            while True:
                try:
                    return self._read(client.converse(**self._body(request)))
                except ClientError as error:
                    if not self._adapt(error):
                        raise

    def refusal(self, code: str, message: str) -> ModelError:
        """Return the error to raise for an error of this service alone."""
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
        if code == "ResourceNotFoundException" or "model identifier is invalid" in message:
            return ModelError(
                f"no model {self._model!r} in region {self.region}; check the id, or give ?region=..."
            )
        return super().refusal(code, message)

    def _body(self, request: Request) -> dict[str, Any]:
        p = self._spec.parameters
        point = [{"cachePoint": {"type": "default"}}] if self._cache and request.shared else []
        if request.system and not self._system:
            request = _in_first_message(request)
        prompt: list[dict[str, Any]] = [{"text": request.prompt}]
        if point:
            # Bedrock refuses an empty content block.
            rest = request.prompt[request.shared :]
            prompt = [{"text": request.prompt[: request.shared]}, *point, *([{"text": rest}] if rest else [])]
        body: dict[str, Any] = {
            "modelId": self._model,
            "messages": [
                *({"role": role, "content": [{"text": text}]} for role, text in request.history),
                {"role": "user", "content": prompt},
            ],
            "inferenceConfig": {
                "temperature": float(p.get("temperature", request.temperature)),
                "maxTokens": int(p.get("max_tokens", request.max_tokens)),
            },
        }
        if request.system:
            body["system"] = [{"text": request.system}]
        if request.answer is not None and self._tools:
            tool = {"name": _TOOL, "description": "Give the answer.", "inputSchema": {"json": request.answer}}
            body["toolConfig"] = {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": _TOOL}}}
        return body

    def _read(self, response: Mapping[str, Any]) -> Completion:
        stop = response.get("stopReason", "")
        if stop in ("content_filtered", "guardrail_intervened"):
            raise ModelError(f"the answer was blocked by a content filter ({stop})")
        parts = response.get("output", {}).get("message", {}).get("content") or []
        used = next((p["toolUse"].get("input") for p in parts if "toolUse" in p), None)
        usage = response.get("usage", {})
        return Completion(
            text="".join(p["text"] for p in parts if "text" in p),
            input_tokens=usage.get("inputTokens", 0),
            output_tokens=usage.get("outputTokens", 0),
            cached_tokens=usage.get("cacheReadInputTokens", 0),
            written_tokens=usage.get("cacheWriteInputTokens", 0),
            data=used if isinstance(used, dict) else None,
        )

    def _adapt(self, error: Any) -> bool:
        """Switch off a feature that this model refuses; True if a new call may help."""
        text, code = str(error).lower(), error.response.get("Error", {}).get("Code")
        if code not in ("ValidationException", "AccessDeniedException"):
            return False
        refused = {
            "_tools": "tool" in text,
            # Mistral 7B and Mixtral 8x7B accept no system text.
            "_system": "system" in text and any(word in text for word in ("message", "prompt", "field")),
            "_cache": any(word in text for word in ("cachepoint", "cache point", "prompt caching")),
        }
        for feature, is_refused in refused.items():
            if is_refused and getattr(self, feature):
                setattr(self, feature, False)
                return True
        return False


def _in_first_message(request: Request) -> Request:
    """Return the request with the system text at the start of the first message."""
    head = request.system if request.system.endswith("\n") else f"{request.system}\n\n"
    if not request.history:
        return request._replace(
            system="",
            prompt=head + request.prompt,
            shared=len(head) + request.shared if request.shared else 0,
        )
    (role, text), *later = request.history
    return request._replace(system="", history=((role, head + text), *later))
