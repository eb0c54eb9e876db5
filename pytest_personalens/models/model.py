"""A language model: one call and its answer, one for tests, and what the clients over HTTP share."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from ipaddress import ip_address
from itertools import chain, repeat
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, Protocol, TypeAlias, runtime_checkable
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from pytest_personalens.core.dialogue.events import End, cut_text
from pytest_personalens.core.dialogue.message import ToolCall
from pytest_personalens.core.errors import ModelBusy, ModelError, short_repr
from pytest_personalens.core.frozen import Frozen, Text, clean
from pytest_personalens.core.safe_text import redact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _clean(value: Any) -> Any:
    """Return data of JSON whose texts a file can hold."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {_clean(name): _clean(part) for name, part in value.items()}
    return [_clean(part) for part in value] if isinstance(value, (list, tuple)) else value


class Answer(Frozen):
    """What a model answered, why it ended there, and the tokens that it cost.

    `text` is what the model says, without its thoughts; `thinks` is true if there were any. `data` is the
    form that `Request.answer` asks for, filled in. `calls` are the model's other tool calls, and those whose
    arguments cannot be read. `end` says why the answer ended, `word` is the service's own word for it, and
    `limit` the number of tokens that it could have, 0 if unknown.

    The provider billed `input_tokens` at full price. It read `cached_tokens` from its cache and wrote
    `written_tokens` to it. A count is 0 where the service does not report it. `reply` is what a service
    returned that is the assistant under test: a text, a message, or a list of messages.
    """

    text: Text = ""
    data: Annotated[dict[str, Any] | None, AfterValidator(_clean)] = None
    calls: tuple[ToolCall, ...] = ()
    end: End = "end"
    word: Text = ""
    limit: int = Field(default=0, ge=0)
    thinks: bool = False
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    written_tokens: int = Field(default=0, ge=0)
    reply: Annotated[Any, AfterValidator(_clean)] = None

    @property
    def is_empty(self) -> bool:
        """True if nothing came that a role could use."""
        return not self.text.strip() and self.data is None and not self.calls and self.reply is None

    @property
    def cut(self) -> str:
        """How the answer was cut or spoilt, such as "cut off at 4,000 tokens"; empty if it is whole."""
        return cut_text(self.end, self.word, self.limit)

    @property
    def problem(self) -> str:
        """What is wrong with an answer that is not whole, and what to do; empty if nothing is."""
        advice = {
            "length": "raise max_tokens in the spec, as in ?max_tokens=16000 (thoughts take tokens too)",
            "filter": "change the filter, or take another model for this role",
            "error": "take ?tools=off, or another model for this role",
        }
        if self.end == "refusal":
            said = f": {self.text[:200]!r}" if self.text.strip() else ""
            return f"the model refuses to answer{said}; take another model for this role"
        if self.cut:
            nothing = " before it said anything" if self.is_empty else ""
            longer = "window" in self.cut and "give the server a longer context, or take another model"
            return f"the answer was {self.cut}{nothing}; {longer or advice[self.end]}"
        if self.is_empty and self.thinks:
            return "the model answered thoughts and nothing else; raise max_tokens, or turn its thoughts off"
        return "the model answered nothing" if self.is_empty else ""


class Conversation(NamedTuple):
    """What a service is sent that is the assistant under test: the messages so far, and whose they are.

    `session` is an id that no other dialogue has, in no other run; `context` is what the assistant may know,
    as text. The answer must be whole within `timeout` seconds.
    """

    messages: Sequence[Mapping[str, Any]]
    user: str
    session: str
    context: str
    timeout: float


