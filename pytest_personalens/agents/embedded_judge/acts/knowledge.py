"""Finds who named the value of each preference first.

It was the assistant, in a deed, a boast or a question, or the user, after a question or without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pytest_personalens.agents.language.reading import DialogueReading
from pytest_personalens.agents.language.text import content, mentions
from pytest_personalens.agents.reading.typed_values import same_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded_judge.acts.acts import Spoken
    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

Code = Literal["applies", "recites", "asks-known", "contradicts", "uses-stated", "ignores"]

#: The lowest probability at which a statement counts as an act.
_CLEAR: Final = 0.4
#: A value counts as said from this share of its content words on.
_MOST: Final = 0.6


class PreferenceFinding(NamedTuple):
    """The use of one preference.

    `code` says what happened. `turn` and `quote` show where it was seen.
    """

    code: Code
    domain: str
    type: str
    value: str
    turn: int
    quote: str


def findings(
    scenario: Scenario, messages: Sequence[Message], spoken: Sequence[Spoken]
) -> tuple[PreferenceFinding, ...]:
    """Return the use of each preference that the task needs, in order of the turns.

    If the task names no preference, all preferences of its domains count.
    """
    reading = DialogueReading(scenario, messages)
    uses: list[PreferenceFinding] = []
    for domain, name, _, values in reading.types:
        if reading.relevant(domain, name):
            uses += _of_type(domain, name, values, reading, spoken)
    clashes = {(c.domain, c.type): c for c in reversed(reading.clashes)}
    uses = [f for f in uses if (f.domain, f.type) not in clashes]
    uses += [
        PreferenceFinding("contradicts", c.domain, c.type, c.value, c.turn, c.sentence)
        for c in clashes.values()
    ]
    return tuple(sorted(uses, key=lambda f: f.turn))


def _of_type(
    domain: str, name: str, values: Sequence[str], reading: DialogueReading, spoken: Sequence[Spoken]
) -> list[PreferenceFinding]:
    for statement in spoken:
        line = statement.line
        value = next((v for v in values if _says(v, line.text, line.words)), None)
        if value is None:
            continue
        if line.role == "assistant":
            boast = statement.acts["boast"] > max(_CLEAR, statement.acts["use"], statement.acts["deed"])
            asks = statement.acts["asking the known"] > max(_CLEAR, statement.acts["use"])
            code: Code = "recites" if boast else "asks-known" if asks else "applies"
            return [PreferenceFinding(code, domain, name, value, line.turn, line.quote)]
        if line.turn == 0:
            return [PreferenceFinding("uses-stated", domain, name, value, line.turn, line.quote)]
        question = _question_before(line.turn, spoken)
        # A user may answer what nobody asked: "What cuisine would you like?" in a dialogue about books.
        if question is not None and not reading.asks_elsewhere(domain, name, question.line.text):
            return [
                PreferenceFinding("asks-known", domain, name, value, question.line.turn, question.line.quote)
            ]
        return [PreferenceFinding("uses-stated", domain, name, value, line.turn, line.quote)]
    last = max((s.line.turn for s in spoken if s.line.role == "assistant"), default=len(reading.messages) - 1)
    return [PreferenceFinding("ignores", domain, name, values[0], last, "")]


def _question_before(turn: int, spoken: Sequence[Spoken]) -> Spoken | None:
    """Return the statement of the message before `turn` that asks most clearly."""
    asking = [s for s in spoken if s.line.turn == turn - 1 and s.line.role == "assistant"]
    best = max(asking, key=lambda s: max(s.acts["question"], s.acts["asking the known"]), default=None)
    return best if best and max(best.acts["question"], best.acts["asking the known"]) > _CLEAR else None


def _says(value: str, text: str, words: frozenset[str]) -> bool:
    if mentions(value, text) or same_length(value, text):
        return True
    wanted = content(value)
    return len(wanted) > 1 and len(wanted & words) / len(wanted) >= _MOST


def numbers(uses: Sequence[PreferenceFinding]) -> dict[str, float]:
    """Return how often each code occurs, as shares of the preferences that the task needs.

    For each code but "ignores", another number says whether it occurs at all.
    """
    total = max(1, len(uses))
    codes: tuple[Code, ...] = ("applies", "recites", "asks-known", "contradicts", "uses-stated", "ignores")
    counts = {code: sum(f.code == code for f in uses) for code in codes}
    shares = {f"preferences: {code}": count / total for code, count in counts.items()}
    return shares | {
        f"any preference: {code}": float(count > 0) for code, count in counts.items() if code != "ignores"
    }
