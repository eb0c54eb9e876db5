"""What a dialogue says of each fact of its scenario: affirmed, contradicted, or not said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.agents.embedded.reader.facts_of_statement import Facts, Finding
from pytest_personalens.agents.embedded.reader.statements import Statement, pieces
from pytest_personalens.agents.embedded.reader.text import content, fold
from pytest_personalens.agents.embedded.reader.typed_values import TYPED, said_in, values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.embedded.reader.written_forms import Value
    from pytest_personalens.core.dialogue.message import Message
    from pytest_personalens.core.facts import Fact

FactState = Literal["affirmed", "contradicted", "not said"]
#: A reply that says yes to what the user asks.
_YES: Final = re.compile(
    r"^\W*(?:oh |ah )?(?:yes|yep|yeah|correct|exactly|that's (?:right|correct)|indeed|right|it is|they are|it does|confirmed)\b(?! now)"
)


class FactReading(NamedTuple):
    """What the assistant says of a fact by the end: the words, the message, and the statement as a quote.

    With ``not said``, `said` and `quote` are empty and `turn` is None.
    """

    fact: Fact
    state: FactState
    said: str = ""
    turn: int | None = None
    quote: str = ""


def read_statements(
    facts: Facts, messages: Sequence[Message], said: Sequence[Statement]
) -> dict[str, FactReading]:
    """Return the reading of each closed fact that a part of the task names, by the end of the messages.

    A fact is affirmed by a statement of the assistant that reports a deed or tells how things are. Questions,
    offers, promises and refusals affirm nothing. The last statement counts. A fact of which every value is
    needed is affirmed if each of them is said.
    """
    first = next((m.content for m in messages if m.role == "user"), "")
    of_user = values(first, facts.now)
    readings = {fact.name: FactReading(fact, "not said") for fact in facts.wanted}
    every: dict[str, set[str]] = {}
    for statement, found in _findings(facts, messages, said, of_user):
        by_name: dict[str, list[Finding]] = {}
        for finding in found:
            by_name.setdefault(finding.fact.name, []).append(finding)
        for name, several in by_name.items():
            if name not in readings:
                continue
            right = [f for f in several if f.right]
            if right and right[0].fact.every:
                every.setdefault(name, set()).update(_values_said(right[0].fact, facts, statement.text))
                if len(every[name]) < len(right[0].fact.right):
                    continue
            old, best = readings[name], (right or several)[0]
            # Within a reply, and where it is not sure, a right value counts before a wrong one.
            if (
                right
                or old.state == "not said"
                or (best.sure and (old.state == "contradicted" or (old.turn or 0) < statement.turn))
            ):
                state: FactState = "affirmed" if right else "contradicted"
                readings[name] = FactReading(best.fact, state, best.said, statement.turn, statement.text)
    _one_person(readings, facts, said)
    return readings


def _one_person(readings: dict[str, FactReading], facts: Facts, said: Sequence[Statement]) -> None:
    """Affirm the counts of persons that are 1: a report of a deed that names no number is about one."""
    deed = next((s for s in reversed(said) if s.act == "done"), None)
    if deed is None:
        return
    for name, reading in readings.items():
        if reading.state == "not said" and "1" in reading.fact.right and facts.counts_persons(reading.fact):
            readings[name] = FactReading(reading.fact, "affirmed", "one", deed.turn, deed.text)


def _findings(
    facts: Facts, messages: Sequence[Message], said: Sequence[Statement], of_user: Sequence[Value]
) -> Iterator[tuple[Statement, tuple[Finding, ...]]]:
    """Yield each firm statement with what it says of the facts, and what a "yes" of the assistant says."""
    answered: set[int] = set()
    for statement in said:
        turn = statement.turn
        if turn not in answered:
            answered.add(turn)
            if turn and _YES.match(fold(messages[turn].content)):
                for asked in (s for s in pieces(messages[turn - 1].content) if s.rstrip().endswith("?")):
                    found = facts.findings(asked)
                    yield statement._replace(text=asked), tuple(f for f in found if f.right)
        if statement.act in facts.telling:
            found = facts.findings(statement.text, of_user, deed=statement.act == "done")
            if not _is_idle(statement, found, facts):
                yield statement, found


def _is_idle(statement: Statement, found: Sequence[Finding], facts: Facts) -> bool:
    """True where a value is the only thing that a statement has of the task: "The weather is lovely today"."""
    if len({f.fact.name for f in found}) != 1 or found[0].fact.kind not in TYPED:
        return False
    own = statement.words - content(found[0].said)
    return statement.act == "told" and len(own) > 1 and not own & facts.topic


def _values_said(fact: Fact, facts: Facts, text: str) -> set[str]:
    if fact.kind in TYPED:
        return {
            r
            for r in fact.right
            for v in values(text, facts.now)
            if facts.fits(v, fact.model_copy(update={"right": (r,)}))
        }
    return {r for r in fact.right if said_in(r, text, fact.kind, facts.synonyms)}
