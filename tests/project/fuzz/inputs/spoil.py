"""A file with something wrong in it: in its data, in its text, in its bytes, or in what it is."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import shutil
import socket
import tomllib
from collections.abc import Callable
from contextlib import chdir
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

from tests.project.fuzz.case import make_device
from tests.project.fuzz.inputs.trees import changed


class Spoilt(NamedTuple):
    """What was done to a file; it is `useless` if nothing can be read from it."""

    what: str
    useless: bool = False


def spoil(path: Path, rng: Random) -> Spoilt:
    """Do something to the file, by its ending: .json, .jsonl, .toml, or any text."""
    how = rng.random()
    structured = path.suffix in (".json", ".jsonl", ".toml")
    if structured and how < 0.6:
        return _spoil_data(path, rng)
    if how < 0.8:
        return _spoil_text(path, rng)
    name = rng.choice(sorted(FILES))
    FILES[name](path, rng)
    return Spoilt(name, useless=name in USELESS)


def _spoil_data(path: Path, rng: Random) -> Spoilt:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        tree, what = changed(tomllib.loads(text), rng)
        spoilt = toml(tree)
    else:
        lines = text.splitlines() if path.suffix == ".jsonl" else [text]
        number = rng.randrange(len(lines))
        try:
            tree, what = changed(json.loads(lines[number]), rng)
        except json.JSONDecodeError:  # an export of several documents, one after another
            return _spoil_text(path, rng)
        lines[number] = json.dumps(tree, ensure_ascii=rng.random() < 0.7, default=str)
        spoilt = "\n".join(lines) + "\n"
    path.write_text(spoilt, encoding="utf-8", errors="surrogatepass")
    return Spoilt(what)


def toml(tree: Any) -> str:
    """A table as TOML, all below its first level inline; what is no table as it would stand in one."""
    if not isinstance(tree, dict):
        return _toml_value(tree) + "\n"
    return "".join(f"{_toml_text(key)} = {_toml_value(value)}\n" for key, value in tree.items())


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        inner = (f"{_toml_text(key)} = {_toml_value(held)}" for key, held in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (int, float)):
        return repr(value)
    return value.isoformat() if isinstance(value, dt.date) else _toml_text(str(value))


def _toml_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _spoil_text(path: Path, rng: Random) -> Spoilt:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    name = rng.choice(sorted(TEXTS))
    path.write_text(TEXTS[name](text, rng), encoding="utf-8", errors="surrogateescape")
    return Spoilt(name)


def _inserted(what: str, text: str, rng: Random) -> str:
    cut = rng.randint(0, len(text))
    return text[:cut] + what + text[cut:]


def _line(times: int, text: str, rng: Random) -> str:
    lines = text.splitlines(keepends=True)
    place = rng.randrange(len(lines) or 1)
    lines[place : place + 1] *= times
    return "".join(lines)


def _one(pattern: str, new: Callable[[str, Random], str]) -> Callable[[str, Random], str]:
    """Put something in the place of one match; all twice where there is none."""

    def change(text: str, rng: Random) -> str:
        matches = list(re.finditer(pattern, text, re.MULTILINE))
        if not matches:
            return text + text
        found = rng.choice(matches)
        return text[: found.start()] + new(found[0], rng) + text[found.end() :]

    return change


_INSERTED: Final = {
    "NUL": "\x00", "an escape sequence": "\x1b]0;x\x07", "a line break": "\n", "a line separator": "\u2028", "a quote": '"', "a dollar": "$x ${ $",
    "a brace": "}]", "no UTF-8": "\udcff\udcfe",
}  # fmt: skip
_NUMBERS: Final = ("NaN", "1e999", "-1", "9" * 5000, "0x10", "007")
TEXTS: Final[dict[str, Callable[[str, Random], str]]] = {
    "cut off": lambda text, rng: text[: rng.randint(0, max(0, len(text) - 1))],
    "begins late": lambda text, rng: text[rng.randint(1, max(1, len(text))) :],
    "a key twice": _one(
        r'"[^"\n]{1,40}"\s*:|^.+=.*$',
        lambda key, rng: f"{key} null, {key}" if key[-1] == ":" else f"{key}\n{key}",
    ),
    "a line left out": partial(_line, 0),
    "a line twice": partial(_line, 2),
    "another number": _one(r"\d+", lambda number, rng: rng.choice(_NUMBERS)),
    **{f"{name} in it": partial(_inserted, what) for name, what in _INSERTED.items()},
    "all twice": lambda text, rng: text + text,
    "line ends of Windows": lambda text, rng: text.replace("\n", "\r\n"),
    "blanks around": lambda text, rng: f" \n\t{text}\n\n \n",
}


def _instead(make: Callable[[Path], object], path: Path, rng: Random) -> None:
    """Put what `make` makes in the place of the file."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    make(path)


def _linked(path: Path, rng: Random) -> None:
    aside = path.rename(path.with_name(f"{path.name}.aside"))
    path.symlink_to(aside.name)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made, chdir(path.parent):  # the path of a socket must be short
        made.bind(path.name)


def _flipped(content: bytes, rng: Random) -> bytes:
    flipped = bytearray(content)
    for _ in range(rng.randint(1, 4) if content else 0):
        flipped[rng.randrange(len(flipped))] = rng.randrange(256)
    return bytes(flipped)


def _rewritten(change: Callable[[bytes, Random], bytes], path: Path, rng: Random) -> None:
    path.write_bytes(change(path.read_bytes(), rng))


_INSTEAD: Final[dict[str, Callable[[Path], object]]] = {
    "missing": lambda path: None, "a folder": Path.mkdir, "a loop of links": lambda path: path.symlink_to(path.name), "a socket": _socket,
    "a link to nothing": lambda path: path.symlink_to("nowhere-at-all"), "the null device": lambda path: make_device(path, "null"),
}  # fmt: skip
_BYTES: Final[dict[str, Callable[[bytes, Random], bytes]]] = {
    "empty": lambda content, rng: b"",
    "blank": lambda content, rng: b" \n \n",
    "bytes flipped": _flipped,
    "a byte order mark": lambda content, rng: b"\xef\xbb\xbf" + content,
    "UTF-16": lambda content, rng: content.decode("utf-8", "replace").encode("utf-16"),
    "Latin-1": lambda content, rng: (
        content.decode("utf-8", "replace").encode("latin-1", "replace") + b"\n# \xe9"
    ),
    "NUL bytes": lambda content, rng: bytes(4096),
    "nested deeply": lambda content, rng: b"[" * 100_000,
    "nested deeply in tables": lambda content, rng: b'{"a": ' * 20_000 + b"1" + b"}" * 20_000,
    "a long line": lambda content, rng: b"x" * 3_000_000,
    "another kind of file": lambda content, rng: b"\x89PNG\r\n\x1a\n" + rng.randbytes(200),
}
FILES: Final[dict[str, Callable[[Path, Random], None]]] = {
    "a link to the file": _linked,
    "unreadable": lambda path, rng: path.chmod(0),
    **{name: partial(_instead, make) for name, make in _INSTEAD.items()},
    **{name: partial(_rewritten, change) for name, change in _BYTES.items()},
}
#: From these nothing can be read.
USELESS: Final = frozenset(FILES) - {"a link to the file", "unreadable", "bytes flipped", "a byte order mark", "Latin-1"}  # fmt: skip
