"""What the team's system holds after a dialogue, as plain data that a record can keep."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import Field
from pydantic_core import to_jsonable_python

from pytest_personalens.core.errors import AssistantFault, SpecError, short_repr
from pytest_personalens.core.frozen import Frozen, clean
from pytest_personalens.core.names import STATE
from pytest_personalens.core.safe_text import make_redactor, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, kw_only=True)
class MemoryStore:
    """The functions, sync or async, by which a test reaches into the assistant's memory store.

    Each is called with the `Context` of a session, whose `user` is the key of the memory. Leave out what your
    store cannot do.

    - `settled(context)` is called after each session but the last, and returns when the store has taken in
      all that was said. If it returns False, it is called again, until `within` seconds have passed.
    - `read(context, question)` returns what the assistant finds for a message of the user: a text or texts.
    - `all(context)` returns all that the store holds of the user: a text for each entry.

    Source of the three: what memory stores offer; docs/how-to/assistant/memory-stores.md says which call of
    which store is which.
    """

    settled: Callable[[Any], Any] | None = None
    read: Callable[[Any, str], Any] | None = None
    all: Callable[[Any], Any] | None = None
    within: float = 300.0

    def problem(self) -> str:
        """Return what is wrong with the functions, in a few words; empty if nothing is."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "within"}
        if all(function is None for function in given.values()):
            return "has no function; give at least one of settled, read and all"
        for name, function in given.items():
            if function is not None and not callable(function):
                return f"has {type(function).__name__} as {name}; it must be a function, sync or async"
        is_number = isinstance(self.within, (int, float)) and not isinstance(self.within, bool)
        if not is_number or not 0 < self.within < float("inf"):
            return f"has within={self.within!r:.40}; it must be a number of seconds above 0"
        return ""


#: Values of a state, characters of all its texts, and mappings within mappings. More is a fault: a part that
#: is cut off would count as not done.
MOST_VALUES: Final = 10_000
MOST_CHARS: Final = 200_000
DEEPEST: Final = 20
#: Digits of a number that are kept.
_MOST_DIGITS: Final = 30
_FIELD: Final = re.compile(r"[^\s.=\[\]]+(?:\.[^\s.=\[\]]+)*")
_FACT: Final = re.compile(r"[\w-]+(?:\.[\w-]+)*")


class State(Frozen):
    """What the system holds after the dialogue.

    `data` is a mapping of plain JSON values. `fields` maps a field to the names or the types of the facts
    that it holds: ``{"bookings.starts_at": ("date", "time")}``. A star stands for any one key.
    """

    data: dict[str, Any]
    fields: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class Leaf(NamedTuple):
    """One value of a state, at its path such as ``bookings[0].starts_at``."""

    path: str
    value: Any

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the path, without the numbers of list items."""
        return tuple(re.sub(r"(?:\[\d+\])+", "", self.path).split("."))


class StoredRecord(NamedTuple):
    """One thing that the system holds: an item of a list, or a mapping with values of its own."""

    path: str
    leaves: tuple[Leaf, ...]

    @property
    def kind(self) -> str:
        """The key under which such things stand, such as ``bookings``; it may be empty."""
        return re.sub(r"(?:\[\d+\])+", "", self.path).rpartition(".")[2]

    @property
    def fields(self) -> Mapping[str, Any]:
        """The values by their keys, as the arguments of a call."""
        return {leaf.path.removeprefix(self.path).lstrip(".") or "value": leaf.value for leaf in self.leaves}

    def in_one_line(self) -> str:
        """Return the thing as a line: ``bookings[0]: guests=3, starts_at='2026-11-27T19:30'``."""
        listed = ", ".join(f"{key}={value!r}" for key, value in self.fields.items())
        return one_line(f"{self.path}: {listed}" if self.path else listed)


def read_state(value: object) -> dict[str, Any]:
    """Return a mapping as plain data.

    Dates, decimals, sets, dataclasses and rows of a database become texts, numbers, lists and mappings.
    Secrets are masked. Raise `AssistantFault`, in one line, for a value that cannot be kept.
    """
    if not _is_mapping(value):
        hint = ": return a mapping, such as {'bookings': [...]}"
        raise AssistantFault(f"{STATE} gave {short_repr(value, 60)}, which is no mapping{hint}")
    plain: dict[str, Any] = _Plain().of(value, "", 0)
    return plain


class _Plain:
    """Turns values into plain data, and counts them."""

    def __init__(self) -> None:
        self._values = self._chars = 0
        self._scrub: Callable[[str], str] = make_redactor()

    def of(self, value: Any, path: str, depth: int) -> Any:
        if depth > DEEPEST:
            deep = f"{_shown(path)} lies more than {DEEPEST} levels deep, or holds itself"
            raise AssistantFault(f"{STATE}: {deep}; give less")
        if _is_mapping(value):
            return {
                self._text(str(key)): self.of(value[key], f"{path}.{key}" if path else str(key), depth + 1)
                for key in value.keys()  # noqa: SIM118  # a database's row iterates over its values
            }
        if isinstance(value, Set):
            value = sorted(value, key=repr)
        if isinstance(value, list | tuple):
            return [self.of(one, f"{path}[{n}]", depth + 1) for n, one in enumerate(value)]
        return self._scalar(value, path, depth)

    def _scalar(self, value: Any, path: str, depth: int) -> Any:
        self._values += 1
        if self._values > MOST_VALUES:
            raise _too_many(f"{MOST_VALUES:,} values")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int):
            if abs(value) < 10**_MOST_DIGITS:
                return int(value)
        elif isinstance(value, float):
            return float(value) if math.isfinite(value) else None
        elif isinstance(value, dt.timedelta):
            return f"{value.total_seconds() / 60:g} minutes"
        else:
            try:
                made = to_jsonable_python(value)
            except Exception:  # a team's type may raise anything when it is read
                made = value
            if made is not value and type(made) is not type(value):
                return self.of(made, path, depth + 1)
        what = f"{_shown(path)} holds {type(value).__name__}"
        raise AssistantFault(f"{STATE}: {what}, which JSON cannot hold; give a text or a number instead")

    def _text(self, text: str) -> str:
        self._chars += len(text)
        if self._chars > MOST_CHARS:
            raise _too_many(f"{MOST_CHARS:,} characters")
        return self._scrub(clean(text))


def _too_many(most: str) -> AssistantFault:
    return AssistantFault(f"{STATE} gave more than {most}; give only what belongs to this user")


def _is_mapping(value: object) -> bool:
    # A row of SQLite has keys and is no Mapping. A class has the methods of its mappings.
    has_keys = hasattr(value, "keys") and hasattr(value, "__getitem__")
    return isinstance(value, Mapping) or (has_keys and not isinstance(value, type))


def _shown(path: str) -> str:
    return short_repr(path, 80)[1:-1]


def read_fields(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return which facts each field holds, from lines such as ``bookings.starts_at = date, time``.

    Raise `SpecError` for a line that cannot be read.
    """
    fields: dict[str, tuple[str, ...]] = {}
    for line in lines:
        field, equals, names = (part.strip() for part in line.partition("="))
        facts = tuple(name.strip() for name in names.split(","))
        if not (equals and _FIELD.fullmatch(field) and all(map(_FACT.fullmatch, facts))):
            raise SpecError(
                f"{STATE}: expected FIELD = FACT[, FACT], such as bookings.starts_at = date, time;"
                f" found {short_repr(line, 60)}"
            )
        if field in fields:
            raise SpecError(
                f"{STATE}: the field {field} stands there twice; leave one of the lines out", code="PL108"
            )
        fields[field] = facts
    return fields


