"""Reads the benchmarks: PrefEval, LongMemEval and PersonaMem-v2, each in the layout of its own files.

A reader checks every field of a file before a run, and returns a digest, the rows without their histories,
and a function that reads the whole question of a row.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import io
import json
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.facts import Clock, Session
from pytest_personalens.core.files.destinations import read_cached, store_cached
from pytest_personalens.core.files.jsonfile import Fields, JsonWindow, read_at
from pytest_personalens.datasets.dataset import parse_file
from pytest_personalens.suites.questions.questions import ABSTAIN, Expected, Row, is_short, offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_personalens.suites.questions.questions import Question

#: Name of a benchmark -> its options, each with its values; the first is the default. N,N is numbers.
FORMATS: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "prefeval": {"form": ("explicit", "choice-based", "persona-driven", "mcq"), "distance": ("10", "N,N")},
    "longmemeval": {},
    "personamem": {"tokens": ("32k", "128k")},
}
#: A digest, the rows, and the reader of the whole question of a row in a dataset.
Opened = tuple[str, list[Row], "Callable[[Row, str], Question]"]


def open_benchmark(spec: str, base: Path) -> tuple[str, Opened]:
    """Return the questions of a benchmark by a spec such as ``prefeval:DIR?distance=10``, with their name.

    Raise `DataError` for a bad file, and `SpecError` for a bad spec.
    """
    name, _, rest = spec.partition(":")
    if name not in FORMATS or not rest:
        raise SpecError(
            f"--personalens-data {spec}: expected embedded, prefeval:DIR, longmemeval:FILE or personamem:DIR"
        )
    text, _, query = rest.partition("?")
    options = {key: values[0] for key, values in FORMATS[name].items()}
    for key, value in parse_qsl(query, keep_blank_values=True):
        allowed = FORMATS[name].get(key)
        if allowed is None:
            known = f"known: {', '.join(options)}" if options else "it has none"
            raise SpecError(f"--personalens-data {spec}: unknown option {key!r} of {name}; {known}")
        if value not in allowed and not ("N,N" in allowed and all(map(str.isdecimal, value.split(",")))):
            wanted = "whole numbers, such as 0,10" if "N,N" in allowed else f"one of {', '.join(allowed)}"
            raise SpecError(f"--personalens-data {spec}: {key}: expected {wanted}, not {value!r}")
        options[key] = value
    try:
        path = base / Path(text).expanduser()
    except RuntimeError as error:
        raise SpecError(f"--personalens-data {spec}: {error}") from None
    told = "&".join(f"{key}={value}" for key, value in options.items())
    return f"{name}?{told}" if told else name, _OPEN[name](path, **options)


def _read_json(file: Path) -> Any:
    return parse_file(file, "JSON", lambda path: json.loads(path.read_text(encoding="utf-8-sig")))


def _read_list(file: Path, expected: str) -> list[Any]:
    if not isinstance(entries := _read_json(file), list):
        raise DataError(file, expected)
    return entries


#: PrefEval: the folder of each form, and the file of the exchanges between a preference and its question.
_FOLDERS: Final = {
    "explicit": "explicit_preference",
    "choice-based": "implicit_preference/choice-based",
    "persona-driven": "implicit_preference/persona-driven",
    "mcq": "mcq_options",
}
_OTHERS: Final = "filtered_inter_turns.json"
#: Our words for the assistant that was told a preference; in the benchmark a model writes them.
_ACKNOWLEDGED: Final = "Thank you, I will keep that in mind."


def _open_prefeval(path: Path, *, form: str, distance: str) -> Opened:
    """Read a preference, a number of other exchanges, and a question that it bears on, at each distance."""
    root = path / "benchmark_dataset" if (path / "benchmark_dataset").is_dir() else path
    folder = root / _FOLDERS[form]
    files = sorted(folder.glob("*.json"))
    if not path.is_dir():
        problem = "no such folder; give that of PrefEval, with benchmark_dataset/ in it"
        raise DataError(path, problem, code="PL201")
    if not files:
        problem = "no topic is there; give the folder of PrefEval with benchmark_dataset/ in it"
        raise DataError(folder, problem, code="PL203")
    far = sorted({int(number) for number in distance.split(",")})
    between = _exchanges(root / _OTHERS, far[-1]) if far[-1] else []
    content = cache(lambda file: _read_list(file, "expected a list of questions; it is no topic of PrefEval"))

    def read(row: Row, dataset: str) -> Question:
        file, number = row.place
        entry = Fields(file, f"[{number}]", content(file)[number])
        told, asks, expected = _preference(entry, form, row.item)
        said = (*told, *between[: 2 * (row.distance or 0)])
        messages = tuple({"role": role, "content": text} for role, text in said)
        session = Session(id="s1", messages=messages)
        return row.question(dataset, asks=asks, sessions=(session,), expected=expected)

    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:8]
    return digest, [row for file in files for row in _prefeval_rows(file, content(file), form, far)], read


def _prefeval_rows(file: Path, entries: Sequence[Any], form: str, far: Sequence[int]) -> Iterator[Row]:
    seen = set()
    for number, raw in enumerate(entries):
        entry, item = Fields(file, f"[{number}]", raw), f"{file.name} [{number}]"
        _preference(entry, form, item)
        told = entry.text("preference"), entry.text("question")
        for exchanges in far:
            yield Row(
                user=f"{file.stem}-{number + 1}",
                task=form if len(far) == 1 else f"{form}-{exchanges}",
                kind="choice" if form == "mcq" else "pref",
                domains=(file.stem,),
                place=(file, number),
                item=item,
                reason="duplicate" if told in seen else "",
                needs_model=form != "mcq",
                distance=exchanges,
            )
        seen.add(told)


def _preference(entry: Fields, form: str, key: str) -> tuple[list[tuple[str, str]], str, Expected]:
    """Return how the preference is told, as (role, content), what is asked then, and what is right."""
    preference, asks = entry.text("preference"), entry.text("question")
    expected = Expected(answer=preference)
    if form == "mcq":
        options = entry.texts("classification_task_options", 2)
        if len(set(options)) < len(options):
            raise entry.error("classification_task_options", "an option is there twice")
        asks, expected = offer(asks, options, key)
    if form in ("explicit", "mcq"):
        return [("user", preference), ("assistant", _ACKNOWLEDGED)], asks, expected
    if form == "choice-based" and entry.text("aligned_op") not in entry.texts("options", 2):
        raise entry.error("aligned_op", "the right option is not among the options")
    talk = entry.inner("conversation")
    if form == "choice-based":
        names = ("query", "assistant_options", "user_selection", "assistant_acknowledgment")
        told = [("assistant" if "assistant" in name else "user", talk.text(name)) for name in names]
    else:
        turns = [talk.inner(name) for name in sorted(talk.items(), key=lambda name: (len(name), name))]
        told = [(role, turn.text(role)) for turn in turns for role in ("user", "assistant")]
    return told, asks, expected


def _exchanges(file: Path, number: int) -> list[tuple[str, str]]:
    """Return the first messages of other conversations, a user's and a reply for each exchange."""
    talks = _read_list(file, "expected a list of conversations")
    found = [
        message
        for place, talk in enumerate(talks)
        for entry in [Fields(file, f"[{place}]", talk)]
        for message in entry.messages("conversation", entry.values("conversation"))
    ]
    if len(found) < 2 * number:
        raise SpecError(
            f"--personalens-data prefeval: distance={number}: {file.name} has {len(found) // 2} exchanges;"
            " give less"
        )
    return [(message["role"], message["content"]) for message in found[: 2 * number]]


