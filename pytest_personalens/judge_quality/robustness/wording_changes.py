"""Changes of an assistant's words that keep their meaning and must not change a verdict."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.agents.language.slots import days, times
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import sentences
from pytest_personalens.agents.wording.verb_forms import forms, gist
from pytest_personalens.core.dialogue.dialogue import Dialogue
from pytest_personalens.datasets.draws import digest
from pytest_personalens.datasets.embedded.files import data_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

Rewrite = Callable[[str, int], str]

_FACT: Final = re.compile(
    r"(?<![\w*`])(\d{1,2}[:.]\d{2}(?: ?[AaPp]\.?[Mm]\.?)?|[$€£¥₦₹]\s?\d[\d.,]*\d|[A-Z][\w'-]+(?:"
    r" [A-Z][\w'-]+)+)(?![\w*`])"
)
_CLOCK: Final = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\b(?!\s?[AaPp]\.?[Mm])")
_NOT_LAID_OUT: Final = re.compile(r"^\s*(?:[-*•|#>]|\d+[.)])", re.MULTILINE)


class Change(NamedTuple):
    """A way to say the same in other words; `held` is kept out of training. `rewrite` takes a choice."""

    name: str
    held: bool
    rewrite: Rewrite

    def __call__(self, dialogue: Dialogue) -> Dialogue:
        """Return the dialogue with every reply rewritten; it is equal if the change applies to none."""
        return rewrite_replies(dialogue, lambda text: self.rewrite(text, _number(self.name, text)))


def rewrite_replies(dialogue: Dialogue, rewrite: Callable[[str], str]) -> Dialogue:
    """Return the dialogue with every message of the assistant rewritten."""
    messages = tuple(
        m if m.role == "user" else m.model_copy(update={"content": rewrite(m.content)})
        for m in dialogue.messages
    )
    return dialogue.model_copy(update={"messages": messages})


def _number(*texts: str) -> int:
    return int.from_bytes(digest(*texts)[:4], "big")


def wording_changes() -> tuple[Change, ...]:
    """Return every change: those of ``data/agreement/changes.toml`` and those of layout."""
    with (data_folder() / "agreement" / "changes.toml").open("rb") as file:
        worded = [_worded(entry) for entry in tomllib.load(file)["change"]]
    return (*worded, *(Change(f"layout: {name}", held, rewrite) for name, held, rewrite in _LAYOUT))


def _worded(entry: dict[str, Any]) -> Change:
    def rewrite(reply: str, number: int) -> str:
        for old, new in entry.get("swap", ()):
            reply = re.sub(rf"\b{re.escape(old)}" if old[0].isalnum() else re.escape(old), new, reply)
        if phrases := entry.get("before"):
            reply = f"{phrases[number % len(phrases)]} {reply}"
        if phrases := entry.get("after"):
            reply = _joined(reply, phrases[number % len(phrases)])
        if (phrases := entry.get("after_deed")) and _before_deed(reply, "#") != reply and "?" not in reply:
            reply = _joined(reply, phrases[number % len(phrases)])
        if phrases := entry.get("before_deed"):
            reply = _before_deed(reply, phrases[number % len(phrases)])
        return reply

    return Change(entry["name"], entry.get("held", False), rewrite)


def _joined(reply: str, end: str) -> str:
    """Return the reply and an end, on a line of its own if the reply closes without a full stop."""
    if end.startswith("\n"):
        return reply + end
    return f"{reply}{' ' if reply.rstrip()[-1:] in '.!?' else chr(10)}{end}"


def _before_deed(reply: str, phrase: str) -> str:
    """Return the reply with the phrase before the first sentence that reports a finished action."""
    for sentence in sentences(reply):
        if gist(forms(plain(sentence))) == "done" and "?" not in sentence:
            return reply.replace(sentence, f"{phrase} {sentence}", 1)
    return reply


def _each_sentence(mark: Callable[[int, str], str], joint: str) -> Rewrite:
    def rewrite(reply: str, _: int) -> str:
        if _NOT_LAID_OUT.search(reply):
            return reply
        return joint.join(mark(i, s) for i, s in enumerate(sentences(reply)))

    return rewrite


def _clocks(reply: str, _: int) -> str:
    """Return the reply with 12-hour times after 13:00; earlier digits may also be a length."""

    def twelve_hours(match: re.Match[str]) -> str:
        hour, minute = int(match[1]), match[2]
        return match[0] if hour < 13 else f"{hour - 12}:{minute} PM"

    return _CLOCK.sub(twelve_hours, reply)


def _marked(left: str, right: str) -> Rewrite:
    return lambda reply, _: _FACT.sub(lambda m: f"{left}{m[1]}{right}", reply)


def _framed(head: str, tail: str = "") -> Rewrite:
    return lambda reply, _: f"{head}{reply}{tail}"


def _tabled(reply: str, _: int) -> str:
    """Return the reply with a table of its facts behind it."""
    facts = list(dict.fromkeys(m[1] for m in _FACT.finditer(reply)))[:4]
    rows = "\n".join(
        f"| {'Time' if times(f.lower()) else 'Day' if days(f.lower()) else 'Detail'} | {f} |" for f in facts
    )
    return f"{reply}\n\n| Item | Value |\n|---|---|\n{rows}" if facts and "?" not in reply else reply


_LAYOUT: Final[tuple[tuple[str, bool, Rewrite], ...]] = (
    ("bold facts", False, _marked("**", "**")),
    ("italic facts", True, _marked("*", "*")),
    ("facts as code", True, _marked("`", "`")),
    ("bullets", False, _each_sentence(lambda _, s: f"- {s}", "\n")),
    ("numbered", True, _each_sentence(lambda i, s: f"{i + 1}. {s}", "\n")),
    ("emoji bullets", True, _each_sentence(lambda i, s: f"{'📌✅🗓️💡🎟️🕒'[i % 6]} {s}", "\n")),
    ("a line a sentence", False, _each_sentence(lambda _, s: s, "\n")),
    ("paragraphs", True, _each_sentence(lambda _, s: s, "\n\n")),
    ("checklist", False, _each_sentence(lambda _, s: s if s.endswith("?") else f"- [x] {s}", "\n")),
    ("heading", False, _framed("### Here's the update\n\n")),
    ("bold heading", True, _framed("**Summary**\n\n")),
    ("rules", True, _framed("---\n", "\n---")),
    ("table behind", True, _tabled),
    ("no exclamation", False, lambda reply, _: reply.replace("!", ".")),
    ("exclamation", True, lambda reply, _: re.sub(r"(?<=[a-z])\.(?=\s|$)", "!", reply)),
    ("small letter", True, lambda reply, _: reply[:1].lower() + reply[1:]),
    ("twelve hours", False, _clocks),
    ("assistant's name before", True, _framed("Assistant: ")),
    ("quotation marks", False, lambda reply, _: reply.replace('"', "“", 1).replace('"', "”", 1)),
)


def altered_dialogues(dialogue: Dialogue, chosen: Sequence[Change]) -> Iterator[tuple[Change, Dialogue]]:
    """Yield each change that alters the dialogue, with the altered dialogue."""
    for change in chosen:
        altered = change(dialogue)
        if altered.messages != dialogue.messages:
            yield change, altered
