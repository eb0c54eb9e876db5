"""Task completion where the goal rests on facts: each part stands, nothing is wrong, nothing was taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.tool_calls.actions import values
from pytest_personalens.agents.embedded_judge.tool_calls.state_completion import by_state
from pytest_personalens.agents.language.text import fold
from pytest_personalens.core.dialogue.tool_calls import call_line
from pytest_personalens.core.judging.verdict import Dimension, Evidence, Reason, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_personalens.agents.embedded_judge.tool_calls.actions import Action
    from pytest_personalens.agents.embedded_judge.tool_calls.backing import Backed, BackedPart, Backing
    from pytest_personalens.agents.reading.findings import Finding
    from pytest_personalens.agents.reading.work import Stand, Work
    from pytest_personalens.core.dialogue.state import State
    from pytest_personalens.core.judging.verdict import PartState
    from pytest_personalens.core.scenario import GoalPart

_MOST_EVIDENCE: Final = 4
#: A part by its last state, in a line of justification.
_SAYS: Final[dict[PartState, str]] = {
    "done": "done",
    "promised": "only promised",
    "proposed": "only proposed or asked",
    "refused": "refused or failed",
    "handed-back": "left to the user",
    "wrong": "not as it was wanted",
    "claimed": "claimed, not done",
    "missing": "not seen",
}


def completion(
    work: Work, backed: Backed | None, ended: tuple[str, Evidence] | None, state: State | None = None
) -> Verdict:
    """Return the verdict.

    `state` is what the system holds, where the team gives it: then it decides what was done. `backed` holds
    the tool calls, where the assistant tells them: without a state, they decide. `ended` says why the
    dialogue ended without success, with its evidence.
    """
    details: Mapping[str, str] = {}
    if state is not None:
        stands, details = by_state(work, state)
    else:
        stands = work.stands if backed is None else _by_calls(work, backed)
    stands = tuple(_with_other_value(work, stand) for stand in stands)

    def detail(stand: Stand) -> str:
        return details.get(stand.part.text) or _detail(work, stand)

    reasons = tuple(
        Reason(code=stand.state, part=stand.part.text, turn=stand.turn, detail=detail(stand))
        for stand in stands
    )
    open_parts = [stand for stand in stands if stand.state != "done"]
    if ended:
        justification, evidence = ended[0], [ended[1]]
    elif open_parts:
        justification = "; ".join(
            f"{detail(stand) or stand.part.text}: {_SAYS[stand.state]}" for stand in open_parts[:3]
        )
        evidence = list(_evidence(open_parts))
    else:
        justification = "each part of the goal stands, and no value is wrong"
        evidence = list(dict.fromkeys(_evidence(stands)))
    return Verdict(
        dimension=Dimension.TASK_COMPLETION,
        score=int(not (ended or open_parts)),
        justification=justification,
        evidence=tuple(evidence[:_MOST_EVIDENCE]),
        reasons=reasons,
    )


def _with_other_value(work: Work, stand: Stand) -> Stand:
    """Return what is to be told and was not seen as wrong, if it was told with another value."""
    if stand.state != "missing" or stand.part.kind != "told" or not (told := work.differing(stand.part)):
        return stand
    statement = told[-1][1]
    return stand._replace(
        state="wrong", turn=statement.turn, quote=statement.quote, wrong=tuple(f for f, _ in told)
    )


def _by_calls(work: Work, backed: Backed) -> tuple[Stand, ...]:
    """Return the state of each part, where tool calls decide what was done and words what was told."""
    by_text = {b.part.text: b for b in backed.parts}
    called = [(action, work.facts.findings(_arguments(action))) for action in backed.actions if action.did]
    return tuple(
        _by_call(stand, by_text[stand.part.text], called) if stand.part.text in by_text else stand
        for stand in work.stands
    )


def _arguments(action: Action) -> str:
    """Return the arguments of a call as a text that can be read like a statement."""
    return "; ".join(
        f"{name.replace('_', ' ')}: {value}"
        for name, one in action.call.arguments.items()
        for value in values([one])
    )


def _by_call(stand: Stand, call: BackedPart, called: Sequence[tuple[Action, tuple[Finding, ...]]]) -> Stand:
    action, backing = call.action, call.backing
    if backing == "claimed" and not stand.part.never:
        # A call with the values of the part did it, whatever its words are.
        action = next(
            (
                a
                for a, found in reversed(called)
                if any(f.right and f.fact.name in stand.part.facts for f in found)
            ),
            None,
        )
        backing = "done" if action is not None else backing
    turn, quote = (action.call.turn, call_line(action.call)) if action else (stand.turn, stand.quote)
    wrong = _wrong_values(stand.part, action, called) if action else ()
    if stand.part.never or backing != "done" or action is None:
        state = _BY_CALLS[backing]
        if state == "missing" and stand.state in ("done", "wrong"):
            state = "claimed"
        return stand._replace(state=state, turn=turn, quote=quote, wrong=wrong if state == "wrong" else ())
    if wrong:
        return stand._replace(state="wrong", turn=turn, quote=quote, wrong=wrong)
    return stand if stand.state == "wrong" else stand._replace(state="done", turn=turn, quote=quote)


def _wrong_values(
    part: GoalPart, action: Action, called: Sequence[tuple[Action, tuple[Finding, ...]]]
) -> tuple[Finding, ...]:
    """Return what the arguments of a call say against the facts of a part, with the argument that says it."""
    found = next((one for a, one in called if a is action), ())
    right = {f.fact.name for f in found if f.right}
    wrong = [f for f in found if f.fact.name in part.facts and not (f.right or f.of_taste)]
    return tuple(f._replace(said=_argument(action, f.said)) for f in wrong if f.fact.name not in right)


def _argument(action: Action, said: str) -> str:
    """Return the argument that holds a value: ``book(when='Saturday 19:30')``."""
    for name, value in action.call.arguments.items():
        if fold(said) in fold(f"{name}: {value}"):
            return f"{action.call.name}({name}={value!r})"
    return said


#: The state of a part by what its tool calls make of it.
_BY_CALLS: Final[dict[Backing, PartState]] = {
    "done": "done",
    "failed": "refused",
    "wrong": "wrong",
    "claimed": "missing",
}


def _evidence(stands: Sequence[Stand]) -> Iterator[Evidence]:
    for stand in stands:
        if stand.turn is not None and stand.quote:
            yield Evidence.of(stand.turn, stand.quote, _SAYS[stand.state])


def _detail(work: Work, stand: Stand) -> str:
    """Return what is wrong with a part: ``the day: Sunday 28 June, wanted Friday 26 June``."""
    said = [f"{finding.fact.what}: {finding.said}, wanted {finding.fact.says}" for finding in stand.wrong]
    said += [
        f"{fact.what}: without {' and '.join(missing)}"
        for fact, missing in work.short
        if fact.name in stand.part.facts
    ]
    return "; ".join(dict.fromkeys(said))
