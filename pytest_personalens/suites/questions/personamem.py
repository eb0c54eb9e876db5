"""Reads PersonaMem-v2: a user's message with several replies, of which one fits what the user has told."""

from __future__ import annotations

import ast
import csv
import hashlib
import io
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.facts import Session
from pytest_personalens.core.files.jsonfile import Fields
from pytest_personalens.datasets.base import parse_file
from pytest_personalens.suites.questions.data import FORMATS, Row, read_json
from pytest_personalens.suites.questions.questions import offer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_personalens.suites.questions.questions import Question

_TABLE: Final = "benchmark/text/benchmark.csv"
_LINK: Final = "chat_history_{}_link"
_NEEDED: Final = ("persona_id", "user_query", "correct_answer", "incorrect_answers", "pref_type")
#: A history has some 100 kB, and a person has about 25 questions.
_KEPT: Final = 16


def open_rows(path: Path, *, tokens: str) -> tuple[str, list[Row], Callable[[Row, str], Question]]:
    """Return the digest of the table, its rows, and the reader of a question."""
    file = path / _TABLE
    if not file.is_file():
        raise DataError(
            file,
            "no such file; give the folder of PersonaMem-v2, with benchmark/ and data/ in it",
            code="PL201",
        )
    content = parse_file(file, "CSV", lambda found: found.read_bytes())
    rows, link = [], _LINK.format(tokens)
    for number, raw in enumerate(_table(file, content, tokens), 1):
        row = Fields(file, f"row {number}", raw)
        distance = _distance(row, f"distance_from_related_snippet_to_query_{tokens}")
        rows.append(_row(row, number, _history_file(path, str(raw[link]).strip()), distance))
    history = lru_cache(_KEPT)(_history)

    def read(row: Row, dataset: str) -> Question:
        raw, number, link = row.place
        entry = Fields(file, f"row {number}", raw)
        asks, expected = offer(_query(entry), [entry.text("correct_answer"), *_wrong(entry)], row.item)
        profile, session = history(link)
        return row.question(dataset, asks=asks, sessions=(session,), profile=profile, expected=expected)

    return hashlib.sha256(content).hexdigest()[:8], rows, read


def _table(file: Path, content: bytes, tokens: str) -> list[dict[str, Any]]:
    """Return the rows of the table, which has the columns that are needed, and histories of that length."""
    try:
        reader = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        rows, names = list(reader), reader.fieldnames or ()
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(file, f"not valid CSV: {error}", code="PL205") from None
    if missing := [name for name in _NEEDED if name not in names]:
        raise DataError(file, "the column is missing; it is no table of PersonaMem-v2", field=missing[0])
    lengths = FORMATS["personamem"]["tokens"]
    named = [n for n in lengths if any((row.get(_LINK.format(n)) or "").strip() for row in rows)]
    if rows and tokens not in named:
        what = f"give tokens={named[0]}" if named else "get the split `benchmark`"
        problem = f"no row names a history of {tokens} tokens; {what}"
        raise DataError(file, problem, field=_LINK.format(tokens))
    return rows


def _distance(entry: Fields, name: str) -> int | None:
    """Return the tokens since the preference was said; 0 stands for one that was not found."""
    text = str(entry.items().get(name) or "").strip()
    try:
        return int(float(text)) or None if text else None
    except (ValueError, OverflowError):
        raise entry.error(name, f"expected a number of tokens, not {text[:40]!r}") from None


def _row(entry: Fields, number: int, link: Path | None, distance: int | None) -> Row:
    person, kind = entry.text("persona_id"), entry.text("pref_type")
    _query(entry)
    right, wrong = entry.text("correct_answer"), _wrong(entry)
    if right in wrong or len(set(wrong)) < len(wrong):
        raise entry.error("incorrect_answers", "an option is there twice, or is the right one")
    raw = entry.items()
    flags = {"updated": "updated", "sensitive_info": "sensitive"}
    slices = [told for name, told in flags.items() if str(raw.get(name)).strip().lower() == "true"]
    who = str(raw.get("who") or "self").strip()
    domains = dict.fromkeys([kind, *slices, *([] if who == "self" else ["somebody-else"])])
    return Row(
        user=f"persona-{person}",
        task=f"row-{number}",
        kind="choice",
        domains=tuple(domains),
        place=(raw, number, link),
        item=f"row {number}",
        reason="no-history" if link is None else "" if wrong else "no-wrong-answer",
        distance=distance,
    )


def _history_file(root: Path, link: str) -> Path | None:
    """Return the file that a row names, or None if it is not there, or not below the folder."""
    try:
        file = root / link
        return file if file.is_file() and file.resolve().is_relative_to(root.resolve()) else None
    except (OSError, RuntimeError, ValueError):  # no name of a file, or a loop of links
        return None


def _query(entry: Fields) -> str:
    """Return the user's message, which the table holds as a literal of Python."""
    text = entry.text("user_query")
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        what = "JSON" if _is_json(text) else "neither that nor JSON"
        raise entry.error(
            "user_query", f"expected a literal of Python, such as {{'role': 'user', ...}}; it is {what}"
        ) from None
    message = Fields(entry.file, f"{entry.place}.user_query", value)
    return message.text("content")


def _wrong(entry: Fields) -> list[str]:
    """Return the wrong replies, which the table holds as a list in JSON."""
    text = str(entry.items().get("incorrect_answers") or "").strip() or "[]"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        what = "a literal of Python" if text.startswith("['") else "not valid JSON"
        raise entry.error("incorrect_answers", f"expected a list of texts in JSON; it is {what}") from None
    return Fields(entry.file, entry.place, {"incorrect_answers": value}).texts("incorrect_answers")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _history(link: Path) -> tuple[str, Session]:
    """Return what the history tells an assistant of the user, and its conversation."""
    content = Fields(link, "", read_json(link))
    name = "chat_history" if "chat_history" in content.items() else "conversations"
    messages = content.messages(name, content.items().get(name), roles=("user", "assistant", "system"))
    profile = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    said = tuple(message for message in messages if message["role"] != "system")
    return profile, Session(id="s1", messages=said)
