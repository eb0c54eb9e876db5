"""Renders an agreement as tables for a terminal and as Markdown."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_personalens.reports.paper_tables import agreement_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.judge_quality.agreement import Agreement, Reading
    from pytest_personalens.reports.content.markup import Table


def lines(agreement: Agreement, *, most: int = 5) -> Iterator[str]:
    """Yield the lines for a terminal, with at most `most` disagreements of each dimension."""
    yield f"{agreement.judge}: {agreement.dialogues} dialogues over {agreement.scenarios} scenarios"
    yield "Cohen's kappa against the majority of the annotators"
    yield f"{'':16}{'dialogues':>10}{'plain':>8}{'95 %':>16}{'weighted':>10}{'95 %':>16}{'annotators':>13}"
    for reading in agreement.readings:
        name, *cells = _cells(reading)
        yield f"{name:16}" + "".join(map(str.rjust, cells, (10, 8, 16, 10, 16, 13)))
    yield "(annotators: Fleiss' kappa among themselves; weighted: by the square of the distance)"
    yield ""
    yield from _table_5(agreement).text().splitlines()
    for reading in agreement.readings:
        yield ""
        yield from _reading(reading, most)
    names_by_reason: dict[str, list[str]] = defaultdict(list)
    for name, why in agreement.faults.items():
        names_by_reason[why].append(name)
    for why, names in names_by_reason.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"not judged: {names[0]}{more}: {why}"


def _table_5(agreement: Agreement) -> Table:
    return agreement_table(
        (r.dimension.short, r.annotators_mean, r.majority.plain, r.fleiss) for r in agreement.readings
    )


def confusion(reading: Reading) -> Iterator[str]:
    low, high = reading.dimension.scale
    scale = range(low, high + 1)
    yield f"{reading.dimension.short}: rows are the majority, columns the judge"
    yield "     " + "".join(f"{b:>5}" for b in scale)
    for a in scale:
        yield f"{a:>5}" + "".join(f"{reading.confusion.get(f'{a} -> {b}', 0):>5}" for b in scale)


def _reading(reading: Reading, most: int) -> Iterator[str]:
    yield from confusion(reading)
    for name, k in reading.annotators.items():
        weighted = f", weighted {_number(k.weighted)}" if reading.dimension.scale.high > 1 else ""
        yield f"  against {name}: kappa {_number(k.plain)}{weighted} over {k.dialogues}"
    for d in reading.disagreements[:most]:
        yield f"  {d.id}: judge {d.judge}, majority {d.majority}: {d.justification}"
        yield from (f"      {name} {d.labels.get(name, '-')}: {why}" for name, why in d.reasons.items())
    if len(reading.disagreements) > most:
        yield f"  and {len(reading.disagreements) - most} more disagreements (--all shows them)"


def markdown(agreement: Agreement) -> str:
    rows = [
        f"Judge: `{agreement.judge}`, {agreement.dialogues} dialogues over {agreement.scenarios} scenarios.",
        "",
        "| reading | dialogues | kappa | 95 % | weighted | 95 % | among annotators |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    rows += [f"| {' | '.join(_cells(reading))} |" for reading in agreement.readings]
    return "\n".join([*rows, "", _table_5(agreement).markdown()])


def _cells(reading: Reading) -> tuple[str, ...]:
    """Return the row of a reading: its name, dialogues, both kappas with intervals, and Fleiss' kappa."""
    k = reading.majority
    graded = reading.dimension.scale.high > 1
    weighted = (_number(k.weighted), _interval(k.weighted_interval)) if graded else ("", "")
    plain = (_number(k.plain), _interval(k.plain_interval))
    return reading.dimension.short, str(k.dialogues), *plain, *weighted, _number(reading.fleiss)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _interval(value: tuple[float, float] | None) -> str:
    return "-" if value is None else f"{value[0]:.2f} to {value[1]:.2f}"
