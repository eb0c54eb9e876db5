"""What the page shows of the predictions: the confusion of classes, and predicted against true scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.suite.panels import CountsPanel, Point, ScatterPanel
from pytest_personalens.suites.personaconv.scoring.figures import NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.suite.panels import ItemsPanel
    from pytest_personalens.results.values.item import Item

_CLASSES = (POSITIVE, NEGATIVE)
_NOT_READ = "not read"
_SCALE = "upright: predicted; on the dashed line it is exact; logarithmic, with signs"


def panels(kind: str, items: Sequence[Item]) -> Iterator[ItemsPanel]:
    """Yield what the page shows of the items of one kind in one setting."""
    answered = [item for item in items if item.evaluation.answer is not None]
    if kind == "sentiment" and answered:
        yield _confusion(answered)
    if kind == "impact" and (points := _points(answered)):
        unread = len(answered) - len(points)
        note = _SCALE + (f"; {unread:,} not read" if unread else "")
        yield ScatterPanel("Predicted and true score", note, "true score", "predicted", points)


def outcome(item: Item) -> str:
    """Return ``right``, ``wrong`` or ``not read``; an empty text for a number or a text that was read."""
    answer = item.evaluation.answer
    if answer is None:
        return ""
    if not answer.read:
        return _NOT_READ
    if item.evaluation.kind != "sentiment":
        return ""
    return "right" if answer.value == answer.truth else "wrong"


def _confusion(items: Sequence[Item]) -> CountsPanel:
    pairs = [(a.truth, a.value if a.read else _NOT_READ) for i in items if (a := i.evaluation.answer)]
    columns = (*_CLASSES, _NOT_READ)
    rows = tuple((truth, tuple(pairs.count((truth, column)) for column in columns)) for truth in _CLASSES)
    return CountsPanel("True and predicted classes", "items", "True", "predicted", columns, rows)


def _points(items: Sequence[Item]) -> tuple[Point, ...]:
    return tuple(
        Point(float(a.truth), float(a.value), item.evaluation.scenario)
        for item in items
        if (a := item.evaluation.answer) and a.read and a.value is not None and a.truth is not None
    )
