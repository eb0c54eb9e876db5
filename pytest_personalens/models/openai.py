"""Models of any server that speaks the OpenAI protocol, and what a server refused in this run."""

from __future__ import annotations

import json
import os
import re
import threading
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import ModelBusy, ModelError
from pytest_personalens.core.files.links import append_line
from pytest_personalens.core.safe_text import SHORTEST
from pytest_personalens.models.model import (
    HttpClient,
    Request,
    from_environment,
    is_private,
    json_or_text,
    late_error,
    problem_in,
    short,
    with_system_in_first_message,
)
from pytest_personalens.models.read_answer import read_body
from pytest_personalens.models.specs import NO_PASSWORD, holds_password

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from pytest_personalens.models.model import Answer
    from pytest_personalens.models.specs import Spec


#: Parts of a request, and how servers name them in a refusal. The first that was sent and is named counts.
_NAMED: Final[Mapping[str, re.Pattern[str]]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "stream": r"['\"`]stream['\"`]|\.stream\b|\bstream\b.{0,40}\b(?:permitted|allowed|supported|extra)",
        "max_tokens": (
            r"max_?(?:completion_|new_|output_)?tokens|maximum tokens|completion tokens|the completion\b"
        ),
        "max_completion_tokens": r"max_?(?:completion_)?tokens|completion tokens|(?:in|for) the completion",
        "temperature": r"temperature",
        "cache": r"cache_?point|cache point|prompt caching",
        "tool_choice": r"tool_?choice",
        "tools": (
            r"\btools?\b|tool_?(?:use|calls?|choice|config|spec)|function.?call|\bfunctions?\b|jinja|\bschema\b|grammar"
        ),
        "system": (
            r"\bsystem\b.{0,30}(?:message|prompt|field|role|instruction|text)|(?:message|role)s?\b.{0,30}\bsystem\b"
            r"|developer instruction|roles must alternate"
        ),
    }.items()
}
#: The highest limit of tokens that a model takes, in the refusal of a higher one.
_AT_MOST: Final = re.compile(
    r"(?:at most|limit (?:of|is)|maximum (?:of|is|allowed is)|up to|<=|less than or equal to|lower than)"
    r"\D{0,20}?(\d[\d,]{0,8})",
    re.IGNORECASE,
)
_LIMIT: Final = "max_tokens<="


class Learnt:
    """The parts of a request that one model refused; thread-safe.

    Without a `file` only this process knows them; all processes of a run share a file that only grows.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file, self._size = file, 0
        self._parts: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def parts(self) -> frozenset[str]:
        """Return what the model is known to refuse now; it has no part that a request may be sent without."""
        with self._lock:
            if self._file is not None:
                self._take_over(self._file)
            return self._parts

    def learn(self, problem: str, sent: Collection[str], tokens: int) -> bool:
        """Take in a refusal; return True if it names a part that was `sent`, so a new request may help.

        `tokens` is the limit of tokens that was sent. Whether another thread has learnt the same meanwhile
        does not matter: this request sent the part.
        """
        part = next((name for name, named in _NAMED.items() if name in sent and named.search(problem)), None)
        if part is None:
            return False
        if part in ("max_tokens", "max_completion_tokens"):
            limits = [int(digits.replace(",", "")) for digits in _AT_MOST.findall(problem)]
            if lower := [limit for limit in limits if 0 < limit < tokens]:
                part = f"{_LIMIT}{max(lower)}"
        with self._lock:
            if part not in self._parts:
                self._parts |= {part}
                if self._file is not None:
                    append_line(self._file, part)
        return True

    def _take_over(self, file: Path) -> None:
        """Take in what other processes have learnt since."""
        try:
            if file.stat().st_size == self._size:
                return
            text = file.read_text(encoding="ascii")
        except OSError:  # nobody has learnt anything yet, or the run is over
            return
        self._size = len(text)
        self._parts |= {line.strip() for line in text.splitlines()}


def limited(tokens: int, parts: Collection[str]) -> int:
    """Return the limit of tokens to send in place of `tokens`, as far as the model's own limit is known."""
    known = (int(part.removeprefix(_LIMIT)) for part in parts if part.startswith(_LIMIT))
    return min(tokens, *known, tokens)


def named_in(data: Any, problem: str) -> str:
    """Return the words of a refusal that may name a part of the request, and nothing that was sent with it.

    Servers put the name into `param`, or into the `loc` of a list of details.
    """
    error = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(error, list) and error:
        error = error[0]
    if not isinstance(error, dict):
        return problem
    listed = error.get("detail")
    details = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if details:
        return " ".join(f"{'.'.join(map(str, d.get('loc') or ()))} {d.get('msg', '')}" for d in details)
    return f"{error.get('param') or ''} {problem}"


_TOOL: Final = "answer"
_OPENAI: Final = "https://api.openai.com/v1"
_HEADERS: Final = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
#: The parts of a request that a server may refuse.
_PARTS: Final = (
    *("stream", "max_tokens", "max_completion_tokens", "temperature", "tools", "tool_choice", "system"),
)
#: Where servers tell the length of a model's context.
_LENGTHS: Final = (
    *("max_model_len", "n_ctx", "context_length", "context_window", "max_context_length", "n_ctx_train"),
)
#: Statuses that say nothing of what was sent.
_NO_REFUSAL: Final = (401, 429)


