"""JSON files: with a version, which one run writes and another reads, as lines, and of any size."""

from __future__ import annotations

import codecs
import datetime as dt
import errno
import hashlib
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from pytest_personalens.core.errors import DataError, short_repr
from pytest_personalens.core.files.links import leads_out
from pytest_personalens.core.frozen import clean

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

#: How files begin that hold no text, what they are, and what to do.
_BINARY: Final = (
    (b"PAR1", "a Parquet file", "duckdb -c \"COPY (FROM '{name}') TO '{stem}.jsonl'\""),
    (b"\x1f\x8b", "compressed by gzip", "gunzip {name}"),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard", "unzstd {name}"),
    (b"PK\x03\x04", "a zip archive", "unzip {name}"),
)  # fmt: skip
_NO_SPACE: Final = re.compile(r"\S")
_SIDES: Final = ("user", "assistant")


class Fields:
    """The fields of one object at a `place` of a file, such as ``[3]``; its errors are `DataError`."""

    def __init__(self, file: Path, place: str, value: object) -> None:
        self.file, self.place = file, place
        if not isinstance(value, dict):
            raise DataError(file, f"expected an object, not {type(value).__name__}", field=place)
        self._data: Mapping[str, Any] = value

    def error(self, name: str, problem: str) -> DataError:
        return DataError(self.file, problem, field=f"{self.place}.{name}" if self.place else name)

    def text(self, name: str, kind: type | tuple[type, ...] = str) -> str:
        """Return a text that is not empty, or a value of another `kind` as a text."""
        value = self._data.get(name)
        if not isinstance(value, kind) or isinstance(value, bool) or not str(value).strip():
            raise self.error(name, f"expected a text, not {_shown(value)}")
        return clean(str(value)).strip()

    def values(self, name: str, least: int = 0) -> list[Any]:
        value = self._data.get(name)
        if not isinstance(value, list) or len(value) < least:
            wanted = f"a list of {least} or more" if least else "a list"
            raise self.error(name, f"expected {wanted}, not {_shown(value)}")
        return value

    def texts(self, name: str, least: int = 0) -> list[str]:
        values = self.values(name, least)
        if not all(isinstance(value, str) and value.strip() for value in values):
            raise self.error(name, "expected texts that are not empty")
        return [clean(value).strip() for value in values]

    def inner(self, name: str) -> Fields:
        return Fields(self.file, f"{self.place}.{name}" if self.place else name, self._data.get(name))

    def items(self) -> Mapping[str, Any]:
        return self._data

    def messages(
        self, name: str, value: object, *, roles: Collection[str] = _SIDES, gold: Collection[str] = ()
    ) -> list[dict[str, str]]:
        """Return messages with nothing but role and content.

        Fields in `gold` are left out, and any other field is an error: it may tell the answer.
        """
        messages = []
        if not isinstance(value, list):
            raise self.error(name, f"expected a list of messages, not {_shown(value)}")
        for number, raw in enumerate(value):
            message = Fields(self.file, f"{self.place}.{name}[{number}]".lstrip("."), raw)
            content, role = (message._data.get(field) for field in ("content", "role"))
            if not isinstance(role, str) or role not in roles:
                raise message.error("role", f"expected {' or '.join(roles)}, not {_shown(role)}")
            if not isinstance(content, str):
                raise message.error("content", f"expected a text, not {_shown(content)}")
            if other := sorted(message._data.keys() - {"role", "content", *gold}):
                raise message.error(other[0], "a message of a history has role and content only; take it out")
            messages.append({"role": role, "content": clean(content)})
        return messages


def _shown(value: object) -> str:
    return "nothing" if value in (None, "", []) else f"{value!r:.60}"


_Model = TypeVar("_Model", bound=BaseModel)
#: A kind of problem that pydantic finds -> our words, for somebody who writes TOML or JSON.
_WORDS: Final = {
    **dict.fromkeys(("tuple_type", "list_type"), "expected a list, not {given}"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "expected a table, not {given}"),
    "string_type": "expected a text, not {given}",
    **dict.fromkeys(("int_type", "int_parsing"), "expected a whole number, not {given}"),
    **dict.fromkeys(("float_type", "float_parsing"), "expected a number, not {given}"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "expected true or false, not {given}"),
    "literal_error": "expected {expected}, not {given}",
    "extra_forbidden": "unknown field; correct its name, or remove it",
    "too_short": "expected {min_length} or more, not {actual_length}",
    "too_long": "expected {max_length} or fewer, not {actual_length}",
}


