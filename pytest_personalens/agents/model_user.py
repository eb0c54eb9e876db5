"""A user agent played by a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.prompts import digest, profile_text, situation_text, template, transcript_text
from pytest_personalens.dialogue import UserTurn
from pytest_personalens.errors import PersonalensError, UserAgentFault
from pytest_personalens.evaluation import Usage
from pytest_personalens.models import Model, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.dialogue import Message
    from pytest_personalens.scenario import Scenario

#: The word by which a model's text ends the dialogue (the official code's convention).
END_SIGNAL: Final = "TERMINATE"
TEMPERATURE: Final = 0.5


class ModelUserAgent:
    """Plays the profile: sees demographics, preferences, summaries, situation, intent and transcript, never the goal."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.identity = f"{model.name} prompt {digest('user', 'user_opening', 'user_next')} t={TEMPERATURE}"
        self.paid = model.paid
        self.usage = Usage()

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """The model's next turn; `END_SIGNAL` in its text ends the dialogue and is taken out."""
        prompt = template("user_next" if transcript else "user_opening").substitute(
            profile=profile_text(scenario),
            situation=situation_text(scenario),
            intent=scenario.task.intent,
            transcript=transcript_text(transcript),
            end=END_SIGNAL,
        )
        try:
            completion = self._model.complete(Request(template("user").substitute(end=END_SIGNAL), prompt, TEMPERATURE))
        except PersonalensError as error:
            raise UserAgentFault(f"{self._model.name}: {error}") from error
        self.usage += Usage(calls=1, input_tokens=completion.input_tokens, output_tokens=completion.output_tokens)
        text = completion.text
        if not transcript:
            # Nothing has been answered yet, so there is nothing to end: the signal is a slip of the model.
            return UserTurn(text.replace(END_SIGNAL, "").strip())
        return UserTurn(text.replace(END_SIGNAL, "").strip(), END_SIGNAL in text)
