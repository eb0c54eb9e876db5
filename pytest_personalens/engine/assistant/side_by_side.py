"""Dialogues side by side: how many calls a provider lets pass, and no user's facts in another's replies."""

from __future__ import annotations

import json
import re
import threading
import time
import unicodedata
from collections.abc import Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.dialogue.reply import read_reply
from pytest_personalens.core.errors import AssistantFault, PersonalensError
from pytest_personalens.core.safe_text import one_line
from pytest_personalens.models.aws_client import THROTTLED
from pytest_personalens.models.model import retry_after
from pytest_personalens.models.retry import ATTEMPTS, Limiter, wait_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_personalens.core.dialogue.message import AssistantMessages, Message
    from pytest_personalens.core.scenario import BaseScenario, Context

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
            getattr(who, name, None) for who in (one, response) for name in _STATUS if _is_status(who, name)
        }
        if isinstance(response, Mapping):  # botocore
            answer = response.get("ResponseMetadata") or {}
            status, headers = {answer.get("HTTPStatusCode")}, answer.get("HTTPHeaders")
            if (response.get("Error") or {}).get("Code") in THROTTLED:
                status.add(_TOO_MANY)
        if _TOO_MANY in status and _NO_MONEY not in str(one):
            return Refusal(retry_after(headers) or 0.0 if isinstance(headers, Mapping) else 0.0)
    return None


def _is_status(who: object, name: str) -> bool:
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
    error as before. The waits and the limit are those of a model's calls (`models.retry`).
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
                self._sleep(wait_after(attempt, refusal.wait))
            raise AssertionError("unreachable")  # pragma: no cover

        return call


#: What a reply must hold of another user: one value that nobody else would write, or two that chance might.
_ENOUGH: Final = 2
#: Words of a summary in a row that nobody writes by chance.
_IN_A_ROW: Final = 8
_LONGEST_QUOTE: Final = 120
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.@+_-][^\W_]+)*")
#: Compiled only if a reply has to be looked at: that takes long.
_GREETED: Final = (
    r"\b(?:hi|hello|hey|dear|welcome(?: back)?|thanks|thank you|sorry|good (?:morning|afternoon|evening))"
    r"[ ,]+([^\W\d_][\w'\u2019-]+)(?=[,.!?;:]|\s*$)"
)
_GENITIVE: Final = re.compile(r"['\u2019]s(?!\w)")
_MAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
#: A long number, or capital letters with digits: a booking, an account, a phone, but also a product.
_CODE: Final = re.compile(r"\b(?=[A-Z\d-]*[A-Z])(?=[A-Z\d-]*\d)[A-Z\d][A-Z\d-]{4,}\b|\b\d{8,}\b")
#: The argument of a tool that says whose account is meant.
_WHOSE: Final = re.compile(
    r"user|customer|client|account|profile|member|owner|guest|passenger|patient", re.IGNORECASE
)
#: First names that are words too. Small letters make an id of them, and a word in a text.
_WORDS_TOO: Final = frozenset(
    (
        "amber", "aspen", "autumn", "basil", "brandy", "brook", "brooke", "candy", "carol", "charity",
        "chance", "chase", "cliff", "coral", "crystal", "daisy", "destiny", "ebony", "faith", "flora",
        "forest", "ginger", "grace", "grady", "grant", "hazel", "heather", "holly", "honor", "hunter",
        "jasmine", "jasper", "jewel", "justice", "laurel", "marina", "mason", "melody", "mercy", "miles",
        "misty", "olive", "paige", "patience", "pearl", "penny", "pepper", "pierce", "poppy", "prince",
        "robin", "rocky", "rusty", "savannah", "scarlet", "sierra", "sandy", "skyler", "sterling", "summer",
        "sunny", "taylor", "temple", "trinity", "unity", "violet", "walker", "warren", "willow", "winter",
        "woody",
    )
)  # fmt: skip


class UsersMixed(AssistantFault):
    """A reply with what only another user has, whose dialogue runs at the same time."""

    code = "PL404"