#: LongMemEval: raise this number if the present code would misread an old index, or read the same file
#: otherwise.
_INDEX: Final = 2
#: LongMemEval: the types, the one whose answer is a rubric, and the end of ids without an answer.
_TYPES: Final = (
    "single-session-user", "single-session-assistant", "single-session-preference", "temporal-reasoning",
    "knowledge-update", "multi-session",
)  # fmt: skip
_RUBRIC: Final = "single-session-preference"
_UNANSWERABLE: Final = "_abs"
_DATE: Final = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?: \(\w+\))?(?: (\d{2}:\d{2}))?")
#: The fields of a message that tell where the answer is.
_GOLD: Final = ("has_answer",)


def _open_longmemeval(path: Path) -> Opened:
    """Read questions over dated sessions, from a file of up to gigabytes with an index."""
    try:
        stamp = [path.stat().st_size, path.stat().st_mtime_ns]
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}", code="PL201") from None
    digest, entries = _stored_index(path, stamp) or _build_index(path, stamp)
    rows = [Row(*row)._replace(domains=tuple(row[3]), place=tuple(row[4])) for row in entries]

    def read(row: Row, dataset: str) -> Question:
        start, size, number = row.place
        entry = Fields(path, f"[{number}]", read_at(path, start, size))
        day, time = _moment(entry, "question_date", entry.text("question_date"))
        return row.question(
            dataset,
            asks=entry.text("question"),
            sessions=tuple(session for _, session in _sessions(entry)),
            now=Clock(date=day, time=time or "12:00"),
            expected=Expected(answer=_answer(entry), rubric=_RUBRIC in row.domains),
        )

    return digest, rows, read


