"""The measures of an item, and the metrics of a run."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.measure import Measure, MeasureNames
from pytest_personalens.core.metric import Metric
from pytest_personalens.suites.personaconv import figures
from pytest_personalens.suites.personaconv.measures import FIGURES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.evaluation import Answer

#: Name of a measure -> its name in reports.
_TITLES: Final = {
    "log-error": "log error",
    "rouge1": "ROUGE-1",
    "rougeL": "ROUGE-L",
    "bleu": "BLEU",
    "meteor": "METEOR",
    "meteor-es": "METEOR-es",
    "sbert": "SBERT",
    "chars": "chars",
}


def _measure(name: str) -> Measure:
    found, title = FIGURES[name], _TITLES[name]
    return Measure(
        name,
        MeasureNames(name, title, title, title, title, title),
        low=found.low,
        high=found.high,
        grid=Fraction(str(found.step)),
        better=found.better,
        kinds=(str(found.kind),),
    )


CORRECT: Final = Measure(
    "correct",
    MeasureNames("correct", "Accuracy", "accuracy", "correct", "accuracy", "acc"),
    kinds=("sentiment",),
)
LOG_ERROR: Final = _measure("log-error")
ROUGE1: Final = _measure("rouge1")
METEOR: Final = _measure("meteor")
METEOR_ES: Final = _measure("meteor-es")
SBERT: Final = _measure("sbert")
CHARS: Final = _measure("chars")
#: In the order of tables.
MEASURES: Final = (
    CORRECT, LOG_ERROR, ROUGE1, _measure("rougeL"), _measure("bleu"), METEOR, METEOR_ES, SBERT, CHARS,
)  # fmt: skip


class _Numbers(NamedTuple):
    """True and predicted numbers of the answers that were read."""

    truths: list[float]
    answers: list[float]


def _classes(answers: Sequence[Answer]) -> figures.Classes:
    return figures.classes([str(a.truth) for a in answers], [str(a.value) for a in answers])


def _numbers(answers: Sequence[Answer]) -> _Numbers:
    return _Numbers([float(a.truth or 0) for a in answers], [float(a.value or 0) for a in answers])


def _f1(answers: Sequence[Answer]) -> float | None:
    return figures.f1(_classes(answers))


def _f1_weighted(answers: Sequence[Answer]) -> float | None:
    return figures.f1_weighted(_classes(answers))


def _mcc(answers: Sequence[Answer]) -> float | None:
    return figures.mcc(_classes(answers))


def _rmse(answers: Sequence[Answer]) -> float | None:
    return figures.rmse(*_numbers(answers))


def _mae(answers: Sequence[Answer]) -> float | None:
    return figures.mae(*_numbers(answers))


def _skill(answers: Sequence[Answer]) -> float | None:
    return figures.skill(*_numbers(answers))


def _parsed(answers: Sequence[Answer]) -> float | None:
    return sum(answer.read for answer in answers) / len(answers) if answers else None


class _Sums(NamedTuple):
    """A figure of sums: the numbers to add for an answer, and the figure of their sums."""

    terms: Callable[[Answer], tuple[float, ...]]
    of: Callable[[Sequence[float]], float | None]


def _counts(figure: Callable[[figures.Classes], float | None]) -> _Sums:
    return _Sums(lambda answer: _classes([answer]), lambda sums: figure(figures.Classes(*map(int, sums))))


def _error(answer: Answer) -> float:
    return abs(float(answer.value or 0) - float(answer.truth or 0))


def _mean_of(sums: Sequence[float]) -> float | None:
    return sums[0] / sums[1] if math.isfinite(sums[0]) else None  # errors and their squares may overflow


def _root_of_mean(sums: Sequence[float]) -> float | None:
    mean = _mean_of(sums)
    return None if mean is None else math.sqrt(mean)


_ERRORS: Final = _Sums(lambda answer: (_error(answer), 1), _mean_of)
_SQUARES: Final = _Sums(lambda answer: (_error(answer) * _error(answer), 1), _root_of_mean)
_READ: Final = _Sums(lambda answer: (answer.read, 1), _mean_of)


def _metric(
    name: str,
    of: Callable[[Sequence[Answer]], float | None],
    label: str,
    sums: _Sums | None = None,
    undecided: str = "nothing was read",
) -> Metric:
    found = FIGURES[name]
    return Metric(
        name=name,
        of=of,
        terms=sums and sums.terms,
        of_sums=sums and sums.of,
        label=label,
        heading=label,
        low=None if found.low == float("-inf") else found.low,
        high=found.high,
        better=found.better,
        kinds=(found.kind,) if found.kind else (),
        undecided=undecided,
        counts_unread=name == "parsed",
    )


METRICS: Final = (
    Metric.mean("accuracy", CORRECT, CORRECT.value),
    _metric("f1", _f1, "F1", _counts(figures.f1)),
    _metric("f1-weighted", _f1_weighted, "weighted F1", _counts(figures.f1_weighted)),
    _metric(
        "mcc", _mcc, "MCC", _counts(figures.mcc), "all true answers are of one class, so it has no value"
    ),
    _metric("rmse", _rmse, "RMSE", _SQUARES),
    _metric("mae", _mae, "MAE", _ERRORS),
    *(Metric.mean(measure.value, measure) for measure in MEASURES[1:2]),
    _metric("skill", _skill, "skill", undecided="it needs two answers, of scores that differ"),
    *(Metric.mean(measure.value, measure) for measure in MEASURES[2:]),
    _metric("parsed", _parsed, "readable replies", _READ),
)
