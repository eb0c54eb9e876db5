"""Makes drafts of tasks from stored dialogues, of which no sentence is kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.dialogue.exports.gathering import Exports, read_values
from pytest_personalens.core.dialogue.exports.pieces import plain_messages
from pytest_personalens.core.dialogue.message import read_messages
from pytest_personalens.core.errors import DataError
from pytest_personalens.datasets.embedded.building.by_hand import TODO
from pytest_personalens.datasets.embedded.building.pieces import prompt_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_personalens.datasets.embedded.building.pieces import Answer, Pieces

#: A draft that shares so many words in a row with its dialogue copies it.
_COPIED_WORDS: Final = 8
#: The texts of a draft, in their order.
_TEXTS: Final = ("description", "intent", "goal", "opening")
#: What a user may have told, in the skeleton of a draft.
_KNOWN: Final = (
    ("a day", r"\b(?:to(?:day|morrow)|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|\d{4}-\d{2}-\d{2})\b"),
    ("a time", r"\b\d{1,2}(?::\d{2})?\s?[ap]m\b|\b\d{1,2}:\d{2}\b"),
    ("a sum", r"[$€£]\s?\d+(?:\.\d+)?"),
)


class Chat(NamedTuple):
    """A masked dialogue as (role, text), its line in the file, and the tools that were called."""

    line: int
    turns: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]


def read_chats(file: Path, mask: Callable[[str], str]) -> tuple[list[Chat], list[DataError]]:
    """Return the dialogues of a file, which has them a line or is an export, and the problems of bad ones.

    Raise `DataError` if no dialogue can be read.
    """
    chats: list[Chat] = []
    errors: list[DataError] = []
    exports = Exports()
    for value in read_values(file):
        try:
            if value.problem is not None:
                raise value.problem
            if not exports.add(file, value.where, value.number, value.value):
                data = value.value
                messages = data.get("messages") if isinstance(data, dict) else data
                chats.append(_chat(messages, file, value.where, value.number, mask))
        except DataError as error:
            errors.append(error)
    for found in exports.dialogues():
        try:
            chats.append(_chat(found.messages, file, found.where, len(chats) + 1, mask))
        except DataError as error:
            errors.append(error)
    if not chats:
        if len(errors) > 1:
            problem = f"none of its {len(errors):,} dialogues can be read; the first: {errors[0].what}"
            raise DataError(file, problem, code=errors[0].code)
        raise (
            errors[0]
            if errors
            else DataError(file, 'no dialogue in it; write one a line, such as {"messages": [...]}')
        )
    return chats, errors


def _chat(data: Any, file: Path, where: str, number: int, mask: Callable[[str], str]) -> Chat:
    turns = [
        (m.role, mask(m.content)) for _, m in read_messages(data, file, f"{where}: messages", lenient=True)
    ]
    called = (call for raw in data for plain in plain_messages(raw) for call in plain.get("tool_calls", ()))
    tools = [name for call in called if isinstance(name := call["function"].get("name"), str)]
    return Chat(number, tuple(turns), tuple(dict.fromkeys(tools)))


def draft_by_model(chat: Chat, pieces: Pieces, mask: Callable[[str], str]) -> dict[str, Any] | None:
    """Return a draft that a model wrote, with its texts masked, or None if every attempt was refused."""

    def problems(answer: Answer) -> list[str]:
        found = [
            f"{n}: expected a text"
            for n in _TEXTS
            if not isinstance(answer.get(n), str) or not answer[n].strip()
        ]
        known = answer.get("known")
        if not isinstance(known, list) or not all(isinstance(text, str) for text in known):
            return [*found, "known: expected a list of texts"]
        texts = {**{n: answer.get(n) for n in _TEXTS}, "known": " ".join(known)}
        return found or [
            f"{n}: it copies the dialogue: {c!r}"
            for n, text in texts.items()
            for c in _copied(str(text), chat)
        ]

    prompt = prompt_text("chat", dialogue="\n".join(f"{role}: {text}" for role, text in chat.turns))
    answer = pieces.make(f"chat-{chat.line:04}", "chat", prompt, problems, dict.fromkeys(_TEXTS, ""))
    if answer is None:
        return None
    return {**{n: mask(answer[n]) for n in _TEXTS}, "known": [mask(text) for text in answer.get("known", ())]}


def skeleton(chat: Chat) -> dict[str, Any]:
    """Return a draft to fill in, with the days, times and sums that the user told, and the tools called."""
    said = " ".join(text for role, text in chat.turns if role == "user")
    known = [
        f"{what}: {found}"
        for what, pattern in _KNOWN
        for found in dict.fromkeys(re.findall(pattern, said, re.IGNORECASE))
    ]
    hint = f"{TODO} see the dialogue at line {chat.line}"
    return {
        **dict.fromkeys(_TEXTS, hint),
        "known": known,
        **({"tools": list(chat.tools)} if chat.tools else {}),
    }


def _copied(text: str, chat: Chat) -> Iterator[str]:
    """Yield the first run of words that a text shares with a message of the dialogue."""
    words = re.findall(r"[\w'-]+", text.lower())
    whole = [" ".join(["", *re.findall(r"[\w'-]+", turn.lower()), ""]) for _, turn in chat.turns]
    for start in range(len(words) - _COPIED_WORDS + 1):
        run = " ".join(words[start : start + _COPIED_WORDS])
        if any(f" {run} " in turn for turn in whole):
            yield run
            return
