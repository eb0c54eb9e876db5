"""Reads an answer: a class, a number or a text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.core.errors import short_repr
from pytest_personalens.core.frozen import clean
from pytest_personalens.suites.personaconv.scoring.figures import OTHER

if TYPE_CHECKING:
    from pytest_personalens.suites.personaconv.values import Kind, ProtocolName

_THOUGHT: Final = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
#: Marks that may surround an answer: fences, quotes and emphasis.
_FENCE: Final = re.compile(r"\A```\w*\s*\n(.*?)\n?\s*```\Z", re.DOTALL)
_AROUND: Final = "*_`\"'\u201c\u201d\u2018\u2019\u00ab\u00bb \t\r\n"
_NUMBER: Final = re.compile(r"[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
#: The form of a number in a text, for the live scripts.
_LIVE_NUMBER: Final = re.compile(r"[-+]?\b\d+(?:\.\d+)?\b")
#: The highest number of characters that are searched for a class or a number.
_LONGEST: Final = 100_000
_SHOWN: Final = 60


class Reading(NamedTuple):
    """The answer that was read: a class, a number or a text; or None with the `reason`."""

    value: str | float | None
    reason: str = ""

    @property
    def read(self) -> bool:
        """True if the answer could be read."""
        return self.value is not None


def read_answer(reply: object, kind: Kind, protocol: ProtocolName = "fixed") -> Reading:
    """Return the answer in a reply.

    A reply is a text, a mapping with ``answer``, or a text that is such an object as JSON. With ``fixed``,
    the answer is exactly one class or exactly one finite number. Fences, quotes, emphasis, thoughts and a
    closing full stop are ignored. With ``official``, the answer is that of the live scripts.
    """
    answer = _answer_in(reply)
    if isinstance(answer, Reading):
        return answer
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        return _unread("no text or number", answer)
    text = str(answer)
    if kind == "next-text":
        return _text(text, protocol)
    return _READERS[protocol, kind](text[:_LONGEST])


def _answer_in(reply: object) -> object:
    """Return the answer of a mapping, or of a JSON text with one, or an unread `Reading`."""
    if isinstance(reply, str):
        if reply.lstrip()[:1] != "{":
            return reply
        try:
            content = json.loads(reply)
        except (ValueError, RecursionError):
            return reply
        return content["answer"] if isinstance(content, dict) and "answer" in content else reply
    if not isinstance(reply, Mapping):
        return _unread("no text", reply)
    return reply["answer"] if "answer" in reply else _unread("a mapping without 'answer'", dict(reply))


def _text(text: str, protocol: ProtocolName) -> Reading:
    cleaned = clean(text if protocol == "official" else _THOUGHT.sub("", text)).strip()
    return Reading(cleaned) if cleaned else _unread("no text", text)


def _fixed_label(text: str) -> Reading:
    bare = _bare(text).lower()
    return Reading(bare) if bare in OTHER else _unread("neither positive nor negative alone", text)


def _fixed_number(text: str) -> Reading:
    bare = _bare(text)
    if _NUMBER.fullmatch(bare):
        number = float(bare.replace(",", "").replace("\u2212", "-"))
        if math.isfinite(number):
            return Reading(number)
    return _unread("not exactly one number", text)


def _live_label(text: str) -> Reading:
    label = text.strip().lower()
    return Reading(label) if label in OTHER else _unread("not exactly positive or negative", text)


def _live_number(text: str) -> Reading:
    try:
        number = float(text.strip())
    except ValueError:
        numbers = _LIVE_NUMBER.findall(text)
        if not numbers:
            return _unread("no number", text)
        number = float(numbers[-1])
    return Reading(number) if math.isfinite(number) else _unread("no finite number", text)


_READERS: Final = {
    ("fixed", "sentiment"): _fixed_label,
    ("fixed", "impact"): _fixed_number,
    ("official", "sentiment"): _live_label,
    ("official", "impact"): _live_number,
}


def _bare(text: str) -> str:
    """Return the text without thoughts and without marks around an answer."""
    text = _THOUGHT.sub("", text).strip()
    if fenced := _FENCE.match(text):
        text = fenced[1]
    return text.strip(_AROUND).removesuffix(".").strip(_AROUND)


def _unread(problem: str, reply: object) -> Reading:
    return Reading(None, f"{problem}: {clean(short_repr(reply, _SHOWN))}")
