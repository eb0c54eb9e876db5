"""The figures of stored outputs, over all rows and by domain."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.results.stats.intervals import rate_interval
from pytest_personalens.results.stats.paired import sign_flip
from pytest_personalens.suites.personaconv.scoring import figures
from pytest_personalens.suites.personaconv.scoring.measures import FIGURES, PAIRED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_personalens.suites.personaconv.logs.logs import Log, Scored
    from pytest_personalens.suites.personaconv.scoring.texts import TextScorer
    from pytest_personalens.suites.personaconv.values import Kind, ProtocolName

#: Name of a figure -> its value, or None if it has no meaning.
Values = dict[str, float | None]


class Figured(NamedTuple):
    """A log with its figures.

    The figures are over all its rows, by domain, and by item (line -> figure -> value). If rows have several
    candidates, `best` has the means of the best candidate of each row, with zeros and without them.
    """

    log: Log
    overall: Values
    by_domain: dict[str, Values]
    items: dict[int, dict[str, float]]
    best: dict[str, tuple[float | None, float | None]]

    def group(self, name: str) -> str | None:
        """Return the domain with that name in any case, or None."""
        if name in self.by_domain:
            return name
        alike = [domain for domain in self.by_domain if domain.casefold() == name.casefold()]
        return alike[0] if len(alike) == 1 else None

    def rows(self, domain: str = "") -> list[Scored]:
        """Return the rows of a domain, or all rows."""
        return [row for row in self.log.rows if domain in ("", row.domain)]

    def count(self, metric: str, domain: str = "") -> int:
        """Return the number of rows for a figure.

        Numbers and texts count only if they were read.
        """
        over_all = metric == "parsed" or FIGURES[metric].kind == "sentiment"
        return sum(1 for row in self.rows(domain) if over_all or row.read)


class Difference(NamedTuple):
    """The difference between two logs, over the lines in both.

    `better` is positive if the first log is better, for any direction of the figure. `p` is that of a drop.
    """

    metric: str
    pairs: int
    better: float
    p: float


def figured(log: Log, kind: Kind, protocol: ProtocolName, texts: TextScorer | None = None) -> Figured:
    """Return the figures of a log.

    `texts` is needed for next text. With the protocol `fixed`, an answer that was not read is a wrong class,
    and is left out of numbers. With `official`, the figures are those of the log evaluators.
    """
    candidates = {row.line: _candidates(row, kind, texts) for row in log.rows}
    items = {row.line: _item(row, candidates[row.line]) for row in log.rows}
    rows: dict[str, list[Scored]] = {}
    for row in log.rows:
        rows.setdefault(row.domain, []).append(row)
    by_domain = {domain: _values(rows[domain], kind, protocol, items) for domain in sorted(rows)}
    best = _best(list(candidates.values())) if any(len(row.answers) > 1 for row in log.rows) else {}
    return Figured(log, _values(log.rows, kind, protocol, items), by_domain, items, best)


def difference(first: Figured, second: Figured, kind: Kind) -> Difference | str:
    """Return the difference of the first log from the second, by line.

    Return a reason if they cannot be paired.
    """
    metric = PAIRED[kind]
    step = FIGURES[metric].step
    truths = {row.line: row.truth for row in second.log.rows}
    unequal = [row.line for row in first.log.rows if truths.get(row.line, row.truth) != row.truth]
    if unequal:
        return f"not paired: line {unequal[0]} has another true_label in {second.log.name}"
    lines = [
        line
        for line, values in first.items.items()
        if metric in values and metric in second.items.get(line, {})
    ]
    if not lines or step is None:
        return "not paired: no line was read in both"
    sign = 1 if FIGURES[metric].better == "high" else -1
    steps = [
        sign * (round(first.items[line][metric] / step) - round(second.items[line][metric] / step))
        for line in lines
    ]
    mean = sum(first.items[line][metric] - second.items[line][metric] for line in lines) / len(lines)
    return Difference(metric, len(lines), sign * mean, sign_flip([Fraction(each) for each in steps]).p)


def rate_ends(metric: str, value: float | None, count: int) -> tuple[float, float] | None:
    """Return the exact 95 % interval of a share of rows.

    Return None for other figures.
    """
    if metric not in ("accuracy", "parsed") or value is None or not count:
        return None
    return rate_interval(value * count, count)


def _candidates(row: Scored, kind: Kind, texts: TextScorer | None) -> list[dict[str, float]]:
    """Return the values of each answer of a row that was read."""
    values = [answer.value for answer in row.answers if answer.value is not None]
    if kind == "sentiment":
        return [{"accuracy": float(value == row.truth)} for value in values]
    if kind == "impact":
        truth = float(row.truth)
        return [{"log-error": figures.log_error(truth, float(v))} for v in values if not math.isnan(truth)]
    return [] if texts is None else [texts.values(str(row.truth), str(value)) for value in values]


def _item(row: Scored, candidates: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the values of a row, each as the mean over its candidates.

    A class that was not read is wrong.
    """
    if not candidates:
        wrong = {"accuracy": 0.0} if isinstance(row.truth, str) and not row.read else {}
        return {**wrong, "parsed": float(row.read)}
    means = {name: math.fsum(each[name] for each in candidates) / len(candidates) for name in candidates[0]}
    return {**means, "parsed": float(row.read)}


