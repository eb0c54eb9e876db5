"""Models on AWS Bedrock, called with the Converse API of boto3, and their short names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.models.aws_client import AwsClient
from pytest_personalens.models.model import Request, with_system_in_first_message
from pytest_personalens.models.openai import Learnt, limited
from pytest_personalens.models.read_answer import read_answer

if TYPE_CHECKING:
    from pytest_personalens.models.model import Answer
    from pytest_personalens.models.specs import Spec


_CLAUDE_3, _CLAUDE_4 = ("us", "eu", "apac", "us-gov"), ("us", "eu", "apac", "global")
_NEWER = ("us", "eu", "jp", "au", "us-gov", "global")
#: Short name -> the model's id, and the prefixes that its inference profiles have. A model without a prefix
#: is called by its own id. The names of the official repository come last. Any other id is passed through.
_MODELS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "claude-3-haiku-v1": ("anthropic.claude-3-haiku-20240307-v1:0", ()),
    "claude-3-sonnet-v1": ("anthropic.claude-3-sonnet-20240229-v1:0", ()),
    "claude-3-5-haiku-v1": ("anthropic.claude-3-5-haiku-20241022-v1:0", ("us",)),
    "claude-3-5-sonnet-v1": ("anthropic.claude-3-5-sonnet-20240620-v1:0", ()),
    "claude-3-5-sonnet-v2": ("anthropic.claude-3-5-sonnet-20241022-v2:0", _CLAUDE_3),
    "claude-3-7-sonnet-v1": ("anthropic.claude-3-7-sonnet-20250219-v1:0", _CLAUDE_3),
    "claude-sonnet-4": ("anthropic.claude-sonnet-4-20250514-v1:0", _CLAUDE_4),
    "claude-opus-4-1": ("anthropic.claude-opus-4-1-20250805-v1:0", ("us",)),
    "claude-haiku-4-5": ("anthropic.claude-haiku-4-5-20251001-v1:0", _NEWER),
    "claude-sonnet-4-5": ("anthropic.claude-sonnet-4-5-20250929-v1:0", _NEWER),
    "claude-opus-4-5": ("anthropic.claude-opus-4-5-20251101-v1:0", ("us", "eu", "global")),
    "claude-sonnet-4-6": ("anthropic.claude-sonnet-4-6", ("us", "eu", "jp", "au", "global")),
    "claude-opus-4-6": ("anthropic.claude-opus-4-6-v1", ("us", "eu", "au", "global")),
    "claude-opus-4-7": ("anthropic.claude-opus-4-7", ("us", "eu", "jp", "au", "global")),
    "claude-opus-4-8": ("anthropic.claude-opus-4-8", ("us", "eu", "jp", "au", "global")),
    "claude-sonnet-5": ("anthropic.claude-sonnet-5", ("us", "eu", "au", "global")),
    "claude-opus-5": ("anthropic.claude-opus-5", ("us", "eu", "au", "global")),
    "nova-micro": ("amazon.nova-micro-v1:0", ()),
    "nova-lite": ("amazon.nova-lite-v1:0", ()),
    "nova-pro": ("amazon.nova-pro-v1:0", ()),
    "llama-3-1-8b": ("meta.llama3-1-8b-instruct-v1:0", ("us",)),
    "llama-3-1-70b": ("meta.llama3-1-70b-instruct-v1:0", ("us",)),
    "llama-3-3-70b": ("meta.llama3-3-70b-instruct-v1:0", ("us",)),
    "mistral-7b": ("mistral.mistral-7b-instruct-v0:2", ()),
    "mixtral-8x7b": ("mistral.mixtral-8x7b-instruct-v0:1", ()),
    "mistral-large": ("mistral.mistral-large-2402-v1:0", ()),
    "llama-3-70b-instruct-v1": ("meta.llama3-70b-instruct-v1:0", ()),
    "llama-3-1-8b-instruct-v1": ("meta.llama3-1-8b-instruct-v1:0", ("us",)),
    "llama-3-1-70b-instruct-v1": ("meta.llama3-1-70b-instruct-v1:0", ("us",)),
    "llama-3-3-70b-instruct-v1": ("meta.llama3-3-70b-instruct-v1:0", ("us",)),
    "mistral-7b-instruct-v2": ("mistral.mistral-7b-instruct-v0:2", ()),
    "mixtral-8x7b-instruct-v1": ("mistral.mixtral-8x7b-instruct-v0:1", ()),
}
NAMES: Final = tuple(_MODELS)
#: The last day of a model in the last of its regions, and what to take in its place.
_RETIRED: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic.claude-3-haiku-20240307": ("2026-09-10", "claude-haiku-4-5"),
    "anthropic.claude-3-sonnet-20240229": ("2026-07-30", "claude-sonnet-4-6"),
    "anthropic.claude-3-5-haiku-20241022": ("2026-06-19", "claude-haiku-4-5"),
    "anthropic.claude-3-5-sonnet-20240620": ("2026-07-30", "claude-sonnet-4-6"),
    "anthropic.claude-3-5-sonnet-20241022": ("2026-07-30", "claude-sonnet-4-6"),
    "anthropic.claude-3-7-sonnet-20250219": ("2026-07-30", "claude-sonnet-4-6"),
    "anthropic.claude-sonnet-4-20250514": ("2026-10-14", "claude-sonnet-4-6"),
    "anthropic.claude-opus-4-20250514": ("2026-05-31", "claude-opus-4-8"),
    "meta.llama3-1-405b-instruct": ("2026-07-07", "llama-3-3-70b"),
    "meta.llama3-2-": ("2026-07-07", "llama-3-3-70b"),
}
#: Regions by their beginning -> the prefixes of their inference profiles, the narrowest first.
_PREFIXES: Final = {
    "us-gov-": ("us-gov",),
    "us-": ("us",),
    "ca-": ("us",),
    "eu-": ("eu",),
    "il-": ("eu",),
    "ap-northeast-1": ("jp", "apac"),
    "ap-northeast-3": ("jp", "apac"),
    "ap-southeast-2": ("au", "apac"),
    "ap-southeast-4": ("au", "apac"),
    "ap-southeast-6": ("au", "apac"),
    "ap-": ("apac",),
}


def model_id(name: str, region: str) -> str:
    """Return the id to call in a region for a short name; any other name is an id already.

    Where the model has no inference profile for the region's part of the world, its global profile is taken,
    and else that of its first region.
    """
    if name not in _MODELS:
        return name
    own, known = _MODELS[name]
    if not known:
        return own
    wanted = next((prefixes for begin, prefixes in _PREFIXES.items() if region.startswith(begin)), ())
    found = [prefix for prefix in (*wanted, "global") if prefix in known]
    return f"{found[0] if found else known[0]}.{own}"


def retired(called: str) -> str:
    """Return since when a model is no longer on Bedrock and what to take; empty if that is not known."""
    found = ((day, other) for begin, (day, other) in _RETIRED.items() if begin in called)
    return next((f"AWS retired it, at the latest on {day}; take {other}" for day, other in found), "")


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
