"""A score below its threshold: the value, and the words that stand for it in files and reports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from pytest_personalens.core.verdict import Dimension

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_personalens.core.evaluation import Evaluation

_NOT_COMPLETED: Final = "task not completed"
_DIMENSIONS: Final = {dimension.short: dimension for dimension in Dimension}
_SCORE: Final = re.compile(rf"(?P<dimension>{'|'.join(_DIMENSIONS)}) (?P<score>[0-9]) < (?P<least>[0-9])")


class Shortfall(NamedTuple):
    """A `score` below the `least` one that its test asks for."""

    dimension: Dimension
    score: int
    least: int

    def __str__(self) -> str:
        """``p 1 < 2``, or ``task not completed``; `parse_shortfall` reads it."""
        if self.dimension is Dimension.TASK_COMPLETION:
            return _NOT_COMPLETED
        return f"{self.dimension.short} {self.score} < {self.least}"


def parse_shortfall(text: object) -> Shortfall:
    """The shortfall that `str` wrote, or is given as it is. Raises `ValueError` for anything else."""
    if isinstance(text, Shortfall):
        return text
    if text == _NOT_COMPLETED:
        return Shortfall(Dimension.TASK_COMPLETION, 0, 1)
    score = _SCORE.fullmatch(text) if isinstance(text, str) else None
    if score is None:
        raise ValueError(f"{text!r:.60} is no shortfall, such as 'p 1 < 2' or {_NOT_COMPLETED!r}")
    return Shortfall(_DIMENSIONS[score["dimension"]], int(score["score"]), int(score["least"]))


#: A shortfall as a field: files hold its words.
StoredShortfall = Annotated[
    Shortfall, PlainValidator(parse_shortfall), PlainSerializer(str), WithJsonSchema({"type": "string"})
]


def shortfalls_of(evaluation: Evaluation, thresholds: Mapping[str, int]) -> tuple[Shortfall, ...]:
    """The scores below their `thresholds`, which are keyed by a dimension's long name; empty where nothing is
    scored.
    """
    if not evaluation.scored:
        return ()
    scores = ((Dimension(name), least) for name, least in thresholds.items())
    return tuple(
        Shortfall(d, score, least)
        for d, least in scores
        if (score := evaluation.score(d)) is not None and score < least
    )


def in_words(shortfalls: Iterable[Shortfall]) -> str:
    """All of them in one line: ``task not completed, p 1 < 2``."""
    return ", ".join(map(str, shortfalls))
