"""Lays out a dataset for somebody who writes it by hand, says what is still missing, and writes TOML."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.core.errors import DataError
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.safe_text import slug
from pytest_personalens.datasets.embedded.building.model_pieces import make_folder
from pytest_personalens.datasets.embedded.dataset_files import EmbeddedFiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_personalens.datasets.embedded.dataset_entries import Domain

#: The mark of what is to be replaced.
TODO: Final = "TODO"
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_TEMPLATES: Final = files(__package__).joinpath("templates")


def lay_out_by_hand(folder: Path, domains: Sequence[str], people: Sequence[str]) -> list[Path]:
    """Write the files of the next step that are missing, and return them; no file is ever replaced.

    The first step is the dataset and its domains. When these have no problem, the next is the people.
    """
    head = f'name = "{slug(folder.resolve().name)}"\nversion = "1"\n'
    written = [
        *_write(folder / "dataset.toml", head),
        *(
            p
            for name in domains
            for p in _write(folder / "domains" / f"{slug(name)}.toml", _template("domain", name))
        ),
    ]
    data = EmbeddedFiles(folder)
    others = (error for error in data.problems() if not error.file.startswith(str(folder / "profiles")))
    if written or any(unfinished(folder)) or any(others):
        return written
    kinds = "\n".join(line for name in data.domains() for line in _preference_lines(data.domain(name)))
    text = {slug(name.split()[0]): f"{_template('person', name)}{kinds}\n" for name in people}
    return [
        p for user, profile in text.items() for p in _write(folder / "profiles" / f"{user}.toml", profile)
    ]


def unfinished(folder: Path) -> Iterator[DataError]:
    """Yield each line of a dataset that still has the mark."""
    for file in sorted(folder.rglob("*.toml")):
        if "drafts" in file.relative_to(folder).parts:
            continue
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            continue  # the check of the dataset names the problem
        for number, line in enumerate(lines, 1):
            if TODO in re.sub(r"^\s*#.*", "", line):
                yield DataError(file, " ".join(line.split()), field=f"line {number}")


def _preference_lines(domain: Domain) -> Iterator[str]:
    yield from ("", f'[domains."{domain.name}"]')
    for name, spec in domain.preferences.items():
        text = f"TODO one of: {', '.join(spec.values)}" if spec.values else "TODO a short text"
        yield f'"{name}" = ["{text}"]' if spec.multiple else f'"{name}" = "{text}"'
    told = "TODO two to six sentences: what this person did with the assistant, which shows the preferences"
    yield f'summary = "{told}"'


def _template(kind: str, name: str) -> str:
    return _TEMPLATES.joinpath(f"{kind}.toml").read_text(encoding="utf-8").replace("$name", name)


def _write(path: Path, text: str) -> list[Path]:
    if path.exists():
        return []
    make_folder(path.parent)
    write_atomically(path, text)
    return [path]


def toml_text(table: Mapping[str, Any]) -> str:
    """Return a table of texts, numbers, switches, lists and tables as a TOML file; None is left out."""
    return "\n".join(_lines(table, ())).strip("\n") + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    for key, value in table.items():
        if value is not None and not _has_lines(value, path):
            yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        if not _has_lines(value, path):
            continue
        here = (*path, key)
        name = ".".join(map(_key, here))
        for each in value if isinstance(value, (list, tuple)) else [value]:
            yield from ("", f"[[{name}]]" if isinstance(value, (list, tuple)) else f"[{name}]")
            yield from _lines(each, here)


def _has_lines(value: object, path: tuple[str, ...]) -> bool:
    """True for what gets a header: a table at the top or with others in it, and a list of tables."""
    if isinstance(value, dict):
        return not path or any(_has_lines(each, ()) for each in value.values())
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, dict) for v in value)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(k)} = {_value(v)}' for k, v in value.items())} }}" if value else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)