class RunningUser:
    """A dialogue that runs, with the values of its user that tell this user from others.

    Each value has a weight. One that weighs 2 is enough to know whose it is: the whole name, the first name
    after a greeting, an id that is no word, a mail address, or eight words in a row of a summary of past
    dealings. Others weigh 1, because an assistant may have them by chance: a part of the name, or a code of
    capital letters and digits, which may be a product. Days and preferences weigh nothing: many share them.
    """

    def __init__(self, scenario: BaseScenario, context: Context, case: str) -> None:
        self._scenario, self._context = scenario, context
        self.who = scenario.name or scenario.user
        self.label = f"{self.who} ({case or scenario.id})"
        self.user = scenario.user
        #: What is wrong if a reply of this dialogue mixed two users up.
        self.mixed = ""
        #: Other user -> the values of that user which the replies of this dialogue hold.
        self.seen: dict[str, set[str]] = {}

    @cached_property
    def values(self) -> dict[str, int]:
        """Value, in small letters -> weight."""
        weights: dict[str, int] = {}
        told = "\n".join((*self._context.interactions.values(), *(s.text() for s in self._context.sessions)))
        for pattern, weight in ((_CODE, 1), (_MAIL, _ENOUGH)):
            weights |= {found.lower(): weight for found in pattern.findall(told)}
        names = self._scenario.name.lower().split()
        weights |= {name: 1 for name in names if len(name) > 2}
        if len(names) > 1:
            weights[" ".join(names)] = _ENOUGH
        for id_ in self._ids - self.plain_ids - {*names}:
            has_marks = not id_.isalpha() and any(map(str.isalpha, id_))
            if len(id_) > 3 and (has_marks or (len(id_) > 6 and id_.isdigit())):
                weights[id_] = _ENOUGH
        return weights

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(id_.lower() for id_ in (self._scenario.user, self._context.user))

    @cached_property
    def plain_ids(self) -> frozenset[str]:
        """Ids that are a first name in small letters, and no word."""
        first = _ascii(self._scenario.name.partition(" ")[0]).lower()
        return frozenset(id_ for id_ in self._ids if len(id_) > 4 and id_ == first and id_ not in _WORDS_TOO)

    @cached_property
    def rows(self) -> frozenset[int]:
        """The digests of all rows of words in the summaries."""
        return frozenset(row for text in self._context.interactions.values() for row in _rows(_words(text)))

    @cached_property
    def keys(self) -> frozenset[object]:
        """Words, ids and rows of which a reply must hold one to hold any value of this user.

        To look them up costs little, and nearly no reply about one user holds any of another.
        """
        words = {*_words(self._scenario.name), *self._ids}
        for value in self.values:
            words.update(_words(value)[:1])
        return frozenset(words) | self.rows

    @cached_property
    def _own(self) -> str:
        return _plain(f"{self._scenario.model_dump_json()} {self._context.model_dump_json()}")

    def has(self, value: str, messages: AssistantMessages) -> bool:
        """True if the value is this user's too: of the scenario, of the context, or said by the user."""
        said = (m["content"] for m in messages if m["role"] == "user")
        return value in self._own or any(value in _plain(str(text)) for text in said)

    def held_by(self, turn: Message) -> dict[str, int]:
        """Return the values of this user in an assistant's turn in another dialogue, with their weights."""
        text = turn.content
        words = _words(text)
        lower = " ".join(words)
        found = {value: weight for value, weight in self.values.items() if f" {value} " in f" {lower} "}
        names = {word.lower() for word in self._scenario.name.split()}
        greeted = names.intersection(name.lower() for name in re.findall(_GREETED, text, re.IGNORECASE))
        found |= dict.fromkeys((*greeted, *self.plain_ids.intersection(_WORD.findall(text))), _ENOUGH)
        if rows := self.rows.intersection(_rows(words)):
            found |= dict.fromkeys(_rows_in_words(words, rows), _ENOUGH)
        for call in (call for step in turn.path for call in step.tool_calls):
            found |= dict.fromkeys(self._ids.intersection(_whose(call.function.arguments)), _ENOUGH)
        return found