def read_versioned(path: Path, model: type[_Model], schema: str, *, what: str, advice: str) -> _Model:
    """Return the value in the file, whose field ``schema`` must be `schema`.

    Raise `DataError` with a text of one line. In that text, `what` names such a file ("a results file"), and
    `advice` says what to do about a bad one.
    """
    try:
        if leads_out(path, Path.cwd()):
            raise OSError(errno.ELOOP, "a symbolic link out of this folder, which is not followed")
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}; {advice}", code="PL201") from None
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else error
        raise DataError(path, f"not valid JSON ({problem}); {advice}", code="PL205") from None
    stated = data.get("schema") if isinstance(data, dict) else None
    if stated != schema:
        problem = f"not {what} of this version: its schema is {str(stated)[:60]!r}, not {schema!r}"
        raise DataError(path, f"{problem}; {advice}", code="PL203")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        field, problem = first_problem(error)
        raise DataError(path, f"{problem}; {advice}", field=field) from None


def first_problem(error: ValidationError, *, count_from: int = 0) -> tuple[str, str]:
    """Return the first problem: the field, with dots, and what is wrong; lists count from `count_from`."""
    return all_problems(error, count_from=count_from)[0]


def all_problems(error: ValidationError, *, count_from: int = 0) -> list[tuple[str, str]]:
    """Return all problems, each in the form of `first_problem`; a field with a wrong name is one problem."""
    found = error.errors(include_url=False)
    places = [problem["loc"] for problem in found]
    absent = {p["loc"][:-1] for p in found if p["type"] == "missing"}
    strange: dict[tuple[int | str, ...], list[str]] = {}
    for problem in found:
        if problem["type"] == "extra_forbidden":
            strange.setdefault(problem["loc"][:-1], []).append(repr(problem["loc"][-1]))
    problems = []
    for problem in found:
        kind, place, given = problem["type"], problem["loc"], problem["input"]
        told_elsewhere = kind == "extra_forbidden" and place[:-1] in absent
        # An entry with a problem of its own is not counted.
        miscounted = kind == "too_short" and any(place == p[: len(place)] != p for p in places)
        if told_elsewhere or miscounted:
            continue
        message = problem["msg"]
        text = message.removeprefix("Value error, ")
        text = message[0].lower() + message[1:] if text == message else text
        if kind in _WORDS:
            text = _WORDS[kind].format_map({"given": short_repr(given, 60), **problem.get("ctx", {})})
        if kind == "missing" and place[:-1] in strange:
            text += f", and {', '.join(strange[place[:-1]])} is unknown here"
        elif kind == "string_type" and isinstance(given, dt.date | dt.time):
            text = f'expected a text; put it in quotes: "{given}"'
        problems.append((".".join(str(p + count_from if isinstance(p, int) else p) for p in place), text))
    return problems


def to_json(value: BaseModel) -> str:
    """Return the content of the file for a value, with sorted keys; equal values give equal files."""
    return _json(value.model_dump(mode="json", by_alias=True), sort_keys=True) + "\n"


def json_parts(value: BaseModel) -> Iterator[str]:
    """Yield the content of the file for a value in parts: one of many values takes the memory of one."""
    between = "{\n "
    for name, field in type(value).model_fields.items():
        held, key = getattr(value, name), field.alias or name
        yield f"{between}{_json(key)}: "
        between = ",\n "
        many = dict(enumerate(held)) if isinstance(held, tuple) else held
        if isinstance(many, dict) and many and all(isinstance(one, BaseModel) for one in many.values()):
            begin, end = "{}" if many is held else "[]"
            for number, (of, one) in enumerate(many.items()):
                text = _json(one.model_dump(mode="json", by_alias=True)).replace("\n", "\n  ")
                label = f"{_json(of)}: " if many is held else ""
                yield f"{',' if number else begin}\n  {label}{text}"
            yield f"\n {end}"
        else:
            plain = value.model_dump(mode="json", by_alias=True, include={name})
            yield _json(plain[key]).replace("\n", "\n ")
    yield "\n}\n"


