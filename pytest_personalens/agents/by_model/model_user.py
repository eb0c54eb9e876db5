"""A user agent played by a language model, watched for stepping out of its role."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.prompts import Prompts, profile_text, situation_text, transcript_text
from pytest_personalens.agents.language.text import fold, runs
from pytest_personalens.core.dialogue import UserTurn
from pytest_personalens.core.errors import UserAgentFault
from pytest_personalens.models import Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue import Message
    from pytest_personalens.core.scenario import Scenario

#: The word by which a model's text ends the dialogue (the official code's convention).
END_SIGNAL: Final = "TERMINATE"
_TEMPERATURE: Final = 0.5
#: So many words of a summary in a row are no chance: the model hands out its instructions.
_DUMP: Final = 12
_AS_ASSISTANT: Final = re.compile(
    r"^\W*(?:assistant|\[?assistant\]?)\s*:|^\s*\[?user\]?\s*:.*^\W*assistant\s*:|"
    r"\bas an ai\b|\bas a language model\b|\bi'?m (?:just )?an ai\b|\bhow (?:can|may) i (?:help|assist) you\b",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_FIELD: Final = re.compile(r"^\s*-\s+[\w ]+:\s", re.MULTILINE)
_GOODBYE: Final = re.compile(r"\b(?:thanks|thank you|bye|goodbye|that'?s all|have a (?:good|nice|great))\b", re.IGNORECASE)


class ModelUserAgent:
    """Plays the profile: sees demographics, preferences, summaries, situation, intent and transcript, never the goal.

    A turn that steps out of the role is a `UserAgentFault`: the item becomes invalid, not failed.
    """

    def __init__(self, model: Model, meter: Meter, prompts: Prompts) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        self.identity = f"{model.name} prompt {prompts.digest('user', 'user_person', 'user_opening', 'user_next')} t={_TEMPERATURE}"
        self.paid = model.paid

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """The model's next turn; `END_SIGNAL` in its text ends the dialogue and is taken out."""
        fill = self._prompts.fill
        head = fill(
            "user_person", profile=profile_text(scenario), situation=situation_text(scenario), intent=scenario.task.intent
        )  # fmt: skip
        # The person first, then the transcript, which only grows: each call begins with all that the one before it held.
        shared = f"{head}\n\n" + (transcript_text(transcript).removesuffix("</transcript>") if transcript else "")
        ask = f"</transcript>\n\n{fill('user_next', end=END_SIGNAL)}" if transcript else fill("user_opening")
        request = Request(fill("user", end=END_SIGNAL), shared + ask, _TEMPERATURE, shared=len(shared))
        text = self._meter.complete(self._model, request, "user agent", fault=UserAgentFault).text
        # Nothing has been answered before the opening, so there is nothing to end: the signal is a slip of the model there.
        turn = UserTurn(text.replace(END_SIGNAL, "").strip(), bool(transcript) and END_SIGNAL in text)
        problem = out_of_role(turn, scenario, transcript)
        if problem:
            raise UserAgentFault(f"{self._model.name} {problem}")
        return turn


def out_of_role(turn: UserTurn, scenario: Scenario, transcript: Sequence[Message]) -> str:
    """What is wrong with a simulated turn, in the form "did this"; empty if nothing is."""
    text = turn.content
    said = [fold(m.content) for m in transcript if m.role == "user"]
    if not text:
        return "" if turn.done else "said nothing"
    if _AS_ASSISTANT.search(text):
        return "spoke as the assistant"
    if len(_FIELD.findall(text)) >= 4 or any(runs(text, _DUMP) & runs(summary, _DUMP) for summary in scenario.summaries.values()):
        return "handed out its profile"
    if fold(text) in said and not turn.done:
        return "repeated itself"
    if not turn.done and len(said) >= 3 and all(_GOODBYE.search(s) for s in [*said[-3:], text]):
        return "did not end a dialogue that was over"
    return ""
