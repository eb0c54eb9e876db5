"""Commands about datasets: check-dataset, build, import-chats and from-chat."""

from __future__ import annotations

import datetime as dt
import json
import shlex
import shutil
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.cli.command import print_errors, report_files
from pytest_personalens.cli.paid_calls import Asking
from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.names import FIRST_SUITE
from pytest_personalens.core.safe_text import count, one_line, slug
from pytest_personalens.core.suite import other_suites
from pytest_personalens.datasets.embedded.building import build_plan, builder, drafts
from pytest_personalens.datasets.quality import measures
from pytest_personalens.datasets.quality.corpus import read_corpus
from pytest_personalens.reports.paper_tables import data_table
from pytest_personalens.suites.memory.arc_files import problems_of
from pytest_personalens.suites.memory.arc_from_chat import draft_arc, fill_by_model

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping

    from pytest_personalens.core.suite import DataCheck
    from pytest_personalens.datasets.embedded.building.drafts import Chat

_STDOUT: Final = "-"
#: The first words of a file that `build` wrote, before the digest of the rest of the file.
_MARK: Final = "# Built by personalens, and not changed since: "
#: The least evenness of the values of a categorical type that a built dataset should have.
_EVEN: Final = 0.85


def check_dataset(options: argparse.Namespace) -> int:
    """Measure datasets of any suite; return 1 if there are findings and no table was asked for."""
    files = report_files([text for text in options.report if text != _STDOUT], {})
    qualities: list[measures.Quality] = []  # of the first suite
    checks: list[DataCheck] = []
    for spec in options.dataset:
        of_others = (suite.check_data(spec, options.words) for suite in other_suites(FIRST_SUITE))
        check = next((found for found in of_others if found is not None), None)
        if check is None:
            corpus = read_corpus(spec, offered=options.offered)
            qualities.append(measures.assess(corpus, words=options.words))
            check = measures.data_check(qualities[-1])
        elif options.table:
            raise DataError(spec, "has none of these tables; leave out --table", code="PL108")
        checks.append(check)
    text = json.dumps([check.report for check in checks], indent=2, ensure_ascii=False) + "\n"
    for path in files:
        write_atomically(path, text)
    if _STDOUT in options.report:
        sys.stdout.write(text)
    elif options.table:
        print("\n".join(data_table(options.table, quality).text() for quality in qualities), end="")
        return 0
    else:
        same: dict[tuple[str, ...], list[DataCheck]] = {}
        for check in checks:
            same.setdefault(tuple(label for label, _, _ in check.rows), []).append(check)
        print("\n\n".join("\n".join(measures.overview(together)) for together in same.values()))
        for check in checks:
            every = check.every if options.all else ()
            for lines in (check.summary, check.details if options.details else (), every):
                if lines:
                    print("", *map(one_line, (check.dataset, *lines)), sep="\n")
            print("", *measures.finding_lines(check, every=options.all), sep="\n")
    return int(any(check.findings for check in checks))


def build(options: argparse.Namespace) -> int:
    """Make a dataset by hand or by a model; return 1 if something is missing or inconsistent."""
    if options.by_hand is not None:
        return _build_by_hand(options)
    if options.plan is None or options.out is None or options.model is None:
        raise SpecError(
            "give DOMAIN.toml with --model SPEC and --out FOLDER, or --by-hand FOLDER", code="PL102"
        )
    plan, errors = build_plan.read_plan(options.plan)
    if plan is None or errors:
        return max(print_errors([one_line(str(error))], error.code) for error in errors)
    draw = (plan, options.plan, options.users, options.seed)
    who = zip(
        build_plan.draw_demographics(*draw, usual=measures.MARGINALS),
        build_plan.draw_interests(*draw),
        strict=True,
    )
    people = [builder.Person(number, *each) for number, each in enumerate(who, 1)]
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
    make = partial(
        builder.Builder, check=lambda files: _check(files, scratch), judge=asking.judge, pool=asking.pool
    )
    try:
        with asking.pieces() as pieces:
            files = make(plan, people, pieces).make()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    kept = _write_dataset(files, pieces, options)
    return _report(options, pieces, kept)


def _check(files: Mapping[str, builder.File], scratch: Path) -> list[tuple[str, str, str]]:
    """Return the findings of ``check-dataset`` for some files, with paths that begin at the dataset."""
    # A thread uses its folder again, because the cache keeps what each path held.
    root = scratch / str(threading.get_ident())
    shutil.rmtree(root, ignore_errors=True)
    for path, file in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(drafts.toml_text(file.table), encoding="utf-8", errors="replace")
    return [(Path(f.file).as_posix(), f.field, f.message) for f in read_corpus(str(root)).found]


def _write_dataset(
    files: Mapping[str, builder.File], pieces: builder.Pieces, options: argparse.Namespace
) -> list[Path]:
    """Write the files, remove those of an earlier build, and return those that stay, changed by hand."""
    kept = []
    wanted = {options.out / path: file for path, file in files.items()}
    for path in sorted({*wanted, *options.out.rglob("*.toml")}):
        if path.exists():
            first, _, rest = path.read_text(encoding="utf-8", errors="replace").partition("\n")
            if first != _MARK + builder.prompt_digest(rest):
                kept += [path] if path in wanted else []
                continue
        if path not in wanted:
            path.unlink()
        else:
            origins = [f"# {key}: {pieces.origins[key]}\n" for key in wanted[path].pieces]
            rest = "".join([*origins, f"# seed {options.seed!r}\n", drafts.toml_text(wanted[path].table)])
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, f"{_MARK}{builder.prompt_digest(rest)}\n{rest}")
    return kept


