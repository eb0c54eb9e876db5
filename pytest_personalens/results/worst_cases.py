"""The dialogues that lost most on a reading, each with the exchange that cost the score."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.results.earlier import earlier_of
from pytest_personalens.results.reasons import costs_of, verdict_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue import Message
    from pytest_personalens.core.verdict import Dimension, Verdict
    from pytest_personalens.results.values import Item


class Exchange(NamedTuple):
    """One reply of the assistant: the message that it answers, and the reply at the same turn before.

    `asked` and `recorded` are empty where there is none; `quote` is what the judge saw in the reply.
    """

    turn: int
    asked: str
    reply: str
    recorded: str
    quote: str


class WorstCase(NamedTuple):
    """An item, its reading on the dimension, its score before where it is known, and the costly exchange."""

    item: Item
    verdict: Verdict
    before: int | None
    exchange: Exchange | None


def worst_cases(items: Sequence[Item], dimension: Dimension) -> list[WorstCase]:
    """One case a scenario and test, the largest loss first, then the lowest score; none with the highest."""
    cases = [
        WorstCase(item, verdict, _before(item, dimension), costly_exchange(item, verdict))
        for item in items
        if (verdict := verdict_on(item, dimension)) is not None and verdict.score < dimension.scale.high
    ]
    cases.sort(key=_order)
    first: dict[tuple[str, ...], WorstCase] = {}
    for case in cases:
        first.setdefault(case.item.key, case)
    return list(first.values())


def _before(item: Item, dimension: Dimension) -> int | None:
    earlier = earlier_of(item)
    return None if earlier is None else earlier.scores.get(dimension)


def _order(case: WorstCase) -> tuple[object, ...]:
    score = case.verdict.score
    lost = 0 if case.before is None else case.before - score
    # Of equal ones, those that lost on every reading, and whose old reply can be shown beside the new one.
    others = sum(verdict.score / verdict.dimension.scale.high for verdict in case.item.evaluation.verdicts)
    shown = case.exchange is not None and bool(case.exchange.recorded)
    return (-lost, score, others, not shown, case.item.nodeid)


def costly_exchange(item: Item, verdict: Verdict) -> Exchange | None:
    """The exchange that cost the score; None where the assistant said nothing.

    The turns that the judge's reasons and quotes are about; of these the one where the dialogue departs from
    what was said before, if it is among them; else the last reply.
    """
    messages = item.evaluation.dialogue.messages
    replies = [turn for turn, message in enumerate(messages) if message.role == "assistant"]
    if not replies:
        return None
    earlier = earlier_of(item)
    before = () if earlier is None else earlier.messages
    named = [reason.turn for reason in costs_of(verdict)] + [evidence.turn for evidence in verdict.evidence]
    blamed = [turn for turn in named if turn is not None and turn in replies]
    parting = _parting(before, messages)
    turn = parting if parting in blamed else (*blamed, replies[-1])[0]
    assert turn is not None
    recorded = before[turn].content if turn < len(before) and before[turn].role == "assistant" else ""
    return Exchange(
        turn,
        messages[turn - 1].content if turn else "",
        messages[turn].content,
        recorded if recorded != messages[turn].content else "",
        next((evidence.quote for evidence in verdict.evidence if evidence.turn == turn), ""),
    )


def _parting(before: Sequence[Message], now: Sequence[Message]) -> int | None:
    """The first turn at which two dialogues differ; None where one of them ends before."""
    pairs = zip(before, now, strict=False)
    return next((turn for turn, (then, message) in enumerate(pairs) if then != message), None)
