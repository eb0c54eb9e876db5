"""Models behind the OpenAI protocol: OpenAI itself, Azure, vLLM, Ollama, llama.cpp, LM Studio, gateways."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.errors import ModelBusy, ModelError, SpecError
from pytest_personalens.models.base import Completion, Request, retry_after

if TYPE_CHECKING:
    from pytest_personalens.models.specs import Spec

_TOOL: Final = "answer"


class OpenAI:
    """A model behind ``openai:MODEL``; the server is ``?base_url=``, else OPENAI_BASE_URL, else OpenAI's own.

    Raises `SpecError` if the package openai is not installed; it is imported on the first call.
    """

    paid = True

    def __init__(self, spec: Spec) -> None:
        from importlib.util import find_spec

        if find_spec("openai") is None:
            raise SpecError(f"{spec.name!r} needs the package openai: pip install 'pytest-personalens[openai]'")
        self.name, self._spec = spec.name, spec
        self._client: Any = None
        self._lock = threading.Lock()
        self._tools = spec.parameters.get("tools", True)
        self._limit_name = "max_tokens"
        self._temperature = True

    def complete(self, request: Request) -> Completion:
        """One chat completion. Raises `ModelBusy` for what may pass, `ModelError` with advice for what will not."""
        import openai

        try:
            response = self._connect().chat.completions.create(**self._body(request))
        except openai.BadRequestError as error:
            if self._adapt(error):
                return self.complete(request)
            raise ModelError(f"the server refuses the call: {_message(error)}") from error
        except openai.OpenAIError as error:
            raise self._error(error) from error
        except json.JSONDecodeError as error:
            raise ModelBusy(f"the server's answer could not be read: {error}") from error
        try:
            return self._read(response)
        except (AttributeError, TypeError, IndexError) as error:
            # No chat completion came back: a proxy's page, an empty list of choices.
            raise ModelBusy(f"the server's answer could not be read ({type(error).__name__}: {error})") from error

    def close(self) -> None:
        """Close the connections there are."""
        if self._client is not None:
            self._client.close()

    def _connect(self) -> Any:
        with self._lock:
            if self._client is None:
                import openai

                p = self._spec.parameters
                base_url = p.get("base_url") or os.environ.get("OPENAI_BASE_URL")
                key = os.environ.get("OPENAI_API_KEY") or ("none" if base_url else None)
                if key is None:
                    raise ModelError("OPENAI_API_KEY is not set; set it, or OPENAI_BASE_URL for a server that needs none")
                # Retries are ours (models/reliable.py): the package's own would hide them from the rate limiter.
                self._client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0, timeout=p.get("timeout", 120.0))
            return self._client

    def _body(self, request: Request) -> dict[str, Any]:
        p = self._spec.parameters
        body: dict[str, Any] = {
            "model": self._spec.model,
            "messages": [
                *([{"role": "system", "content": request.system}] if request.system else []),
                *({"role": role, "content": text} for role, text in request.history),
                {"role": "user", "content": request.prompt},
            ],
            self._limit_name: p.get("max_tokens", request.max_tokens),
        }
        if self._temperature:
            body["temperature"] = p.get("temperature", request.temperature)
        if request.answer is not None and self._tools:
            function = {"name": _TOOL, "description": "Give the answer.", "parameters": request.answer}
            body["tools"] = [{"type": "function", "function": function}]
            body["tool_choice"] = {"type": "function", "function": {"name": _TOOL}}
        return body

    def _read(self, response: Any) -> Completion:
        choice = response.choices[0]
        if choice.finish_reason == "content_filter":
            raise ModelError("the answer was blocked by a content filter (content_filter)")
        data = None
        for call in choice.message.tool_calls or ():
            try:
                data = json.loads(call.function.arguments)
            except json.JSONDecodeError:
                data = None  # the text form, if there is one, decides; else the answer is asked for again
        usage = response.usage
        details = getattr(usage, "prompt_tokens_details", None)
        cached = (getattr(details, "cached_tokens", 0) or 0) if details else 0
        return Completion(
            text=choice.message.content or "",
            input_tokens=(usage.prompt_tokens - cached) if usage else 0,
            output_tokens=usage.completion_tokens if usage else 0,
            cached_tokens=cached,
            data=data if isinstance(data, dict) else None,
        )

    def _adapt(self, error: Any) -> bool:
        """Give up what this model does not take, once each; True if that may help."""
        text = _message(error).lower()
        if self._limit_name == "max_tokens" and "max_completion_tokens" in text:
            self._limit_name = "max_completion_tokens"
            return True
        if self._temperature and "temperature" in text:
            self._temperature = False
            return True
        if self._tools and "tool" in text:
            self._tools = False
            return True
        return False

    def _error(self, error: Any) -> Exception:
        import openai

        text = _message(error)
        response = getattr(error, "response", None)  # there is none where no answer came
        wait = retry_after(response.headers) if response is not None else None
        if isinstance(error, openai.RateLimitError):
            if "insufficient_quota" in text:
                return ModelError("the OpenAI account has no quota left (insufficient_quota); see its billing page")
            return ModelBusy(f"the server throttles: {text}", throttled=True, retry_after=wait)
        if isinstance(error, openai.APIConnectionError):  # timeouts are among them
            return ModelBusy(f"no answer from the server: {text}")
        if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
            return ModelError(f"the server does not accept the key: {text}; check OPENAI_API_KEY")
        if isinstance(error, openai.NotFoundError):
            return ModelError(f"no model {self._spec.model!r} there: {text}; check the name and the server's address (it ends in /v1)")
        if isinstance(error, openai.APIStatusError) and (error.status_code >= 500 or error.status_code in (408, 409, 425)):
            return ModelBusy(f"the server failed: {error.status_code}: {text}", retry_after=wait)
        if isinstance(error, openai.APIResponseValidationError):
            return ModelBusy(f"the server's answer could not be read: {text}")
        return ModelError(f"the server refuses the call: {text}")


def _message(error: Any) -> str:
    return " ".join(str(error).split())[:300]
