"""Tool calls: what each does, and the parts of a task that they complete."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.embedded.judge.read_dialogue import VERBS, deeds_of, may_do, names_in
from pytest_personalens.agents.embedded.reader.statements import DONE, FIRM, is_taste
from pytest_personalens.agents.embedded.reader.text import content, fold, stem, stems
from pytest_personalens.agents.embedded.reader.typed_values import PERSONS, Day, Time, values
from pytest_personalens.core.dialogue.message import Call, call_line, calls_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_personalens.agents.embedded.judge.read_dialogue import PartReading, Reading
    from pytest_personalens.agents.embedded.reader.statements import Finding, Statement
    from pytest_personalens.agents.embedded.reader.typed_values import Value
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.dialogue.state import StoredRecord
    from pytest_personalens.core.facts import Clock
    from pytest_personalens.core.scenario import GoalPart


#: Keys of a result that say by their value whether it went well.
_BAD_IF_TRUE: Final = ("error", "errors", "exception", "iserror", "is_error", "failure")
_BAD_IF_FALSE: Final = ("ok", "success", "succeeded", "successful", "done", "booked", "confirmed")
_STATUS: Final = ("status", "state", "outcome", "result", "message", "detail", "reason")
_FAILED: Final = re.compile(
    r"\b(?:error|exception|traceback|fail(?:ed|ure|s)?|declined|rejected|denied|refused|unauthori[sz]ed|forbidden"
    r"|not[ _](?:found|available|possible|allowed|permitted|booked|saved|sent|done|supported|enough)|unavailable"
    r"|sold[ _]out|fully booked|no longer|does not exist|timed?[ _-]?out|timeout|could not|couldn't|cannot|can't"
    r"|unable|invalid|insufficient|no (?:seats?|tables?|rooms?|tickets?|availability|such|free|places?)|conflict)\b"
)
_NO_ERROR: Final = re.compile(r"\b(?:no|without|0|zero)[ _](?:error|failure|conflict)s?\b")
#: Fields of a stored thing that say by a True that it does not stand, and words of its status that do.
_ENDED: Final = ("cancelled", "canceled", "deleted")
_GONE: Final = re.compile(
    r"\b(?:cancel+ed|deleted|removed|void|expired|failed|rejected|declined)\b", re.IGNORECASE
)
#: From this status of HTTP's on, a call failed.
_HTTP_ERROR: Final = 400
#: So much of a result tells how it went.
_READ: Final = 400


def has_failed(call: Call) -> bool:
    """True for a call whose result says that it failed.

    A call without a result counts as made; one that no tool could read does not.
    """
    if call.result is None:
        return bool(call.text.strip()) and not call.arguments and call.text.strip() not in ("{}", "null")
    try:
        result = json.loads(call.result)
    except (ValueError, RecursionError):
        result = call.result
    if isinstance(result, dict):
        return _says_failed(result)
    return isinstance(result, str) and _bad(result)


def is_gone(fields: Mapping[str, Any]) -> bool:
    """True for a stored thing that does not stand: cancelled, deleted, expired, failed."""
    by_name = {name.lower(): value for name, value in fields.items()}
    ended = any(by_name.get(name) is True for name in _ENDED) or _says_failed(by_name)
    return ended or any(_GONE.search(str(by_name[name])) for name in ("status", "state") if name in by_name)


def _says_failed(result: Mapping[str, Any]) -> bool:
    fields = {name.lower(): value for name, value in result.items()}
    if any(fields.get(name) for name in _BAD_IF_TRUE) or any(
        fields.get(name) is False for name in _BAD_IF_FALSE
    ):
        return True
    code = fields.get("status", fields.get("code"))
    if isinstance(code, int) and not isinstance(code, bool) and code >= _HTTP_ERROR:
        return True
    return any(isinstance(text := fields.get(name), str) and _bad(text) for name in _STATUS)


def _bad(text: str) -> bool:
    return bool(_FAILED.search(_NO_ERROR.sub("", fold(text[:_READ]))))


#: Verbs of tools that change nothing, and names of tools that have no verb and tell something.
_LOOKS_UP: Final = frozenset(
    "search find get list lookup look check query fetch read show view retrieve recommend suggest browse compare calculate compute estimate quote describe count"  # noqa: SIM905
    " validate verify recall load see inspect locate".split()
)
_TELLS: Final = frozenset(
    "availability status info information details catalogue catalog menu timetable fixtures events forecast weather history options price prices inventory"  # noqa: SIM905
    " listing map seatmap profile preferences memory results news".split()
)
#: Words of names and arguments that say nothing of what a call is about.
_GENERAL: Final = frozenset(
    stems("the for and with tool function api call action new item data info details request type id user")
)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d{1,2}:\d{2}|\d+")


class Action(NamedTuple):
    """A tool call as it is held against a task.

    `words` are the stems of its name and arguments, `deeds` the kinds of deeds that its name speaks of.
    """

    call: Call
    words: frozenset[str]
    deeds: frozenset[str]
    looks_up: bool
    failed: bool

    @property
    def did(self) -> bool:
        """True for a call that changed something, as far as is known."""
        return not self.looks_up and not self.failed

    @property
    def text(self) -> str:
        """The arguments as lines that can be read like statements."""
        return "\n".join(
            f"{name.replace('_', ' ')}: {value}"
            for name, one in self.call.arguments.items()
            for value in plain_values(one)
        )


def actions(messages: Sequence[Message]) -> tuple[Action, ...]:
    """Return the calls of a dialogue, in order."""
    return tuple(map(_action, calls_of(messages)))


def plain_values(value: Any) -> Iterator[str]:
    """Yield the values within arguments, as texts."""
    if isinstance(value, dict):
        for item in value.values():
            yield from plain_values(item)
    elif isinstance(value, list):
        for item in value:
            yield from plain_values(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def of_record(record: StoredRecord, turn: int) -> Action:
    """Return a stored thing as the call that would have made it, at message `turn`."""
    fields = dict(record.fields)
    name = record.kind.removesuffix("s") or "state"  # one of the bookings
    made = _action(Call(name, fields, record.in_one_line(), None, turn))
    return made._replace(looks_up=False, failed=is_gone(fields))


def _action(call: Call) -> Action:
    name = _stems(call.name) | _stems(str(call.arguments.get("action", "")))
    parts = [word.lower() for word in _WORD.findall(call.name)]
    deeds = deeds_of(name)
    keys = _stems(" ".join(_keys(call.arguments)))
    said = keys | _stems(" ".join(plain_values(dict(call.arguments))))
    begins_with_deed = bool(deeds_of(frozenset(map(stem, parts[:1]))))
    looks_up = not _LOOKS_UP.isdisjoint(parts) and not begins_with_deed
    tells = not deeds and not _TELLS.isdisjoint(parts)
    # A tool that makes something may send it to others too.
    deeds |= deeds_of(keys) & {"send"}
    return Action(call, (name | said) - _GENERAL, deeds, looks_up or tells, has_failed(call))


def _keys(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        yield name
        if isinstance(value, dict):
            yield from _keys(value)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(fold(word)) for word in _WORD.findall(text))


#: Keys of arguments that count what people count, and keys that name what a call is about.
_OF_COUNTS: Final = frozenset(
    "people person persons guests guest party party_size size count number quantity qty seats tickets places num passengers adults rooms nights copies".split()  # noqa: SIM905
)
_OF_THINGS: Final = frozenset(
    "title name book restaurant hotel venue event product film movie show song track album artist game recipient to stylist company airline destination".split()  # noqa: SIM905
)
_COUNTED: Final = PERSONS | {stem("nights"), stem("rooms"), stem("copies"), stem("places")}
_NAME: Final = re.compile(r"[A-ZÀ-Þ].{2,}")
_LARGEST_COUNT: Final = 1_000


#: Hours, weekdays, days of the month and counts, each with its kind.
Held = frozenset[tuple[str, int]]


def held_in(text: str, now: Clock | None, kinds: Collection[str] = ("time", "day", "count")) -> Held:
    """Return what a text names of some kinds of detail, as parts call them: time, day, count."""
    return frozenset(pair for v in values(text, now) for pair in _pairs(v) if _DETAIL_OF[pair[0]] in kinds)


_DETAIL_OF: Final = {"time": "time", "weekday": "day", "number": "day", "count": "count"}


def _pairs(v: Value) -> Iterator[tuple[str, int]]:
    if isinstance(v.value, Time):
        yield "time", v.value.minutes
        if v.value.either:
            yield "time", (v.value.minutes + 720) % 1440
    elif isinstance(v.value, Day):
        parts = (("weekday", v.value.weekday), ("number", v.value.number))
        yield from ((name, part) for name, part in parts if part is not None)
    elif v.kind == "count" and isinstance(v.value, int) and set(v.thing.split()) & _COUNTED:
        yield "count", v.value


def held_by(action: Action, now: Clock | None) -> Held:
    """Return what the arguments of a call name; a bare number is a count by the name of its argument."""
    arguments = action.call.arguments
    texts = plain_values(dict(arguments))
    counted = (value for name, value in arguments.items() if name.lower() in _OF_COUNTS)
    return frozenset(pair for text in texts for pair in held_in(text, now, ("time", "day"))) | {
        ("count", value) for value in counted if isinstance(value, int) and 0 < value < _LARGEST_COUNT
    }


def clash(some: Held, others: Held) -> bool:
    """True where both name a value of a kind and no two of them are the same."""
    both = {kind for kind, _ in some} & {kind for kind, _ in others}
    return bool(both - {kind for kind, _ in some & others})


def named_things(action: Action) -> list[str]:
    """Return what a call is about, by the names in its arguments."""
    return [
        value
        for key, value in action.call.arguments.items()
        if key.lower() in _OF_THINGS and isinstance(value, str) and _NAME.fullmatch(value)
    ]


#: What an assistant says of its own finished deeds, and that something is done.
_I_DID: Final = re.compile(rf"\b(?:i|we)(?:'ve| have)?(?: just| also| already| now)? {DONE}\b")
_IS_DONE: Final = re.compile(rf"\b(?:is|are|has been|have been|'re|'s)(?: now| all| already| both)? {DONE}\b")
_OPEN: Final = frozenset(("promised", "offered", "asked", "refused", "undone", "handed"))


class Calls:
    """The calls of a dialogue, or the things that a system holds, against the parts and the claims."""

    def __init__(self, reading: Reading, deciding: Sequence[Action], *, has_state: bool) -> None:
        self._reading, self.actions, self._has_state = reading, deciding, has_state
        self._now = reading.scenario.now
        self._said: dict[int, tuple[Finding, ...]] = {}

    def read(self, words: Sequence[PartReading]) -> tuple[PartReading, ...]:
        """Return the state of each part: calls decide what was done, and words what was told."""
        return tuple(self._part(r) if r.part.kind == "done" or r.part.never else r for r in words)

    def _part(self, words: PartReading) -> PartReading:
        part = words.part
        fitting = [a for a in self.actions if self._fits(part, a)]
        done = [a for a in fitting if a.did]
        if part.never:  # what must not happen is reached where no call does it
            unseen = words._replace(state="done", turn=None, quote="")
            return _shown(words, "wrong", done[-1]) if done else unseen
        done = done or [a for a in self.actions if a.did and self._holds(part, a)]
        failed = [a for a in fitting if a.failed]
        nearest = max((self._overlap(part, a) for a in done), default=-1)
        if done and not (failed and self._overlap(part, failed[-1]) > nearest):
            last = done[-1]
            if details := self._wrong(part, last):
                return _shown(words, "wrong", last)._replace(details=details)
            if self._contradicts(part, last):
                return _shown(words, "wrong", last)._replace(details=())
            return words if words.state == "wrong" else _shown(words, "done", last)._replace(details=())
        if failed:
            return _shown(words, "refused", failed[-1])
        claimed = words.state in ("done", "wrong")
        return words._replace(state="claimed" if claimed else words.state, details=())

    def _fits(self, part: GoalPart, action: Action) -> bool:
        """True for a call that does the kind of deed that the part asks for, to what the part is about."""
        wanted = deeds_of(frozenset(stems(part.text)))
        if action.looks_up or not may_do(wanted, action.deeds) or (not wanted and action.deeds == {"stop"}):
            return False
        things = content(part.text).union(*map(content, part.words)) - VERBS
        if action.words & things:
            return True
        # A deed that shares no word with the part does it where nothing else can be meant.
        alone = sum(p.kind == "done" and not p.never for p in self._reading.parts_of_task) == 1
        scenario = self._reading.scenario
        words = (word for domain in scenario.words.values() for word in domain.words)
        topic = content(" ".join((*scenario.domains, *words))) | (content(scenario.task.intent) - VERBS)
        return alone and bool(action.deeds) and bool(action.words & topic)

    def _holds(self, part: GoalPart, action: Action) -> bool:
        """True for a call with a value of the part, whatever its words are, that is no other part's which it fits."""
        right = {f.fact.name for f in self._findings(action) if f.right} & {*part.facts}
        parts = (p for p in self._reading.parts_of_task if p.kind == "done" and p != part and not p.never)
        return bool(right.difference(*(p.facts for p in parts if self._fits(p, action))))

    def _overlap(self, part: GoalPart, action: Action) -> int:
        return len(action.words & content(part.text).union(*map(content, part.words)))

    def _findings(self, action: Action) -> tuple[Finding, ...]:
        """Return what the arguments of a call say of the facts."""
        key = id(action)
        if key not in self._said:
            found: list[Finding] = []
            for line in action.text.split("\n"):
                found += self._reading.facts.findings(line, deed=True)
            self._said[key] = tuple(found)
        return self._said[key]

    def _wrong(self, part: GoalPart, action: Action) -> tuple[str, ...]:
        """Return what the arguments say against the facts of a part: the argument, and what was wanted."""
        found = self._findings(action)
        right = {f.fact.name for f in found if f.right}
        return tuple(
            f"{f.fact.what}: {_argument(action, f.said)}, wanted {f.fact.says or f.fact.right[0]}"
            for f in found
            if f.fact.name in part.facts and not (f.right or is_taste(f.fact) or f.fact.name in right)
        )

    def _contradicts(self, part: GoalPart, action: Action) -> bool:
        """True where a call has another count, day or hour than the part names or than the assistant says that
        it did with it, or is about something else than it says.
        """
        held = held_by(action, self._now)
        # A sentence of a goal may hold a number that is none of its details.
        kinds = part.slots if self._reading.scenario.task.parts else ("day", "count")
        if clash(held_in(part.text, self._now, kinds), held):
            return True
        then = (s for s in self._reading.said if s.turn == action.call.turn)
        claims = [s for s in then if s.act in FIRM or _says_done(s)]
        said = " . ".join(s.text for s in claims)
        return bool(said) and (clash(held_in(said, self._now), held) or self._about_another(action, claims))

    def _about_another(self, action: Action, claims: Sequence[Statement]) -> bool:
        """True where a call names a thing that nobody spoke of, and the claims name only other things."""
        things = named_things(action)
        spoken = fold(" ".join(m.content for m in self._reading.messages))
        if not things or any(fold(thing) in spoken for thing in things):
            return False
        called = fold(f"{action.call.text} {action.call.result or ''}")
        keys = {fold(key) for key in action.call.arguments}  # a "hotel" is no name of one
        said = frozenset[str]().union(*(names_in(s.text) for s in claims)) - keys
        return bool(said) and not any(name in called for name in said)

    def unbacked(self) -> tuple[Statement, ...]:
        """Return the statements that claim a deed for which no call or stored thing stands."""
        return tuple(s for s in self._reading.said if self._claims(s) and not self._stands(s))

    def _claims(self, s: Statement) -> bool:
        """True for a statement that says that something was done, rather than how things are."""
        if _I_DID.search(fold(s.text)):
            return True
        if s.act in _OPEN or s.act != "done":
            return _says_done(s) and s.act not in _OPEN
        parts = self._reading.parts_of_task
        about = any(s.words & (content(p.text) - VERBS) for p in parts if p.kind == "done" and not p.never)
        return about or bool(re.search(rf"\b{DONE}\b", fold(s.text)))

    def _stands(self, s: Statement) -> bool:
        """True where a call that was made by then, or a stored thing, is what a statement says."""
        deeds = deeds_of(frozenset(stems(s.text)))
        if self._has_state and "stop" in deeds:
            return True  # no stored thing shows what is gone
        made = [a for a in self.actions if a.did and (self._has_state or a.call.turn <= s.turn)]
        meant = [a for a in made if may_do(deeds, a.deeds)]
        about = [a for a in meant if a.words & s.words] or [a for a in meant if a.deeds]
        said = held_in(s.text, self._now)
        fitting = {id(a): held_by(a, self._now) for a in about if not self._about_another(a, [s])}
        right = [held for held in fitting.values() if not clash(said, held)]
        # Where one call has other values, only a call with one of those that are said stands behind it.
        agreeing = any(said & held for held in right)
        return bool(right) and (len(right) == len(fitting) or agreeing)


def _says_done(s: Statement) -> bool:
    text = fold(s.text)
    return bool(_I_DID.search(text) or _IS_DONE.search(text))


def _shown(words: PartReading, state: str, action: Action) -> PartReading:
    return words._replace(state=state, turn=action.call.turn, quote=call_line(action.call))  # type: ignore[arg-type]


def _argument(action: Action, said: str) -> str:
    """Return the argument that holds a value: ``book(when='Saturday 19:30')``."""
    for name, value in action.call.arguments.items():
        if fold(said) in fold(f"{name.replace('_', ' ')}: {value}"):
            return f"{action.call.name}({name}={value!r})"
    return said