def _json(plain: object, *, sort_keys: bool = False) -> str:
    return json.dumps(plain, indent=1, sort_keys=sort_keys, ensure_ascii=False)


def schema_of(path: Path) -> str:
    """Return the schema that the file states; empty if it cannot be read."""
    try:
        return str((read_object(path.read_text(encoding="utf-8")) or {}).get("schema", ""))
    except (OSError, ValueError):
        return ""


class JsonLine(NamedTuple):
    """A line that is not blank; `number` counts from 1."""

    file: Path
    number: int
    text: str
    last: bool

    @property
    def where(self) -> str:
        return f"line {self.number}"

    def value(self) -> Any:
        """Return the value; raise `DataError` where the line is no JSON."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise self.problem(error) from None

    def problem(self, error: Exception) -> DataError:
        """Return the error for a line that is no JSON."""
        cut = "; the last line is cut off: write it again, or remove it" if self.last else ""
        what = "nested too deeply" if isinstance(error, RecursionError) else f"{error}{cut}"
        return DataError(self.file, f"not valid JSON: {what}", field=self.where, code="PL205")


def read_text(file: Path) -> str:
    """Return the text of a file; raise `DataError` if it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # the path itself may be invalid
        why = getattr(error, "strerror", None) or error
        raise DataError(file, f"cannot be read: {why}", code="PL201") from None


def read_json_lines(file: Path) -> list[JsonLine]:
    """Return the lines that are not blank; raise `DataError` for a file that cannot be read."""
    text = read_text(file)
    # Not `splitlines`: a message may hold a line separator of Unicode, which ends no line of such a file.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [JsonLine(file, number, line, last=number == lines[-1][0]) for number, line in lines]


class Value(NamedTuple):
    """A JSON value of a file; `where` is its line or its place in a list, `number` the same from 1."""

    where: str
    number: int
    value: Any
    problem: DataError | None = None


def read_json_values(file: Path) -> list[Value]:
    """Return the values of a file of JSON, each on a line or over many, with the problems of bad lines.

    Raise `DataError` for a file that cannot be read; of a format that holds no text it says what to run.
    """
    _refuse_binary(file)
    text, values, decoder = read_text(file), list[Value](), json.JSONDecoder()
    end, line, last = 0, 1, text.rstrip().count("\n") + 1
    while (found := _NO_SPACE.search(text, end)) is not None:
        begin, value, problem = found.start(), None, None
        line += text.count("\n", end, begin)
        where = f"line {line}"
        try:
            value, end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError) as error:
            end = max(text.find("\n", begin), 0) or len(text)
            problem = JsonLine(file, line, text[begin:end], last=line == last).problem(error)
        values.append(Value(where, line, value, problem))
        line += text.count("\n", begin, end)
    return values


def _refuse_binary(file: Path) -> None:
    begin = b""
    with suppress(OSError, ValueError), file.open("rb") as opened:
        begin = opened.read(4)
    for magic, what, command in _BINARY:
        if begin.startswith(magic):
            if file.suffix == ".eval":
                what, command = "an inspect log (a zip archive)", "inspect log dump {name} > {stem}.json"
            run = command.format(name=file.name, stem=file.stem)
            raise DataError(file, f"not valid JSON: it is {what}; run: {run}", code="PL205")


_WINDOW: Final = 1 << 20
_SPACE: Final = re.compile(r"[ \t\n\r]*")
#: An error within this distance from the end of the window may be due to text that is not read yet.
_NEAR: Final = 32
_DECODER: Final = json.JSONDecoder()
CHANGED: Final = "has changed since this run began; run again"


