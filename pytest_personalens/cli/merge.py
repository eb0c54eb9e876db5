"""``python -m pytest_personalens merge RESULTS.json...``: the shards of a run put together, under its gates and in one report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.cli.command import Parser, errors_told, tell
from pytest_personalens.core.destinations import refuse_shared_files
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.parse import number
from pytest_personalens.core.safe_text import harmless
from pytest_personalens.reports.files import Files, checked, write_files
from pytest_personalens.reports.terminal import summary_lines
from pytest_personalens.results.gate_expressions import read_floor
from pytest_personalens.results.shards import Shard, merge, read_shards

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


#: Settings of the run that the command line may replace.
_GIVEN: Final = ("min_tcr", "min_p", "min_valid", "gate", "baseline")


@errors_told
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns 0, 1 when a gate or an item failed or not all of the run is there, or 4 for what cannot be merged."""
    options = _parser().parse_args(arguments)
    replaced = {name: value for name in _GIVEN if (value := getattr(options, name)) is not None}
    shards = read_shards(options.results)
    files = _files(options, shards)
    _refuse_gates(shards[0], [*replaced, *(["save_baseline"] if options.save_baseline else [])])
    merged = merge(shards, replaced, partial=options.partial, save_baseline=options.save_baseline)
    written = write_files(merged, files)
    print(f"personalens: {len(shards)} of {shards[0].of} shards of a run over {merged.drawn} scenarios of {merged.dataset}")
    for text, _ in summary_lines(merged, verbose=options.verbose, written=written.done):
        print(harmless(text))
    failed = [item.nodeid for item in merged.items if item.failed]
    if failed:
        print(harmless(f"failed items: {len(failed)}, whose runs say why; the first is {failed[0]}"))
    status = tell([harmless(problem) for problem in written.problems])
    passed = not failed and not merged.lost and merged.complete and (merged.report_only or all(gate.passed for gate in merged.gates))
    return status if passed else 1


def _refuse_gates(shard: Shard, replaced: Sequence[str]) -> None:
    """Raise `SpecError` where the command line asks for gates of a run that was to fail on nothing."""
    if shard.results.settings.get("fail_on") == "nothing" and replaced:
        raise SpecError(
            f"--{replaced[0].replace('_', '-')}: asks for a gate, and the shards are of a run that fails on nothing (--personalens-fail-on "
            "nothing); leave it out, or run them without that"
        )


def _files(options: argparse.Namespace, shards: Sequence[Shard]) -> Files:
    files = Files(options.json, options.markdown, options.html, options.save_baseline)
    baseline = options.baseline or shards[0].results.settings.get("baseline")
    written = {f"--{name.replace('_', '-')}": path for name, path in files._asdict().items() if path is not None}
    refuse_shared_files(written, {f"this command (shard {shard.number})": shard.path for shard in shards})
    return checked(files, lambda name: f"--{name.replace('_', '-')}", read={"--baseline": Path(baseline)} if baseline else {})


def _read(read: Callable[[str], Any]) -> Callable[[str], Any]:
    def told(text: str) -> Any:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{error}, not {text!r}") from None

    return told


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="personalens merge",
        description="Put the results of all shards of a run together, decide its gates, report. Exit code 1 if a gate or an item failed.",
    )
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULTS.json", help="what --personalens-json wrote, a file a shard")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results of the whole run")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a summary as Markdown, such as to $GITHUB_STEP_SUMMARY")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a report as one HTML page (needs the extra html)")
    parser.add_argument("--baseline", metavar="FILE", help="hold the run against this baseline (default: the run's)")
    parser.add_argument("--save-baseline", type=Path, metavar="FILE", help="keep the run's scores as a baseline")
    parser.add_argument(
        "--gate", type=_read(read_floor), action="append", metavar="EXPRESSION", help="a gate, such as 'tcr >= 0.9' (default: the run's)"
    )
    parser.add_argument("--min-tcr", type=_read(number(0, 1)), metavar="X", help="floor of the task completion rate (default: the run's)")
    parser.add_argument("--min-p", type=_read(number(1, 4)), metavar="X", help="floor of mean personalization (default: the run's)")
    parser.add_argument(
        "--min-valid", type=_read(number(0, 1)), metavar="X", help="floor of the share of scored items (default: the run's)"
    )
    parser.add_argument(
        "--partial", action="store_true", help="report also if shards are missing or were stopped; without gates, exit code 1"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="every item below its threshold")
    return parser
