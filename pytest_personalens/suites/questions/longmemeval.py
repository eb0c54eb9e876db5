"""Reads LongMemEval: questions over dated sessions, from a file of up to gigabytes with an index."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.facts import Clock, Session
from pytest_personalens.core.files.destinations import cache_folder, write_cached
from pytest_personalens.core.files.json_stream import JsonWindow, read_at
from pytest_personalens.core.files.jsonfile import Fields
from pytest_personalens.suites.questions.data import Row
from pytest_personalens.suites.questions.embedded_judge import is_short
from pytest_personalens.suites.questions.questions import ABSTAIN, Expected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_personalens.suites.questions.questions import Question

#: Raise this number if the present code would misread an old index, or would read the same file otherwise.
_FORMAT: Final = 2
_TYPES: Final = (
    "single-session-user", "single-session-assistant", "single-session-preference", "temporal-reasoning",
    "knowledge-update", "multi-session",
)  # fmt: skip
_RUBRIC: Final = "single-session-preference"
_UNANSWERABLE: Final = "_abs"
_DATE: Final = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?: \(\w+\))?(?: (\d{2}:\d{2}))?")
#: The fields of a message that tell where the answer is.
_GOLD: Final = ("has_answer",)


def open_rows(path: Path) -> tuple[str, list[Row], Callable[[Row, str], Question]]:
    """Return the digest of the file, its rows, and the reader of a question."""
    try:
        stamp = [path.stat().st_size, path.stat().st_mtime_ns]
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}", code="PL201") from None
    digest, entries = _load(path, stamp) or _build(path, stamp)
    rows = [Row(*row)._replace(domains=tuple(row[3]), place=tuple(row[4])) for row in entries]

    def read(row: Row, dataset: str) -> Question:
        start, size, number = row.place
        return _question(Fields(path, f"[{number}]", read_at(path, start, size)), row, dataset)

    return digest, rows, read


def _build(path: Path, stamp: list[int]) -> tuple[str, list[Any]]:
    """Read the file once, and store its index in the cache folder, without any text of it."""
    rows, seen = [], set[str]()
    try:
        with path.open("rb") as file:
            window = JsonWindow(path, file)
            if window.peek() != "[":
                raise window.error("expected a list of questions; it is no file of LongMemEval")
            for number, (start, size, value) in enumerate(window.array()):
                row = _row(Fields(path, f"[{number}]", value), (start, size, number))
                rows.append(row._replace(reason="duplicate") if row.item in seen else row)
                seen.add(row.item)
            if window.peek():
                raise window.error("there is more after its end")
            digest = window.hash.hexdigest()[:8]
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}", code="PL201") from None
    index = {"format": _FORMAT, "stamp": stamp, "digest": digest, "rows": rows}
    with suppress(OSError, RuntimeError):  # the second without a home folder
        write_cached(_index_file(path), json.dumps(index).encode("ascii"))
    return digest, rows


def _load(path: Path, stamp: list[int]) -> tuple[str, list[Any]] | None:
    try:
        index = json.loads(_index_file(path).read_bytes())
        if index["format"] == _FORMAT and index["stamp"] == stamp:
            return index["digest"], index["rows"]
    except (OSError, RuntimeError, ValueError, KeyError, TypeError):
        pass
    return None


def _index_file(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:16]
    return cache_folder() / f"longmemeval-{name}.index"


def _row(entry: Fields, place: tuple[int, int, int]) -> Row:
    """Return the row of an entry, every field of which is checked."""
    name, kind = entry.text("question_id"), entry.text("question_type")
    if kind not in _TYPES:
        raise entry.error("question_type", f"{kind!r} is no type of LongMemEval; known: {', '.join(_TYPES)}")
    unanswerable = name.endswith(_UNANSWERABLE)
    gold = _answer(entry)
    entry.text("question")
    _moment(entry, "question_date", entry.text("question_date"))
    names, of_answer = [file_name for file_name, _ in _sessions(entry)], entry.texts("answer_session_ids")
    since = next((n for n, session in enumerate(reversed(names)) if session in of_answer), None)
    # The id of a question tells that it has no answer, and those of sessions which of them holds the answer.
    return Row(
        user=f"q{hashlib.sha256(name.encode()).hexdigest()[:8]}",
        task="question",
        kind="answer",
        domains=(ABSTAIN,) if unanswerable else (kind,),
        place=place,
        item=name,
        reason="" if names else "no-history",
        needs_model=not unanswerable and (kind == _RUBRIC or not is_short(gold)),
        distance=None if unanswerable else since,
    )


def _answer(entry: Fields) -> str:
    return entry.text("answer", (str, int, float))


def _question(entry: Fields, row: Row, dataset: str) -> Question:
    day, time = _moment(entry, "question_date", entry.text("question_date"))
    return row.question(
        dataset,
        asks=entry.text("question"),
        sessions=tuple(session for _, session in _sessions(entry)),
        now=Clock(date=day, time=time or "12:00"),
        expected=Expected(answer=_answer(entry), rubric=_RUBRIC in row.domains),
    )


def _sessions(entry: Fields) -> Iterator[tuple[str, Session]]:
    """Yield the sessions in order of date, with ids of ours, each with its id in the file."""
    raw, dates = entry.values("haystack_sessions"), entry.texts("haystack_dates")
    ids = entry.texts("haystack_session_ids")
    for name, values in (("haystack_dates", dates), ("haystack_session_ids", ids)):
        if len(raw) != len(values):
            raise entry.error(name, f"{len(values)} of {len(raw)} sessions; each needs one")
    moments = [_moment(entry, f"haystack_dates[{number}]", date) for number, date in enumerate(dates)]
    said = [entry.messages(f"haystack_sessions[{n}]", messages, gold=_GOLD) for n, messages in enumerate(raw)]
    ordered = sorted(zip(moments, said, ids, strict=True), key=lambda session: session[0])
    for number, ((day, time), messages, name) in enumerate((one for one in ordered if one[1]), 1):
        yield name, Session(id=f"s{number}", date=day, time=time, messages=tuple(messages))


def _moment(entry: Fields, name: str, text: str) -> tuple[str, str]:
    match = _DATE.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        clock = Clock(date="-".join(match.groups()[:3]), time=match[4] or "00:00")
    except ValueError:
        raise entry.error(
            name, f"expected a date such as 2023/05/20 (Sat) 02:21, not {text[:40]!r}"
        ) from None
    return clock.date, clock.time if match[4] else ""
