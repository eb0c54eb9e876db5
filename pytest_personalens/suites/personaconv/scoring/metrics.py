"""The measures of an item, and the metrics of a run."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.measure import Measure, MeasureNames
from pytest_personalens.core.judging.metric import Metric, OfSums
from pytest_personalens.suites.personaconv.scoring import figures
from pytest_personalens.suites.personaconv.scoring.measures import FIGURES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_personalens.core.judging.evaluation import Answer
    from pytest_personalens.core.judging.metric import Row

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
    figure, title = FIGURES[name], _TITLES[name]
    return Measure(
        name,
        MeasureNames(name, title, title, title, title, title),
        low=figure.low,
        high=figure.high,
        grid=Fraction(str(figure.step)),
        better=figure.better,
        kinds=(str(figure.kind),),
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


def _class_rows(answers: Sequence[Answer]) -> list[Row]:
    """Return true and false positives, all that are truly positive, and 1, for each answer."""
    pairs = [(answer.truth == figures.POSITIVE, answer.value == figures.POSITIVE) for answer in answers]
    return [(int(true and said), int(said and not true), int(true), 1) for true, said in pairs]


def _of_classes(figure: Callable[[figures.Classes], float | None]) -> OfSums:
    def of(sums: Row) -> float | None:
        tp, fp, positive, every = map(int, sums)
        return figure(figures.Classes(tp, fp, positive - tp, every - positive - fp))

    return OfSums(_class_rows, of)


def _error_rows(answers: Sequence[Answer]) -> list[Row]:
    """Return squared and absolute error, that of the median of the other answers, and 1, for each answer."""
    truths = [figures.exact(float(answer.truth or 0)) for answer in answers]
    said = [figures.exact(float(answer.value or 0)) for answer in answers]
    errors = list(map(figures.distance, said, truths))
    plain = figures.errors_of_medians(truths)
    return [(error * error, error, other, 1) for error, other in zip(errors, plain, strict=True)]


def _rmse(sums: Row) -> float:
    squares, count = sums
    return figures.root_mean(squares, count)


def _mean(sums: Row) -> float:
    total, count = sums
    return float(total / count)


def _skill(sums: Row) -> float | None:
    error, plain = sums
    return 1 - float(error / plain) if plain else None


def _read_rows(answers: Sequence[Answer]) -> list[Row]:
    return [(int(answer.read), 1) for answer in answers]


def _metric(name: str, of: OfSums, label: str, undecided: str = "nothing was read") -> Metric:
    figure = FIGURES[name]
    return Metric(
        name=name,
        of=of,
        label=label,
        heading=label,
        low=None if figure.low == float("-inf") else figure.low,
        high=figure.high,
        better=figure.better,
        kinds=(figure.kind,) if figure.kind else (),
        undecided=undecided,
        counts_unread=name == "parsed",
    )


METRICS: Final = (
    Metric.mean("accuracy", CORRECT, CORRECT.value),
    _metric("f1", _of_classes(figures.f1), "F1"),
    _metric("f1-weighted", _of_classes(figures.f1_weighted), "weighted F1"),
    _metric("mcc", _of_classes(figures.mcc), "MCC", "all true answers are of one class, so it has no value"),
    _metric("rmse", OfSums(_error_rows, _rmse, uses=(0, 3)), "RMSE"),
    _metric("mae", OfSums(_error_rows, _mean, uses=(1, 3)), "MAE"),
    *(Metric.mean(measure.value, measure) for measure in MEASURES[1:2]),
    _metric(
        "skill",
        OfSums(_error_rows, _skill, uses=(1, 2)),
        "skill",
        "it needs two answers, of scores that differ",
    ),
    *(Metric.mean(measure.value, measure) for measure in MEASURES[2:]),
    _metric("parsed", OfSums(_read_rows, _mean), "readable replies"),
)
