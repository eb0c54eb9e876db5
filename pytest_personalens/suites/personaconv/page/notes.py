"""What a summary says beside the figures: words for reasons, and what decides a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.suites.personaconv.data.leaks import LEAKS
from pytest_personalens.suites.personaconv.scoring import figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.results.values.item import Item

#: Why a post gives no item of a kind, or the name of a leak -> its words.
WORDS: Final = {
    **LEAKS,
    "bad-row": "not readable",
    "bad-time": "with an unreadable time",
    "duplicate": "there already",
    "few-authors": "with too few authors",
    "few-replies": "with too few replies of the author",
    "few-threads": "with too few threads",
    "halved": "left out with half of the positive ones",
    "key-not-author": "of another author than their key",
    "no-author": "without an author",
    "no-domain": "without a domain",
    "no-past": "without a past",
    "no-post": "that are no posts",
    "no-score": "without a score",
    "no-stranger": "without a stranger's past",
    "no-target": "without a reply that can be foretold",
    "not-paired": "not in every file",
    "removed-target": "with a removed reply",
    "removed-thread": "with a removed thread",
    "weak-score": "with a score too close to zero",
}


def notes(kind: str, items: Sequence[Item]) -> Iterator[str]:
    """Yield what a reader must know about the figures of a kind, from the items of the run itself."""
    if kind == "sentiment":
        yield from _one_class(items)
    if kind == "impact":
        yield f"lower is better, but for skill{_heaviest(items)}"
    if kind == "next-text":
        yield from _best(items)


def _one_class(items: Sequence[Item]) -> Iterator[str]:
    """Yield a warning if all true answers are of one class, because the figures then tell little."""
    answers = [answer for item in items if (answer := item.evaluation.answer) is not None]
    if len(answers) > 1 and len(truths := {str(answer.truth) for answer in answers}) == 1:
        yield f"all true answers are {truths.pop()}: MCC has no value, and the same answer to all is right"


def _heaviest(items: Sequence[Item]) -> str:
    """Return how much of the squared error one reply carries."""
    answers = [a for item in items if (a := item.evaluation.answer) is not None and a.value is not None]
    truths = [float(answer.truth or 0) for answer in answers]
    largest = figures.largest_share(truths, [float(answer.value or 0) for answer in answers])
    if largest is None:
        return ""
    place, share = largest
    return f"; one reply of {truths[place]:,.0f} carries {share:.0%} of the squared error"


def _best(items: Sequence[Item]) -> Iterator[str]:
    """Yield the mean of the best trial of each item, as the official scripts have it."""
    scores: dict[str, dict[tuple[str, ...], list[float]]] = {}
    for item in items:
        for verdict in item.evaluation.verdicts if item.evaluation.scored else ():
            of_item = scores.setdefault(verdict.dimension.names.title, {}).setdefault(item.key, [])
            of_item.append(float(verdict.score))
    most = max((len(trials) for by_item in scores.values() for trials in by_item.values()), default=1)
    if most == 1:
        return
    for title, by_item in scores.items():
        kept, left_out = figures.best_of(list(by_item.values()))
        if kept is not None:
            without = "" if left_out is None else f", {left_out:.2f} where zeros are left out"
            yield f"best of {most}: {title} {kept:.2f}{without}"
