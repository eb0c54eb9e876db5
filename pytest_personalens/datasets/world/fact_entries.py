"""Facts, lives, limits and dealings in the files of a dataset, and the past sessions that dealings make."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from pytest_personalens.core.facts import RANGE, Day, FactKind, Known, LimitKind, Session
from pytest_personalens.core.frozen import unchecked
from pytest_personalens.core.safe_text import slug
from pytest_personalens.datasets.world.dates import MONTHS
from pytest_personalens.datasets.world.written import ordinal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.facts import Clock, Thing


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("expected a text that is not empty")
    return text


#: A text that is not blank.
FilledText = Annotated[str, AfterValidator(_filled)]


class Entry(BaseModel):
    """Base of what the files hold: immutable, and strict about unknown fields.

    Files are checked when they are read, and those of the package when they are changed: a run that reads
    them alone builds no check.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, defer_build=True)


#: The fields of a fact from which its value may come.
_SOURCES: Final = ("value", "life", "preference", "draw", "code")


class FactEntry(Entry):
    """One fact of a task.

    Its values come from one place: `value` (a constant, a day in words such as ``Friday next week``, or
    another fact: ``@booking.time + 1 hour``), `life` (a field of the person's life), `preference` (a type
    of the task's domain, or ``Domain: Type``) or `draw` (one of a list, by digest). `open` lists what is
    right if the assistant may choose: values, ranges such as ``17:00 .. 22:00``, or ``*`` for any value.
    `not` is a value that is wrong all the same. `code` is a made-up reference.
    """

    kind: FactKind
    what: str = ""
    known: Known | None = None
    value: FilledText = ""
    life: FilledText = ""
    preference: FilledText = ""
    draw: tuple[FilledText, ...] = ()
    open: tuple[FilledText, ...] = ()
    code: bool = False
    excluded: FilledText = Field("", alias="not")
    examples: tuple[FilledText, ...] = ()
    pick: Literal[0, 1] = Field(0, description="1: one of the values counts, drawn by digest.")
    every: bool = Field(default=False, alias="all")
    wrong: tuple[FilledText, ...] = ()

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        fields = self.__dict__  # attributes of a model take longer, and a run reads hundreds of facts
        given = [n for n in _SOURCES if fields[n]]
        if len(given) > 1:
            raise ValueError(f"has {given[0]!r} and {given[1]!r}; a value comes from one place")
        if not given and not self.open:
            raise ValueError("a fact without a value: write value, life, preference, draw, code or open")
        if self.pick and self.every:
            raise ValueError("'pick' takes one value, 'all' takes all; leave out one of them")
        for value in self.open:
            first, dots, last = value.partition(RANGE)
            if not dots or "@" in value or self.kind not in ("count", "time", "duration", "money"):
                continue
            try:
                upside_down = ordinal(self.kind, first) > ordinal(self.kind, last)
            except (ValueError, AssertionError):
                raise ValueError(f"{value!r} is no range of the kind {self.kind}") from None
            if upside_down:
                raise ValueError(f"the range {value!r} is upside down")
        return self


class ThingEntry(Entry):
    """Something that exists before the dialogue, such as a booking.

    `has` holds its fields as facts. `record` says it in words, with a placeholder for each field. `other`
    holds the fields in which a second such thing differs.
    """

    kind: Literal["thing"]
    what: FilledText
    record: FilledText
    has: dict[str, FactEntry] = Field(min_length=1)
    other: dict[str, FilledText] = Field(default_factory=dict)
    domain: str = ""

    @model_validator(mode="after")
    def _known_fields(self) -> Self:
        for name in [*self.other, *re.findall(r"\{([\w.]+)", self.record)]:
            if name not in self.has:
                raise ValueError(f"no field {name!r} in 'has'; known: {', '.join(self.has)}")
        return self


def _in_the_calendar(value: str | tuple[str, ...]) -> str | tuple[str, ...]:
    try:
        dt.date.fromisoformat(f"2024-{value}")
    except ValueError:
        raise ValueError(f"{value!r} is no day of a year, such as 05-17") from None
    return value