def _report(options: argparse.Namespace, pieces: builder.Pieces, kept: Iterable[Path]) -> int:
    """Print what the dataset has, and what it lacks; return 1 if it lacks anything."""
    quality = measures.assess(read_corpus(str(options.out)))
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


def _found(quality: measures.Quality) -> list[str]:
    # What is found of the dataset as a whole has no field.
    return [": ".join(filter(None, (f.file, f.field, f.message))) for f in quality.findings]


def _size(quality: measures.Quality, folder: Path) -> str:
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
    given = {"DOMAIN.toml": options.plan, "--model": options.model, "--out": options.out}
    if extra := [name for name, value in given.items() if value is not None]:
        raise SpecError(f"--by-hand: {extra[0]} is of a dataset made by a model; give one way", code="PL108")
    domains, people = (
        [part.strip() for part in text.split(",") if part.strip()]
        for text in (options.domains, options.people)
    )
    if not domains and not (folder / "dataset.toml").exists():
        raise SpecError(
            "--by-hand: add --domains 'Prescriptions' --people 'Orla Quinn, Tom Ode', with names of your own",
            code="PL108",
        )
    for path in drafts.lay_out_by_hand(folder, domains, people):
        print(one_line(f"written: {path}"))
    todo = [str(error) for error in drafts.unfinished(folder)]
    quality = None if todo else measures.assess(read_corpus(str(folder)))
    todo += _found(quality) if quality else []
    if quality and not todo:
        print(_size(quality, folder))
        print(one_line(f"complete; run: pytest --personalens-sample 9 --personalens-data={folder}"))
        return 0
    print(*map(one_line, todo), f"{len(todo)} to do; then run the same command again", sep="\n")
    return 1


def import_chats(options: argparse.Namespace) -> int:
    """Make drafts of tasks from stored dialogues; return 1 if a dialogue is left out."""
    mask = _mask_by(options.names)
    chats, errors = _read_chats(options.files, mask)
    folder, left_out = builder.make_folder(options.out / "drafts"), len(errors)

    def write(chat: Chat, draft: dict[str, object]) -> None:
        path = folder / f"chat-{chat.number:04}.toml"
        if not path.exists():  # somebody may have worked on it
            head = one_line(f"# A draft from {chat.where}")
            write_atomically(path, f"{head}\n{drafts.toml_text(draft)}")

    if options.model is None:
        for chat in chats:
            write(chat, drafts.skeleton(chat))
    else:
        asking = Asking(options, {"chat": len(chats)})
        if options.estimate:
            asking.print_estimate(chats)
            return 0
        with asking.pieces() as pieces:
            made = [(chat, asking.pool.submit(drafts.draft_by_model, chat, pieces, mask)) for chat in chats]
            for chat, future in made:
                if (draft := future.result()) is not None:
                    write(chat, draft)
        for key, problems in sorted(pieces.given_up.items()):
            why = f"after {options.attempts} attempts: {'; '.join(problems)}"
            print(one_line(f"left out: {key}, {why}"), file=sys.stderr)
        left_out += len(pieces.given_up)
    print(one_line(f"{count(len(chats) + len(errors) - left_out, 'draft')} in {folder}; {left_out} left out"))
    return int(left_out > 0)


def from_chat(options: argparse.Namespace) -> int:
    """Make a test of a chat in which an assistant forgot its user; what a person must decide is marked.

    Return 1 if the answers of a model were refused.
    """
    if slug(options.person) != options.person or not options.person:
        raise SpecError(
            f"--person: expected small letters, digits and hyphens, such as 'ada', not {options.person!r}",
            code="PL102",
        )
    chats, _ = _read_chats([options.file], _mask_by(options.names))
    draft = draft_arc(chats, options.file, options.kind, options.person, dt.date.today())
    path = options.out / f"{draft['arcs'][0]['id']}.toml"
    if path.exists():
        raise DataError(
            path, "is there already, and somebody may have worked on it; remove it, or give --out"
        )
    filled: dict[str, Any] | None = draft
    if options.model is not None:
        options.concurrency = 1  # there is one piece
        asking = Asking(options, {"incident": 1})
        if options.estimate:
            asking.print_estimate(chats)
            return 0
        with asking.pieces() as pieces:
            filled = fill_by_model(draft, chats, pieces)
        for problems in pieces.given_up.values():
            why = f"the model's answers were refused {options.attempts} times: {'; '.join(problems)}"
            print(one_line(why), file=sys.stderr)
    draft = filled or draft
    builder.make_folder(options.out)
    where = shlex.quote(str(path))
    test = f"pytest --personalens-suite memory --personalens-data {where} --personalens-sample all"
    head = one_line(f"# From {options.file.name}, with personal data masked. To run it: {test}")
    write_atomically(path, f"{head}\n{drafts.toml_text(draft)}")
    print(one_line(f"written: {path}"))
    for field, message in (todo := problems_of(draft)):
        print(one_line(f"to do: {field}: {message}"))
    print(one_line(f"{'then run' if todo else 'run'}: {test}"))
    return int(filled is None)


def _read_chats(files: list[Path], mask: Callable[[str], str]) -> tuple[list[Chat], list[DataError]]:
    """Return the chats, and what was left out, which is printed."""
    chats, errors = drafts.read_chats(files, mask)
    for problem in errors:
        print(one_line(f"left out: {problem}"), file=sys.stderr)
    return chats, errors


def _mask_by(names: Path | None) -> Callable[[str], str]:
    """Return what masks personal data, and the names in a file; raise `SpecError` for a file that is bad."""
    try:
        return drafts.masker(names.read_text(encoding="utf-8").splitlines() if names else [])
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise SpecError(f"--names: {names} cannot be read: {why}", code="PL201") from None
