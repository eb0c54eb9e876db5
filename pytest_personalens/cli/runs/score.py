"""The command ``score``: figures of stored outputs of PersonaConvBench, without its data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.cli.command import argument_type, command, report_files
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.destinations import file_kind
from pytest_personalens.suites.personaconv.logs.report import data, markdown, page, text
from pytest_personalens.suites.personaconv.logs.score import read_log_gate, score_files

if TYPE_CHECKING:
    import argparse

#: The exit status of a command whose gates failed, as pytest's own for failed tests.
_FAILED = 1
_WRITERS = {"json": data, "markdown": markdown, "html": page}


@command("score", {"gate": argument_type(read_log_gate)})
def main(options: argparse.Namespace) -> int:
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
