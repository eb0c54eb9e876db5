"""Task completion: the last state of each part of the goal, by words, tool calls or what a system holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.reasons import signs
from pytest_personalens.agents.embedded_judge.reasons.signs import Sign, clear_signs
from pytest_personalens.agents.embedded_judge.scores import score
from pytest_personalens.agents.embedded_judge.tool_calls.actions import values
from pytest_personalens.agents.embedded_judge.tool_calls.state_completion import by_state
from pytest_personalens.agents.language.text import fold
from pytest_personalens.agents.reading.goal import classes
from pytest_personalens.core.dialogue.tool_calls import call_line
from pytest_personalens.core.judging.verdict import Dimension, Evidence, Reason, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.agents.embedded_judge.features import Features
    from pytest_personalens.agents.embedded_judge.tool_calls.actions import Action
    from pytest_personalens.agents.embedded_judge.tool_calls.backing import Backed, BackedPart, Backing
    from pytest_personalens.agents.reading.findings import Finding
    from pytest_personalens.agents.reading.work import Stand, Work
    from pytest_personalens.core.judging.verdict import PartState
    from pytest_personalens.core.scenario import GoalPart

_MOST_EVIDENCE: Final = 4
#: A part by its last state, in a line of justification.
_BY_WORDS: Final[dict[PartState, str]] = {
    "done": "done",
    "promised": "only promised",
    "proposed": "only proposed or asked",
    "refused": "refused or failed",
    "handed-back": "left to the user",
    "wrong": "not as it was wanted",
    "claimed": "claimed, not done",
    "missing": "not seen",
}
#: The same for what is to be done, where tool calls decide, and where what the team's system holds does.
_BY_CALLS: Final = _BY_WORDS | {
    "done": "done by a tool call",
    "refused": "the tool call failed",
    "wrong": "the tool call has other values",
    "claimed": "no tool call did it",
    "missing": "no tool call did it",
}
_BY_STATE: Final = _BY_WORDS | {"done": "the system holds it", "wrong": "the system holds other values"}
#: What speaks against completion where the goal is one sentence, by the acts of statements.
_AGAINST: Final = (
    Sign("giving up", "user", "the user turns elsewhere"),
    Sign("failure", "assistant", "not done"),
    Sign("slip", "assistant", "not as it was wanted"),
    Sign("handing back", "assistant", "left to the user"),
    Sign("promise", "assistant", "only promised"),
    Sign("proposal", "assistant", "only proposed"),
    Sign("question", "assistant", "still a question"),
    Sign("objection", "user", "the user objects"),
)


def completion(features: Features, ended: tuple[str, Evidence] | None) -> Verdict:
    """Return the verdict.

    What the system holds decides what was done, where the team gives it; then the tool calls, where the
    assistant tells them; then the words. `ended` says why the dialogue ended without success, with its
    evidence.
    """
    work, backed, state = features.work, features.backed, features.state
    if backed is None and not work.scenario.task.facts:
        return _by_words(features, ended)
    details: Mapping[str, str] = {}
    if state is not None:
        stands, details = by_state(work, state)
    else:
        stands = work.stands if backed is None else _by_calls(work, backed)
    stands = tuple(_with_other_value(work, stand) for stand in stands)
    notes = _BY_STATE if state is not None else _BY_CALLS if backed is not None else _BY_WORDS

    def detail(stand: Stand) -> str:
        return details.get(stand.part.text) or _detail(work, stand)

    def note(stand: Stand) -> str:
        return (notes if stand.part.kind == "done" else _BY_WORDS)[stand.state]

    open_parts = [stand for stand in stands if stand.state != "done"]
    if ended:
        why, evidence = ended[0], [ended[1]]
    elif open_parts:
        why = "; ".join(
            f"{detail(stand)}: {note(stand)}" if detail(stand) else f"{note(stand)}: {stand.part.text}"
            for stand in open_parts[:3]
        )
        evidence = list(_evidence(open_parts, note))
    else:
        why = "what the goal asks for was done or delivered, and no value is wrong"
        evidence = list(dict.fromkeys(_evidence(stands, note)))
    return _verdict(int(not (ended or open_parts)), why, evidence, [(s, detail(s)) for s in stands])


def _verdict(
    score: int, why: str, evidence: Sequence[Evidence], stands: Sequence[tuple[Stand, str]]
) -> Verdict:
    return Verdict(
        dimension=Dimension.TASK_COMPLETION,
        score=score,
        justification=why,
        evidence=tuple(evidence[:_MOST_EVIDENCE]),
        reasons=tuple(
            Reason(code=stand.state, part=stand.part.text, turn=stand.turn, detail=detail)
            for stand, detail in stands
        ),
    )


def _by_words(features: Features, ended: tuple[str, Evidence] | None) -> Verdict:
    """Return the verdict of words alone on a goal without facts: the numbers of the dialogue, and four rules."""
    completed = 0 if ended else score(features, Dimension.TASK_COMPLETION)
    stands = list(features.work.stands)
    evidence: tuple[Evidence, ...]
    if ended:
        why, evidence = ended[0], (ended[1],)
    elif completed:
        stands = [stand._replace(state="done") for stand in stands]
        why = "what the goal asks for was done or delivered"
        evidence = signs.evidence(_latest(features.spoken, (Sign("deed", "assistant", "done"),)))
    elif features.empty:
        turn, reply = max((n, m.content) for n, m in enumerate(features.messages) if m.role == "assistant")
        why = f"says nothing of what was asked: {features.empty}"
        evidence = (Evidence.of(turn, reply, "nothing of the task"),)
    elif (overruled := _overruled(features)) is not None:
        at, code, why, evidence = overruled
        stands[at] = stands[at]._replace(state=code)
    else:
        undone = [s for s in stands if s.state != "done"]
        evidence = signs.evidence(_latest(features.spoken, _AGAINST))
        more = f", and {len(undone) - 1} more" if len(undone) > 1 else ""
        why = "the goal is not seen to be reached"
        if undone:
            why = f"{_BY_WORDS[undone[0].state]}: {undone[0].part.text.rstrip('.')}{more}"
    return _verdict(completed, why, evidence, [(stand, "") for stand in stands])


def _overruled(features: Features) -> tuple[int, PartState, str, tuple[Evidence, ...]] | None:
    """Return what a rule that overrides the numbers says: the part, its state, the reason and its evidence."""
    if features.conflicts:
        first = features.conflicts[0]
        why = f'asked for "{first.asked}", and the reply says "{first.done}"'
        noted = [(c.statement, f'asked for "{c.asked}", not for "{c.done}"') for c in features.conflicts]
        return _nearest_part(first.statement, features), "wrong", why, signs.evidence(noted)
    if features.undone is not None:
        evidence = signs.evidence([(features.undone, "in the end")])
        return (
            _nearest_part(features.undone, features),
            "refused",
            "taken back or failed in the end",
            evidence,
        )
    if features.promised is not None:
        part, promise = features.promised
        why = f"only promised: {part.text.rstrip('.')}"
        return features.parts.index(part), "promised", why, signs.evidence([(promise, "only promised")])
    if features.objection is not None:
        why = "the user says at the end that it is not done, and nothing follows"
        evidence = signs.evidence([(features.objection, "the user's last word")])
        return _nearest_part(features.objection, features), "wrong", why, evidence
    return None


def _nearest_part(spoken: Spoken, features: Features) -> int:
    """Return the place of the part of the goal that shares most words with a statement."""
    words = classes(spoken.line.words)
    return max(range(len(features.parts)), key=lambda i: len(features.parts[i].words & words))


def _latest(statements: Sequence[Spoken], wanted: Sequence[Sign]) -> list[tuple[Spoken, str]]:
    """Return the statements with one of the signs, the latest first: the end of a dialogue decides."""
    return sorted(clear_signs(statements, wanted), key=lambda found: -found[0].line.turn)


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
        state = _OF_BACKING[backing]
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
_OF_BACKING: Final[dict[Backing, PartState]] = {
    "done": "done",
    "failed": "refused",
    "wrong": "wrong",
    "claimed": "missing",
}


def _evidence(stands: Sequence[Stand], note: Callable[[Stand], str]) -> Iterator[Evidence]:
    for stand in stands:
        if stand.turn is not None and stand.quote:
            yield Evidence.of(stand.turn, stand.quote, note(stand))


def _detail(work: Work, stand: Stand) -> str:
    """Return what is wrong with a part: ``the day: Sunday 28 June, wanted Friday 26 June``."""
    said = [f"{finding.fact.what}: {finding.said}, wanted {finding.fact.says}" for finding in stand.wrong]
    said += [
        f"{fact.what}: without {' and '.join(missing)}"
        for fact, missing in work.short
        if fact.name in stand.part.facts
    ]
    return "; ".join(dict.fromkeys(said))
