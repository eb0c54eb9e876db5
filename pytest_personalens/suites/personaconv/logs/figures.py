"""The figures of stored outputs, over all rows and by domain."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.judging.evaluation import Answer
from pytest_personalens.results.stats.intervals import rate_interval
from pytest_personalens.results.stats.paired import sign_flip
from pytest_personalens.suites.personaconv.scoring.figures import OTHER, best_of, log_error, mean
from pytest_personalens.suites.personaconv.scoring.metrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.suites.personaconv.logs.log_files import Log, ScoredRow
    from pytest_personalens.suites.personaconv.scoring.texts import TextScorer
    from pytest_personalens.suites.personaconv.values import Kind, ProtocolName

#: Name of a figure -> its value, or None if it has no meaning.
Values = dict[str, float | None]
METRICS_BY_NAME: Final = {metric.name: metric for metric in METRICS}
#: The figure of each kind for the comparison of two logs, row by row.
_PAIRED: Final[dict[Kind, str]] = {"sentiment": "accuracy", "impact": "log-error", "next-text": "rouge1"}
_RATES: Final = ("accuracy", "parsed")


class LogFigures(NamedTuple):
    """A log with its figures: over all its rows, by domain, and by item (line -> figure -> value).

    If rows have several candidates, `best` has the means of the best candidate of each row, with zeros and
    without them.
    """

    log: Log
    overall: Values
    by_domain: dict[str, Values]
    items: dict[int, dict[str, float]]
    best: dict[str, tuple[float | None, float | None]]

    def domain(self, name: str) -> str | None:
        """Return the domain with that name in any case, or None."""
        if name in self.by_domain:
            return name
        alike = [domain for domain in self.by_domain if domain.casefold() == name.casefold()]
        return alike[0] if len(alike) == 1 else None

    def rows(self, domain: str = "") -> list[ScoredRow]:
        """Return the rows of a domain, or all rows."""
        return [row for row in self.log.rows if domain in ("", row.domain)]

    def count(self, metric: str, domain: str = "") -> int:
        """Return the number of rows for a figure; numbers and texts count only if they were read."""
        counts_unread = metric == "parsed" or "sentiment" in METRICS_BY_NAME[metric].read_in
        return sum(1 for row in self.rows(domain) if counts_unread or row.read)


class Difference(NamedTuple):
    """The difference between two logs, over the lines in both.

    `better` is positive if the first log is better, for any direction of the figure. `p` is that of a drop.
    """

    metric: str
    pairs: int
    better: float
    p: float


def compute_figures(
    log: Log, kind: Kind, protocol: ProtocolName, texts: TextScorer | None = None
) -> LogFigures:
    """Return the figures of a log; `texts` is needed for next text.

    With the protocol `fixed`, an answer that was not read is a wrong class, and is left out of numbers. With
    `official`, the figures are those of the log evaluators.
    """
    candidates = {row.line: _score_candidates(row, kind, texts) for row in log.rows}
    items = {row.line: _item(row, kind, candidates[row.line]) for row in log.rows}
    rows: dict[str, list[ScoredRow]] = {}
    for row in log.rows:
        rows.setdefault(row.domain, []).append(row)
    by_domain = {domain: _values(rows[domain], kind, protocol, items) for domain in sorted(rows)}
    best = {}
    if any(len(row.answers) > 1 for row in log.rows):
        names = next((list(each[0]) for each in candidates.values() if each), [])
        best = {name: best_of([[c[name] for c in each] for each in candidates.values()]) for name in names}
    return LogFigures(log, _values(log.rows, kind, protocol, items), by_domain, items, best)


def compare_logs(first: LogFigures, second: LogFigures, kind: Kind) -> Difference | str:
    """Return the difference of the first log from the second, by line, or why they cannot be paired."""
    name = _PAIRED[kind]
    measure = METRICS_BY_NAME[name].measure
    assert measure is not None, "each of these figures is a mean"
    truths = {row.line: row.truth for row in second.log.rows}
    unequal = [row.line for row in first.log.rows if truths.get(row.line, row.truth) != row.truth]
    if unequal:
        return f"not paired: line {unequal[0]} has another true_label in {second.log.name}"
    pairs = [
        (values[name], second.items[line][name])
        for line, values in first.items.items()
        if name in values and name in second.items.get(line, {})
    ]
    if not pairs:
        return "not paired: no line was read in both"
    step = float(measure.grid)
    steps = [Fraction(measure.sign * (round(one / step) - round(other / step))) for one, other in pairs]
    better = measure.sign * sum(one - other for one, other in pairs) / len(pairs)
    return Difference(name, len(pairs), better, sign_flip(steps).p)


def rate_ends(metric: str, value: float | None, count: int) -> tuple[float, float] | None:
    """Return the exact 95 % interval of a share of rows, or None for other figures."""
    return rate_interval(value * count, count) if metric in _RATES and value is not None and count else None


def _score_candidates(row: ScoredRow, kind: Kind, texts: TextScorer | None) -> list[dict[str, float]]:
    """Return the values of each answer of a row that was read."""
    values = [answer.value for answer in row.answers if answer.value is not None]
    if kind == "sentiment":
        return [{"accuracy": float(value == row.truth)} for value in values]
    if kind == "impact":
        truth = float(row.truth)
        return [{"log-error": log_error(truth, float(v))} for v in values if not math.isnan(truth)]
    return [] if texts is None else [texts.values(str(row.truth), str(value)) for value in values]


def _item(row: ScoredRow, kind: Kind, candidates: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the values of a row, each as the mean over its candidates; an unread class is wrong."""
    if not candidates:
        return {"accuracy": 0.0} if kind == "sentiment" else {}
    return {name: math.fsum(each[name] for each in candidates) / len(candidates) for name in candidates[0]}


def _values(
    rows: Sequence[ScoredRow],
    kind: Kind,
    protocol: ProtocolName,
    items: Mapping[int, Mapping[str, float]],
) -> Values:
    """Return the metrics of some rows: means of their items, or functions of their answers."""
    answers = [_answer(row, kind) for row in rows if isinstance(row.truth, str) or not math.isnan(row.truth)]
    with_value = [answer for answer in answers if answer.value is not None]
    values: Values = {}
    for metric in METRICS:
        name = metric.name
        if metric.of is not None and (not metric.kinds or kind in metric.kinds):
            among = answers if metric.counts_unread else with_value
            values[name] = metric.of(among) if among else None
        elif metric.of is None and kind in metric.read_in:
            scores = [items[row.line][name] for row in rows if name in items[row.line]]
            if scores or kind != "next-text":
                values[name] = mean(scores)
    if protocol == "official":
        for name in ("f1", "parsed"):
            values.pop(name, None)
        if "mcc" in values:
            values["mcc"] = values["mcc"] or 0.0
    return values


def _answer(row: ScoredRow, kind: Kind) -> Answer:
    value = row.answers[0].value if row.read else None
    if value is None and kind == "sentiment":
        value = OTHER[str(row.truth)]
    return Answer(read=row.read, value=value, truth=row.truth)
