"""Where files may be written, so that none replaces another's or one that the run reads; the user's cache."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.links import refuse_links, write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The ending of a report's path -> its kind.
ENDINGS: Final = {".json": "json", ".html": "html", ".htm": "html", ".md": "markdown"}
#: The word for the summary of a step in GitHub Actions.
GITHUB: Final = "github"
#: The number of characters of a file that are read to recognize it.
_HEAD: Final = 4096
_JSON: Final = re.compile(r'"schema(?:_version)?": *"personalens-')
_OURS: Final = {
    "html": re.compile(r'<meta name="generator" content="pytest-personalens '),
    "markdown": re.compile(
        r"\A(?:## \S+ personalens |### .*(?:Tables?|Figure) \d.* of the paper \(Zhao |Judge: `)"
    ),
}


def file_kind(path: Path | str) -> str | None:
    """Return the kind of a report by its ending: json, html or markdown; None for any other."""
    return ENDINGS.get(Path(path).suffix.lower())


def refuse_shared_files(
    written: Sequence[tuple[str, Path]], read: Mapping[str, Path], *, replaces: tuple[str, str] = ("", "")
) -> None:
    """Raise `SpecError` if a file in `written` would replace another file of the run.

    That is another file in `written`, or one in `read`. All names are those that the user knows. `replaces`
    names one file that is written and one that is read; these two may be the same.
    """
    for (name, path), (other_name, place) in combinations(written, 2):
        if _same(path, place):
            raise SpecError(
                f"{other_name}: {place} is what {name} writes; give each a file of its own", code="PL105"
            )
    for name, path in written:
        for other_name, place in read.items():
            if (name, other_name) != replaces and _same(path, place):
                why = f"{path} is what {other_name} reads, and would be replaced"
                raise SpecError(f"{name}: {why}; give another path", code="PL105")


def _same(first: Path, second: Path) -> bool:
    """True if both paths lead to the same file, also through links."""
    try:
        return first.samefile(second)
    except OSError:  # one of them does not exist yet
        return os.path.realpath(first) == os.path.realpath(second)


def writable(path: Path, flag: str, *, kind: str = "json") -> Path:
    """Return the path, after making its folder.

    `flag` is the option that gave the path. `kind` is the kind of file to write: json, html or markdown.

    Raise `SpecError` if the file cannot be written, or if this plugin did not write it.
    """
    problem = "give the path of a file, not '-'" if path.name == "-" else _problem_of(path, kind)
    try:
        if not problem:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot write to {path.parent}: {error.strerror}"
    if problem:
        raise SpecError(f"{flag}: {problem}", code="PL105")
    return path


def _problem_of(path: Path, kind: str) -> str:
    """Return why a file cannot be written there, and what to do; empty if it can."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:  # the path is too long, has a loop of links, or contains a NUL
        return f"{str(path)[:200]!r} is no path of a file: {getattr(error, 'strerror', None) or error}"
    try:
        refuse_links(path, Path.cwd())
    except OSError:
        return f"{path} is or goes through a symbolic link, which is not followed; give the path of a file"
    if path.is_dir():
        return f"{path} is a folder; give the path of a file"
    if path.exists() and not path.is_file():
        return f"{path} is no file; give the path of one"
    if path.exists() and path.stat().st_size and not _written_before(path, kind):
        kept = path.suffix == ".jsonl" and "is there, and may hold what somebody wrote"
        return f"{path} {kept or 'was not written by this plugin'}; give another path, or remove it"
    return ""


def _written_before(path: Path, kind: str) -> bool:
    """True if an earlier run wrote the file, or a CI service keeps it."""
    if kind == "markdown" and _same(path, Path(os.environ.get("GITHUB_STEP_SUMMARY") or os.devnull)):
        return True
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return bool(_OURS.get(kind, _JSON).search(head))


def cache_folder() -> Path:
    """Return ``$PERSONALENS_CACHE_DIR`` or one in the user's cache; raise `RuntimeError` without a home."""
    if own := os.environ.get("PERSONALENS_CACHE_DIR"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "pytest-personalens"


def cached_file(name: str, files: Sequence[Path]) -> Path:
    """Return the file of the cache for what is made of other files; raise `RuntimeError` without a home."""
    digest = hashlib.sha256(b"\0".join(os.fsencode(file.resolve()) for file in files)).hexdigest()[:16]
    return cache_folder() / f"{name}-{digest}.index"


def read_cached(name: str, files: Sequence[Path]) -> bytes | None:
    """Return what was stored for these files, or None if there is nothing."""
    try:
        return cached_file(name, files).read_bytes()
    except (OSError, RuntimeError):
        return None


def store_cached(name: str, files: Sequence[Path], content: bytes) -> None:
    """Store what was made of these files; what cannot be written is done without."""
    with suppress(OSError, RuntimeError):
        file = cached_file(name, files)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, content)
