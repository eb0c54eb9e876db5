"""The command ``build``: makes a dataset of a team's own domains, by hand or by a model."""

from __future__ import annotations

import shutil
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.cli.command import command, print_errors
from pytest_personalens.cli.scenarios.asking import Asking
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.text.safe_text import one_line
from pytest_personalens.datasets.embedded.building.build_plan import (
    draw_demographics,
    draw_interests,
    odd_attribute,
    read_plan,
)
from pytest_personalens.datasets.embedded.building.builder import Builder
from pytest_personalens.datasets.embedded.building.by_hand import lay_out_by_hand, unfinished
from pytest_personalens.datasets.embedded.building.lay_out import File, Person
from pytest_personalens.datasets.embedded.building.model_pieces import Pieces, prompt_digest
from pytest_personalens.datasets.embedded.building.toml_text import toml_text
from pytest_personalens.datasets.quality import Quality, assess, read_corpus
from pytest_personalens.datasets.quality.measures import MARGINALS
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping

#: The first words of a file that this command wrote, before the digest of the rest of the file.
_MARK: Final = "# Built by personalens, and not changed since: "
#: The least evenness of the values of a categorical type that a built dataset should have.
_EVEN: Final = 0.85


@command("build")
def main(options: argparse.Namespace) -> int:
    """Return 0, 1 if something is missing or inconsistent, or 4 for bad input."""
    if options.by_hand is not None:
        return _build_by_hand(options)
    if options.plan is None or options.out is None or options.model is None:
        raise SpecError(
            "give DOMAIN.toml with --model SPEC and --out FOLDER, or --by-hand FOLDER", code="PL102"
        )
    plan, errors = read_plan(options.plan)
    if plan is None or errors:
        return max(print_errors([one_line(str(error))], error.code) for error in errors)
    draw = (plan, options.plan, options.users, options.seed)
    who = zip(
        draw_demographics(*draw, usual=MARGINALS, odd=odd_attribute), draw_interests(*draw), strict=True
    )
    people = [Person(number, *each) for number, each in enumerate(who, 1)]
    steps = {
        "task": len(plan.multi) + sum(len(domain.tasks) for domain in plan.domains),
        "person": len(people),
        "preferences": len(people),
        "history": sum(len(person.domains) for person in people),
    }
    asking = Asking(options, steps)
    if options.estimate:
        asking.print_estimate()
        return 0
    scratch = asking.folder / "check"
    make = partial(Builder, check=lambda files: _check(files, scratch), judge=asking.judge, pool=asking.pool)
    try:
        with asking.pieces() as pieces:
            files = make(plan, people, pieces).make()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    kept = _write_dataset(files, pieces, options)
    return _report(options, pieces, kept)


def _check(files: Mapping[str, File], scratch: Path) -> list[tuple[str, str, str]]:
    """Return the findings of ``check-dataset`` for some files, with paths that begin at the dataset."""
    # A thread uses its folder again, because the cache keeps what each path held.
    root = scratch / str(threading.get_ident())
    shutil.rmtree(root, ignore_errors=True)
    for path, file in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(toml_text(file.table), encoding="utf-8", errors="replace")
    # The synonyms are the team's: they stand in its plan, and no model is asked for them.
    found = (f for f in read_corpus(str(root)).findings if f.rule != "synonyms")
    return [(Path(f.file).as_posix(), f.field, f.message) for f in found]


def _write_dataset(files: Mapping[str, File], pieces: Pieces, options: argparse.Namespace) -> list[Path]:
    """Write the files, remove those of an earlier build, and return those that stay, changed by hand."""
    kept = []
    wanted = {options.out / path: file for path, file in files.items()}
    for path in sorted({*wanted, *options.out.rglob("*.toml")}):
        if path.exists():
            first, _, rest = path.read_text(encoding="utf-8", errors="replace").partition("\n")
            if first != _MARK + prompt_digest(rest):
                kept += [path] if path in wanted else []
                continue
        if path not in wanted:
            path.unlink()
        else:
            origins = [f"# {key}: {pieces.origins[key]}\n" for key in wanted[path].pieces]
            rest = "".join([*origins, f"# seed {options.seed!r}\n", toml_text(wanted[path].table)])
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, f"{_MARK}{prompt_digest(rest)}\n{rest}")
    return kept


def _report(options: argparse.Namespace, pieces: Pieces, kept: Iterable[Path]) -> int:
    """Print what the dataset has, and what it lacks; return 1 if it lacks anything."""
    quality = assess(read_corpus(str(options.out)))
    lines = [f"{path} was changed by hand, and stays as it is" for path in kept]
    lines += [
        f"{t.domain}: {t.name}: evenness {t.evenness:.2f}, below {_EVEN}"
        for t in quality.types
        if t.categorical and t.evenness < _EVEN
    ]
    lines += _found(quality)
    for key, problems in sorted(pieces.given_up.items()):
        lines.append(f"{key} was given up after {options.attempts} attempts: {'; '.join(problems)}")
    print(_size(quality, options.out), *map(one_line, lines), sep="\n")
    return int(bool(quality.findings or pieces.given_up))


def _found(quality: Quality) -> list[str]:
    # What is found of the dataset as a whole has no field.
    return [": ".join(filter(None, (f.file, f.field, f.message))) for f in quality.findings]


def _size(quality: Quality, folder: Path) -> str:
    counts = (
        f"{quality.users} {'person' if quality.users == 1 else 'people'},"
        f" {count(len(quality.domains), 'domain')},"
        f" {count(quality.single_tasks + quality.multi_tasks, 'task')},"
        f" {count(quality.scenarios)}, evenness {quality.evenness_mean:.2f}"
    )
    return one_line(f"{quality.dataset}: {counts}, in {folder}")


def _build_by_hand(options: argparse.Namespace) -> int:
    """Lay out the files of the next step, or print what is missing; return 1 if anything is."""
    folder: Path = options.by_hand
    domains, people = (
        [part.strip() for part in text.split(",") if part.strip()]
        for text in (options.domains, options.people)
    )
    if not domains and not (folder / "dataset.toml").exists():
        raise SpecError(
            "--by-hand: add --domains 'Prescriptions' --people 'Orla Quinn, Tom Ode', with names of your own",
            code="PL108",
        )
    for path in lay_out_by_hand(folder, domains, people):
        print(one_line(f"written: {path}"))
    todo = [str(error) for error in unfinished(folder)]
    quality = None if todo else assess(read_corpus(str(folder)))
    todo += _found(quality) if quality else []
    if quality and not todo:
        print(_size(quality, folder))
        print(one_line(f"complete; run: pytest --personalens-sample 9 --personalens-data={folder}"))
        return 0
    print(*map(one_line, todo), f"{len(todo)} to do; then run the same command again", sep="\n")
    return 1
