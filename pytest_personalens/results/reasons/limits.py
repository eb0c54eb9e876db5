"""Hard limits of the users that the assistant broke: which dialogues, and how many more than before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.core.judging.dimensions import Dimension
from pytest_personalens.results.reasons.earlier import earlier_of
from pytest_personalens.results.reasons.reasons import reason_counts, verdict_on
from pytest_personalens.results.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_personalens.core.judging.verdict import ReasonCode
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

_BROKEN: Final[ReasonCode] = "limit-broken"
_SINCE: Final = {"baseline": "since the baseline", "record": "since the records were written"}


def breaks_a_limit(item: Item) -> bool | None:
    """True if the judge saw a broken limit in the dialogue; None where it did not read personalization."""
    verdict = verdict_on(item, Dimension.PERSONALIZATION)
    return None if verdict is None else any(reason.code == _BROKEN for reason in verdict.reasons)


def tells_limits(items: Iterable[Item]) -> bool:
    """True if the judge gives reasons: one that gives none cannot tell a broken limit."""
    verdicts = (verdict_on(item, Dimension.PERSONALIZATION) for item in items)
    return any(verdict.reasons for verdict in verdicts if verdict is not None)


def broken_limits(results: Results) -> list[str]:
    """Return a line for each limit that a dialogue of the run itself breaks: dialogue, user, limit, word."""
    return [
        f"{item.evaluation.scenario}: {item.evaluation.user}, {reason.type}: says “{reason.value}”"
        + (f" (turn {reason.turn})" if reason.turn is not None else "")
        for item in results.own
        if (verdict := verdict_on(item, Dimension.PERSONALIZATION)) is not None
        for reason in verdict.reasons
        if reason.code == _BROKEN
    ]


def limits_note(results: Results) -> str:
    """Return ``breaks a hard limit in 19 dialogues (+12 since the baseline)``, or "" if none is broken."""
    counts = reason_counts(results.own, Dimension.PERSONALIZATION)
    broken = next((reason for reason in counts if reason.code == _BROKEN), None)
    if broken is None:
        return ""
    since = next((earlier.source for item in results.own if (earlier := earlier_of(item)) is not None), "")
    change = f" ({broken.change:+d} {_SINCE[since]})" if since and broken.change is not None else ""
    return f"breaks a hard limit in {count(broken.dialogues, results.of_suite.dialogue)}{change}"
