"""Commands about stored dialogues: `records` lists, deletes and reads records, `score` judges any."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_personalens.cli.command import UNREADABLE, print_errors
from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.destinations import writable
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.names import CaseId, parse_case
from pytest_personalens.core.options.option_table import OPTIONS
from pytest_personalens.engine.record import integrity_of, record_folders
from pytest_personalens.results.shards import last_run
from pytest_personalens.results.values.results import read_results

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence


def records(options: argparse.Namespace) -> None:
    """List or delete records that no item of the last run used, or write those of version 0.2 anew."""
    if options.write is not None:
        if options.delete:
            raise SpecError(
                "--delete: the records are read for --write, and stay; leave it out", code="PL108"
            )
        return _convert(options.folder, options.write)
    folder = options.folder.absolute()
    root, file = last_run(folder, "run the tests that use these records first, in one run")
    used = {root / item.record_file for item in read_results(file).items if item.record_file}
    every = (f for below in record_folders(str(folder)) for f in Path(below).glob("*/*.json"))
    unused = sorted(path for path in every if path not in used and not path.is_symlink())
    for path in unused:
        if options.delete:
            path.unlink()
        print(path.relative_to(root))
    done = "deleted" if options.delete else "of no item of the last run; --delete deletes them"
    print(f"{len(unused)} records {done}, {len(used)} in use")
    return None


def _convert(folder: Path, target: Path) -> None:
    """Write the records of version 0.2 below the folder as stored dialogues with their verdicts."""
    if writable(target, "--write").exists():
        raise SpecError(f"--write: {target} is there already; give another path, or remove it", code="PL105")
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.json"))
    found = [line for file in files if (line := _stored_dialogue(file)) is not None]
    if not found:
        raise DataError(folder, "holds no record of version 0.2")
    lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in found)
    write_atomically(target, "".join(lines), durable=True)
    print(
        f"{len(found)} dialogues with their verdicts are in {target}. For reports and a baseline of them:"
        f" personalens score {target}"
    )


def _stored_dialogue(file: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or data.get("record") != 1:
            return None
        if data["integrity"] != integrity_of(data):
            raise ValueError("it was edited by hand")
        case = parse_case(file.stem, [data["scenario"]]) or CaseId(data["scenario"])
        if data["dialogue"]["end"] == "fault":
            return None
        return {
            "scenario": data["scenario"],
            **({"control": case.control} if case.control else {}),
            "user_agent": data["user_agent"],
            "assistant": data["assistant"],
            "end": data["dialogue"]["end"],
            "turns": data["dialogue"]["messages"],
            "judge": f"{data['judge']} (verdicts of records of version 0.2)",
            "verdicts": [stored["verdict"] for stored in data["verdicts"]],
        }
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        problem = f"cannot be read: {error}; restore it from version control, or move it away"
        raise DataError(file, problem, code="PL201") from None


def score(options: argparse.Namespace) -> int:
    """Judge stored dialogues in a run of pytest, and return its exit status."""
    words = list(options.words)
    # Without an option that says what the run must reach, it fails on nothing.
    gating = {f"--{o.name}" for o in OPTIONS if o.shapes in ("gate", "judge check")}
    if not gating & {word.partition("=")[0] for word in words}:
        words.insert(0, "--gate=none")
    run = list(_words_of_pytest(words))
    if not any(word.startswith("--personalens-dialogues=") for word in run):
        # pytest would play dialogues of its own.
        missing = "the following arguments are required: DIALOGUES, such as results.json or chats.jsonl"
        return print_errors([missing], UNREADABLE)
    return subprocess.call([sys.executable, "-m", "pytest", *run])


def _words_of_pytest(words: Sequence[str]) -> Iterator[str]:
    """Yield the words for pytest: paths are dialogues, and options of a run need no ``personalens`` here.

    What follows ``--`` is for pytest as it is.
    """
    options = {f"--{o.name}": o for o in OPTIONS}
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from rest
            return
        name, given, value = word.partition("=")
        if (option := options.get(name)) is not None:
            wanted = not (given or option.flag)
            value = next(rest, "") if wanted else value
            if option.on == "ini":
                yield f"-o{option.ini}={value}"
            else:
                yield option.long if option.flag else f"{option.long}={value}"
        elif word.startswith("-"):
            yield word
        else:
            yield f"--personalens-dialogues={word}"