def _sound_life(life: dict[str, str | tuple[str, ...]]) -> dict[str, str | tuple[str, ...]]:
    for name, value in life.items():
        if not (value.strip() if isinstance(value, str) else value and all(map(str.strip, value))):
            raise ValueError(f"{name!r} has no value")
    if "birthday" in life:
        _in_the_calendar(life["birthday"])
    return life


#: The people and places of a person, by name, from which facts of tasks come. `birthday` is MM-DD.
Life = Annotated[dict[str, str | tuple[str, ...]], AfterValidator(_sound_life)]


class LimitEntry(Entry):
    """What must never happen to a person.

    `words` show that it is broken; a limit that ``limits.toml`` knows by its name needs none. `told` holds
    words of which one stands in the history of each of its `domains`.
    """

    kind: LimitKind
    name: FilledText
    text: FilledText
    domains: tuple[str, ...] = Field(min_length=1)
    told: tuple[FilledText, ...] = Field(min_length=1)
    words: tuple[FilledText, ...] = ()


class DealingEntry(Entry):
    """One past dealing of a person with an assistant.

    `asked`, `answered` and `chose` are what the person and the assistant said. `noted` sums it up in the
    third person, with ``{date}`` where the day belongs.
    """

    date: Day
    device: str = ""
    asked: FilledText
    answered: FilledText
    chose: FilledText
    noted: FilledText

    @field_validator("noted")
    @classmethod
    def _dated(cls, value: str) -> str:
        if value.count("{date}") != 1:
            raise ValueError("expected '{date}' once, where the day of the dealing belongs")
        return value


class HistoryEntry(Entry):
    """One file of ``histories/``: what a person and an assistant did in one domain."""

    notes: tuple[FilledText, ...] = Field((), max_length=3)
    dealings: tuple[DealingEntry, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        dates = [d.date for d in self.dealings]
        for number, (one, next_one) in enumerate(itertools.pairwise(dates), 2):
            if next_one <= one:
                raise ValueError(f"dealing {number} of {next_one} does not lie after the one of {one}")
        return self


class LimitWords(Entry):
    """The file ``limits.toml``: the name of a limit -> the words that show that it is broken."""

    words: dict[str, Annotated[tuple[FilledText, ...], Field(min_length=1)]]


#: How long before a scenario its existing things were arranged.
_ARRANGED: Final = 4
_SIDES: Final = ("user", "assistant")


def summary(history: HistoryEntry) -> str:
    """Return what an assistant remembers: dealings by date, then notes, with the year where it changes."""
    texts = []
    last = ""
    for dealing in history.dealings:
        year, month, day = dealing.date.split("-")
        said = f"{int(day)} {MONTHS[int(month) - 1]}"
        texts.append(dealing.noted.replace("{date}", said if year == last else f"{said} {year}"))
        last = year
    return " ".join(" ".join([*texts, *history.notes]).split())


def sessions(domain: str, history: HistoryEntry) -> tuple[Session, ...]:
    """Return the conversations that the summary sums up."""
    return tuple(
        past_session(domain, d.date, d.device, d.asked, d.answered, d.chose) for d in history.dealings
    )


def past_session(domain: str, date: str, device: str, *said: str, mark: str = "") -> Session:
    """Return a conversation of a day, in which the user and the assistant `said` this in turn.

    `mark` is the end of its id. The texts are checked already.
    """
    messages = tuple([{"role": _SIDES[n % 2], "content": text} for n, text in enumerate(said)])
    id_ = f"{slug(domain)}-{date}{mark}"
    return unchecked(Session, id=id_, date=date, domain=domain, device=device, time="", messages=messages)


def records_sentence(domain: str, things: Sequence[Thing]) -> str:
    """Return the sentence of a summary that says which things of a domain exist, or an empty text."""
    own = [thing for thing in things if thing.domain == domain]
    records = [record for thing in own for record in (thing.record, thing.other) if record]
    return f"On file now: {'; '.join(records)}." if records else ""


def arrangement_sessions(domain: str, things: Sequence[Thing], now: Clock) -> tuple[Session, ...]:
    """Return the conversation in which the things of a domain were put on file."""
    said = records_sentence(domain, things)
    if not said:
        return ()
    day = dt.date.fromisoformat(now.date) - dt.timedelta(days=_ARRANGED)
    asked = "What do you have on file for me at the moment?"
    return (past_session(domain, day.isoformat(), "", asked, said, mark="-file"),)
