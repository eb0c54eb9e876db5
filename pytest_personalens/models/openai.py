"""Models of any server that speaks the OpenAI protocol, such as Azure, vLLM, Ollama and gateways."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.models.base import Completion, Request
from pytest_personalens.models.http import HttpClient, from_environment, problem_in, short
from pytest_personalens.models.specs import NO_PASSWORD, holds_password

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.models.specs import Spec

_TOOL: Final = "answer"
_OPENAI: Final = "https://api.openai.com/v1"
_HEADERS: Final = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}


class OpenAI(HttpClient):
    """A model behind ``openai:MODEL``.

    The address of the server is ``?base_url=``, else OPENAI_BASE_URL, else that of OpenAI. The class makes
    the one call that every such server knows (POST chat/completions). It honours proxies, SSL_CERT_FILE,
    OPENAI_ORG_ID and OPENAI_PROJECT_ID.

    The class uses urllib3, which boto3 installs, and not the package openai. The import of openai takes half
    a second, and each call takes four times the processor time. With thirty dialogues side by side this is
    more than the answers take.
    """

    paid = True

    def __init__(self, spec: Spec, *, connections: int = 64) -> None:
        super().__init__("the server", connections)
        self.name, self._spec = spec.name, spec
        self._url, self._headers = "", dict[str, str]()
        self.timeout: float = spec.parameters.get("timeout", 120.0)
        self._tools = spec.parameters.get("tools", True)
        self._limit_name = "max_tokens"
        self._temperature = True

    def complete(self, request: Request) -> Completion:
        """Make one call. Raise `ModelBusy` for what may pass, and `ModelError` for what will not."""
        import urllib3

        pool = self._connect()
        body = json.dumps(self._body(request)).encode()
        try:
            answer = pool.request(
                "POST", self._url, body=body, headers=self._headers, retries=False, redirect=False
            )
        except urllib3.exceptions.HTTPError as error:
            raise ModelBusy(f"no answer from the server: {short(str(error))}") from error
        try:
            data = json.loads(answer.data)
        except ValueError as error:
            if answer.status < 300:
                raise ModelBusy(f"the server's answer could not be read: {error}") from error
            data = answer.data.decode("utf-8", "replace")
        if answer.status >= 300:
            problem = problem_in(data)
            if answer.status == 400 and self._adapt(problem.lower()):
                return self.complete(request)
            raise self._error(answer.status, problem, answer.headers)
        try:
            return self._read(data)
        except (AttributeError, TypeError, KeyError, IndexError) as error:
            # The answer is no chat completion: for example the page of a proxy, or an empty list of choices.
            problem = f"{type(error).__name__}: {error}"
            raise ModelBusy(f"the server's answer could not be read ({problem})") from error

    def check_ready(self) -> None:
        """Raise `ModelError` if a key is needed and none is set, without any call."""
        self._connect()

    def _connect(self) -> Any:
        with self._lock:
            if self._pool is None:
                base_url = self._spec.parameters.get("base_url") or os.environ.get("OPENAI_BASE_URL")
                if base_url and holds_password(base_url):
                    raise ModelError(f"OPENAI_BASE_URL: {NO_PASSWORD}")
                key = from_environment("OPENAI_API_KEY") or ("none" if base_url else None)
                if key is None:
                    raise ModelError(
                        "OPENAI_API_KEY is not set; set it, or OPENAI_BASE_URL for a server that needs none"
                    )
                self._url = f"{(base_url or _OPENAI).rstrip('/')}/chat/completions"
                self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"} | {
                    header: value for header, name in _HEADERS.items() if (value := from_environment(name))
                }
                self._pool = self._open(self._url, self.timeout)
            return self._pool

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

    def _read(self, answer: Mapping[str, Any]) -> Completion:
        choice = answer["choices"][0]
        if choice.get("finish_reason") == "content_filter":
            raise ModelError("the answer was blocked by a content filter (content_filter)")
        data = None
        for call in choice["message"].get("tool_calls") or ():
            try:
                data = json.loads(call["function"]["arguments"])
            except ValueError:
                data = None  # the text form counts instead; without one, the call is tried again
        usage = answer.get("usage") or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        return Completion(
            text=choice["message"].get("content") or "",
            input_tokens=usage.get("prompt_tokens", 0) - cached,
            output_tokens=usage.get("completion_tokens", 0),
            cached_tokens=cached,
            data=data if isinstance(data, dict) else None,
        )

    def _adapt(self, problem: str) -> bool:
        """Change or drop a parameter that this model refuses, each once; True if a new call may help."""
        if self._limit_name == "max_tokens" and "max_completion_tokens" in problem:
            self._limit_name = "max_completion_tokens"
        elif self._temperature and "temperature" in problem:
            self._temperature = False
        elif self._tools and "tool" in problem:
            self._tools = False
        else:
            return False
        return True

    def _error(self, status: int, problem: str, headers: Mapping[str, str]) -> Exception:
        if status == 429 and "insufficient_quota" in problem:
            return ModelError(
                "the OpenAI account has no quota left (insufficient_quota); see its billing page"
            )
        if status in (401, 403):
            return ModelError(f"the server does not accept the key: {problem}; check OPENAI_API_KEY")
        if status == 404:
            return ModelError(
                f"no model {self._spec.model!r} there: {problem}; check the name and the server's address (it"
                " ends in /v1)"
            )
        common = self._common_error(status, problem, headers)
        return common or ModelError(f"the server refuses the call: {problem}")
