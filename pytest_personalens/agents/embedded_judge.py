"""The embedded judge: what each sentence does, told by small linear models, and a score from how a dialogue's acts add up.

Trained on labelled dialogues (`pytest_personalens.agreement.train`), deterministic, without a network. How far it agrees with
annotators, and where it does not: docs/explanation/scores.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.linear import Steps, weights
from pytest_personalens.agents.once import once
from pytest_personalens.agents.text import fold, mentions, sentences
from pytest_personalens.errors import JudgeFault
from pytest_personalens.verdict import Dimension, Evidence, Verdict

if TYPE_CHECKING:
    from pytest_personalens.agents.features import Features
    from pytest_personalens.dialogue import Dialogue, Message
    from pytest_personalens.scenario import Scenario

_GIVEN_UP: Final = re.compile(
    r"\b(?:forget it|i give up|i'?ll (?:do|sort|manage|book|set|find|see to) (?:it|that|this) (?:myself|out myself|on my own)|isn't getting anywhere|waste of (?:my )?time)\b"
)
_MOST_EVIDENCE: Final = 4


class EmbeddedJudge:
    """Deterministic and free; agrees with annotators about as far as a careful reader of surfaces can."""

    identity = "embedded-judge 2"
    paid = False

    def __init__(self) -> None:
        # The readings of a dialogue come one after another and share all but the last step.
        self._last: tuple[Scenario, tuple[Message, ...], Features] | None = None

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """The reading on `dimension`."""
        if not any(m.role == "assistant" for m in dialogue.messages):
            raise JudgeFault("the transcript has no turn of the assistant")
        if dimension is Dimension.PERSONALIZATION_TURNS:
            return self._by_turn(scenario, dialogue)
        if dimension is Dimension.OPENING_LEAK:
            return _opening_leak(scenario, dialogue)
        ended = _ended(dialogue) if dimension is Dimension.TASK_COMPLETION else None
        if ended:
            return Verdict(dimension=dimension, score=0, justification=ended[0], evidence=(ended[1],))
        # A replay asks for no reading, and would feel what these load.
        from pytest_personalens.agents.reasons import reasons

        features = self._features(scenario, dialogue.messages)
        score = _model(dimension).score(features.numbers)
        if _says_nothing(features, dimension):
            score = dimension.scale.low
        why, evidence = reasons(scenario, dimension, score, features)
        return Verdict(dimension=dimension, score=score, justification=why, evidence=evidence[:_MOST_EVIDENCE])

    def _features(self, scenario: Scenario, messages: tuple[Message, ...]) -> Features:
        from pytest_personalens.agents.features import Features

        last = self._last
        if last is None or last[0] is not scenario or last[1] != messages:
            last = self._last = scenario, messages, Features(scenario, messages)
        return last[2]

    def _by_turn(self, scenario: Scenario, dialogue: Dialogue) -> Verdict:
        """P as it stands after each turn of the assistant (paper, Figure 5)."""
        ends = [i + 1 for i, m in enumerate(dialogue.messages) if m.role == "assistant"]
        model = _model(Dimension.PERSONALIZATION)
        scores = [model.score(self._features(scenario, dialogue.messages[:end]).numbers) for end in ends]
        last = self.verdict(scenario, dialogue, Dimension.PERSONALIZATION)
        update = {"dimension": Dimension.PERSONALIZATION_TURNS, "turns": (*scores[:-1], last.score)}
        return last.model_copy(update=update)


@once
def _model(dimension: Dimension) -> Steps:
    return Steps(dimension.scale.low, weights("scores")[dimension.value]["steps"])


def _says_nothing(features: Features, dimension: Dimension) -> bool:
    """True if replies that hold nothing for the user leave nothing to judge: one of them for style, the last or half for the rest."""
    silent = features.heard.silent
    if dimension in (Dimension.NATURALNESS_USER, Dimension.COHERENCE_USER) or not silent:
        return False
    replies = [turn for turn, m in enumerate(features.messages) if m.role == "assistant"]
    style = dimension in (Dimension.NATURALNESS_ASSISTANT, Dimension.COHERENCE_ASSISTANT)
    return style or silent[-1] == replies[-1] or len(silent) * 2 >= len(replies)


def _ended(dialogue: Dialogue) -> tuple[str, Evidence] | None:
    """Why the task cannot have been completed, whatever was said: cut short, or given up by the user."""
    last = len(dialogue.messages) - 1
    if dialogue.truncated:
        return "the turn limit ended the dialogue before the user was served", Evidence.of(last, dialogue.messages[last].content)
    for turn, message in enumerate(dialogue.messages):
        given_up = [s for s in sentences(message.content) if message.role == "user" and turn and _GIVEN_UP.search(fold(s))]
        if given_up:
            return "the user gave up", Evidence.of(turn, given_up[0])
    return None


def _opening_leak(scenario: Scenario, dialogue: Dialogue) -> Verdict:
    """1 if the opening names a preference that the intent does not; 0 if it does not."""
    opening = dialogue.messages[0].content
    leaks = [
        (name, value)
        for types in scenario.preferences.values()
        for name, values in types.items()
        for value in values
        if mentions(value, opening) and not mentions(value, scenario.task.intent)
    ]
    evidence = tuple(Evidence.of(0, opening, f"names {name}: {value}") for name, value in leaks[:_MOST_EVIDENCE])
    names = ", ".join(dict.fromkeys(name for name, _ in leaks))
    why = f"states {names}" if leaks else "states no preference"
    return Verdict(dimension=Dimension.OPENING_LEAK, score=int(bool(leaks)), justification=why, evidence=evidence)
