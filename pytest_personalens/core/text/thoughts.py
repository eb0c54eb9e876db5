"""Takes the thoughts of a language model out of its text."""

from __future__ import annotations

import re
from typing import Final

#: Names of the tags that models write around their thoughts, such as ``<think>``.
_NAME: Final = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|analysis|scratchpad)"
_OPEN: Final = re.compile(
    rf"<{_NAME}\b[^<>]*>|\[THINK\]|◁think▷|<\|START_THINKING\|>|<\|begin_of_thought\|>|<unused94>thought",
    re.IGNORECASE,
)
_CLOSE: Final = re.compile(
    rf"</{_NAME}\s*>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>|<\|end_of_thought\|>|<unused95>", re.IGNORECASE
)
_PAIR: Final = re.compile(rf"(?:{_OPEN.pattern}).*?(?:{_CLOSE.pattern})", re.IGNORECASE | re.DOTALL)
#: The channels of gpt-oss: ``<|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final...``
_CHANNEL: Final = re.compile(
    r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>", re.IGNORECASE
)
_CHANNEL_END: Final = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
#: The same where a server has dropped the marks themselves and kept the names.
_BARE_CHANNELS: Final = re.compile(r"\A\s*analysis(?=[A-Z\W]).*assistant\s*final(?:\s*json)?\s*", re.DOTALL)
#: Marks of a chat template that may stand around a text.
_MARKS: Final = re.compile(
    r"<\|(?:START_RESPONSE|END_RESPONSE|begin_of_solution|end_of_solution|return|im_end|eot_id)\|>"
)


def without_thoughts(text: str) -> str:
    """Return what a model says, without what it thought before.

    Thoughts stand between tags, before a closing tag alone (the server's template writes the opening one), or
    after an opening tag that nothing closes (they were cut off).

    >>> without_thoughts("<think>A window seat?</think>Which seat?")
    'Which seat?'
    """
    if not any(mark in text for mark in "<[◁") and not text.lstrip().startswith("analysis"):
        return text  # nearly every text
    if _CHANNEL.search(text):
        return _final_channel(text)
    said = _MARKS.sub("", _PAIR.sub("", _BARE_CHANNELS.sub("", text, count=1)))
    closings = list(_CLOSE.finditer(said))
    if closings:
        said = said[closings[-1].end() :]
    if opening := _OPEN.search(said):
        said = said[: opening.start()]
    return text if said == text else said.strip()


def _final_channel(text: str) -> str:
    """Return the text of the last channel "final"; of a call's channel, where there is no final one."""
    spoken = ""
    for found in _CHANNEL.finditer(text):
        rest = text[found.end() :]
        end = _CHANNEL_END.search(rest)
        part = rest[: end.start()] if end else rest
        if found[1].lower() == "final" or (found[1].lower() == "commentary" and "to=" in found[0]):
            spoken = part
    return spoken.strip()