def facts_at(leaf: Leaf, fields: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names or the types of the facts that a value holds, by the table of fields."""
    keys = leaf.keys
    for field, facts in fields.items():
        wanted = field.split(".")
        if len(wanted) == len(keys) and all(w in ("*", k) for w, k in zip(wanted, keys, strict=True)):
            return facts
    return ()


def stored_records(data: Mapping[str, Any]) -> tuple[StoredRecord, ...]:
    """Return the things that a state holds; a list of mappings in a thing holds things of its own."""
    return tuple(record for record in _records("", data) if record.leaves)


def _records(path: str, value: Any) -> Iterator[StoredRecord]:
    if isinstance(value, list):
        for n, one in enumerate(value):
            yield from _records(f"{path}[{n}]", one)
    elif not isinstance(value, dict):
        yield StoredRecord(path, (Leaf(path, value),))
    elif path and all(isinstance(one, dict) for one in value.values()):
        for key, one in value.items():
            yield from _records(f"{path}.{key}", one)
    else:
        leaves, apart = [], []
        for key, one in value.items():
            below = f"{path}.{key}" if path else key
            if isinstance(one, dict | list) and (not path or _holds_mappings(one)):
                apart.append((below, one))
            else:
                leaves += leaves_of(below, one)
        yield StoredRecord(path, tuple(leaves))
        for below, one in apart:
            yield from _records(below, one)


def _holds_mappings(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(one, dict) for one in value)
    return any(_holds_mappings(one) for one in value.values()) if isinstance(value, dict) else False


def leaves_of(path: str, value: Any) -> list[Leaf]:
    """Return the values within a value, each with its path."""
    if isinstance(value, dict):
        return [leaf for k, v in value.items() for leaf in leaves_of(f"{path}.{k}" if path else k, v)]
    if isinstance(value, list):
        return [leaf for n, v in enumerate(value) for leaf in leaves_of(f"{path}[{n}]", v)]
    return [Leaf(path, value)]


def state_difference(before: State | None, now: State | None) -> str:
    """Return where two states first differ, in a line; empty where they are the same."""
    if before == now:
        return ""
    if before is None:
        return f"it holds no state of the system, and {STATE} gives one now"
    if now is None:
        return f"it holds a state of the system, and no {STATE} gives one now"
    if before.fields != now.fields:
        return f"the table of fields ({STATE}) differs"
    old, new = (dict(leaves_of("", state.data)) for state in (before, now))
    path = next((p for p in (*new, *old) if old.get(p, ...) != new.get(p, ...)), "")
    return f"the state of the system differs at {_shown(path)}" if path else "the state of the system differs"
