"""The agents that a model plays with the official prompts.

They are the user agent, the judge and the assistant.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.model_assistant import played_reply
from pytest_personalens.agents.by_model.model_judge import unread
from pytest_personalens.agents.by_model.model_user import END_SIGNAL
from pytest_personalens.agents.by_model.official.checkout import JUDGED
from pytest_personalens.agents.by_model.official.filling import OfficialPrompts, family_of
from pytest_personalens.agents.by_model.official.reading import read_official
from pytest_personalens.agents.by_model.prompts import MAX_SHOWN
from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.dialogue.tool_calls import call_lines
from pytest_personalens.core.errors import JudgeFault, UserAgentFault
from pytest_personalens.models import Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
    from pytest_personalens.core.judging.verdict import Dimension, Verdict
    from pytest_personalens.core.scenario import Context, Scenario

_USER_TEMPERATURE: Final = 0.5


class OfficialUserAgent:
    """A user agent that plays the profile and accepts every text of the model.

    The official code checks a text only for the end signal.
    """

    def __init__(self, model: Model, meter: Meter, prompts: OfficialPrompts) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        self.identity = f"{model.name} {prompts.version} t={_USER_TEMPERATURE}"
        self.paid = model.paid
        self.keeps_empty = "empty-message" not in prompts.mended

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """Return the model's next turn."""
        system, prompt = self._prompts.user(scenario, _pairs(transcript))
        text = self._meter.complete(
            self._model, Request(system, prompt, _USER_TEMPERATURE), "user agent", fault=UserAgentFault
        ).text
        if not transcript and "opening-signal" not in self._prompts.mended:
            return UserTurn(text)
        return UserTurn(text.replace(END_SIGNAL, "").strip(), bool(transcript) and END_SIGNAL in text)


class OfficialJudge:
    """A judge that gives each reading its own prompt in one call.

    Raise `JudgeFault` for an answer that the official code leaves out of its means.
    """

    parallel = True
    #: Those that the official code has a prompt for.
    dimensions = tuple(JUDGED)

    def __init__(
        self, model: Model, meter: Meter, prompts: OfficialPrompts, *, temperature: float = 0.0
    ) -> None:
        self._model, self._meter, self._prompts, self._temperature = model, meter, prompts, temperature
        self.identity = f"{model.name} {prompts.version}"
        self.paid = model.paid

    def verdict(self, scenario: Scenario, dialogue: Dialogue, dimension: Dimension) -> Verdict:
        """Return the model's verdict.

        If the bug is mended, the judge asks once more after an unreadable answer.
        """
        request = Request(
            "", self._prompts.judge(scenario, _judged(dialogue.messages), dimension), self._temperature, 4000
        )
        replies = sum(m.role == "assistant" for m in dialogue.messages)
        mended, problem = self._prompts.mended, ""
        for _ in range(2 if ("verdict" if dimension.scale.high == 1 else "score") in mended else 1):
            answer = self._meter.complete(
                self._model, request, f"judge {dimension.short}", fault=JudgeFault, partial=True
            )
            try:
                return read_official(answer.text, dimension, replies, mended)
            except ValueError as error:
                problem = unread(self._model, answer, error)
        raise JudgeFault(f"{self._model.name}: unreadable verdict on {dimension.short}: {problem}")


class OfficialAssistant:
    """An assistant that gets the conversation in one message.

    The family of the model decides which prompts it uses.
    """

    def __init__(
        self, model: Model, meter: Meter, prompts: OfficialPrompts, *, setting: str, context: Context
    ) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        self._setting, self._context, self._family = setting, context, family_of(model.name)
        digest = hashlib.sha256("\0".join(self._texts(())).encode()).hexdigest()[:8]
        self.identity = f"{model.name} {setting} {prompts.version} {self._family.lower()} {digest}"
        self.paid = model.paid

    def __call__(self, messages: list[dict[str, str]]) -> object:
        """Return the reply, as `Cut` if it is not whole.

        Raise `AssistantFault` if the model gives none.
        """
        system, prompt = self._texts([(m["role"], m["content"]) for m in messages])
        return played_reply(self._model, self._meter, Request(system, prompt))

    def _texts(self, transcript: Sequence[tuple[str, str]]) -> tuple[str, str]:
        return self._prompts.assistant(self._family, self._setting, self._context, transcript)


def _judged(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The dialogue as a judge is shown it. The official code knows no tools: where there are calls, each stands
    in a line before what the assistant says.
    """
    return [
        (m.role, "\n".join((*(f"(called {call})" for call in call_lines(m, MAX_SHOWN)), m.content)))
        for m in messages
    ]


def _pairs(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in messages]
