"""The dialogues that show why a reading fell, each with the exchange that cost the score."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_personalens.results.reasons.earlier import earlier_of, score_before
from pytest_personalens.results.reasons.reasons import costs_of, counted_codes, verdict_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.judging.measure import Measure, Score
    from pytest_personalens.core.judging.verdict import Reason, Verdict
    from pytest_personalens.results.reasons.reasons import CountedCode
    from pytest_personalens.results.values.item import Item


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
    """An item, its reading on the dimension, its score before where it is known, and the costly exchange.

    `reasons` speak against the reading: the one that is to be shown first, and none that it had before.
    """

    item: Item
    verdict: Verdict
    before: Score | None
    exchange: Exchange | None
    reasons: tuple[Reason, ...]

    @property
    def unexplained(self) -> bool:
        """True if the score fell and the judge gives no reason that it had not given before."""
        verdict = self.verdict
        fell = self.before is not None and verdict.dimension.is_worse(verdict.score, self.before)
        return fell and bool(costs_of(verdict)) and not self.reasons


def worst_cases(items: Sequence[Item], measure: Measure, lead: CountedCode | None = None) -> list[WorstCase]:
    """Return one case for each scenario and test whose score is not the highest, the worst first."""
    best = measure.high if measure.better == "high" else measure.low
    verdicts = ((item, verdict_on(item, measure)) for item in items)
    cases = [
        WorstCase(i, v, score_before(i, measure), costly_exchange(i, v, lead), _new_costs(i, v, lead))
        for i, v in verdicts
        if v is not None and v.score != best
    ]
    first: dict[tuple[str, ...], WorstCase] = {}
    for case in sorted(cases, key=lambda case: _rank(case, lead)):
        first.setdefault(case.item.key, case)
    return list(first.values())


def _new_costs(item: Item, verdict: Verdict, lead: CountedCode | None) -> tuple[Reason, ...]:
    costs = sorted(costs_of(verdict), key=lambda reason: reason.code != lead)
    earlier = earlier_of(item)
    then = () if earlier is None else earlier.reasons.get(verdict.dimension, ())
    return tuple(reason for reason in costs if reason.code not in then)


def _rank(case: WorstCase, lead: CountedCode | None) -> tuple[object, ...]:
    """Rank the reason `lead` as a new one first, then the largest loss, then the lowest score."""
    codes, measure, score = counted_codes(case.verdict), case.verdict.dimension, case.verdict.score
    new = lead in {reason.code for reason in case.reasons} or (lead == "whole" and lead in codes)
    lost = 0 if case.before is None else measure.sign * (case.before - score)
    # Of equal ones, those that lost on every reading, and whose old reply can be shown beside the new one.
    others = sum(_share(verdict) for verdict in case.item.evaluation.verdicts)
    shown = case.exchange is not None and bool(case.exchange.recorded)
    return not new, "whole" in codes, -lost, measure.sign * score, others, not shown, case.item.nodeid


def _share(verdict: Verdict) -> float:
    """Return how far a score lies from the worst end of its scale; 0 for a scale without ends."""
    measure, span = verdict.dimension, verdict.dimension.span
    return abs(verdict.score - measure.worst) / span if span and measure.worst is not None else 0.0


def costly_exchange(item: Item, verdict: Verdict, lead: CountedCode | None = None) -> Exchange | None:
    """Return the exchange that cost the score; None where the assistant said nothing.

    The turns of the reason `lead`, if the judge names any; else the turns that its reasons and quotes are
    about; of these the one where the dialogue departs from what was said before, if it is among them. Where
    the judge names none, or none that it had not before: that reply, or the last one in which it saw
    anything, or the last one that answers no goodbye.
    """
    messages = item.evaluation.dialogue.messages
    replies = [turn for turn, message in enumerate(messages) if message.role == "assistant"]
    if not replies:
        return None
    earlier = earlier_of(item)
    before = () if earlier is None else earlier.messages
    costs = costs_of(verdict)
    named: list[int | None] = [r.turn for r in costs if r.code == lead and r.turn in replies]
    if before and costs and not _new_costs(item, verdict, lead):
        named = []
    elif not named:
        named = [*(reason.turn for reason in costs), *(evidence.turn for evidence in verdict.evidence)]
    blamed = [turn for turn in named if turn is not None and turn in replies]
    parting = _parting(before, messages)
    turn = parting if parting in (blamed or replies) else (*blamed, _last(item, verdict, replies))[0]
    assert turn is not None
    recorded = before[turn].content if turn < len(before) and before[turn].role == "assistant" else ""
    return Exchange(
        turn,
        messages[turn - 1].content if turn else "",
        messages[turn].content,
        recorded if recorded != messages[turn].content else "",
        next((evidence.quote for evidence in verdict.evidence if evidence.turn == turn), ""),
    )


def _last(item: Item, verdict: Verdict, replies: Sequence[int]) -> int:
    seen = [r.turn for r in verdict.reasons if r.turn is not None and r.turn in replies]
    goodbye = item.evaluation.dialogue.end in ("user", "unserved")
    return max(seen, default=(replies[-2:] if goodbye else replies[-1:])[0])


def _parting(before: Sequence[Message], now: Sequence[Message]) -> int | None:
    """Return the first turn at which two dialogues differ; None where one of them ends before."""
    pairs = zip(before, now, strict=False)
    return next((turn for turn, (then, message) in enumerate(pairs) if then != message), None)
