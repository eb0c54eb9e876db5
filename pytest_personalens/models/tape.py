"""The tape: the answers of models and agents, so that nothing that was paid for is asked again."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from pytest_personalens.core.errors import JudgeFault, RecordError
from pytest_personalens.core.judging.usage import Usage
from pytest_personalens.core.safe_text import make_redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

Answer = TypeVar("Answer")
Key = tuple[str, int, tuple[tuple[str, str], ...]]
#: The role of the rows that hold what the assistant under test said; only a resumed run uses them.
UNDER_TEST: Final = "assistant under test"
#: The counts of tokens: their names in a row, and the fields of an answer and of `Usage`.
TOKENS: Final = {name: f"{name}_tokens" for name in ("input", "output", "cached", "written")}


class Row(NamedTuple):
    """One answer: who was asked, what, for the how many-th time, and what it cost.

    `asked` holds the name of the model or agent, and short digests of all that it was sent, by part. `number`
    counts, from 1, the times that one evaluation asks the very same: two votes are two answers. `tokens`
    holds the counts that are not zero, and is None if no model was asked. `fault` says why a judge gave no
    verdict. `run` and `item` say who bought it, in the log of calls only.
    """

    role: str
    asked: Mapping[str, str]
    answer: Any
    number: int = 1
    tokens: Mapping[str, int] | None = None
    fault: str = ""
    run: str = ""
    item: str = ""

    @property
    def key(self) -> Key:
        """What makes it the answer to a question; the case is that of the record or the log."""
        return self.role, self.number, tuple(sorted(self.asked.items()))

    @property
    def usage(self) -> Usage:
        """What the answer cost, whenever that was."""
        if self.tokens is None:
            return Usage()
        return Usage(calls=1, **{field: self.tokens.get(name, 0) for name, field in TOKENS.items()})

    def data(self) -> dict[str, Any]:
        """Return plain data for JSON, without the fields that say nothing."""
        data = self._asdict()
        left_out = {"number": 1, "tokens": None, "fault": "", "run": "", "item": ""}
        return {name: v for name, v in data.items() if name not in left_out or v != left_out[name]}


def read_row(data: Any) -> Row:
    """Return the row in plain data; raise `ValueError` or `TypeError` if there is none."""
    row = Row(**data)
    if not isinstance(row.role, str) or not isinstance(row.asked, dict) or type(row.number) is not int:
        raise ValueError("no call: expected a role and what was asked")
    return row


def part_digest(part: object) -> str:
    """Return a short digest of one part of a question, of plain JSON values."""
    text = part if isinstance(part, str) else _ENCODER.encode(part)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


#: `json.dumps` would make a new encoder at every call.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)


class Calls(Protocol):
    """The calls of a case that are kept at once, whoever made them."""

    @property
    def file(self) -> Path | str:
        """Where they are kept."""

    def find(self, key: Key) -> Row | None:
        """Return the answer to a question, or None."""

    def append(self, row: Row) -> None:
        """Keep an answer, or raise `OSError`."""

    def check_room(self) -> None:
        """Raise `OSError` if the next answer could not be kept."""

    def alone(self, key: Key, before: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context in which nobody else buys the answer."""


class TapeRules(NamedTuple):
    """What a run may do with answers; `where` names the record in errors.

    Under `anew`, only answers that this `run` bought for the case are used. `keeps_all` keeps the answers of
    agents that cost nothing too, so that another run can go on from them. `writes` says that a record will be
    made of the answers.
    """

    where: str = ""
    may_spend: bool = True
    anew: bool = False
    keeps_all: bool = False
    writes: bool = False
    run: str = ""
    item: str = ""


NO_RULES: Final = TapeRules()


