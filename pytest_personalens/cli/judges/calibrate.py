"""The command ``calibrate``: measures a judge's errors on labels, for the correction of rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.cli.command import command
from pytest_personalens.cli.judges.agreement import judge_labels
from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.files.destinations import writable

if TYPE_CHECKING:
    import argparse

    from pytest_personalens.judge_quality import Agreement
    from pytest_personalens.results.values.calibration import Calibration

#: With fewer labels of a class, an interval tells next to nothing.
_FEW = 20


@command("calibrate")
def main(options: argparse.Namespace) -> int:
    """Return 0, 4 if the input cannot be read or judged at all, or 130 after Ctrl-C."""
    options.dimensions, options.idle, options.report = "tc,p", False, []
    if not options.estimate:
        writable(options.write, "--write")

    def conclude(agreement: Agreement) -> None:
        from pytest_personalens.core.files.links import write_atomically
        from pytest_personalens.judge_quality.agreement.render import confusion

        calibration = _calibration(agreement, options)
        print(*_lines(calibration), sep="\n")
        for reading in agreement.readings:
            print(*confusion(reading), sep="\n")
        if agreement.faults:
            name, why = next(iter(agreement.faults.items()))
            print(f"not judged: {len(agreement.faults)}, such as {name}: {why}")
        write_atomically(options.write, f"{calibration.model_dump_json(indent=2, by_alias=True)}\n")
        print(f"written: {options.write}; give it as personalens_calibration to runs with this judge")

    return judge_labels(options, conclude)


def _calibration(agreement: Agreement, options: argparse.Namespace) -> Calibration:
    from pytest_personalens.core.judging.dimensions import Dimension
    from pytest_personalens.results.values.calibration import Calibration

    found = {reading.dimension: reading.confusion for reading in agreement.readings}
    tc = found.get(Dimension.TASK_COMPLETION, {})
    done, failed = (sum(tc.get(f"{label} -> {read}", 0) for read in (0, 1)) for label in (1, 0))
    if not done or not failed:
        raise SpecError(
            f"{options.labels}: {done} dialogues are labelled as completed and {failed} as not, and were"
            " judged; a calibration needs some of each, best 50",
            code="PL207",
        )
    return Calibration(
        judge=agreement.judge,
        dialogues=agreement.dialogues,
        completed=done,
        seen_completed=tc.get("1 -> 1", 0),
        failed=failed,
        seen_failed=tc.get("0 -> 0", 0),
        personalization=found.get(Dimension.PERSONALIZATION, {}),
    )


def _lines(calibration: Calibration) -> list[str]:
    from pytest_personalens.results.values.calibration import correct
    from pytest_personalens.results.wording import count, ends_text

    of_true, of_false = calibration.sensitivity, calibration.specificity
    lines = [f"{calibration.judge}: {count(calibration.dialogues, 'labelled dialogue')}"]
    for name, found, what in (
        ("sensitivity", of_true, "completed tasks"),
        ("specificity", of_false, "failed tasks"),
    ):
        ends = ends_text(*found.ends)
        lines.append(f"{name} {found.share:.2f} (95 % {ends}): sees {found.right} of {found.of} {what}")
    corrected = correct(0.8, 100, of_true, of_false)
    if corrected is None:
        lines.append("no better than chance: no rate of this judge can be corrected")
    else:
        shown = f"{corrected.value:.2f} (95 % {ends_text(corrected.low, corrected.high)})"
        lines.append(f"a rate read as 0.80 over 100 dialogues is corrected to {shown}")
    if min(of_true.of, of_false.of) < _FEW:
        lines.append(f"fewer than {_FEW} labels of a class: the intervals are wide, and are meant to be")
    return lines
