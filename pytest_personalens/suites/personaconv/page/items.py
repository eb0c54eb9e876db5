"""What reports say of predictions beside their figures: notes on a kind, panels, and a word for an item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.core.suite.panels import CountsPanel, Point, ScatterPanel
from pytest_personalens.suites.personaconv.scoring.figures import OTHER, best_of, largest_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.judging.evaluation import Answer
    from pytest_personalens.core.suite.panels import ItemsPanel
    from pytest_personalens.results.values.item import Item

_NOT_READ: Final = "not read"
_SCALE: Final = "upright: predicted; on the dashed line it is exact; logarithmic, with signs"


def notes(kind: str, items: Sequence[Item]) -> Iterator[str]:
    """Yield what a reader must know about the figures of a kind, from the items of the run itself."""
    if kind == "sentiment":
        truths = [str(answer.truth) for _, answer in _answers(items)]
        if len(truths) > 1 and len(set(truths)) == 1:
            yield f"all true answers are {truths[0]}: MCC has no value, and the same answer to all is right"
    if kind == "impact":
        numbers = [(float(a.truth or 0), float(a.value)) for _, a in _answers(items) if a.value is not None]
        largest = largest_share([truth for truth, _ in numbers], [value for _, value in numbers])
        heaviest = ""
        if largest is not None:
            place, share = largest
            heaviest = f"; one reply of {numbers[place][0]:,.0f} carries {share:.0%} of the squared error"
        yield f"lower is better, but for skill{heaviest}"
    if kind == "next-text":
        yield from _best_trials(items)


def panels(kind: str, items: Sequence[Item]) -> Iterator[ItemsPanel]:
    """Yield the confusion of classes, or predicted against true scores, of the items in one setting."""
    answers = _answers(items)
    if kind == "sentiment" and answers:
        pairs = [(a.truth, a.value if a.read else _NOT_READ) for _, a in answers]
        columns = (*OTHER, _NOT_READ)
        rows = tuple((truth, tuple(pairs.count((truth, column)) for column in columns)) for truth in OTHER)
        yield CountsPanel("True and predicted classes", "items", "True", "predicted", columns, rows)
    if kind == "impact":
        points = tuple(
            Point(float(a.truth), float(a.value), item.evaluation.scenario)
            for item, a in answers
            if a.read and a.value is not None and a.truth is not None
        )
        unread = len(answers) - len(points)
        note = _SCALE + (f"; {unread:,} not read" if unread else "")
        if points:
            yield ScatterPanel("Predicted and true score", note, "true score", "predicted", points)


def outcome(item: Item) -> str:
    """Return ``right``, ``wrong`` or ``not read``; an empty text for a number or a text that was read."""
    answer = item.evaluation.answer
    if answer is None or (answer.read and item.evaluation.kind != "sentiment"):
        return ""
    if not answer.read:
        return _NOT_READ
    return "right" if answer.value == answer.truth else "wrong"


def _answers(items: Sequence[Item]) -> list[tuple[Item, Answer]]:
    return [(item, answer) for item in items if (answer := item.evaluation.answer) is not None]


def _best_trials(items: Sequence[Item]) -> Iterator[str]:
    """Yield the mean of the best trial of each item, as the official scripts have it."""
    scores: dict[str, dict[tuple[str, ...], list[float]]] = {}
    for item in items:
        for verdict in item.evaluation.verdicts if item.evaluation.scored else ():
            by_item = scores.setdefault(verdict.dimension.names.title, {})
            by_item.setdefault(item.key, []).append(float(verdict.score))
    most = max((len(trials) for by_item in scores.values() for trials in by_item.values()), default=1)
    for title, by_item in scores.items() if most > 1 else ():
        kept, left_out = best_of(list(by_item.values()))
        without = "" if left_out is None else f", {left_out:.2f} where zeros are left out"
        yield f"best of {most}: {title} {kept:.2f}{without}"