class Tape:
    """The answers of one evaluation of a case: those that are known, and those that are bought now.

    A question is answered by the `record` of the item, then by the log of `calls`, then, if it costs money,
    by the records `elsewhere`. Otherwise it is asked, and the answer is in the log before it is used.
    `before` runs ahead of each question and may refuse it. `unkept` is told of an answer that cannot be kept.
    `why_stale` says, for a role and what it is asked, why the record does not answer.

    Several threads may ask at the same time, each for a role of its own.
    """

    def __init__(
        self,
        rules: TapeRules = NO_RULES,
        *,
        record: Iterable[Row] = (),
        calls: Calls | None = None,
        elsewhere: Callable[[], Iterable[Row]] = tuple,
        before: Callable[[], None] = lambda: None,
        unkept: Callable[[RecordError], None] = lambda error: None,
        why_stale: Callable[[str, Mapping[str, str], Any], str] = lambda role, asked, heard: "",
    ) -> None:
        self.rules = rules
        self._record = {} if rules.anew else {row.key: row for row in record}
        self._calls, self._find_elsewhere = calls, elsewhere
        self._before, self._unkept, self._why_stale = before, unkept, why_stale
        self._asked: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
        self._elsewhere: dict[Key, Row] | None = None
        self._used: list[Row] = []
        self._lock = threading.Lock()
        self._scrub: Callable[[str], str] | None = None
        #: What the agents have heard so far: the transcript, or the dialogue that is judged.
        self.heard: Any = None
        #: How many questions each role has asked, and how many of them were put to its model or agent now.
        self.asked: Counter[str] = Counter()
        self.bought: Counter[str] = Counter()
        #: What earlier parts of this run spent on this item, by role.
        self.spent: dict[str, Usage] = {}

    @property
    def rows(self) -> list[Row]:
        """The answers so far, by role and in the order of the questions, without who bought them."""
        with self._lock:
            rows = [row._replace(run="", item="") for row in self._used if row.role != UNDER_TEST]
        return sorted(rows, key=lambda row: row.role)

    def ask(
        self,
        role: str,
        asked: Mapping[str, str],
        buy: Callable[[], Answer],
        *,
        paid: bool,
        write: Callable[[Answer], Any],
        read: Callable[[Any], Answer],
        tokens: Callable[[Answer], Mapping[str, int] | None] = lambda answer: None,
    ) -> Answer:
        """Return the answer that is known, or that of `buy`, which is kept as plain data by `write`.

        Raise `RecordError` if the question costs money and the run may not spend, or if the answer cannot be
        kept.
        """
        question = role, tuple(sorted(asked.items()))
        with self._lock:
            self._asked[question] += 1
            self.asked[role] += 1
            key = role, self._asked[question], question[1]
        for row in self._known(key, paid=paid):
            if row.fault and (self.rules.may_spend or not paid):
                continue  # the judge is asked again
            if row.fault:
                self._use(row)
                raise JudgeFault(row.fault)
            with suppress(ValueError, TypeError, KeyError):  # an answer of another version
                answer = read(row.answer)
                self._use(row)
                return answer
        if paid and not self.rules.may_spend:
            raise RecordError(self._refusal(role, asked))

        def bought() -> Answer:
            self.bought[role] += 1
            try:
                answer = buy()
            except JudgeFault as fault:
                self._use(Row(role, asked, None, key[1], fault=str(fault)))
                raise
            row = Row(role, asked, write(answer), key[1], tokens(answer))
            self._use(row if self._calls is None else self._keep(row, paid=paid))
            return answer

        self._before()
        if self._calls is None or not paid:
            return bought()
        try:
            self._calls.check_room()
        except OSError as error:
            raise self._stopped(error) from None
        with self._calls.alone(key, self._before):
            # Another thread or process may have bought it meanwhile.
            if (other := self._calls.find(key)) is not None:
                with suppress(ValueError, TypeError, KeyError):
                    answer = read(other.answer)
                    self._use(other)
                    return answer
            return bought()

    def note(self, role: str, asked: Mapping[str, str], answer: Any) -> None:
        """Keep something that was said for a run that goes on from here; it answers no question of this one.

        Raise `RecordError` if it cannot be kept.
        """
        if self._calls is not None:
            self._keep(Row(role, asked, answer), paid=False)

    def noted(self, role: str, asked: Mapping[str, str]) -> Any:
        """Return what an earlier part of this run noted for the item, or None."""
        row = self._calls.find(Row(role, asked, None).key) if self._calls is not None else None
        return row.answer if row is not None and self._is_own(row) else None

    def scrub(self, value: Any) -> Any:
        """Return plain data with ``***`` for every secret that this process knows."""
        if self._scrub is None:
            self._scrub = make_redactor()
        if isinstance(value, str):
            return self._scrub(value)
        if isinstance(value, dict):
            return {name: self.scrub(v) for name, v in value.items()}
        return [self.scrub(v) for v in value] if isinstance(value, (list, tuple)) else value

    def _known(self, key: Key, *, paid: bool) -> Iterable[Row]:
        recorded = self._record.get(key)
        # A run that goes on from an interrupted one counts what that has paid.
        of_this_run = recorded is None or self.rules.keeps_all
        logged = self._calls.find(key) if self._calls is not None and of_this_run else None
        if recorded is not None:
            yield logged if logged is not None and self._is_own(logged) else recorded
        if logged is not None:
            yield logged
        if paid and not self.rules.anew:
            if self._elsewhere is None or key not in self._elsewhere:
                # Searched anew, because a test of this run may have just written one.
                self._elsewhere = {row.key: row for row in self._find_elsewhere()}
            if (row := self._elsewhere.get(key)) is not None:
                yield row

    def _use(self, row: Row) -> None:
        with self._lock:
            self._used.append(row)
            if row.tokens is not None and self._is_own(row):
                self.spent[row.role] = self.spent.get(row.role, Usage()) + row.usage

    def _is_own(self, row: Row) -> bool:
        """True if this run bought it for this item: before it was interrupted, or set the item up again."""
        return bool(row.run) and (row.run, row.item) == (self.rules.run, self.rules.item)

    def _keep(self, row: Row, *, paid: bool) -> Row:
        assert self._calls is not None
        if paid or self.rules.keeps_all:
            try:
                self._calls.append(row._replace(run=self.rules.run, item=self.rules.item))
            except OSError as error:
                raise self._stopped(error) from None
        return row

    def _stopped(self, error: OSError) -> RecordError:
        assert self._calls is not None
        problem = unkept(self._calls, error)
        self._unkept(problem)
        return problem

    def _refusal(self, role: str, asked: Mapping[str, str]) -> str:
        why = self._why_stale(role, asked, self.heard) if self._record else ""
        state = f"is stale ({why})" if self._record else "is missing"
        return f"{self.rules.where}: the record {state}; {ADVICE}"


def unkept(calls: Calls, error: OSError) -> RecordError:
    """Return the error that ends all buying, because an answer could not be kept."""
    why = error.strerror or error
    return RecordError(
        f"{calls.file}: what was bought cannot be kept: {why}; make room or remove it, and run again"
    )


#: The advice to a user about a record that does not fit.
ADVICE: Final = "record it with --personalens-record new"
