"""A score below its threshold, as a value and as text in files and reports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.core.judging.measure import Measure, Score, find_measure, get_measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_personalens.core.judging.evaluation import Evaluation

_NOT_COMPLETED: Final = "task not completed"
_NUMBER: Final = r"-?[0-9]+(?:\.[0-9]+)?"
_SCORE: Final = re.compile(rf"(?P<measure>\S+) (?P<score>{_NUMBER}) (?P<way>[<>]) (?P<limit>{_NUMBER})")


class Shortfall(NamedTuple):
    """A `score` worse than the `limit` of its test."""

    dimension: Measure
    score: Score
    limit: Score

    def __str__(self) -> str:
        """Return ``p 1 < 2``, or ``task not completed``, which `parse_shortfall` reads."""
        if self.dimension == Dimension.TASK_COMPLETION:
            return _NOT_COMPLETED
        way = "<" if self.dimension.better == "high" else ">"
        return f"{self.dimension.short} {self.score} {way} {self.limit}"


def parse_shortfall(text: object) -> Shortfall:
    """Return the shortfall in a text that `str` wrote, or a `Shortfall` as it is; else raise `ValueError`."""
    if isinstance(text, Shortfall):
        return text
    if text == _NOT_COMPLETED:
        return Shortfall(Dimension.TASK_COMPLETION, 0, 1)
    match = _SCORE.fullmatch(text) if isinstance(text, str) else None
    measure = find_measure(match["measure"]) if match is not None else None
    if match is None or measure is None:
        raise ValueError(f"{text!r:.60} is no shortfall, such as 'p 1 < 2' or {_NOT_COMPLETED!r}")
    return Shortfall(measure, *(measure.on_grid(float(match[name])) for name in ("score", "limit")))


#: A shortfall as a field. Files hold its text.
StoredShortfall = Annotated[
    Shortfall, PlainValidator(parse_shortfall), PlainSerializer(str), WithJsonSchema({"type": "string"})
]


def shortfalls_of(evaluation: Evaluation, thresholds: Mapping[str, Score]) -> tuple[Shortfall, ...]:
    """Return the scores that are worse than their `thresholds`, by the long names of measures."""
    if not evaluation.scored:
        return ()
    scored = ((m := get_measure(name), evaluation.score(m), limit) for name, limit in thresholds.items())
    return tuple(Shortfall(m, s, limit) for m, s, limit in scored if s is not None and m.is_worse(s, limit))


def uncounted_reason(evaluation: Evaluation) -> tuple[str, str]:
    """Return why an item does not count: the role at fault (the judge, if unread), and one line."""
    if not evaluation.judged:
        return "judge", "; ".join(dict.fromkeys(evaluation.not_judged.values()))
    if evaluation.cause or not evaluation.unread:
        return evaluation.cause, evaluation.detail
    unread = (f"{measure.short}: {why}" for measure, why in evaluation.unread.items())
    return "judge", "; ".join(unread)


def shortfall_text(shortfalls: Iterable[Shortfall]) -> str:
    """Return all shortfalls in one line, such as ``task not completed, p 1 < 2``."""
    return ", ".join(map(str, shortfalls))
