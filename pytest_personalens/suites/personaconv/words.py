"""What reports say of predictions beside their figures: notes on a kind, a word for an item, and reasons."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pytest_personalens.suites.personaconv.scoring.figures import best_of, largest_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.judging.evaluation import Answer
    from pytest_personalens.results.values.item import Item

_NOT_READ: Final = "not read"
_WORDS: Final = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))
#: Why a post gives no item of a kind, or the name of a leak -> its words.
REASONS: Final[Mapping[str, str]] = _WORDS["reasons"]


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


def given_words(settings: Mapping[str, Any], given: str) -> str:
    """Return what the assistant knew in a setting of the protocol ``fixed``.

    In ``official``, the settings differ in more, which only the requests tell.
    """
    return str(_WORDS["given"].get(given, "")) if settings.get("protocol") == "fixed" else ""