def _build_index(path: Path, stamp: list[int]) -> tuple[str, list[Any]]:
    """Read the file once, and store its index in the cache folder, without any text of it."""
    rows, seen = [], set[str]()
    try:
        with path.open("rb") as file:
            window = JsonWindow(path, file)
            if window.peek() != "[":
                raise window.error("expected a list of questions; it is no file of LongMemEval")
            for number, (start, size, value) in enumerate(window.array()):
                row = _longmemeval_row(Fields(path, f"[{number}]", value), (start, size, number))
                rows.append(row._replace(reason="duplicate") if row.item in seen else row)
                seen.add(row.item)
            if window.peek():
                raise window.invalid("there is more after its end")
            digest = window.hash.hexdigest()[:8]
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}", code="PL201") from None
    index = {"format": _INDEX, "stamp": stamp, "digest": digest, "rows": rows}
    store_cached("longmemeval", (path,), json.dumps(index).encode("ascii"))
    return digest, rows


def _stored_index(path: Path, stamp: list[int]) -> tuple[str, list[Any]] | None:
    try:
        index = json.loads(read_cached("longmemeval", (path,)) or b"")
        if index["format"] == _INDEX and index["stamp"] == stamp:
            return index["digest"], index["rows"]
    except (ValueError, KeyError, TypeError):
        pass
    return None


def _longmemeval_row(entry: Fields, place: tuple[int, int, int]) -> Row:
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


#: PersonaMem-v2: the table, the column that names a history, and those that are needed.
_TABLE: Final = "benchmark/text/benchmark.csv"
_LINK: Final = "chat_history_{}_link"
_NEEDED: Final = ("persona_id", "user_query", "correct_answer", "incorrect_answers", "pref_type")
#: A history has some 100 kB, and a person has about 25 questions.
_KEPT: Final = 16


def _open_personamem(path: Path, *, tokens: str) -> Opened:
    """Read a user's message with several replies, of which one fits what the user has told."""
    file = path / _TABLE
    if not file.is_file():
        problem = "no such file; give the folder of PersonaMem-v2, with benchmark/ and data/ in it"
        raise DataError(file, problem, code="PL201")
    content = parse_file(file, "CSV", lambda found: found.read_bytes())
    rows, link = [], _LINK.format(tokens)
    for number, raw in enumerate(_table(file, content, tokens), 1):
        row = Fields(file, f"row {number}", raw)
        distance = _distance(row, f"distance_from_related_snippet_to_query_{tokens}")
        rows.append(_personamem_row(row, number, _history_file(path, str(raw[link]).strip()), distance))
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


def _personamem_row(entry: Fields, number: int, link: Path | None, distance: int | None) -> Row:
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
    content = Fields(link, "", _read_json(link))
    name = "chat_history" if "chat_history" in content.items() else "conversations"
    messages = content.messages(name, content.items().get(name), roles=("user", "assistant", "system"))
    profile = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    said = tuple(message for message in messages if message["role"] != "system")
    return profile, Session(id="s1", messages=said)


#: Name of a benchmark -> its reader.
_OPEN: Final[Mapping[str, Callable[..., Opened]]] = {
    "prefeval": _open_prefeval,
    "longmemeval": _open_longmemeval,
    "personamem": _open_personamem,
}
