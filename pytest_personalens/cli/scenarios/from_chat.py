"""The command ``from-chat``: makes a test of a chat in which an assistant forgot its user."""

from __future__ import annotations

import datetime as dt
import shlex
import sys
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import command
from pytest_personalens.cli.scenarios.import_chats import mask_by
from pytest_personalens.core.errors import DataError, SpecError
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.text.safe_text import one_line, slug

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from pytest_personalens.datasets.embedded.building.chats import Chat


@command("from-chat")
def main(options: argparse.Namespace) -> int:
    """Return 0; the file that is written may still have marks of what a person must decide."""
    from pytest_personalens.datasets.embedded.building.chats import read_chats
    from pytest_personalens.datasets.embedded.building.model_pieces import make_folder
    from pytest_personalens.datasets.embedded.building.toml_text import toml_text
    from pytest_personalens.suites.memory.arc_files import problems_of
    from pytest_personalens.suites.memory.arc_from_chat import draft_arc

    if slug(options.person) != options.person or not options.person:
        raise SpecError(
            f"--person: expected small letters, digits and hyphens, such as 'ada', not {options.person!r}",
            code="PL102",
        )
    chats, errors = read_chats([options.file], mask_by(options.names))
    for problem in errors:
        print(one_line(f"left out: {problem}"), file=sys.stderr)
    draft = draft_arc(chats, options.file, options.kind, options.person, dt.date.today())
    path = options.out / f"{draft['arcs'][0]['id']}.toml"
    if path.exists():
        raise DataError(
            path, "is there already, and somebody may have worked on it; remove it, or give --out"
        )
    if options.model is not None:
        filled = _by_model(options, draft, chats)
        if filled is None:
            return 0  # it was an estimate
        draft = filled
    make_folder(options.out)
    where = shlex.quote(str(path))
    test = f"pytest --personalens-suite memory --personalens-data {where} --personalens-sample all"
    head = one_line(f"# From {options.file.name}, with personal data masked. To run it: {test}")
    write_atomically(path, f"{head}\n{toml_text(draft)}")
    print(one_line(f"written: {path}"))
    for field, message in (todo := problems_of(draft)):
        print(one_line(f"to do: {field}: {message}"))
    print(one_line(f"{'then run' if todo else 'run'}: {test}"))
    return 0


def _by_model(options: argparse.Namespace, draft: dict[str, Any], chats: list[Chat]) -> dict[str, Any] | None:
    """Return the draft that a model filled in, or None after an estimate."""
    from pytest_personalens.cli.scenarios.asking import Asking
    from pytest_personalens.suites.memory.arc_from_chat import fill_by_model

    options.concurrency = 1  # there is one piece
    asking = Asking(options, {"incident": 1})
    if options.estimate:
        asking.print_estimate(chats)
        return None
    with asking.pieces() as pieces:
        filled = fill_by_model(draft, chats, pieces)
    if filled is None:
        (problems,) = pieces.given_up.values()
        print(
            one_line(f"the model's answers were refused {options.attempts} times: {'; '.join(problems)}"),
            file=sys.stderr,
        )
    return filled or draft
