"""The user agent and the assistant that a language model plays; turns out of a role are detected."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Final, Literal

from pytest_personalens.agents.by_model.prompts import (
    Prompts,
    conversation_text,
    framed,
    values_of,
    values_of_context,
)
from pytest_personalens.agents.embedded.audit import AS_ASSISTANT
from pytest_personalens.agents.embedded.reader.text import fold, runs
from pytest_personalens.core.dialogue.dialogue import UserTurn
from pytest_personalens.core.dialogue.message import Cut
from pytest_personalens.core.errors import AssistantFault, UserAgentFault
from pytest_personalens.models import Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Context, Scenario

#: The word that ends the dialogue in the text of a model (the convention of the official code).
END_SIGNAL: Final = "TERMINATE"
#: The signal as a word of its own, with the marks that models put around it; in any case, alone at the end.
_SIGNAL: Final = re.compile(
    rf"[*_`\[({{<\"']*\b{END_SIGNAL}\b[*_`\])}}>\"'.!]*|(?:(?<=[.!?])|^)[\s*_`\[(]*\b(?i:{END_SIGNAL})\W*\Z",
    re.MULTILINE,
)
#: The speaker's name before a message.
_SPEAKER: Final = re.compile(r"\A\s*[*_]*(?:user|person|me|customer)[*_]*\s*:[*_]*\s*", re.IGNORECASE)
_QUOTED: Final = re.compile(
    r"\A[\"\u201c\u201e\u00ab]([^\"\u201c\u201d\u201e\u00ab\u00bb]+)[\"\u201d\u201c\u00bb]\Z"
)
_FIELDS: Final = ("message", "content", "text", "reply", "user")
_TEMPERATURE: Final = 0.5
#: The text that the model writes before each message: nothing, its reasoning, or the state of the user
#: (paper, section 4.1).
Thinks = Literal["plain", "reasoning", "state"]
_MESSAGE: Final = re.compile(r"^\W*message\W*:[ \t*_]*", re.IGNORECASE | re.MULTILINE)
_NO_MESSAGE: Final = (
    "\n\nYour last answer had no line that begins with 'Message:'. Answer again in the form asked for."
)
#: With this many words of a summary in a row, chance is excluded: the model repeats its instructions.
_DUMP: Final = 12
_FIELD: Final = re.compile(r"^\s*-\s+[\w ]+:\s", re.MULTILINE)
#: What a model is told about a manner, as the end of "The person".
_MANNERS: Final = {
    "terse": "is terse: a few words, no greeting, no please, often no whole sentence; and yet names every fact",
    "vague": "is vague: the first message names only the matter, such as a trip, and no day, number, place or"
    " name; these come in later messages, each when it is asked for",
    "digresses": "digresses: most messages have, beside what matters, one idle remark about the day, another"
    " one each time, without a wish, a number or a name that has to do with the task",
    "changes-mind": "changes their mind: the first message has one wrong value for one fact, such as the day"
    " after; the second message changes it to the right one and names both; all other facts are right",
    "corrects": "corrects themselves: the first message has a slip of the tongue in one fact, such as the day"
    " after, and puts it right in the same sentence; all other facts are right",
    "impatient": "is impatient: short messages that push for the result, without rudeness or threats",
}
_GOODBYE: Final = re.compile(
    r"\b(?:thanks|thank you|bye|goodbye|that'?s all|have a (?:good|nice|great))\b", re.IGNORECASE
)


class ModelUserAgent:
    """A user agent that plays the profile with a language model.

    It sees demographics, preferences, summaries, situation, intent and transcript, but never the goal. A turn
    out of its role is a `UserAgentFault`: the item becomes invalid and does not fail. The paper's protocol
    accepts every turn.

    With `thinks`, the model writes its reasoning or the user's state before each message (paper, section
    4.1). A `manner` is a name of `_MANNERS`.
    """

    def __init__(
        self, model: Model, meter: Meter, prompts: Prompts, *, thinks: Thinks = "plain", manner: str = ""
    ) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        self._paper = prompts.protocol == "paper"
        #: The prompts for the text beside a message. A plain user agent has none.
        self._beside = () if thinks == "plain" else (f"user_{thinks}",)
        digest = prompts.digest("user", "user_person", "user_opening", "user_next", *self._beside)
        words = (*(("paper",) if self._paper else ()), *((thinks,) if self._beside else ()))
        self.identity = " ".join((model.name, *words, "prompt", digest, f"t={_TEMPERATURE}"))
        #: The text about the manner. Without a manner, a model is told nothing of any.
        self._manner = prompts.fill("user_manner", manner=_MANNERS[manner]) if manner else ""
        if manner:
            told = hashlib.sha256(self._manner.encode()).hexdigest()[:8]
            self.identity += f" {told}, manner {manner}"
        self.paid = model.paid

    def turn(self, scenario: Scenario, transcript: Sequence[Message]) -> UserTurn:
        """Return the model's next turn; `END_SIGNAL` ends the dialogue, and is taken out of the text."""
        text = self._message(self._request(scenario, transcript))
        # Before the opening nobody has answered, so there is no dialogue to end. The signal is a mistake of
        # the model there.
        if self._paper:
            return UserTurn(text.replace(END_SIGNAL, "").strip(), bool(transcript) and END_SIGNAL in text)
        said, signals = _SIGNAL.subn("", bare_message(text))
        turn = UserTurn(bare_message(said), bool(transcript) and signals > 0)
        if problem := out_of_role(turn, scenario, transcript):
            raise UserAgentFault(f"{self._model.name} {problem}")
        return turn

    def _request(self, scenario: Scenario, transcript: Sequence[Message]) -> Request:
        fill, names = self._prompts.fill, ("user_next" if transcript else "user_opening", *self._beside)
        values = {**values_of(scenario, transcript, facts=not self._paper), "end": END_SIGNAL}
        first, *beside = (fill(name, **values) for name in names)
        ask = "\n\n".join((first, *filter(None, (self._manner,)), *beside))
        # The person comes first and then the transcript, which only grows. So each call begins with the whole
        # of the call before it.
        shared = f"{fill('user_person', **values)}\n\n"
        if transcript and "transcript" not in self._prompts.places("user", "user_person", *names):
            shared += values["transcript"].removesuffix("</transcript>")
            ask = f"</transcript>\n\n{ask}"
        return Request(fill("user", **values), shared + ask, _TEMPERATURE, shared=len(shared))

    def _message(self, request: Request) -> str:
        """Return the message; of a model that thinks first, the text after the last line "Message:"."""
        for asked in (request, request._replace(prompt=request.prompt + _NO_MESSAGE)):
            text = self._meter.complete(self._model, asked, "user agent", fault=UserAgentFault).text
            if not self._beside:
                return text
            if len(parts := _MESSAGE.split(text)) > 1:
                return parts[-1].strip()
        raise UserAgentFault(f"{self._model.name} wrote no line 'Message:'")


