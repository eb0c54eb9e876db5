"""An assistant behind HTTP: one POST for each message, by a template, and how a service's reply is read."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.dialogue.events import end_of, is_event
from pytest_personalens.core.dialogue.events import error_in as stream_error
from pytest_personalens.core.dialogue.message import is_message
from pytest_personalens.core.dialogue.reply import Stream
from pytest_personalens.core.errors import ModelBusy, ModelError, SpecError
from pytest_personalens.core.safe_text import add_secret
from pytest_personalens.models.model import (
    Answer,
    HttpClient,
    Request,
    json_or_text,
    problem_in,
    read_events,
    read_lines,
    short,
    timeout_error,
)
from pytest_personalens.models.read_answer import error_in, read_answer, without_thoughts
from pytest_personalens.models.specs import FLAG, holds_password

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.models.model import Conversation

#: The ini key that holds headers.
HEADERS: Final = "personalens_assistant_headers"
#: What is sent where no template says it.
TO_HTTP: Final = (
    '{"messages": "{messages}", "user": "{user}", "session": "{session}", "context": "{context}"}'
)
#: Headers whose values are no secrets.
_PLAIN: Final = ("accept", "accept-language", "content-type", "user-agent")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")


class HttpService(HttpClient):
    """An assistant behind ``http:URL``, which answers with JSON, text or a stream of either."""

    paid = False

    def __init__(
        self,
        url: str,
        template: Template,
        answer: ReplyReader,
        headers: Mapping[str, str],
        *,
        connections: int,
    ) -> None:
        super().__init__("the service", connections)
        self.name = url
        self.tells_context = template.tells_context
        self._url, self._template, self._answer = url, template, answer
        self._headers = {"Content-Type": "application/json", "Accept": "*/*", **headers}

    def complete(self, request: Request) -> Answer:
        """Make one POST. Raise `ModelBusy` for what may pass, and `ModelError` for what will not."""
        import urllib3

        assert request.conversation is not None
        timeout = request.conversation.timeout
        try:
            answer = self._connect().request(
                "POST",
                self._url,
                body=self._template.fill(request.conversation),
                headers=self._headers,
                timeout=urllib3.Timeout(connect=min(10.0, timeout), read=timeout),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            body = _read_whole(answer)
        except urllib3.exceptions.ReadTimeoutError as error:
            raise timeout_error(timeout) from error
        except urllib3.exceptions.HTTPError as error:
            raise ModelBusy(f"no answer from the service: {short(str(error))}") from error
        if answer.status >= 300:
            problem = problem_in(json_or_text(body.decode("utf-8", "replace")))
            raise self._error(answer.status, problem, answer.headers)
        return self._answer.read(body, answer.headers.get("Content-Type", ""))

    def _connect(self) -> Any:
        with self._lock:
            self._pool = self._pool or self._open(self._url, 60.0)
            return self._pool

    def _error(self, status: int, problem: str, headers: Mapping[str, str]) -> Exception:
        if status in (401, 403):
            return ModelError(
                f"the service lets nobody in without its key: {status}: {problem}; set {HEADERS}"
            )
        if status in (404, 405):
            return ModelError(f"the service takes no POST at this address: {status}: {problem}")
        refused = ModelError(f"the service refuses the call: {status}: {problem}; see {TEMPLATE}")
        return self._common_error(status, problem, headers) or refused


def read_url(spec: str) -> str | None:
    """Return the address in ``http:URL``, or None for another spec. Raise `SpecError` for no address."""
    if spec.startswith(("http://", "https://")):
        url = spec
    elif spec.startswith("http:"):
        url = spec.removeprefix("http:")
    else:
        return None
    from urllib.parse import parse_qsl, urlsplit

    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or not url.isascii() or not url.isprintable() or " " in url:
        raise SpecError(f"{FLAG}: expected http:URL, such as http:http://localhost:8000/chat, not {spec!r}")
    if holds_password(url):
        raise SpecError(
            f"{FLAG}: the address holds a user or a password; leave it out, and set {HEADERS}", code="PL302"
        )
    for _, value in parse_qsl(parts.query):
        add_secret(value)  # a query may hold a key
    return url


def read_headers(lines: Sequence[str]) -> dict[str, str]:
    """Return the headers of the ini file, a line ``NAME: VALUE`` each. Raise `SpecError` for any other line.

    ``${NAME}`` in a value is a variable of the environment.
    """
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
            raise SpecError(f"{HEADERS}: expected 'NAME: VALUE', not {line!r}")
        if name.lower() not in _PLAIN:
            add_secret(value)
        parts = _VARIABLE.split(value)
        parts[1::2] = [_variable(variable, name) for variable in parts[1::2]]
        headers[name] = "".join(parts)
        if not (headers[name].isascii() and headers[name].isprintable()):
            raise SpecError(f"{HEADERS}: {name} holds a line break, or a character that is no ASCII")
    return headers


def _variable(name: str, header: str) -> str:
    value = os.environ.get(name, "").strip()  # a secret is often pasted with its line break
    if not value:
        raise SpecError(
            f"{HEADERS}: {header} needs the environment variable {name}, which is not set", code="PL302"
        )
    add_secret(value)
    return value


def _read_whole(answer: Any) -> bytes:
    body = bytearray()
    for piece in answer.stream(65_536):
        body += piece
        if len(body) > MOST_BYTES:
            answer.close()
            raise ModelError(f"the service's answer has more than {MOST_BYTES:,} bytes, which is the limit")
    answer.release_conn()
    return bytes(body)


#: The ini key that holds a template.
TEMPLATE: Final = "personalens_assistant_request"
_NAMES: Final = ("message", "messages", "user", "session", "context")
_PLACE: Final = re.compile(r"\{([A-Za-z_]+)\}")


class Template:
    """A request body: JSON whose texts hold places such as ``{message}`` or ``{user}``.

    A text that is ``{messages}`` and nothing else becomes the list. Raise `SpecError` for what is no JSON,
    for an unknown place, and if nothing of what is said is sent.
    """

    def __init__(self, text: str) -> None:
        try:
            self._body = json.loads(text)
        except ValueError as error:
            raise SpecError(f"{TEMPLATE}: expected JSON ({error})") from None
        places = {name for part in _texts(self._body) for name in _PLACE.findall(part)}
        for name in sorted(places - set(_NAMES)):
            names = ", ".join(f"{{{place}}}" for place in _NAMES)
            raise SpecError(f"{TEMPLATE}: unknown place {{{name}}}; known: {names}", code="PL204")
        if not places & {"message", "messages"}:
            raise SpecError(
                f"{TEMPLATE}: nothing that the user says is sent; write {{message}} or {{messages}}",
                code="PL204",
            )
        if any("{messages}" in part and part != "{messages}" for part in _texts(self._body)):
            raise SpecError(
                f'{TEMPLATE}: {{messages}} is a list; let it stand alone, as "{{messages}}"', code="PL204"
            )
        #: True if the service is told what is known of the user.
        self.tells_context = "context" in places

    def fill(self, conversation: Conversation) -> bytes:
        """Return the body of one request."""
        values = {
            "message": conversation.messages[-1]["content"],
            "user": conversation.user,
            "session": conversation.session,
            "context": conversation.context,
        }

        def fill_in(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: fill_in(part) for key, part in value.items()}
            if isinstance(value, list):
                return [fill_in(part) for part in value]
            if value == "{messages}":
                return list(conversation.messages)
            return _PLACE.sub(lambda place: values[place[1]], value) if isinstance(value, str) else value

        return json.dumps(fill_in(self._body)).encode()


def _texts(value: Any) -> list[str]:
    """Return every text in JSON data that is a value."""
    if isinstance(value, (dict, list)):
        parts = value.values() if isinstance(value, dict) else value
        return [text for part in parts for text in _texts(part)]
    return [value] if isinstance(value, str) else []


#: The ini key that holds the path of the reply.
REPLY: Final = "personalens_assistant_reply"
#: The largest answer that is read, in bytes.
MOST_BYTES: Final = 50_000_000
_LINES: Final = tuple(f"application/{kind}" for kind in ("x-ndjson", "jsonl", "x-jsonlines", "json-seq"))
#: The fields of an object that says that something failed.
_FAILURES: Final = ("error", "errors", "detail")
_FAILED: Final = ("error", "failed", "failure")


class ReplyReader:
    """Reads what a service answered. `path` leads to the reply by keys and numbers, such as ``data.0.text``.

    If it is empty, the reply is the answer itself, or what a chat completion says.
    """

    def __init__(self, path: str) -> None:
        self._path = path.strip()
        self._steps = [step for step in self._path.split(".") if step]

    def read(self, body: bytes, content_type: str) -> Answer:
        """Return the answer, with the reply: a text, a message, or a list of messages.

        Raise `ModelBusy` for what cannot be read, and `ModelError` if the path leads nowhere.
        """
        kind = content_type.partition(";")[0].strip().lower()
        text = body.decode("utf-8", "replace")
        if kind == "text/event-stream":
            return self._of_stream(read_events(text))
        if kind in _LINES:
            return self._of_stream(read_lines(text))
        if not text.strip():
            return Answer(reply="")
        if kind == "text/html":
            raise ModelError(
                f"the service answers with a page (text/html): {short(text)[:80]}; check the address"
            )
        if kind.startswith("text/") and not self._steps:
            return Answer(reply=text)
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ModelBusy(f"the service's answer could not be read: {error}") from error
        return self._of_whole(data)

    def _of_whole(self, data: Any) -> Answer:
        if self._steps:
            reply = _at(data, self._steps)
            if reply is None and _says_failure(data):
                raise error_in(data, "the service")
            if reply is None:
                raise ModelError(f"the answer has nothing at {self._path!r} ({REPLY}): it is {_shape(data)}")
            return Answer(reply=reply)
        if isinstance(data, dict) and data.get("choices"):
            answer = read_answer(data, "the service")
            message = {**_at(data, ["choices", "0", "message"]), "content": without_thoughts(answer.text)}
            return answer.model_copy(update={"text": "", "calls": (), "reply": message})
        if isinstance(data, (str, list)) or is_message(data):
            return Answer(reply=data)
        if _says_failure(data):
            raise error_in(data, "the service")
        raise ModelError(f"the service's answer is {_shape(data)}; say by {REPLY} where the reply is in it")

    def _of_stream(self, pieces: list[Any]) -> Answer:
        """Put the pieces together. One without anything at the path is about something else."""
        stream, has_part = Stream(), False
        events = [piece for piece in pieces if piece != "[DONE]"]
        for piece in pieces:
            if (error := stream_error(piece)) is not None:
                raise error_in(error, "the service", "a stream")
            # An event whose type tells what it holds is read by that: a path would take thoughts for words.
            part = piece if is_event(piece) or piece == "[DONE]" else _at(piece, self._steps)
            has_part = has_part or (part is not None and piece != "[DONE]")
            stream.add(part)
        if not has_part:
            nothing = f"nothing at {self._path!r} ({REPLY})" if events else "no event in it"
            last = f"; its last event is {_shape(events[-1])}" if events else ""
            raise ModelError(f"the service's stream has {nothing}{last}")
        word = stream.word_at_end()
        return Answer(reply=stream.joined(), end=end_of(word), word=word)


def _says_failure(data: Any) -> bool:
    """True for an object that says that something failed, and not what the assistant replies."""
    return isinstance(data, dict) and (
        any(data.get(name) for name in _FAILURES) or str(data.get("status")).lower() in _FAILED
    )


def _at(data: Any, steps: list[str]) -> Any:
    """Return what stands at a path, or None."""
    for step in steps:
        if isinstance(data, dict):
            data = data.get(step)
        elif isinstance(data, list) and step.lstrip("-").isdigit():
            data = data[int(step)] if -len(data) <= int(step) < len(data) else None
        else:
            return None
    return data


def _shape(data: Any) -> str:
    """Return what an answer is, for somebody who looks for the reply in it."""
    if isinstance(data, dict):
        keys = ", ".join(map(str, list(data)[:10]))
        return short(f"an object with the keys {keys}") if data else "an empty object"
    return short(json.dumps(data)[:80])
