"""The embedded judge.

It reads the acts of each statement, finds the state of each part of the goal and of each preference, and
combines them. It is trained on labelled dialogues (`pytest_personalens.judge_quality.training.train`), deterministic,
and needs no network. docs/explanation/scores.md shows how far it agrees with annotators, in which voices, and
where it does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.acts.objections import giving_up
from pytest_personalens.agents.language.text import mentions
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.judging.verdict import Dimension, Evidence, Verdict

if TYPE_CHECKING:
    from pytest_personalens.agents.embedded_judge.features import Features
    from pytest_personalens.core.dialogue.dialogue import Dialogue
    from pytest_personalens.core.scenario import Scenario

_MOST_EVIDENCE: Final = 4


class EmbeddedJudge:
    """A judge that is deterministic and free.

    It serves as a smoke test: it reads what is said and done, and not how well.
    """

    identity = "embedded-judge 6"
    paid = False
    #: Its readings of the user agree with annotators no better than chance, so it gives none.
    dimensions = (
        Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION, Dimension.NATURALNESS_ASSISTANT, Dimension.COHERENCE_ASSISTANT,
        Dimension.PERSONALIZATION_TURNS, Dimension.OPENING_LEAK, Dimension.UNBACKED,
    )  # fmt: skip

    def __init__(self) -> None:
        # The readings of a dialogue follow each other and share everything but the last step.
        self._last: tuple[Scenario, Dialogue, Features] | None = None

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """Return the reading on `dimension`.

        Raise `JudgeFault` for a dialogue that the judge cannot read, and for a dimension that it does not
        judge.
        """
        if dimension not in self.dimensions:
            raise JudgeFault(
                f"the embedded judge gives no reading of {dimension.short}; a model as the judge does"
            )
        if not any(m.role == "assistant" for m in dialogue.messages):
            raise JudgeFault("the transcript has no turn of the assistant")
        if dimension is Dimension.OPENING_LEAK:
            return _opening_leak(scenario, dialogue)
        # A replay needs no reading, and these imports would slow it down.
        from pytest_personalens.agents.embedded_judge import understanding
        from pytest_personalens.agents.embedded_judge.reasons import reasons

        # The last dialogue was understood, or there would be no features of it.
        if self._last is None or self._last[1].messages != dialogue.messages:
            understanding.require(dialogue.messages)
        if dimension is Dimension.PERSONALIZATION_TURNS:
            return self._by_turn(scenario, dialogue)
        features = self._features(scenario, dialogue)
        if dimension is Dimension.TASK_COMPLETION:
            from pytest_personalens.agents.embedded_judge.completion import completion

            # Where a state shows that all is done, it does not matter that the user was not told so.
            counts = dialogue.state is None or dialogue.truncated
            return completion(features, _ended(dialogue) if counts else None)
        if dimension is Dimension.UNBACKED:
            why, evidence, _ = reasons.unbacked(features)
            return Verdict(
                dimension=dimension, score=int(bool(evidence)), justification=why, evidence=evidence
            )
        score = self._score(features, dimension)
        why, evidence, codes = reasons.reasons(dimension, score, features)
        return Verdict(
            dimension=dimension,
            score=score,
            justification=why,
            evidence=evidence[:_MOST_EVIDENCE],
            reasons=codes,
        )

    def _score(self, features: Features, dimension: Dimension) -> int:
        from pytest_personalens.agents.embedded_judge.scores import score

        return score(features, dimension)

    def _features(self, scenario: Scenario, dialogue: Dialogue) -> Features:
        from pytest_personalens.agents.embedded_judge.features import Features

        last = self._last
        seen = None if last is None else (last[1].messages, last[1].state)
        if last is None or last[0] is not scenario or seen != (dialogue.messages, dialogue.state):
            features = Features(scenario, dialogue.messages, state=dialogue.state)
            last = self._last = scenario, dialogue, features
        return last[2]

    def _by_turn(self, scenario: Scenario, dialogue: Dialogue) -> Verdict:
        """Return P after each turn of the assistant (paper, Figure 5)."""
        ends = [i + 1 for i, m in enumerate(dialogue.messages) if m.role == "assistant"]

        def so_far(end: int) -> Dialogue:
            return dialogue.model_copy(update={"messages": dialogue.messages[:end]})

        scores = [
            self._score(self._features(scenario, so_far(end)), Dimension.PERSONALIZATION) for end in ends
        ]
        last = self.verdict(scenario, dialogue, Dimension.PERSONALIZATION)
        return last.model_copy(
            update={"dimension": Dimension.PERSONALIZATION_TURNS, "turns": (*scores[:-1], last.score)}
        )


def _ended(dialogue: Dialogue) -> tuple[str, Evidence] | None:
    """Return the reason and the evidence that the task cannot be completed, or None.

    The turn limit ended the dialogue, or the user gave up. The replies do not matter then.
    """
    last = len(dialogue.messages) - 1
    if dialogue.truncated:
        return "the turn limit ended the dialogue before the user was served", Evidence.of(
            last, dialogue.messages[last].content
        )
    given_up = giving_up(dialogue.messages)
    return ("the user gave up", Evidence.of(*given_up)) if given_up else None


def _opening_leak(scenario: Scenario, dialogue: Dialogue) -> Verdict:
    """Return the verdict on preferences that the opening names and the intent does not.

    The score is 1 if there are any, else 0.
    """
    opening = dialogue.messages[0].content
    leaks = [
        (name, value)
        for types in scenario.preferences.values()
        for name, values in types.items()
        for value in values
        if mentions(value, opening) and not mentions(value, scenario.task.intent)
    ]
    evidence = tuple(
        Evidence.of(0, opening, f"names {name}: {value}") for name, value in leaks[:_MOST_EVIDENCE]
    )
    names = ", ".join(dict.fromkeys(name for name, _ in leaks))
    why = f"states {names}" if leaks else "states no preference"
    return Verdict(
        dimension=Dimension.OPENING_LEAK, score=int(bool(leaks)), justification=why, evidence=evidence
    )
