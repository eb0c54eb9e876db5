"""A language model as the assistant under test (paper, Table 4), and one that answers with filler, for estimates."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final, Literal

from pytest_personalens.agents.by_model.prompts import Prompts, conversation_text, framed, values_of_context
from pytest_personalens.core.dialogue.message import Cut
from pytest_personalens.core.errors import AssistantFault
from pytest_personalens.models import Answer, Model, Request
from pytest_personalens.models.meter import Meter

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import Context


#: Characters of English prose for each token. Tokenizers differ: o200k has about 5.3, and Claude's 4.6. The
#: smaller number is the safer one.
CHARS: Final = 4.6
#: Tokens of one message: a round has 150 in the paper, most of them the assistant's.
USER: Final = 40
ASSISTANT: Final = 110
#: Tokens that a user agent with reasoning or a state writes beside its message. The number is an assumption.
THOUGHTS: Final = 100
_READING: Final = {"judge tc": 100, "judge p": 400}
_OTHER_READING: Final = 180
#: A reply of the assistant in a transcript, in our form and in that of the official code.
_REPLY: Final = re.compile(r'^{"turn": \d+, "role": "assistant"|^\[ASSISTANT\]:', re.MULTILINE)
_FIRST_TURN: Final = re.compile(r'^{"turn": 0, .*}$', re.MULTILINE)


def output_tokens(purpose: str) -> int:
    """Return the tokens of one answer for a purpose, such as ``judge tc``."""
    return {"user agent": USER, "assistant": ASSISTANT}.get(purpose) or _READING.get(purpose, _OTHER_READING)


class Placeholder:
    """A model that answers with filler and counts the tokens that it would get.

    The filler has the expected length. `whole` says that an assistant gets the dialogue in one message.
    """

    def __init__(self, name: str, role: str, *, whole: bool = False) -> None:
        self.name, self.paid, self._role = name, True, role
        self._whole = whole and role == "assistant"

    def complete(self, request: Request) -> Answer:
        """Return filler, or a verdict that can be parsed."""
        sent = len(request.system) + len(request.prompt) + sum(len(text) for _, text in request.history)
        if request.answer is not None and self._role != "assistant":
            score = request.answer["properties"]["score"]
            value: Any = (
                [1] * score.get("minItems", 0)
                if score["type"] == "array"
                else score["type"] == "boolean" or score["enum"][0]
            )
            data = {"evidence": [_quote(request)], "justification": "so", "score": value}
            return Answer(data=data, input_tokens=round(sent / CHARS))
        if self._role == "judge":
            return Answer(text=_readable(request.prompt), input_tokens=round(sent / CHARS))
        length = ASSISTANT if request.history or self._whole else USER
        begin = "Message: " if self._role == "user agent" else ""
        text = f"{begin}{sent} " + "word " * round(length * CHARS / 5)
        return Answer(text=text, input_tokens=round(sent / CHARS))


def _readable(prompt: str) -> str:
    """Return an answer that the parser of every text form of a reading accepts.

    It has a score for each reply, for the reading by turn; other readings take the first.
    """
    replies = max(1, len(_REPLY.findall(prompt)))
    if "[ASSISTANT]:" in prompt:
        names = ("Personalization", "Naturalness", "Coherence")
        return "\n".join(("VERDICT: True", *(f"{name} Score: 1" for name in names for _ in range(replies))))
    scores = ", ".join("1" * replies)
    return f"Verdict: true\nExplanation: so\nScore: {scores}\nJustification: so"


def _quote(request: Request) -> dict[str, Any]:
    """Return words of the transcript, so that the judge does not ask again."""
    first = _FIRST_TURN.search(f"{request.system}\n{request.prompt}")
    return {"turn": 0, "quote": json.loads(first[0])["content"] if first else "word"}


#: ``base``: the prompt says that the model is an assistant that acts, and gives what the context allows.
#: ``vanilla``: the model gets the conversation alone. Under the paper's protocol it is also asked to help in
#: a natural, engaging and personal way.
Setting = Literal["base", "vanilla"]
_TEMPERATURE: Final = 0.0


def played_reply(model: Model, meter: Meter, request: Request) -> object:
    """Return what a model that plays the assistant replies, as `Cut` if it is not whole.

    Raise `AssistantFault` if the model gives no reply.
    """
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
        """Return the reply, as `Cut` if it is not whole.

        Raise `AssistantFault` if the model gives none.
        """
        system, prompt = self._texts(conversation_text(messages))
        history = () if self._message else tuple((m["role"], m["content"]) for m in messages[:-1])
        request = Request(system, prompt or messages[-1]["content"], _TEMPERATURE, history=history)
        return played_reply(self._model, self._meter, request)

    def _texts(self, conversation: str) -> tuple[str, str]:
        """Return the system text, and the one message that holds everything.

        The message is empty under a protocol that does not use one.
        """
        said = framed("transcript", conversation) if self._frames and conversation else conversation
        values = {**self._values, "transcript": said}
        system, message = (
            "\n\n".join(self._prompts.fill(name, **values) for name in names)
            for names in (self._system, self._message)
        )
        return system, message
