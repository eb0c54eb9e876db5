"""``python -m pytest_personalens score FILE...``: figures of stored outputs of PersonaConvBench, without its
data.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import Parser, errors_told, report_of, value_of
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.atomic_write import write_atomically
from pytest_personalens.core.files.destinations import file_kind, refuse_shared_files, writable
from pytest_personalens.core.options.gate_expression import read_gate
from pytest_personalens.core.suite.suite import suite_named
from pytest_personalens.reports.tables.published import table_with_published
from pytest_personalens.suites.personaconv.logs import report as log_report
from pytest_personalens.suites.personaconv.logs.figures import difference, figured
from pytest_personalens.suites.personaconv.logs.logs import read_logs
from pytest_personalens.suites.personaconv.logs.report import Decided, Scores
from pytest_personalens.suites.personaconv.page.published import published
from pytest_personalens.suites.personaconv.scoring.measures import FIGURES
from pytest_personalens.suites.personaconv.suite import SUITE
from pytest_personalens.suites.personaconv.values import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.reports.tables.table import PaperTable
    from pytest_personalens.suites.personaconv.logs.figures import Figured
    from pytest_personalens.suites.personaconv.scoring.texts import TextScorer

#: The exit status of a command whose gates failed, as pytest's own for failed tests.
_FAILED = 1


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns 0, 1 where a gate failed, or 4 for what cannot be read or scored."""
    options = _parser().parse_args(arguments)
    files = [("--report", Path(path)) for path in options.report]
    refuse_shared_files(files, {str(path): path for path in options.files})
    for flag, path in files:
        writable(path, flag, kind=str(file_kind(path)))
    texts = _texts(options)
    logs = [log for path in options.files for log in read_logs(path, options.kind, options.protocol)]
    scored = [figured(log, options.kind, options.protocol, texts) for log in logs]
    compared = [(scored[0], scored[1])] if len(scored) == 2 else []
    scores = Scores(
        options.kind,
        options.protocol,
        texts.identity if texts else "",
        scored,
        [(a.log.name, b.log.name, difference(a, b, options.kind)) for a, b in compared],
        [_decided(gate, each) for each in scored for gate in options.gate],
        [_beside(scored, options)] if options.published else [],
    )
    for _, path in files:
        write_atomically(path, _PAGES[str(file_kind(path))](scores))
    print(log_report.text(scores), end="")
    return 0 if scores.passed else _FAILED


_PAGES = {"json": log_report.data, "markdown": log_report.markdown, "html": log_report.page}


def _texts(options: argparse.Namespace) -> TextScorer | None:
    """What scores next text. Raises `SpecError` for options that say nothing of the kind."""
    if options.kind == "next-text":
        from pytest_personalens.suites.personaconv.scoring.texts import TextScorer

        return TextScorer(nltk_data=options.nltk_data, embedding=options.embedding)
    for name in ("nltk_data", "embedding"):
        if getattr(options, name):
            raise SpecError(f"--{name.replace('_', '-')}: it is of --kind next-text")
    return None


def _beside(scored: Sequence[Figured], options: argparse.Namespace) -> PaperTable:
    found = published(options.kind, {"protocol": options.protocol})
    rows = [(f"{each.log.name}, {len(each.log.rows)} rows", each.overall) for each in scored]
    return table_with_published(SUITE, options.kind, rows, found)


def _gate(text: str) -> GateExpression:
    """Return a gate of the suite that is on a figure of stored outputs. Raises ValueError for any other."""
    gate = read_gate(text, suite_named("personaconv"))
    if gate.metric not in FIGURES:
        raise ValueError(f"stored outputs have no {gate.metric}; known: {', '.join(FIGURES)}")
    return gate


def _decided(gate: GateExpression, scored: Figured) -> Decided:
    domain = scored.group(gate.group) if gate.group else ""
    if domain is None:
        raise SpecError(
            f"--gate: {scored.log.name} has no domain {gate.group!r}; it has {', '.join(scored.by_domain)}"
        )
    values = scored.by_domain[domain] if domain else scored.overall
    if gate.metric not in values:
        wanted = FIGURES[gate.metric].kind
        has = f"{scored.log.name} has {', '.join(values)}"
        of = f"it is of {wanted}; " if wanted else ""
        raise SpecError(f"--gate: no {gate.metric} here: {of}{has}")
    value, rows = values[gate.metric], scored.count(gate.metric, domain)
    passed = value is not None and not math.isnan(value) and gate.passes(value)
    return Decided(gate, scored.log.name, value, rows, passed)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens score",
        description=(
            "Score stored outputs of PersonaConvBench, in any of the formats that the official scripts write."
            " Two files are compared line by line. The exit code is 1 where a gate failed."
        ),
        usage="%(prog)s [options] --kind KIND FILE.jsonl...",
        example="personalens score outputs.jsonl --kind sentiment --gate 'accuracy >= 0.7'",
    )
    parser.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE.jsonl",
        help="outputs with their true_label, a row a line",
    )
    parser.add_argument("--kind", required=True, choices=KINDS, help="what was foretold")
    parser.add_argument(
        "--protocol",
        default="fixed",
        choices=("fixed", "official"),
        help=(
            "fixed: what cannot be read is a wrong class, and counts in parsed; official: as the official log"
            " evaluators, which leave it out (default: fixed)"
        ),
    )
    parser.add_argument(
        "--gate",
        type=value_of(_gate),
        action="append",
        default=[],
        metavar="'[DOMAIN:] METRIC >= VALUE'",
        help="what must be reached, such as 'accuracy >= 0.7' or 'gaming: mae <= 60'; may be repeated",
    )
    parser.add_argument(
        "--report",
        type=report_of(("json", "markdown", "html")),
        action="append",
        default=[],
        metavar="PATH",
        help="write the figures as JSON, Markdown or a page, by the path's ending; may be repeated",
    )
    parser.add_argument(
        "--published", action="store_true", help="the figures of PersonaConvBench's README beside them"
    )
    parser.add_argument(
        "--nltk-data",
        type=Path,
        metavar="DIR",
        help="WordNet, for METEOR: its own folder, or NLTK's data (default: the exact and stem stages alone)",
    )
    parser.add_argument(
        "--embedding",
        default="",
        metavar="SPEC",
        help="sentence-transformers:PATH or module:attribute, for SBERT (default: n-grams of characters)",
    )
    return parser
