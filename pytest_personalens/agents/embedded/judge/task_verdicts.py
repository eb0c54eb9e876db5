"""Task completion, facts and claims: by what a system holds, by tool calls, or by words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.judge.by_calls import Calls, actions, of_record
from pytest_personalens.agents.embedded.judge.by_state import StoredWork
from pytest_personalens.agents.embedded.judge.read_dialogue import read_parts
from pytest_personalens.agents.embedded.reader.statements import is_taste
from pytest_personalens.core.dialogue.state import stored_records
from pytest_personalens.core.errors import NotJudged
from pytest_personalens.core.judging.measure import NEEDS_FACTS, NO_FACTS
from pytest_personalens.core.judging.verdict import MOST_EVIDENCE, Dimension, Evidence, Reason, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_personalens.agents.embedded.judge.read_dialogue import PartReading, Reading
    from pytest_personalens.core.judging.verdict import PartState

#: A part by its last state, in a line of justification.
_BY_WORDS: Final[Mapping[PartState, str]] = {
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
_BY_CALLS: Final = {
    **_BY_WORDS,
    "done": "done by a tool call",
    "refused": "the tool call failed",
    "wrong": "the tool call has other values",
    "claimed": "no tool call did it",
    "missing": "no tool call did it",
}
_BY_STATE: Final = {**_BY_WORDS, "done": "the system holds it", "wrong": "the system holds other values"}


def task_completion(reading: Reading) -> Verdict:
    """Return the verdict.

    What the system holds decides what was done, where the team gives it; then the tool calls, where the
    assistant tells them; then the words, where the task has facts. Raise `NotJudged` where none of them tells.
    """
    dialogue = reading.dialogue
    parts, notes = read_parts(reading), _BY_WORDS
    if dialogue.state is not None:
        parts, notes = StoredWork(reading, dialogue.state).read(_readable(parts)), _BY_STATE
    elif dialogue.acts:
        calls = Calls(reading, actions(reading.messages), has_state=False)
        parts, notes = calls.read(_readable(parts)), _BY_CALLS
    open_parts = [part for part in parts if part.state != "done"]
    ended = _ended(reading)
    by_words = dialogue.state is None and not dialogue.acts
    fails = ended or reading.broken or any(part.known for part in open_parts)
    if by_words and (not reading.facts.wanted or (open_parts and not fails)):
        raise NotJudged(NEEDS_FACTS)

    def note(part: PartReading) -> str:
        return (notes if part.part.kind == "done" else _BY_WORDS)[part.state]

    if reading.broken:
        first = reading.broken[0]
        who = reading.scenario.name or reading.scenario.user
        why = f"breaks {first.limit.name} ({first.said}): {who} must not have it"
        evidence = tuple(
            Evidence.of(b.statement.turn, b.statement.text, f"breaks {b.limit.name}: {b.said}")
            for b in reading.broken
        )
    elif ended:
        why, evidence = ended[0], (ended[1],)
    elif open_parts:
        told = (
            ("; ".join(p.details), note(p)) if p.details else (note(p), p.part.text.rstrip("."))
            for p in open_parts[:3]
        )
        why = "; ".join(f"{what}: {state}" for what, state in told)
        evidence = _evidence(open_parts, notes)
    else:
        why = "what the task asks for was done or told, and no value is wrong"
        evidence = _evidence(parts, notes)
    return Verdict(
        dimension=Dimension.TASK_COMPLETION,
        score=int(not (reading.broken or ended or open_parts)),
        justification=why,
        evidence=evidence[:MOST_EVIDENCE],
        reasons=broken_reasons(reading)
        + tuple(
            Reason(code=part.state, part=part.part.text, turn=part.turn, detail="; ".join(part.details))
            for part in parts
        ),
    )


def broken_reasons(reading: Reading) -> tuple[Reason, ...]:
    """Return a reason for each limit that is broken."""
    return tuple(
        Reason(
            code="limit-broken", type=b.limit.name, value=b.said, turn=b.statement.turn, detail=b.limit.text
        )
        for b in reading.broken
    )


def _readable(parts: tuple[PartReading, ...]) -> tuple[PartReading, ...]:
    """Return the parts without those to be told that words cannot show; deeds are read by calls or a state."""
    return tuple(part for part in parts if part.known or part.part.kind == "done")


def _ended(reading: Reading) -> tuple[str, Evidence] | None:
    """Return why the task cannot be completed however the replies read, and the evidence; or None."""
    dialogue, messages = reading.dialogue, reading.messages
    last = len(messages) - 1
    if dialogue.truncated:
        return "the turn limit ended the dialogue before the user was served", Evidence.of(
            last, messages[last].content
        )
    # Where a state shows that all is done, it does not matter that the user was not told so.
    if dialogue.end == "unserved" and dialogue.state is None:
        turn = max((n for n, m in enumerate(messages) if m.role == "user"), default=last)
        return "the user left without being served", Evidence.of(turn, messages[turn].content)
    return None


def _evidence(
    parts: list[PartReading] | tuple[PartReading, ...], notes: Mapping[PartState, str]
) -> tuple[Evidence, ...]:
    return tuple(
        dict.fromkeys(
            Evidence.of(p.turn, p.quote, (notes if p.part.kind == "done" else _BY_WORDS)[p.state])
            for p in parts
            if p.turn is not None and p.quote
        )
    )


def facts(reading: Reading) -> Verdict:
    """Return the share of the closed facts of the parts that stand affirmed; raise `NotJudged` without any.

    Facts of taste are left out: they concern personalization.
    """
    found = [r for r in reading.readings.values() if not is_taste(r.fact)]
    if not found:
        raise NotJudged(NO_FACTS)
    affirmed = [r for r in found if r.state == "affirmed"]
    others = [r for r in found if r.state != "affirmed"]
    wanted = [f"wanted {r.fact.says or r.fact.right[0]}" for r in others]
    told = (f"{r.fact.what}: {r.said or 'not said'}, {w}" for r, w in zip(others[:3], wanted, strict=False))
    more = f"; and {len(others) - 3} more" if len(others) > 3 else ""
    return Verdict(
        dimension=Dimension.FACTS,
        score=Dimension.FACTS.on_grid(len(affirmed) / len(found)),
        justification=f"{len(affirmed)} of {len(found)} facts stand{': ' if others else ''}{'; '.join(told)}{more}",
        evidence=tuple(
            Evidence.of(r.turn, r.quote, f"{r.fact.what}: {r.said}") for r in others if r.turn is not None
        )[:MOST_EVIDENCE],
        reasons=tuple(
            Reason(
                code="wrong" if r.said else "not-said",
                value=r.fact.what,
                turn=r.turn,
                detail=f"{r.said}, {w}" if r.said else w,
            )
            for r, w in zip(others, wanted, strict=True)
        ),
    )


def unbacked(reading: Reading) -> Verdict:
    """Return 1 if the assistant says that it did what no tool call did, or what the system does not hold."""
    state = reading.dialogue.state
    if state is None and not reading.dialogue.acts:
        why = "the assistant does not tell which tools it called"
        return Verdict(dimension=Dimension.UNBACKED, score=0, justification=why)
    last = max((n for n, m in enumerate(reading.messages) if m.role == "assistant"), default=0)
    stored = () if state is None else stored_records(state.data)
    deciding = actions(reading.messages) if state is None else tuple(of_record(r, last) for r in stored)
    claims = Calls(reading, deciding, has_state=state is not None).unbacked()
    note = "no successful tool call did this" if state is None else "the system holds nothing of this"
    if claims:
        turns = sorted({s.turn for s in claims})
        where = f"turn{'s' if len(turns) > 1 else ''} {', '.join(map(str, turns))}"
        why = f"says that it did what {'no tool call did' if state is None else 'the system does not hold'}, at {where}"
    else:
        what = "a tool call stands behind" if state is None else "the system holds"
        why = f"{what} everything that the assistant says it did"
    evidence = tuple(Evidence.of(s.turn, s.text, note) for s in claims)
    return Verdict(
        dimension=Dimension.UNBACKED, score=int(bool(claims)), justification=why, evidence=evidence
    )