def read_at(path: Path, start: int, size: int) -> dict[str, Any]:
    """Return the object with these bytes. Raise `DataError` if the file has changed meanwhile."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            value = read_object(file.read(size))
    except OSError as error:
        raise DataError(path, f"cannot be read: {error.strerror}", code="PL201") from None
    if value is None:
        raise DataError(path, CHANGED)
    return value


def read_object(text: str | bytes) -> dict[str, Any] | None:
    """Return the object in a JSON text, or None for any other text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class JsonWindow:
    """A part of a file as text, which moves forward while it is read.

    It is as fast as `json.load`, and holds only one megabyte of a file of 200 megabytes.
    """

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path, self.hash = path, hashlib.sha256()
        self._file, self._decoder = file, codecs.getincrementaldecoder("utf-8")()
        self._text, self._at, self._ended = "", 0, False
        #: The number of bytes of the file before the character up to which bytes are counted.
        self._bytes, self._counted = 0, 0
        self._more(_WINDOW)
        if self._text.startswith("\ufeff"):
            self._at = 1

    def error(self, problem: str, code: str = "") -> DataError:
        """Return an error about the present place."""
        if not self.peek():
            problem, code = "not valid JSON: it ends too early and was cut off; get it again", "PL205"
        place = left = self._place()
        line = 1
        self._file.seek(0)
        while piece := self._file.read(min(left, _WINDOW)):  # a file of any size is counted in pieces
            line, left = line + piece.count(b"\n"), left - len(piece)
        return DataError(self.path, f"{problem} (line {line:,}, byte {place + 1:,})", code=code)

    def invalid(self, problem: str) -> DataError:
        """Return an error about what is no JSON at the present place."""
        return self.error(f"not valid JSON: {problem}", "PL205")

    def peek(self) -> str:
        """Return the next character that is no space, or an empty text at the end."""
        while True:
            self._at += len(_SPACE.match(self._text, self._at)[0])  # type: ignore[index]  # may be empty
            if self._at < len(self._text) or not self._more(_WINDOW):
                return self._text[self._at : self._at + 1]

    def names(self) -> Iterator[str]:
        """Yield the keys of an object; the caller reads the value of each."""
        for _ in self._between("{", "}"):
            _, _, key = self.value()
            if not isinstance(key, str):
                raise self.invalid("expected a name in quotes")
            self._take(":")
            yield key

    def array(self) -> Iterator[tuple[int, int, object]]:
        """Yield the values of a list, each with the place and number of its bytes."""
        for _ in self._between("[", "]"):
            yield self.value()

    def value(self) -> tuple[int, int, object]:
        """Return the next value, with the place and number of its bytes."""
        self.peek()
        wanted = _WINDOW
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise self.error("an entry is nested too deeply to be read; take it out") from None
            except json.JSONDecodeError as error:
                within_text = error.msg.startswith("Unterminated")
                if self._ended or not (within_text or error.pos > len(self._text) - _NEAR):
                    self._at = len(self._text) if within_text else error.pos
                    raise self.invalid(error.msg) from None
            except ValueError as error:  # a number has thousands of digits
                raise self.invalid(str(error)) from None
            else:
                if end < len(self._text) or self._ended:
                    start, self._at = self._place(), end
                    return start, self._place() - start, value
            self._more(wanted)
            wanted *= 2

    def _between(self, opening: str, closing: str) -> Iterator[None]:
        self._take(opening)
        if self.peek() != closing:
            yield
            while self.peek() == ",":
                self._take(",")
                yield
        self._take(closing)

    def _take(self, character: str) -> None:
        if self.peek() != character:
            raise self.invalid(f"expected {character}")
        self._at += 1

    def _place(self) -> int:
        """Return the number of bytes before the next character."""
        passed = self._text[self._counted : self._at]
        self._bytes += len(passed) if passed.isascii() else len(passed.encode())
        self._counted = self._at
        return self._bytes

    def _more(self, size: int) -> bool:
        """Read the next part of the file; return False at its end."""
        self._place()
        content = self._file.read(size)
        self.hash.update(content)
        self._ended = not content
        try:
            new = self._decoder.decode(content, final=self._ended)
        except UnicodeDecodeError:
            raise DataError(self.path, "is not UTF-8; save it as UTF-8", code="PL205") from None
        self._text, self._at, self._counted = self._text[self._at :] + new, 0, 0
        return not self._ended