class OpenAI(HttpClient):
    """A model behind ``openai:MODEL``.

    The address of the server is ``?base_url=``, else OPENAI_BASE_URL, else that of OpenAI. The class makes
    the one call that every such server knows (POST chat/completions). It honours proxies, SSL_CERT_FILE,
    OPENAI_ORG_ID and OPENAI_PROJECT_ID. A part of the request that the server refuses is not sent again.

    The class uses urllib3, which boto3 installs, and not the package openai. The import of openai takes half
    a second, and each call takes four times the processor time. With thirty dialogues side by side this is
    more than the answers take.
    """

    paid = True

    def __init__(self, spec: Spec, *, connections: int = 64, learnt: Learnt | None = None) -> None:
        super().__init__("the server", connections)
        self.name, self._spec = spec.name, spec
        self._url, self._headers = "", dict[str, str]()
        self.timeout: float = spec.parameters.get("timeout", 120.0)
        self._tools = spec.parameters.get("tools", True)
        self.learnt = learnt or Learnt()

    def complete(self, request: Request) -> Answer:
        """Make one call. Raise `ModelBusy` for what may pass, and `ModelError` for what will not."""
        import urllib3

        pool = self._connect()
        while True:
            body, tokens = self._body(request, self.learnt.parts())
            try:
                answer = pool.request(
                    "POST",
                    self._url,
                    body=json.dumps(body).encode(),
                    headers=self._headers,
                    retries=False,
                    redirect=False,
                )
            except urllib3.exceptions.ReadTimeoutError as error:
                raise late_error(self.timeout) from error
            except urllib3.exceptions.HTTPError as error:
                raise ModelBusy(f"no answer from the server: {short(str(error))}") from error
            if answer.status < 300:
                read = read_body(answer.data, answer.headers.get("Content-Type", ""), self._server)
                return read.model_copy(update={"limit": tokens})
            data = json_or_text(answer.data.decode("utf-8", "replace"))
            problem = problem_in(data)
            system = any(message["role"] == "system" for message in body["messages"])
            sent = [part for part in _PARTS if part in body or (part == "system" and system)]
            if answer.status in _NO_REFUSAL or not self.learnt.learn(named_in(data, problem), sent, tokens):
                raise self._error(answer.status, problem, answer.headers)

    def context_length(self) -> int:
        """Return how many tokens the server says that the model reads; 0 if it does not say."""
        import urllib3

        pool, url = self._connect(), self._url.removesuffix("/chat/completions") + "/models"
        try:
            answer = pool.request("GET", url, headers=self._headers, retries=False, redirect=False)
            listed = json.loads(answer.data)["data"]
            model = next((m for m in listed if m.get("id") == self._spec.model), listed[0])
        except (urllib3.exceptions.HTTPError, ValueError, KeyError, IndexError, TypeError, AttributeError):
            return 0
        found = ({**model, **(model.get("meta") or {})}.get(name) for name in _LENGTHS)
        return next((int(length) for length in found if isinstance(length, int)), 0)

    def check_ready(self) -> None:
        """Raise `ModelError` if a key is needed and none is set; nothing is opened or imported for it."""
        base_url = self._spec.parameters.get("base_url") or os.environ.get("OPENAI_BASE_URL")
        if base_url and holds_password(base_url):
            raise ModelError(f"OPENAI_BASE_URL: {NO_PASSWORD}")
        key = from_environment("OPENAI_API_KEY") or ("none" if base_url else None)
        if key is None:
            raise ModelError(
                "OPENAI_API_KEY is not set; set it, or OPENAI_BASE_URL for a server that needs none"
            )
        self._url = f"{(base_url or _OPENAI).rstrip('/')}/chat/completions"
        if len(key) < SHORTEST and not is_private(self._url):
            raise ModelError(
                f"OPENAI_API_KEY has {len(key)} characters: a key shorter than {SHORTEST} cannot be"
                " told from a word of a text, and would be shown; only a server on this machine or in"
                " a private network may have one"
            )
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"} | {
            header: value for header, name in _HEADERS.items() if (value := from_environment(name))
        }

    def _connect(self) -> Any:
        with self._lock:
            if self._pool is None:
                self.check_ready()
                self._pool = self._open(self._url, self.timeout)
            return self._pool

    def _body(self, request: Request, refused: frozenset[str]) -> tuple[dict[str, Any], int]:
        """Return the body of a call without what the server refuses, and its limit of tokens."""
        p = self._spec.parameters
        if "system" in refused:
            request = with_system_in_first_message(request)
        tokens = limited(p.get("max_tokens", request.max_tokens), refused)
        body: dict[str, Any] = {
            "model": self._spec.model,
            "messages": [
                *([{"role": "system", "content": request.system}] if request.system else []),
                *({"role": role, "content": text} for role, text in request.history),
                {"role": "user", "content": request.prompt},
            ],
            "max_tokens": tokens,
            "temperature": p.get("temperature", request.temperature),
            "stream": False,  # some gateways stream unless they are told not to
        }
        if "max_tokens" in refused and "max_completion_tokens" not in refused:
            body["max_completion_tokens"] = tokens
        if request.answer is not None and self._tools:
            function = {"name": _TOOL, "description": "Give the answer.", "parameters": request.answer}
            body["tools"] = [{"type": "function", "function": function}]
            body["tool_choice"] = {"type": "function", "function": {"name": _TOOL}}
        if "tools" in refused:
            body.pop("tool_choice", None)
        return {name: value for name, value in body.items() if name not in refused}, tokens

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