def _best(
    candidates: Sequence[Sequence[Mapping[str, float]]],
) -> dict[str, tuple[float | None, float | None]]:
    names = next((list(each[0]) for each in candidates if each), [])
    return {name: figures.best_of([[c[name] for c in each] for each in candidates]) for name in names}


def _values(
    rows: Sequence[Scored], kind: Kind, protocol: ProtocolName, items: Mapping[int, Mapping[str, float]]
) -> Values:
    if kind == "sentiment":
        values = _classes(rows, protocol)
    elif kind == "impact":
        values = _numbers(rows)
    else:
        names = dict.fromkeys(name for row in rows for name in items[row.line] if name != "parsed")
        values = {
            name: _mean([items[row.line][name] for row in rows if name in items[row.line]]) for name in names
        }
    if protocol == "fixed":
        values["parsed"] = _mean([float(row.read) for row in rows])
    return values


def _classes(rows: Sequence[Scored], protocol: ProtocolName) -> Values:
    truths = [str(row.truth) for row in rows]
    answers = [str(row.answers[0].value) if row.read else None for row in rows]
    classes = figures.classes(truths, answers)
    if protocol == "official":
        return {"accuracy": figures.accuracy(classes), **_logged(classes)}
    return {
        "accuracy": figures.accuracy(classes),
        "f1": figures.f1(classes),
        "f1-weighted": figures.f1_weighted(classes),
        "mcc": figures.mcc(classes),
    }


def _logged(classes: figures.Classes) -> Values:
    """Return F1 and MCC as the log evaluators compute them.

    If only one class is true, they use the F1 of that class and an MCC of 0.
    """
    mcc = figures.mcc(classes)
    turned = figures.Classes(classes.tn, classes.fn, classes.fp, classes.tp)
    one = figures.f1(classes if classes.tp + classes.fn else turned)
    return {"f1-weighted": one if mcc is None else figures.f1_weighted(classes), "mcc": mcc or 0.0}


def _numbers(rows: Sequence[Scored]) -> Values:
    pairs = [
        (float(row.truth), float(row.answers[0].value or 0))
        for row in rows
        if row.read and not math.isnan(float(row.truth))
    ]
    truths, answers = [truth for truth, _ in pairs], [answer for _, answer in pairs]
    return {
        "rmse": figures.rmse(truths, answers),
        "mae": figures.mae(truths, answers),
        "log-error": _mean([figures.log_error(truth, answer) for truth, answer in pairs]),
        "skill": figures.skill(truths, answers),
    }


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