class RunningUsers:
    """The users whose dialogues run in this process at the moment; thread-safe."""

    def __init__(self) -> None:
        #: False where dialogues only run one after the other.
        self.several = True
        self._running: list[RunningUser] = []
        self._lock = threading.Lock()
        #: The most dialogues that ran at the same time so far.
        self.most = 0
        #: What was wrong with the first reply that mixed two users up; empty so far.
        self.mixed = ""

    @contextmanager
    def dialogue(self, scenario: BaseScenario, context: Context, case: str) -> Iterator[RunningUser]:
        """Count the dialogue as one that runs, as long as the body does."""
        mine = RunningUser(scenario, context, case)
        with self._lock:
            self._running.append(mine)
            self.most = max(self.most, len(self._running))
        try:
            yield mine
        finally:
            with self._lock:
                self._running.remove(mine)

    def watched(
        self, assistant: Callable[[AssistantMessages], object], mine: RunningUser
    ) -> Callable[[AssistantMessages], object]:
        """Return the assistant as one whose replies in the dialogue `mine` are held against other users.

        A reply that mixes two users up is a `UsersMixed`.
        """

        def call(messages: AssistantMessages) -> object:
            reply = assistant(messages)
            with self._lock:
                others = [one for one in self._running if one.user != mine.user]
            if others:
                self._compare(mine, others, messages, reply)
            return reply

        return call

    def _compare(
        self, mine: RunningUser, others: list[RunningUser], messages: AssistantMessages, reply: object
    ) -> None:
        try:
            turn = read_reply(reply).turn
        except PersonalensError:
            return  # the dialogue says what is wrong with it
        held = _keys_in(turn)
        for other in others:
            if other.keys.isdisjoint(held):
                continue
            values = other.held_by(turn)
            theirs = {
                value: weight
                for value, weight in values.items()
                if not mine.has(value, messages) and not any(_shares(one, other, value) for one in others)
            }
            seen = mine.seen.setdefault(other.user, set())
            seen.update(value for value, weight in theirs.items() if weight < _ENOUGH)
            if any(weight >= _ENOUGH for weight in theirs.values()) or len(seen) >= _ENOUGH:
                what = ", ".join(sorted({*seen, *theirs}))
                mine.mixed = self._stop(mine, other, what, turn.content)
                raise UsersMixed(mine.mixed)

    def _stop(self, mine: RunningUser, other: RunningUser, what: str, reply: str) -> str:
        told = (
            f"the assistant answered {mine.label} with what only {other.label} has, whose dialogue ran beside"
            f" it ({one_line(what)[:_LONGEST_QUOTE]}): {one_line(reply)[:_LONGEST_QUOTE]!r}; keep users"
            " apart by its parameter `context`, or set personalens_parallel = false"
        )
        with self._lock:
            self.mixed = self.mixed or told
        return told


def _shares(one: RunningUser, other: RunningUser, value: str) -> bool:
    held = value in one.values or value in one.plain_ids or hash(tuple(value.split())) in one.rows
    return held and one.user != other.user


def _words(text: str) -> list[str]:
    """Return the words in small letters, without a genitive."""
    return _WORD.findall(_GENITIVE.sub("", text.lower()))


def _plain(text: str) -> str:
    return " ".join(_words(text))


def _keys_in(turn: Message) -> set[object]:
    """Return all that may be among the `keys` of a user in an assistant's turn."""
    words = _words(turn.content)
    calls = (call for step in turn.path for call in step.tool_calls)
    return {*words, *_rows(words), *(one for call in calls for one in _whose(call.function.arguments))}


def _ascii(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _rows(words: list[str]) -> Iterator[int]:
    return (hash(tuple(words[i : i + _IN_A_ROW])) for i in range(len(words) - _IN_A_ROW + 1))


def _rows_in_words(words: list[str], rows: frozenset[int]) -> Iterator[str]:
    return (" ".join(words[i : i + _IN_A_ROW]) for i, row in enumerate(_rows(words)) if row in rows)


def _whose(arguments: str) -> Iterator[str]:
    """Yield the values of a tool's arguments that say whose account is meant, in small letters."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return
    for name, value in given.items() if isinstance(given, dict) else ():
        if _WHOSE.search(name) and isinstance(value, (str, int)):
            yield str(value).lower()
