"""Reads dialogues again with an idle sentence behind each reply, which must move no verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import JudgeFault, NotJudged
from pytest_personalens.core.runtime import Threads
from pytest_personalens.datasets.base import pick

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.core.judging.verdict import Dimension, Judge
    from pytest_personalens.judge_quality.agreement.labels import Labelled

#: Sentences that say nothing about any task: footers and courtesies.
_SENTENCES: Final = (
    "Our office is open from nine to five.",
    "You can change your settings at any time.",
    "Thank you for being with us.",
    "This conversation may be recorded for quality.",
    "Is there anything else I can do for you?",
    "Have a lovely day!",
    "Rate this chat from one to five stars.",
    "Terms and conditions apply.",
    "We answer most messages within two minutes.",
    "I am always happy to help.",
    "Tip: type menu to see what I can do.",
    "Your privacy matters to us.",
)


class Moved(NamedTuple):
    """Of `readings` that the judge gave with and without an idle sentence, those that differ."""

    dimension: Dimension
    readings: int
    moved: int


def idle_readings(
    readings: Sequence[tuple[Labelled, Dimension]],
) -> Iterator[tuple[Labelled, Dimension]]:
    """Yield the readings of the same dialogues with one idle sentence behind each reply, drawn by the id."""
    for item, dimension in readings:
        sentence = pick(_SENTENCES, item.id)
        messages = tuple(
            m.model_copy(update={"content": f"{m.content} {sentence}"}) if m.role == "assistant" else m
            for m in item.dialogue.messages
        )
        dialogue = item.dialogue.model_copy(update={"messages": messages})
        yield item.model_copy(update={"dialogue": dialogue}), dimension


def moved_by_idle(
    readings: Sequence[tuple[Labelled, Dimension]], judge: Judge, *, at_once: int = 1
) -> list[Moved]:
    """Return for each dimension how many verdicts of the judge move."""
    pool = Threads(at_once if getattr(judge, "parallel", False) else 1)

    def score(of: tuple[Labelled, Dimension]) -> float | None:
        item, dimension = of
        try:
            return judge.verdict(item.scenario, item.dialogue, dimension).score
        except (JudgeFault, NotJudged):
            return None

    try:
        before, after = (list(pool.map(score, some)) for some in (readings, [*idle_readings(readings)]))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    pairs: dict[Dimension, list[bool]] = {}
    for (_, dimension), then, now in zip(readings, before, after, strict=True):
        if then is not None and now is not None:
            pairs.setdefault(dimension, []).append(then != now)
    return [Moved(dimension, len(differ), sum(differ)) for dimension, differ in pairs.items()]


def idle_lines(moved: Sequence[Moved]) -> Iterator[str]:
    """Yield the lines for a terminal."""
    yield ""
    yield "Verdicts that move with an idle sentence behind each reply"
    for one in moved:
        share = f"{one.moved / one.readings:.1%}"
        yield f"{one.dimension.short:16}{one.moved:6} of {one.readings:<6}{share:>7}"
