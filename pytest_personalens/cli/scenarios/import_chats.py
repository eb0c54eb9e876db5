"""The command ``import-chats``: makes drafts of tasks from stored dialogues, without personal data."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import command
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.links import write_atomically
from pytest_personalens.core.text.safe_text import one_line
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from pytest_personalens.datasets.embedded.building.chats import Chat


@command("import-chats")
def main(options: argparse.Namespace) -> int:
    """Return 0, or 1 if a dialogue is left out."""
    from pytest_personalens.cli.scenarios.asking import Asking
    from pytest_personalens.datasets.embedded.building.chats import draft_by_model, read_chats, skeleton
    from pytest_personalens.datasets.embedded.building.model_pieces import make_folder
    from pytest_personalens.datasets.embedded.building.toml_text import toml_text

    mask = mask_by(options.names)
    chats, errors = read_chats(options.files, mask)
    for problem in errors:
        print(one_line(f"left out: {problem}"), file=sys.stderr)
    folder, left_out = make_folder(options.out / "drafts"), len(errors)

    def write(chat: Chat, draft: dict[str, object]) -> None:
        path = folder / f"chat-{chat.number:04}.toml"
        if not path.exists():  # somebody may have worked on it
            head = one_line(f"# A draft from {chat.where}")
            write_atomically(path, f"{head}\n{toml_text(draft)}")

    if options.model is None:
        for chat in chats:
            write(chat, skeleton(chat))
    else:
        asking = Asking(options, {"chat": len(chats)})
        if options.estimate:
            asking.print_estimate(chats)
            return 0
        with asking.pieces() as pieces:
            made = [(chat, asking.pool.submit(draft_by_model, chat, pieces, mask)) for chat in chats]
            for chat, future in made:
                if (draft := future.result()) is not None:
                    write(chat, draft)
        for key, problems in sorted(pieces.given_up.items()):
            print(
                one_line(f"left out: {key}, after {options.attempts} attempts: {'; '.join(problems)}"),
                file=sys.stderr,
            )
        left_out += len(pieces.given_up)
    print(one_line(f"{count(len(chats) + len(errors) - left_out, 'draft')} in {folder}; {left_out} left out"))
    return int(left_out > 0)


def mask_by(names: Path | None) -> Callable[[str], str]:
    """Return what masks personal data, and the names in a file; raise `SpecError` for a file that is bad."""
    from pytest_personalens.datasets.embedded.building.chats import masker

    try:
        return masker(names.read_text(encoding="utf-8").splitlines() if names else [])
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise SpecError(f"--names: {names} cannot be read: {why}", code="PL201") from None