class Request(NamedTuple):
    """One call to a language model.

    `history` holds the earlier turns as (role, text); the first of them is a turn of the user. `prompt` is
    the text that the model answers now. Other calls of the same dialogue repeat its first `shared`
    characters, so a provider may cache the prompt up to there. `answer` is the JSON schema of the wanted
    answer. A model that can bind its output to a schema returns `Answer.data`. Any other model returns
    the text form that the prompt asks for, or the object as JSON. `temperature` is a number from 0 to 2.
    `max_tokens` limits the output. `conversation` is set for a service that is the assistant under test.
    """

    system: str
    prompt: str
    temperature: float = 0.0
    max_tokens: int = 800
    history: tuple[tuple[str, str], ...] = ()
    shared: int = 0
    answer: Mapping[str, Any] | None = None
    conversation: Conversation | None = None


def with_system_in_first_message(request: Request) -> Request:
    """Return the request with the system text at the start of the first message, for a model without one."""
    if not request.system:
        return request
    head = request.system if request.system.endswith("\n") else f"{request.system}\n\n"
    if not request.history:
        return request._replace(
            system="",
            prompt=head + request.prompt,
            shared=len(head) + request.shared if request.shared else 0,
        )
    (role, text), *later = request.history
    return request._replace(system="", history=((role, head + text), *later))


def timeout_error(timeout: float) -> ModelError:
    """Return the error for a service that was too slow. It is not asked again, because it may be at work."""
    return ModelError(f"the assistant did not answer within {timeout:g} s (personalens_turn_timeout)")


def late_error(timeout: float) -> ModelBusy:
    """Return the error for a model that was too slow."""
    return ModelBusy(f"no whole answer within {timeout:g} s; give it longer with ?timeout=", late=True)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in the header Retry-After, or None if it is missing or holds no number."""
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return None


@runtime_checkable
class Model(Protocol):
    """A language model with one method.

    `name` identifies the model and its parameters. It is part of the evidence of every verdict, so the plugin
    never replays a verdict of another model. `paid` is true when a call costs money. The plugin calls such a
    model only under ``--personalens-record live``, ``new`` or ``all``.

    A model may have a method `check_ready()`. It takes no argument, calls no model, and raises if no call can
    succeed, for example because a key is missing. The plugin calls it before such a run begins.
    """

    name: str
    paid: bool

    def complete(self, request: Request) -> Answer:
        """Return the answer to `request`. Several threads call this at once in a concurrent run.

        Raise `ModelBusy` for a failure that may pass within a moment; the caller tries again. The plugin
        reports any other error as the fault of the role that the model plays.
        """
        ...


#: The ends of a line, and no other character that Python takes for one: a text may hold those.
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_LAST: Final = "[DONE]"
_FAILED: Final = ("error", "exception")


def read_events(text: str) -> list[Any]:
    """Return the data of each server-sent event, as JSON or as text, and "[DONE]" as it is.

    The data of an event of the name "error" becomes ``{"type": "error", "error": data}``.
    """
    events: list[Any] = []
    name, lines = "", list[str]()
    for line in [*_LINE_END.split(text), ""]:
        field, _, value = line.partition(":")
        if field == "event":
            name = value.strip().lower()
        elif field == "data":
            lines.append(value.removeprefix(" "))
        elif not line:
            data = "\n".join(lines)
            if data.strip() == _LAST:
                events.append(_LAST)
            elif data:
                value_ = json_or_text(data)
                events.append({"type": "error", "error": value_} if name in _FAILED else value_)
            name, lines = "", []
    return events


def read_lines(text: str) -> list[Any]:
    """Return the data of each line, as JSON or as text."""
    return [json_or_text(line.lstrip("\x1e")) for line in _LINE_END.split(text) if line.strip()]


def json_or_text(text: str) -> Any:
    """Return the data of a JSON text, and any other text as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


#: Statuses below 500 for failures that may pass: time-out, conflict, too early.
_PASSING: Final = frozenset({408, 409, 425})


