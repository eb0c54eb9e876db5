"""Reads PrefEval: a preference, a number of other exchanges, and a question that it bears on."""

from __future__ import annotations

import hashlib
from functools import cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.facts import Session
from pytest_personalens.core.files.jsonfile import Fields
from pytest_personalens.suites.questions.data import Row, read_json
from pytest_personalens.suites.questions.questions import Expected, offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pytest_personalens.suites.questions.questions import Question

_FOLDERS: Final = {
    "explicit": "explicit_preference",
    "choice-based": "implicit_preference/choice-based",
    "persona-driven": "implicit_preference/persona-driven",
    "mcq": "mcq_options",
}
_OTHERS: Final = "filtered_inter_turns.json"
#: Our words for the assistant that was told a preference; in the benchmark a model writes them.
_ACKNOWLEDGED: Final = "Thank you, I will keep that in mind."


class _Place(NamedTuple):
    file: Path
    number: int


def open_rows(
    path: Path, *, form: str, distance: str
) -> tuple[str, list[Row], Callable[[Row, str], Question]]:
    """Return the digest of the files, the rows of a form at each distance, and the reader of a question."""
    root = path / "benchmark_dataset" if (path / "benchmark_dataset").is_dir() else path
    files = sorted((root / _FOLDERS[form]).glob("*.json"))
    if not path.is_dir():
        raise DataError(
            path, "no such folder; give that of PrefEval, with benchmark_dataset/ in it", code="PL201"
        )
    if not files:
        raise DataError(
            root / _FOLDERS[form],
            "no topic is there; give the folder of PrefEval with benchmark_dataset/ in it",
            code="PL203",
        )
    far = sorted({int(number) for number in distance.split(",")})
    between = _exchanges(root / _OTHERS, far[-1]) if far[-1] else []
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:8]
    read = partial(_read, form, tuple(between), cache(read_json))
    return digest, [row for file in files for row in _rows(file, form, far)], read


def _rows(file: Path, form: str, far: Sequence[int]) -> Iterator[Row]:
    seen = set()
    entries = read_json(file)
    if not isinstance(entries, list):
        raise DataError(file, "expected a list of questions; it is no topic of PrefEval")
    for number, raw in enumerate(entries):
        entry = Fields(file, f"[{number}]", raw)
        told = entry.text("preference"), entry.text("question")
        _check(entry, form)
        for exchanges in far:
            yield Row(
                user=f"{file.stem}-{number + 1}",
                task=form if len(far) == 1 else f"{form}-{exchanges}",
                kind="choice" if form == "mcq" else "pref",
                domains=(file.stem,),
                place=_Place(file, number),
                item=f"{file.name} [{number}]",
                reason="duplicate" if told in seen else "",
                needs_model=form != "mcq",
                distance=exchanges,
            )
        seen.add(told)


def _check(entry: Fields, form: str) -> None:
    if form == "mcq":
        options = entry.texts("classification_task_options", 2)
        if len(set(options)) < len(options):
            raise entry.error("classification_task_options", "an option is there twice")
        return
    if form == "choice-based" and entry.text("aligned_op") not in entry.texts("options", 2):
        raise entry.error("aligned_op", "the right option is not among the options")
    _told(entry, form)


def _told(entry: Fields, form: str) -> list[tuple[str, str]]:
    """Return how the preference is told, as messages of (role, content)."""
    if form in ("explicit", "mcq"):
        return [("user", entry.text("preference")), ("assistant", _ACKNOWLEDGED)]
    talk = entry.inner("conversation")
    if form == "choice-based":
        names = ("query", "assistant_options", "user_selection", "assistant_acknowledgment")
        return [("assistant" if "assistant" in name else "user", talk.text(name)) for name in names]
    turns = [talk.inner(name) for name in sorted(talk.items(), key=lambda name: (len(name), name))]
    return [(role, turn.text(role)) for turn in turns for role in ("user", "assistant")]


def _exchanges(file: Path, number: int) -> list[tuple[str, str]]:
    """Return the first messages of other conversations, a user's and a reply for each exchange."""
    talks = read_json(file)
    if not isinstance(talks, list):
        raise DataError(file, "expected a list of conversations")
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


def _read(
    form: str, between: tuple[tuple[str, str], ...], content: Callable[[Path], object], row: Row, dataset: str
) -> Question:
    file, number = row.place
    entries = content(file)
    assert isinstance(entries, list)
    entry = Fields(file, f"[{number}]", entries[number])
    asks, expected = entry.text("question"), Expected(answer=entry.text("preference"))
    if form == "mcq":
        asks, expected = offer(asks, entry.texts("classification_task_options"), row.item)
    others = between[: 2 * (row.distance or 0)]
    messages = tuple({"role": role, "content": said} for role, said in (*_told(entry, form), *others))
    session = Session(id="s1", messages=messages)
    return row.question(dataset, asks=asks, sessions=(session,), expected=expected)
