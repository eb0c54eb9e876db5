"""The command ``score``: scores of stored dialogues."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.cli.command import command, print_errors
from pytest_personalens.core.options.option_table import OPTIONS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

#: Said where no dialogue is named: pytest would play dialogues of its own.
_NOTHING: Final = "the following arguments are required: DIALOGUES, such as results.json or chats.jsonl"
#: Options that say what a run must reach; without any of them, it fails on nothing.
_GATING: Final = {o.name for o in OPTIONS if o.shapes in ("gate", "judge check")}


def main(words: Sequence[str] | None = None, **more: Any) -> int:
    """Judge stored dialogues in a run of pytest, and return its exit status."""
    words = list(sys.argv[1:] if words is None else words)
    flags = {word.partition("=")[0] for word in words}
    if flags & {"-h", "--help"}:
        return _help(words, **more)
    if not flags & {f"--{name}" for name in _GATING}:
        words.insert(0, "--gate=none")
    run = list(_words_of_pytest(words))
    if not any(word.startswith("--personalens-dialogues=") for word in run):
        return print_errors([_NOTHING], "PL102")
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


@command("score")
def _help(options: argparse.Namespace) -> int:
    """Return 0; the parser of the arguments prints the help and ends the command."""
    return 0