class HttpClient:
    """A client with a pool of connections to one server, which the first use opens.

    `server` is the word for the server in messages. `connections` is the number of calls at once.
    """

    def __init__(self, server: str, connections: int) -> None:
        self._server, self._connections = server, connections
        self._pool: Any = None
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the open connections, if there are any."""
        if self._pool is not None:
            self._pool.clear()

    def _open(self, url: str, timeout: float) -> Any:
        """Return a pool that uses the proxy which the environment names for the server."""
        from urllib.request import getproxies, proxy_bypass

        import urllib3

        parts, times = urlsplit(url), urllib3.Timeout(connect=10.0, read=timeout)
        options: dict[str, Any] = {"maxsize": self._connections, "timeout": times}
        if parts.scheme == "https":
            # Some Python installations do not find the certificates of the system. botocore has its own set.
            from botocore.httpsession import get_cert_path

            options["ca_certs"] = os.environ.get("SSL_CERT_FILE") or get_cert_path(True)
        proxy = getproxies().get(parts.scheme)
        if proxy and not proxy_bypass(parts.hostname or ""):
            return urllib3.ProxyManager(proxy, **options)
        return urllib3.PoolManager(**options)

    def _common_error(self, status: int, problem: str, headers: Mapping[str, str]) -> Exception | None:
        """Return the error for a status that means the same for every server, or None."""
        if status == 429:
            wait = retry_after(headers)
            return ModelBusy(f"{self._server} throttles: {problem}", throttled=True, retry_after=wait)
        if status >= 500 or status in _PASSING:
            return ModelBusy(f"{self._server} failed: {status}: {problem}", retry_after=retry_after(headers))
        if status < 400:
            place = headers.get("Location", "nowhere")
            return ModelError(
                f"{self._server} sends this call elsewhere: {status} to {place}; give that address"
            )
        return None


def from_environment(name: str) -> str:
    """Return an environment variable, or an empty text. Raise `ModelError` if no header can hold it."""
    value = os.environ.get(name, "").strip()  # a pasted secret often ends with a line break
    if not (value.isascii() and value.isprintable()):
        raise ModelError(f"{name} holds a line break, or a character that is no ASCII; set it again")
    return value


def problem_in(data: Any) -> str:
    """Return the error message of a server with its code; servers differ in the form of their messages."""
    error = data.get("error", data) if isinstance(data, dict) else data
    if isinstance(error, dict):
        words = [str(error[key]) for key in ("message", "code") if error.get(key)]
        return short(" ".join(words) or json.dumps(error))
    return short(str(error))


def short(text: str) -> str:
    """Return foreign text as one line of at most 300 characters, without secrets."""
    return " ".join(redact(text).split())[:300]  # redact before the cut: a cut secret is not recognised


def is_private(url: str) -> bool:
    """True if the address is of this machine, or can only be of a private network."""
    host = (urlsplit(url).hostname or "").lower()
    try:
        address = ip_address(host)
    except ValueError:
        # A name without a dot is a neighbour's, such as a service of docker-compose.
        return "." not in host or host.endswith((".local", ".localhost", ".internal"))
    return address.is_loopback or address.is_private or address.is_link_local


_Said: TypeAlias = str | Answer | Exception


class FakeModel:
    """A `Model` whose answers a test gives, in turn, the last of them over and over.

    An answer is a text, an `Answer`, or an exception, which is raised; or a function that takes the `Request`
    and returns one of these. `requests` holds what the model was asked, in order.

    Raise `ValueError` without answers, and `TypeError` for any other answer when its turn comes.
    """

    def __init__(self, *answers: _Said | Callable[[Request], _Said], name: str = "fake", paid: bool = False):
        if not answers:
            raise ValueError("FakeModel(...): give it one answer at least")
        self.name, self.paid, self.requests = name, paid, list[Request]()
        self._answers = chain(answers, repeat(answers[-1]))

    def complete(self, request: Request) -> Answer:
        """Return the next answer, or raise it."""
        self.requests.append(request)
        given = next(self._answers)
        said = given(request) if callable(given) else given
        if isinstance(said, Exception):
            raise said
        if not isinstance(said, (str, Answer)):
            raise TypeError(
                f"FakeModel(...): expected a text, an Answer or an exception, not {short_repr(said)}"
            )
        return Answer(text=said) if isinstance(said, str) else said
