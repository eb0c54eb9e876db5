"""The command ``score``: scores of stored dialogues, and figures of stored outputs of PersonaConvBench."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.cli.command import argument_type, command, print_errors, report_files
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.destinations import file_kind
from pytest_personalens.core.options.options import OPTIONS
from pytest_personalens.suites.personaconv.logs.report import data, markdown, page, text
from pytest_personalens.suites.personaconv.logs.score import read_log_gate, score_files

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

#: The exit status of a command whose gates failed, as pytest's own for failed tests.
_FAILED = 1
#: Said where no dialogue is named: pytest would play dialogues of its own.
_NOTHING: Final = (
    "the following arguments are required: DIALOGUES, such as results.json or chats.jsonl; outputs of"
    " PersonaConvBench need --kind as well"
)
#: Options that say what a run must reach; without any of them, it fails on nothing.
_GATING: Final = {o.name for o in OPTIONS if o.shapes in ("gate", "judge check")}
_WRITERS = {"json": data, "markdown": markdown, "html": page}


def main(words: Sequence[str] | None = None, **more: Any) -> int:
    """Judge stored dialogues in a run of pytest; with ``--kind``, score stored outputs of predictions."""
    words = list(sys.argv[1:] if words is None else words)
    flags = {word.partition("=")[0] for word in words}
    if flags & {"--kind", "-h", "--help"}:
        return _score_outputs(words, **more)
    if not flags & {f"--{name}" for name in _GATING}:
        words.insert(0, "--gate=none")
    run = list(_words_of_pytest(words))
    if not any(word.startswith("--personalens-dialogues=") for word in run):
        return print_errors([_NOTHING])
    return subprocess.call([sys.executable, "-m", "pytest", *run])


def _words_of_pytest(words: Sequence[str]) -> Iterator[str]:
    """Yield the words for pytest: paths are dialogues, and options of a run need no ``personalens`` here.

    What follows ``--`` is for pytest as it is.
    """
    options = {f"--{o.name}": o for o in OPTIONS if o.on != "ini"}
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from rest
            return
        name, given, value = word.partition("=")
        if (option := options.get(name)) is not None:
            wanted = not (given or option.flag)
            value = next(rest, "") if wanted else value
            yield option.long if option.flag else f"{option.long}={value}"
        elif word.startswith("-"):
            yield word
        else:
            yield f"--personalens-dialogues={word}"


@command("score", {"gate": argument_type(read_log_gate)})
def _score_outputs(options: argparse.Namespace) -> int:
    """Return 0, 1 if a gate failed, or 4 for what cannot be read or scored."""
    paths = report_files(options.report, {str(path): path for path in options.files})
    scores = score_files(
        options.files,
        kind=options.kind,
        protocol=options.protocol,
        gates=options.gate,
        published_beside=options.published,
        nltk_data=options.nltk_data,
        embedding=options.embedding,
    )
    for path in paths:
        write_atomically(path, _WRITERS[str(file_kind(path))](scores))
    print(text(scores), end="")
    return 0 if scores.passed else _FAILED
