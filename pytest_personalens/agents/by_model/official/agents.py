"""The user agent, the judge and the assistant that a model plays with the official prompts."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.by_model.model_assistant import played_reply
from pytest_personalens.agents.by_model.model_judge import unread
from pytest_personalens.agents.by_model.model_user import END_SIGNAL
from pytest_personalens.agents.by_model.official.checkout import JUDGED
from pytest_personalens.agents.by_model.official.filling import OfficialPrompts, family_of
from pytest_personalens.agents.by_model.prompts import MAX_SHOWN
from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.dialogue.message import call_lines
from pytest_personalens.core.errors import JudgeFault, SpecError, UserAgentFault
from pytest_personalens.core.judging.verdict import Dimension, Verdict
from pytest_personalens.models import Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_personalens.core.dialogue.dialogue import Dialogue, Message
    from pytest_personalens.core.scenario import Context, Scenario


#: The bugs of the official code that can be mended; `docs/explanation/protocol.md` tells each, and its mended form.
BUGS: Final = (
    "user-id", "base-instruction", "pairs", "verdict", "score", "empty-message", "opening-signal", "forged-lines",
)  # fmt: skip


def mended_bugs(text: str) -> frozenset[str]:
    """Return the bugs to mend: none for "reproduce", all for "mend", or the named ones, divided by commas.

    Raise `SpecError` for an unknown name.
    """
    if text.strip() in ("reproduce", "mend"):
        return frozenset(BUGS if text.strip() == "mend" else ())
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = next((name for name in names if name not in BUGS), None)
    if unknown is not None or not names:
        known = f"expected reproduce, mend, or the bugs to mend ({', '.join(BUGS)})"
        raise SpecError(f"personalens_official_bugs: {known}, not {unknown or text!r}")
    return frozenset(names)


_JUSTIFICATION: Final = re.compile(r"Justification: (.*?)(?=\n\n|$)", re.DOTALL)
_VERDICT: Final = re.compile(r"VERDICT: (True|False)", re.IGNORECASE)
_LOOSE_VERDICT: Final = re.compile(r"(?:VERDICT\W*|\A\W*)\b(True|False)\b", re.IGNORECASE)
_EXPLANATION: Final = re.compile(r"EXPLANATION:\s*(.+)", re.IGNORECASE | re.DOTALL)
_UNREAD: Final = (
    "no 'VERDICT: True' or 'VERDICT: False' is in the answer, which the official code counts as a task that"
    " failed"
)


def read_official(text: str, dimension: Dimension, replies: int, mended: Collection[str] = ()) -> Verdict:
    """Return the verdict in an answer.

    Raise ValueError for an answer that the official code leaves out of its means, or that is off the scale.

    >>> read_official("Personalization Score: 3.5", Dimension.PERSONALIZATION, 1).score
    3
    """
    if dimension.scale.high == 1:
        return _verdict(text, dimension, strict="verdict" in mended)
    score = f"{dimension.value.partition('_')[0].capitalize()} Score"
    # A whole score after its name with any marks around both, or the first digits.
    strict = rf"{score}[\s:*_`\[(]*(\d+)(?!\d|[.,/]\d)"
    pattern = strict if "score" in mended else rf"{score}: (\d+)"
    numbers = [int(digits) for digits in re.findall(pattern, text)]
    by_turn = dimension is Dimension.PERSONALIZATION_TURNS
    if len(numbers) < (replies if by_turn else 1) or (by_turn and len(numbers) != replies):
        raise ValueError(f"expected {replies if by_turn else 1} x '{score}: ...', found {len(numbers)}")
    scores = numbers if by_turn else numbers[:1]
    low, high = dimension.scale
    if outside := [score for score in scores if not low <= score <= high]:
        raise ValueError(f"expected a score from {low} to {high}, found {outside[0]}")
    why = _JUSTIFICATION.search(text)
    return Verdict(
        dimension=dimension,
        score=scores[-1],
        justification=why[1].strip() if why else "",
        turns=tuple(scores) if by_turn else (),
    )


def _verdict(text: str, dimension: Dimension, *, strict: bool) -> Verdict:
    match = (_LOOSE_VERDICT if strict else _VERDICT).search(text)
    if match is None and strict:
        raise ValueError("expected 'VERDICT: True' or 'VERDICT: False'")
    explanation = (why[1] if (why := _EXPLANATION.search(text)) else text).strip()
    return Verdict(
        dimension=dimension,
        score=int(match is not None and match[1].lower() == "true"),
        justification=explanation if match is not None else f"{_UNREAD}: {explanation}",
    )


_USER_TEMPERATURE: Final = 0.5


class OfficialUserAgent:
    """A user agent that accepts every text of the model: the official code looks for the end signal only."""

    def __init__(self, model: Model, meter: Meter, prompts: OfficialPrompts) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        self.identity = f"{model.name} {prompts.version} t={_USER_TEMPERATURE}"
        self.paid = model.paid
        self.keeps_empty = "empty-message" not in prompts.mended

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """Return the model's next turn."""
        system, prompt = self._prompts.user(scenario, _pairs(transcript))
        request = Request(system, prompt, _USER_TEMPERATURE)
        text = self._meter.complete(self._model, request, "user agent", fault=UserAgentFault).text
        if not transcript and "opening-signal" not in self._prompts.mended:
            return UserTurn(text)
        return UserTurn(text.replace(END_SIGNAL, "").strip(), bool(transcript) and END_SIGNAL in text)


class OfficialJudge:
    """A judge with a prompt for each reading; `JudgeFault` for what the official code leaves out."""

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
        """Return the verdict; where the bug is mended, ask once more after an unreadable answer."""
        prompt = self._prompts.judge(scenario, _judged(dialogue.messages), dimension)
        request = Request("", prompt, self._temperature, 4000)
        replies = sum(m.role == "assistant" for m in dialogue.messages)
        mended, problem = self._prompts.mended, ""
        for _ in range(2 if ("verdict" if dimension.scale.high == 1 else "score") in mended else 1):
            answer = self._meter.complete(
                self._model, request, dimension.purpose, fault=JudgeFault, partial=True
            )
            try:
                return read_official(answer.text, dimension, replies, mended)
            except ValueError as error:
                problem = unread(self._model, answer, error)
        raise JudgeFault(f"{self._model.name}: unreadable verdict on {dimension.short}: {problem}")


class OfficialAssistant:
    """An assistant that gets the conversation in one message; its prompts are those of the model's family."""

    def __init__(
        self, model: Model, meter: Meter, prompts: OfficialPrompts, *, setting: str, context: Context
    ) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        self._setting, self._context, self._family = setting, context, family_of(model.name)
        digest = hashlib.sha256("\0".join(self._texts(())).encode()).hexdigest()[:8]
        self.identity = f"{model.name} {setting} {prompts.version} {self._family.lower()} {digest}"
        self.paid = model.paid

    def __call__(self, messages: list[dict[str, str]]) -> object:
        """Return the reply, as `Cut` if it is not whole; raise `AssistantFault` if the model gives none."""
        system, prompt = self._texts([(m["role"], m["content"]) for m in messages])
        return played_reply(self._model, self._meter, Request(system, prompt))

    def _texts(self, transcript: Sequence[tuple[str, str]]) -> tuple[str, str]:
        return self._prompts.assistant(self._family, self._setting, self._context, transcript)


def _judged(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The dialogue as a judge is shown it; the official code knows no tools, so each call stands in a line."""
    return [
        (m.role, "\n".join((*(f"(called {call})" for call in call_lines(m, MAX_SHOWN)), m.content)))
        for m in messages
    ]


def _pairs(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in messages]
