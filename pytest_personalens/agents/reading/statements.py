"""The statements of an assistant, each with its act and with what it says of the facts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language.detail_kinds import details
from pytest_personalens.agents.language.statements import plain, substance
from pytest_personalens.agents.language.text import content, repeats, stems
from pytest_personalens.agents.reading.acts import Act, act
from pytest_personalens.agents.reading.goal import classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_personalens.agents.language.weights import Table
    from pytest_personalens.agents.reading.findings import FactReader, Finding
    from pytest_personalens.core.dialogue.message import Message

#: A message that lets the user choose.
_CHOICE: Final = re.compile(
    r"\b(?:which (?:one|of|do|would|should|shall|sounds|suits|option|day|time)|who would you|what would you like|do any of|does any of|shall i (?:book|take|order|go)|should i (?:book|take|order)|would you like me to|want me to|tell me (?:which|a number)|say (?:yes|which|the word)|which\?)"
)
#: Words of a statement that can say that something is done: a verb, or its participle.
_SAYS: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|be|been|am|do|does|did|will|can|goes|went|gone|got|get|gets|sent|set|put|done|made|held|kept|paid|bought|told|gave|given|taken|took|left|let|rings?|plays?|runs?|starts?|stands?|waits?|comes?|leaves?|keeps?"
    r"|on|off|ready|active|live|out|in|yes|ok|yours|\w{3,}ed|\w{3,}ing|\w{3,}en)\b|[\u2705\u2714\u2713]"
)
#: So many words are no statement of their own.
_FEW: Final = 4


class Statement(NamedTuple):
    """A statement of the assistant at message `turn`, with its act and what it says of the facts."""

    turn: int
    text: str
    quote: str
    act: Act
    words: frozenset[str]
    details: frozenset[str]
    findings: tuple[Finding, ...]


def statements_of(
    messages: Sequence[Message], reader: FactReader, model: Table | None = None
) -> Iterator[Statement]:
    """Yield the statements of the assistant, in order. `model` reads their acts if it is not the package's."""
    said: list[tuple[str, ...]] = []
    for turn, message in enumerate(messages):
        if message.role == "user":
            said.append(stems(message.content))
        else:
            offers = bool(_CHOICE.search(plain(message.content)))
            before: Statement | None = None
            for text, quote in substance(message.content):
                if repeats(stems(text), said):  # an echo of the user says nothing
                    continue
                now = Statement(
                    turn,
                    text,
                    quote,
                    act(text, model),
                    classes(content(text)),
                    _wide(details(text)),
                    reader.findings(text),
                )
                if now.act == "done" and not _SAYS.search(plain(text)):
                    # A line without a verb does what its message does: it offers, or it tells.
                    now = now._replace(act="proposed" if offers else "told")
                if before is not None and _continues(before, now):
                    # "Train to York, Friday. Booked."
                    before = before._replace(text=f"{before.text} {text}", act=now.act)
                    continue
                if before is not None:
                    yield before
                before = now
            if before is not None:
                yield before


def _continues(before: Statement, now: Statement) -> bool:
    """True for a few words behind a statement that say what becomes of it."""
    return (
        len(now.text.split()) <= _FEW
        and not now.findings
        and not now.details
        and before.act in ("told", "other", "done")
        and now.act in ("done", "promised", "handed-back", "refused", "taken-back")
        and before.text[-1:] in ".;"
    )


def _wide(shown: frozenset[str]) -> frozenset[str]:
    """Return the kinds of detail, with those that stand for others."""
    wide = set(shown)
    if wide & {"title", "name"}:
        wide |= {"name", "title"}
    if "number" in wide:
        wide |= {"count", "length"}
    return frozenset(wide)