def bare_message(text: str) -> str:
    """Return a message without what some models put around it: the speaker's name, quotation marks, JSON.

    >>> bare_message('User: "Is it booked?"')
    'Is it booked?'
    """
    text = _SPEAKER.sub("", text.strip())
    if text.startswith("{"):
        try:
            data = json.loads(text)
        except ValueError:
            data = None
        fields = data if isinstance(data, dict) else {}
        told = [said for name in _FIELDS if isinstance(said := fields.get(name), str)]
        text = told[0].strip() if len(told) == 1 else text
    quoted = _QUOTED.match(text)
    return quoted[1].strip() if quoted else text


def out_of_role(turn: UserTurn, scenario: Scenario, transcript: Sequence[Message]) -> str:
    """Return what is wrong with a simulated turn, in the form "did this"; empty if nothing is."""
    text = turn.content
    said = [fold(m.content) for m in transcript if m.role == "user"]
    if not text:
        return "" if turn.done else "said nothing"
    if AS_ASSISTANT.search(text):
        return "spoke as the assistant"
    if len(_FIELD.findall(text)) >= 4 or any(
        runs(text, _DUMP) & runs(summary, _DUMP) for summary in scenario.summaries.values()
    ):
        return "handed out its profile"
    if fold(text) in said and not turn.done:
        return "repeated itself"
    if not turn.done and len(said) >= 3 and all(_GOODBYE.search(s) for s in [*said[-3:], text]):
        return "did not end a dialogue that was over"
    return ""


#: ``base``: the prompt says that the model is an assistant that acts, and gives what the context allows.
#: ``vanilla``: the model gets the conversation alone. Under the paper's protocol it is also asked to help in
#: a natural, engaging and personal way.
Setting = Literal["base", "vanilla"]


def played_reply(model: Model, meter: Meter, request: Request) -> object:
    """Return what a model that plays the assistant replies, `Cut` if not whole; `AssistantFault` if none."""
    answer = meter.complete(model, request, "assistant", fault=AssistantFault, partial=True)
    if answer.is_empty:
        raise AssistantFault(f"{model.name}: {answer.problem}")
    return Cut(answer.text, answer.cut) if answer.cut else answer.text


class ModelAssistant:
    """An assistant that answers a conversation with one call.

    Its knowledge of the person is in the system text. The rest is the chat itself. Under the paper's protocol
    the system text says how to help, and one message holds the rest (Figure 15): what the assistant knows of
    the person, then the conversation, then what to write.
    """

    def __init__(
        self, model: Model, meter: Meter, prompts: Prompts, *, setting: Setting, context: Context
    ) -> None:
        self._model, self._meter, self._prompts = model, meter, prompts
        #: The paper's prompts hold the texts as they are.
        self._frames = prompts.protocol != "paper"
        self._values = values_of_context(context, frames=self._frames)
        knows = ("assistant_context",) if setting == "base" and context.text() else ()
        self._system: tuple[str, ...] = ("assistant",) if setting == "base" else ()
        self._message: tuple[str, ...] = ()
        if prompts.protocol == "paper":
            self._system = ("assistant",) if setting == "base" else ("assistant_vanilla",)
            self._message = (*knows, "assistant_next" if setting == "base" else "assistant_vanilla_next")
        else:
            self._system += knows
        # The whole prompt is part of the identity, because another context or prompt gives other replies.
        digest = hashlib.sha256("\0".join(filter(None, self._texts(""))).encode()).hexdigest()[:8]
        self.identity = f"{model.name} {setting} {digest}"
        self.paid = model.paid

    def __call__(self, messages: list[dict[str, str]]) -> object:
        """Return the reply, as `Cut` if it is not whole; raise `AssistantFault` if the model gives none."""
        system, prompt = self._texts(conversation_text(messages))
        history = () if self._message else tuple((m["role"], m["content"]) for m in messages[:-1])
        request = Request(system, prompt or messages[-1]["content"], 0.0, history=history)
        return played_reply(self._model, self._meter, request)

    def _texts(self, conversation: str) -> tuple[str, str]:
        """Return the system text, and the one message that holds everything or, without it, nothing."""
        said = framed("transcript", conversation) if self._frames and conversation else conversation
        values = {**self._values, "transcript": said}
        system, message = (
            "\n\n".join(self._prompts.fill(name, **values) for name in names)
            for names in (self._system, self._message)
        )
        return system, message
