"""The command ``merge``: puts the shards of a run together, decides its gates and reports."""

from __future__ import annotations

from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from pytest_personalens.cli.command import UNWRITABLE, argument_type, command, print_errors
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.destinations import refuse_shared_files
from pytest_personalens.core.options.gate import INCONCLUSIVE_EXIT, read_gate
from pytest_personalens.core.options.option_table import report
from pytest_personalens.core.text.parse import list_parts
from pytest_personalens.core.text.safe_text import harmless
from pytest_personalens.reports.terminal.summary_lines import summary_lines
from pytest_personalens.reports.terminal.transcript import gate_failure
from pytest_personalens.reports.write_reports import Files, check_files, write_files
from pytest_personalens.results.reasons.why_gates_failed import explanations
from pytest_personalens.results.shards import Shard, merge, read_shards
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_personalens.core.options.gate import GateExpression
    from pytest_personalens.core.suite import Suite


@command("merge", {"report": argument_type(report)})
def main(options: argparse.Namespace) -> int:
    """Return 0 if the run passed; 1 if a gate or an item failed or a part of the run is missing; else 4."""
    shards = read_shards(options.results)
    replaced = _replaced_settings(options, shards[0])
    files = _files(options, shards)
    merged = merge(shards, replaced, partial=options.partial, save_baseline=options.save_baseline)
    written = write_files(merged, files)
    print(
        f"personalens: {len(shards)} of {shards[0].of} shards of a run over"
        f" {count(merged.drawn, merged.of_suite.item)} of {merged.dataset}"
    )
    explained, width = explanations(merged), get_terminal_size().columns
    for one in explained:
        print(f"gate {one.gate.name}:")
        print(*gate_failure(one, merged, merged.scenarios, width=width), "", sep="\n")
    lines = summary_lines(
        merged, verbose=options.verbose, written=written.done, explained=bool(explained), width=width
    )
    print(*(harmless(text) for text, _ in lines), sep="\n")
    failed = [item.nodeid for item in merged.items if item.failed]
    if failed:
        print(harmless(f"failed items: {len(failed)}, whose runs say why; the first is {failed[0]}"))
    print(*written.annotations, sep="\n", end="\n" if written.annotations else "")
    status = print_errors([harmless(problem) for problem in written.problems], UNWRITABLE)
    gates_passed = merged.report_only or all(gate.passed for gate in merged.gates)
    if failed or merged.lost or not merged.complete:
        return 1
    inconclusive = all(gate.passed or gate.inconclusive for gate in merged.gates)
    return status if gates_passed else INCONCLUSIVE_EXIT if inconclusive else 1


def _replaced_settings(options: argparse.Namespace, shard: Shard) -> dict[str, object]:
    """Return the settings of the run that the command line replaces.

    Raise `SpecError` for a gate that cannot be read, and for any in a run that must not fail on a gate.
    """
    replaced: dict[str, object] = {} if options.baseline is None else {"baseline": options.baseline}
    if options.gate is not None:
        replaced["gate"] = _read_gates(options.gate, shard.results.of_suite)
    if shard.results.settings.get("report_only") and replaced:
        raise SpecError(
            f"--{next(iter(replaced))}: asks for a gate, and the shards are of a run that fails on"
            " nothing (--personalens-gate none); leave it out, or run them without that",
            code="PL108",
        )
    return replaced


def _files(options: argparse.Namespace, shards: Sequence[Shard]) -> Files:
    files = Files.of(options.report, save_baseline=options.save_baseline)
    baseline = options.baseline or shards[0].results.settings.get("baseline")
    written = [("--report", path) for path in files.reports]
    written += [("--save-baseline", files.save_baseline)] if files.save_baseline is not None else []
    refuse_shared_files(written, {f"this command (shard {shard.number})": shard.path for shard in shards})
    return check_files(files, "--", read={"--baseline": Path(baseline)} if baseline else {})


def _read_gates(texts: Sequence[str], suite: Suite) -> tuple[GateExpression, ...]:
    gates = []
    for part in (part for text in texts for part in list_parts(text) or [text]):
        try:
            gates.append(read_gate(part, suite))
        except ValueError as error:  # the same message as for a bad option
            raise SpecError(f"argument --gate: {error}, not {part!r}") from None
    return tuple(gates)
