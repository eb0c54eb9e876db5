"""How many calls of the assistant under test run at once, by what the provider behind it lets pass."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.models.aws import THROTTLED
from pytest_personalens.models.base import retry_after
from pytest_personalens.models.retry import ATTEMPTS, FIRST_WAIT, LONGEST_WAIT, Limiter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_personalens.core.dialogue.message import AssistantMessages

_TOO_MANY: Final = 429
#: Where the libraries of providers, and of HTTP, keep the status of an answer.
_STATUS: Final = ("status_code", "status", "code", "http_status")
#: OpenAI's word for an account without money, whose status is that of a rate limit too.
_NO_MONEY: Final = "insufficient_quota"
_MOST_CAUSES: Final = 10


class Refusal(NamedTuple):
    """A rate limit is exceeded; `wait` is how many seconds the provider asks for, 0 if it does not say."""

    wait: float = 0.0


def refusal_in(error: BaseException) -> Refusal | None:
    """Return what an error of an assistant says of a rate limit, or None if it says nothing of one.

    It is known by the status 429, or by an AWS code such as ThrottlingException, of the error, of its
    response or of an error that it was raised from: such are the errors of the clients of OpenAI, Anthropic,
    Google, Mistral, LiteLLM and AWS, and of httpx, requests and aiohttp. An assistant that turns it into a
    reply, or into an error without either, is not understood.
    """
    for one in _causes(error):
        response = getattr(one, "response", None)
        headers: Any = getattr(response, "headers", None) or getattr(one, "headers", None)
        status = {
            getattr(who, name, None) for who in (one, response) for name in _STATUS if _plain(who, name)
        }
        if isinstance(response, Mapping):  # botocore
            answer = response.get("ResponseMetadata") or {}
            status, headers = {answer.get("HTTPStatusCode")}, answer.get("HTTPHeaders")
            if (response.get("Error") or {}).get("Code") in THROTTLED:
                status.add(_TOO_MANY)
        if _TOO_MANY in status and _NO_MONEY not in str(one):
            return Refusal(retry_after(headers) or 0.0 if isinstance(headers, Mapping) else 0.0)
    return None


def _plain(who: object, name: str) -> bool:
    return isinstance(getattr(who, name, None), int)


def _causes(error: BaseException) -> Iterator[BaseException]:
    one: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if one is None:
            return
        yield one
        one = one.__cause__ or one.__context__


class Pace:
    """Makes a call again that a rate limit refused, and has fewer run at once; thread-safe.

    Only where dialogues ran side by side, up to `most`: of one dialogue after the other, the team sees the
    error as before. The waits are those of `models.retry`. The limit falls and grows as that of a model does.
    """

    def __init__(
        self, most: int, *, several: Callable[[], bool], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.limiter = Limiter(start=most, most=most)
        self._most, self._several, self._sleep = most, several, sleep

    def paced(
        self, assistant: Callable[[AssistantMessages], object]
    ) -> Callable[[AssistantMessages], object]:
        """Return the assistant as one whose calls wait for a free place, and are made again if refused."""
        if self._most == 1:
            return assistant

        def call(messages: AssistantMessages) -> object:
            for attempt in range(ATTEMPTS):
                with self.limiter.slot():
                    try:
                        reply = assistant(messages)
                    except Exception as error:
                        refusal = refusal_in(error) if self._several() else None
                        if refusal is None:
                            raise
                        self.limiter.record_throttling()
                        if attempt == ATTEMPTS - 1:
                            raise
                    else:
                        self.limiter.record_success()
                        return reply
                drawn = random.random() * min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt)
                self._sleep(min(LONGEST_WAIT, max(drawn, refusal.wait)))
            raise AssertionError("unreachable")  # pragma: no cover

        return call
