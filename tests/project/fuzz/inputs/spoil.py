"""A file with something wrong in it: in its data, in its text, in its bytes, or in what it is."""

from __future__ import annotations

import datetime as dt
import json
import math
import os
import re
import shutil
import socket
import tomllib
from collections.abc import Callable
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


def _key_twice(text: str, rng: Random) -> str:
    keys = list(re.finditer(r'"[^"\n]{1,40}"\s*:', text)) or list(re.finditer(r"^.+=.*$", text, re.MULTILINE))
    if not keys:
        return text + text
    found = rng.choice(keys)
    again = f"{found[0]} null, " if found[0].endswith(":") else f"{found[0]}\n"
    return text[: found.start()] + again + text[found.start() :]


def _insert(what: str) -> Callable[[str, Random], str]:
    def insert(text: str, rng: Random) -> str:
        cut = rng.randint(0, len(text))
        return text[:cut] + what + text[cut:]

    return insert


def _lines(change: Callable[[list[str], Random], object]) -> Callable[[str, Random], str]:
    def rewrite(text: str, rng: Random) -> str:
        lines = text.splitlines(keepends=True)
        if lines:
            change(lines, rng)
        return "".join(lines)

    return rewrite


def _number_changed(text: str, rng: Random) -> str:
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return text
    found, other = rng.choice(numbers), rng.choice(("NaN", "1e999", "-1", "9" * 5000, "0x10", "007"))
    return text[: found.start()] + other + text[found.end() :]


TEXTS: Final[dict[str, Callable[[str, Random], str]]] = {
    "cut off": lambda text, rng: text[: rng.randint(0, max(0, len(text) - 1))],
    "begins late": lambda text, rng: text[rng.randint(1, max(1, len(text))) :],
    "a key twice": _key_twice,
    "a line left out": _lines(lambda lines, rng: lines.pop(rng.randrange(len(lines)))),
    "a line twice": _lines(lambda lines, rng: lines.insert(rng.randrange(len(lines)), rng.choice(lines))),
    "another number": _number_changed,
    "NUL in it": _insert("\x00"),
    "an escape sequence in it": _insert("\x1b]0;x\x07"),
    "a line break in it": _insert("\n"),
    "a line separator in it": _insert("\u2028"),
    "a quote in it": _insert('"'),
    "a dollar in it": _insert("$x ${ $"),
    "a brace in it": _insert("}]"),
    "no UTF-8 in it": _insert("\udcff\udcfe"),
    "all twice": lambda text, rng: text + text,
    "line ends of Windows": lambda text, rng: text.replace("\n", "\r\n"),
    "blanks around": lambda text, rng: f" \n\t{text}\n\n \n",
}


def _gone(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def _instead(make: Callable[[Path], object]) -> Callable[[Path, Random], None]:
    """Put what `make` makes in the place of the file."""

    def replace(path: Path, rng: Random) -> None:
        _gone(path)
        make(path)

    return replace


def _to_itself_elsewhere(path: Path, rng: Random) -> None:
    aside = path.with_name(f"{path.name}.aside")
    path.rename(aside)
    path.symlink_to(aside.name)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # the path of a socket must be short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def _rewritten(change: Callable[[bytes, Random], bytes]) -> Callable[[Path, Random], None]:
    def rewrite(path: Path, rng: Random) -> None:
        path.write_bytes(change(path.read_bytes(), rng))

    return rewrite


def _flipped(content: bytes, rng: Random) -> bytes:
    flipped = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        if flipped:
            flipped[rng.randrange(len(flipped))] = rng.randrange(256)
    return bytes(flipped)


FILES: Final[dict[str, Callable[[Path, Random], None]]] = {
    "missing": _instead(lambda path: None),
    "a folder": _instead(Path.mkdir),
    "a loop of links": _instead(lambda path: path.symlink_to(path.name)),
    "a link to nothing": _instead(lambda path: path.symlink_to("nowhere-at-all")),
    "a link to the file": _to_itself_elsewhere,
    "the null device": _instead(lambda path: make_device(path, "null")),
    "a socket": _instead(_socket),
    "unreadable": lambda path, rng: path.chmod(0),
    "empty": _rewritten(lambda content, rng: b""),
    "blank": _rewritten(lambda content, rng: b" \n \n"),
    "bytes flipped": _rewritten(_flipped),
    "a byte order mark": _rewritten(lambda content, rng: b"\xef\xbb\xbf" + content),
    "UTF-16": _rewritten(lambda content, rng: content.decode("utf-8", "replace").encode("utf-16")),
    "Latin-1": _rewritten(
        lambda content, rng: content.decode("utf-8", "replace").encode("latin-1", "replace") + b"\n# \xe9"
    ),
    "NUL bytes": _rewritten(lambda content, rng: bytes(4096)),
    "nested deeply": _rewritten(lambda content, rng: b"[" * 100_000),
    "nested deeply in tables": _rewritten(lambda content, rng: b'{"a": ' * 20_000 + b"1" + b"}" * 20_000),
    "a long line": _rewritten(lambda content, rng: b"x" * 3_000_000),
    "another kind of file": _rewritten(lambda content, rng: b"\x89PNG\r\n\x1a\n" + rng.randbytes(200)),
}
#: From these nothing can be read.
USELESS: Final = frozenset(FILES) - {
    "a link to the file", "unreadable", "bytes flipped", "a byte order mark", "Latin-1",
}  # fmt: skip
