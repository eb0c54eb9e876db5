"""The embedded agents: a user by rules, and a judge of facts, tool calls, states and preferences.

They are deterministic, free, and need no network. What they import waits for the first turn and the first reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.errors import JudgeFault
from pytest_personalens.core.judging.verdict import Dimension, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.embedded.judge.read_dialogue import Reading
    from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
    from pytest_personalens.core.scenario import Scenario


class EmbeddedUserAgent:
    """A user agent that plays a profile by rules; `UserTurn.served` says if it got what it came for.

    Each turn depends only on the scenario and the transcript. Their digest draws the wording.
    """

    identity = "embedded-user 8"
    paid = False

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """Return the next turn of the user."""
        # A replay needs no turn, and these imports would slow it down.
        from pytest_personalens.agents.embedded.user.agent import NextTurn
        from pytest_personalens.agents.embedded.user.voice import opening

        return NextTurn(scenario, transcript).turn() if transcript else UserTurn(opening(scenario))


class EmbeddedJudge:
    """A judge that checks what can be checked without a model.

    It reads facts by typed values, deeds by tool calls or by what a system holds, and the use of preferences.
    How natural or coherent a dialogue is, it does not read.
    """

    identity = "embedded-judge 7"
    paid = False
    dimensions = (
        Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION, Dimension.FACTS, Dimension.PERSONALIZATION_TURNS,
        Dimension.OPENING_LEAK, Dimension.UNBACKED, Dimension.INTRUSIONS,
    )  # fmt: skip

    def __init__(self) -> None:
        # The readings of a dialogue follow each other and share all but the last step.
        self._last: Reading | None = None

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """Return the reading on `dimension`.

        Raise `NotJudged` for task completion or facts where nothing can be checked, and `JudgeFault` for a
        dialogue that is not in English, has no reply, or for a dimension that the judge does not give.
        """
        if dimension not in self.dimensions:
            raise JudgeFault(
                f"the embedded judge gives no reading of {dimension.short}; a model as the judge does"
            )
        if not any(m.role == "assistant" for m in dialogue.messages):
            raise JudgeFault("the transcript has no turn of the assistant")
        # A replay needs no reading, and these imports would slow it down.
        from pytest_personalens.agents.embedded.judge import intrusions, personalization, task_verdicts

        if dimension is Dimension.OPENING_LEAK:
            return personalization.opening_leak(scenario, dialogue)
        reads = {
            Dimension.TASK_COMPLETION: task_verdicts.task_completion,
            Dimension.FACTS: task_verdicts.facts,
            Dimension.UNBACKED: task_verdicts.unbacked,
            Dimension.INTRUSIONS: intrusions.verdict,
        }
        verdict = reads.get(dimension, personalization.verdict)(self._reading(scenario, dialogue))
        if dimension is Dimension.PERSONALIZATION_TURNS:
            return self._by_turn(scenario, dialogue, verdict)
        return verdict

    def _reading(self, scenario: Scenario, dialogue: Dialogue) -> Reading:
        from pytest_personalens.agents.embedded.judge.read_dialogue import Reading, require_english

        last = self._last
        if last is None or not last.is_of(scenario, dialogue):
            require_english(dialogue.messages)
            last = self._last = Reading(scenario, dialogue)
        return last

    def _by_turn(self, scenario: Scenario, dialogue: Dialogue, whole: Verdict) -> Verdict:
        """Return P after each turn of the assistant (paper, Figure 5)."""
        from pytest_personalens.agents.embedded.judge import personalization
        from pytest_personalens.agents.embedded.judge.read_dialogue import Reading

        ends = [i + 1 for i, m in enumerate(dialogue.messages) if m.role == "assistant"]
        scores = [
            personalization.verdict(
                Reading(scenario, dialogue.model_copy(update={"messages": dialogue.messages[:end]}))
            ).score
            for end in ends[:-1]
        ]
        return whole.model_copy(
            update={"dimension": Dimension.PERSONALIZATION_TURNS, "turns": (*scores, whole.score)}
        )
