"""Helpbot as an assistant that acts: it calls a tool for each deed before it reports it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from helpbot.tools import Tools

Reply = Callable[[list[dict[str, Any]]], str]

#: Signs of a deed in a sentence, and the tool for it. The first that fits is called.
_TOOLS = [
    (r"\b(?:sent|invited|invitations?|mailed)\b", "send_message"),
    (r"\b(?:cancelled|given your old|given back)\b", "cancel_booking"),
    (r"\b(?:moved|changed|rebooked|exchanged|shifted|swapped)\b", "change_booking"),
    (r"\b(?:calendar|entered|alarm|reminders?|nudges?|blocked)\b", "add_calendar_entry"),
    (
        r"\b(?:booked|reserved|ordered|bought|rented|engaged|arranged|agreed|ready)\b|you have a room",
        "make_booking",
    ),
    (r"\b(?:saved|active|switched on|set up|muted|set|playing|queued)\b", "save_setting"),
]
_DEED = re.compile(
    r"\b(?:I've|I have|you're|you have|you've|is|are|it's|been|now)\b|^Playing\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?:(?<=[.!?])|(?<=[.!?]\")) (?=[A-Z])")
_DETAILS = {
    "day": re.compile(r"\b((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"),
    "time": re.compile(r"\b(\d{1,2}:\d{2}(?: [AP]M)?)"),
}


class ActingBot:
    """Any of the bots with tools; returns its calls, their results and its reply as a list of messages.

    `worded` is the same bot in other words, which are those that the user reads.
    """

    def __init__(self, bot: Reply, tools: Tools, worded: Reply | None = None) -> None:
        self.bot, self.tools, self.worded = bot, tools, worded or bot
        self._done: set[str] = set()

    def __call__(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The messages of this turn, as the OpenAI protocol has them."""
        # The bot is one of texts: what it did before is not for its ears.
        said = [m for m in messages if m["role"] == "user" or (m["role"] == "assistant" and m["content"])]
        turn: list[dict[str, Any]] = []
        for name, arguments in self._deeds(self.bot(said)):
            key = f"call_{len(self._done)}_{len(turn)}"
            called = {"name": name, "arguments": json.dumps(arguments)}
            turn += [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": key, "type": "function", "function": called}],
                },
                {"role": "tool", "tool_call_id": key, "content": self.tools.call(name, arguments)},
            ]
        return [*turn, {"role": "assistant", "content": self.worded(said)}]

    def _deeds(self, reply: str) -> list[tuple[str, dict[str, str]]]:
        """The tool and its arguments for each deed of the reply that was not done before.

        What is said after a deed, up to the next one, tells more of it.
        """
        found: list[tuple[str, list[str]]] = []
        for sentence in _SENTENCE.split(reply) if "?" not in reply else ():
            name = _tool(sentence)
            if name:
                found.append((name, [sentence]))
            elif found:
                found[-1][1].append(sentence)
        deeds = [(name, " ".join(sentences)) for name, sentences in found]
        new = [(name, what) for name, what in deeds if what not in self._done]
        self._done.update(what for _, what in new)
        return [(name, {"what": what, **_details(what)}) for name, what in new]


def _tool(sentence: str) -> str:
    if not _DEED.search(sentence):
        return ""
    return next((tool for signs, tool in _TOOLS if re.search(signs, sentence, re.IGNORECASE)), "")


def _details(text: str) -> dict[str, str]:
    return {key: match[1] for key, sign in _DETAILS.items() if (match := sign.search(text))}
