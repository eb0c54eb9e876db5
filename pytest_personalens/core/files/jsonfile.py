"""JSON files with a version, which one run writes and another reads, lines of JSON, and fields of objects."""

from __future__ import annotations

import datetime as dt
import errno
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

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
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(data.get("schema", "")) if isinstance(data, dict) else ""


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
