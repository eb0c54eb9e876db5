"""The command ``python -m pytest_personalens merge RESULTS.json...``.

It merges the shards of a run, decides the gates of the run and writes one report.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import Parser, errors_told, tell, value_of
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.destinations import refuse_shared_files
from pytest_personalens.core.options.gate_expression import read_gate
from pytest_personalens.core.options.option_types import report
from pytest_personalens.core.text.parse import list_parts
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.files import Files, check_files, write_files
from pytest_personalens.reports.terminal.failure_layout import gate_failure
from pytest_personalens.reports.terminal.summary import summary_lines
from pytest_personalens.results.files.shards import Shard, merge, read_shards
from pytest_personalens.results.reasons.explanation import explanations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.suite.suite import Suite


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Return 0 if the run passed. Return 1 if a gate or an item failed, or if a part of the run is missing.
    Return 4 if the files cannot be merged.
    """
    options = _parser().parse_args(arguments)
    replaced: dict[str, object] = {} if options.baseline is None else {"baseline": options.baseline}
    shards = read_shards(options.results)
    if options.gate is not None:
        replaced["gate"] = _gates(options.gate, shards[0].results.of_suite)
    files = _files(options, shards)
    _refuse_gates(shards[0], [*replaced, *(["save_baseline"] if options.save_baseline else [])])
    merged = merge(shards, replaced, partial=options.partial, save_baseline=options.save_baseline)
    written = write_files(merged, files)
    print(
        f"personalens: {len(shards)} of {shards[0].of} shards of a run over {merged.drawn}"
        f" {merged.of_suite.item}s of {merged.dataset}"
    )
    explained, width = explanations(merged), get_terminal_size().columns
    for one in explained:
        print(f"gate {one.gate.name}:")
        print(*gate_failure(one, merged, merged.scenarios, width=width), "", sep="\n")
    for text, _ in summary_lines(
        merged, verbose=options.verbose, written=written.done, explained=bool(explained), width=width
    ):
        print(harmless(text))
    failed = [item.nodeid for item in merged.items if item.failed]
    if failed:
        print(harmless(f"failed items: {len(failed)}, whose runs say why; the first is {failed[0]}"))
    print(*written.annotations, sep="\n", end="\n" if written.annotations else "")
    status = tell([harmless(problem) for problem in written.problems])
    passed = (
        not failed
        and not merged.lost
        and merged.complete
        and (merged.report_only or all(gate.passed for gate in merged.gates))
    )
    return status if passed else 1


def _refuse_gates(shard: Shard, replaced: Sequence[str]) -> None:
    """Raise `SpecError` if the command line asks for a gate that the run rules out.

    This is so for a run that must not fail on any gate (report only).
    """
    if shard.results.settings.get("report_only") and replaced:
        raise SpecError(
            f"--{replaced[0].replace('_', '-')}: asks for a gate, and the shards are of a run that fails on"
            " nothing (--personalens-gate none); leave it out, or run them without that"
        )


def _files(options: argparse.Namespace, shards: Sequence[Shard]) -> Files:
    files = Files.of(options.report, save_baseline=options.save_baseline)
    baseline = options.baseline or shards[0].results.settings.get("baseline")
    written = [("--report", path) for path in files.reports]
    written += [("--save-baseline", files.save_baseline)] if files.save_baseline is not None else []
    refuse_shared_files(written, {f"this command (shard {shard.number})": shard.path for shard in shards})
    return check_files(files, "--", read={"--baseline": Path(baseline)} if baseline else {})


def _gates(texts: Sequence[str], suite: Suite) -> tuple[GateExpression, ...]:
    """Return the gates of the option.

    Raise `SpecError` with the same message as for a bad option.
    """
    parts = [part for text in texts for part in list_parts(text) or [text]]
    gates = []
    for part in parts:
        try:
            gates.append(read_gate(part, suite))
        except ValueError as error:
            raise SpecError(f"argument --gate: {error}, not {part!r}") from None
    return tuple(gates)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens merge",
        description=(
            "Put the results of all shards of a run together, decide its gates, report. Exit code 1 if a gate"
            " or an item failed."
        ),
        example="personalens merge shard-*.json --gate 'tcr >= 0.9' --report page.html",
    )
    parser.add_argument(
        "results",
        type=Path,
        nargs="+",
        metavar="RESULTS.json",
        help="the JSON results of a shard, a file a shard",
    )
    parser.add_argument(
        "--report",
        type=value_of(report),
        action="append",
        default=[],
        metavar="PATH|github",
        help=(
            "write the results of the whole run as JSON (PATH.json), a page (PATH.html)"
            " or a summary (PATH.md); github: the summary of the step and annotations, in GitHub Actions; may"
            " be repeated"
        ),
    )
    parser.add_argument(
        "--baseline", metavar="PATH", help="hold the run against this baseline (default: the run's)"
    )
    parser.add_argument(
        "--save-baseline", type=Path, metavar="PATH", help="keep the run's scores as a baseline"
    )
    parser.add_argument(
        "--gate",
        action="append",
        metavar="LIST",
        help="gates, such as 'tcr >= 0.9, p >= 2.3' (default: the run's)",
    )
    parser.refuse("json", "html", "markdown", "min-tcr", "min-p", "min-valid")
    parser.add_argument(
        "--partial",
        action="store_true",
        help="report also if shards are missing or were stopped; without gates, exit code 1",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="every item below its threshold")
    return parser
