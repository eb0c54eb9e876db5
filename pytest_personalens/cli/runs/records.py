"""The command ``records``: lists and deletes records that are not used, and reads those of version 0.2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_personalens.cli.command import command
from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.text.node_ids import CaseId, parse_case

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator


@command("records")
def main(options: argparse.Namespace) -> int:
    """Return 0, or 4 if something cannot be read or written."""
    if options.write is None:
        return _unused(options.folder, delete=options.delete)
    if options.delete:
        raise SpecError("--delete: the records are read for --write, and stay; leave it out", code="PL108")
    return _convert(options.folder, options.write)


def _unused(folder: Path, *, delete: bool) -> int:
    """List, or delete, the records below the folder that no item of the last run used."""
    from pytest_personalens.engine.records.record import record_folders
    from pytest_personalens.results.shards import last_run
    from pytest_personalens.results.values.results import read_results

    file = last_run(folder.absolute())
    root, items = file.parents[3], read_results(file).items
    used = {root / item.record_file for item in items if item.record_file}
    every = (f for below in record_folders(str(folder.absolute())) for f in Path(below).glob("*/*.json"))
    unused = sorted(path for path in every if path not in used and not path.is_symlink())
    for path in unused:
        if delete:
            path.unlink()
        print(path.relative_to(root))
    done = "deleted" if delete else "of no item of the last run; --delete deletes them"
    print(f"{len(unused)} records {done}, {len(used)} in use")
    return 0


def _convert(folder: Path, target: Path) -> int:
    """Write the records of version 0.2 below the folder as stored dialogues with their verdicts."""
    from pytest_personalens.core.files.destinations import writable
    from pytest_personalens.core.files.links import write_atomically

    if writable(target, "--write").exists():
        raise SpecError(f"--write: {target} is there already; give another path, or remove it", code="PL105")
    lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in _stored_dialogues(folder)]
    if not lines:
        raise DataError(folder, "holds no record of version 0.2")
    write_atomically(target, "".join(lines), durable=True)
    print(
        f"{len(lines)} dialogues with their verdicts are in {target}. For reports and a baseline of them:"
        f" personalens score {target}"
    )
    return 0


def _stored_dialogues(folder: Path) -> Iterator[dict[str, Any]]:
    from pytest_personalens.engine.records.record import integrity_of

    files = [folder] if folder.is_file() else sorted(folder.rglob("*.json"))
    for file in files:
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(data, dict) or data.get("record") != 1:
                continue
            if data["integrity"] != integrity_of(data):
                raise ValueError("it was edited by hand")
            case = parse_case(file.stem, [data["scenario"]]) or CaseId(data["scenario"])
            if data["dialogue"]["end"] == "fault":
                continue
            yield {
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
            raise DataError(
                file,
                f"cannot be read: {error}; restore it from version control, or move it away",
                code="PL201",
            ) from None
