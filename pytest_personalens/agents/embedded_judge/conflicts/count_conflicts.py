"""Finds deeds with another count or length than the user asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.conflicts.compared import Conflict
from pytest_personalens.agents.language import value_mentions
from pytest_personalens.agents.language.statements import of_message, plain
from pytest_personalens.agents.language.text import content
from pytest_personalens.agents.language.value_mentions import OF_PERSONS, Mention, Quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.agents.embedded_judge.conflicts.compared import Compared

_ALL_OF_THEM: Final = re.compile(
    r"\b(?:for|you|get|got|bought|booked) both\b|\bboth (?:of you|tickets?|seats?|places?|yours)\b|\bpair\b|\b(?:ticket|seat|place|one) each\b|\ball of you\b"
    r"|\byou and\b|\btwo of you\b"
)
#: What has a length that the user sets.
_SET_LENGTH: Final = re.compile(
    r"\b(?:remind\w*|warn\w*|limit\w*|alert\w*|timer|hire\w*|rent\w*|snooze|nudge|session|booked|booking|plan|a week|weekly|cap\w*)\b"
)
_AHEAD: Final = re.compile(r"\b(?:before|prior|ahead|earlier)\b")
#: A count above this is no party at a table.
_LARGEST_PARTY: Final = 12


def things(compared: Compared) -> Iterator[Conflict]:
    """Yield numbers of things that are no units of length. Tickets and seats are things too here, people are not."""
    named = {q for text in compared.named for q, _ in value_mentions.quantities(text)}
    said = {q for q, _ in value_mentions.quantities(compared.replies)}
    for asked, wanted in _asked_quantities(compared):
        kept = {q for q in said if q.thing == asked.thing} & named
        # Replies name two seats as "both" and "row 2" has no two seats, so there only the word itself counts.
        elsewhere = asked.thing not in OF_PERSONS and compared.says(asked.number)
        if asked.thing == "people" or asked.minutes is not None or asked.number < 2 or kept or elsewhere:
            continue
        for statement, text in compared.told:
            for done, mention in value_mentions.quantities(text):
                if done.thing == asked.thing and done.number > 1 and mention.meaning != "limit":
                    yield Conflict("count", wanted.said, mention.said, statement)


def persons(compared: Compared) -> Iterator[Conflict]:
    """Yield numbers of people, and of the places for them."""
    asked = {q.number: m for q, m in _asked_quantities(compared) if q.thing in OF_PERSONS}
    named = {
        q.number
        for text in compared.named
        for q, _ in value_mentions.quantities(text)
        if q.thing in OF_PERSONS
    }
    said = {q.number for q, _ in value_mentions.quantities(compared.replies) if q.thing in OF_PERSONS}
    if len(named) != 1 or not asked or asked.keys() & said or _ALL_OF_THEM.search(compared.replies):
        return
    ((number, wanted),) = asked.items()
    if compared.says(number):
        return
    for statement, text in compared.told:
        for done, mention in value_mentions.quantities(text):
            if done.thing in OF_PERSONS and 0 < done.number < _LARGEST_PARTY and mention.meaning != "limit":
                yield Conflict("count", wanted.said, mention.said, statement)


def _asked_quantities(compared: Compared) -> list[tuple[Quantity, Mention]]:
    return [
        (quantity, mention)
        for text in compared.asked
        for quantity, mention in value_mentions.quantities(text)
        if mention.meaning != "limit"
    ]


def lengths(compared: Compared) -> Iterator[Conflict]:
    """Yield lengths of time that share a word with the request: a warning, a limit, a hire."""
    said = {q.minutes for q, _ in value_mentions.quantities(compared.replies)}
    for sentence in _sentences(compared):
        for asked, wanted in value_mentions.quantities(sentence):
            if asked.minutes is None or asked.minutes in said or wanted.meaning_before == "limit":
                continue
            ahead = _AHEAD.search(wanted.around + sentence[wanted.end : wanted.end + 20])
            for statement, text in compared.deeds:
                for done, mention in value_mentions.quantities(text):
                    alike = done.thing == asked.thing or done.number == asked.number
                    if done.minutes is None or not alike or mention.meaning_before == "limit":
                        continue
                    about = content(mention.around) & content(sentence) and _SET_LENGTH.search(text)
                    if about or (ahead and _AHEAD.search(text)):
                        yield Conflict("length", wanted.said, mention.said, statement)


def _sentences(compared: Compared) -> list[str]:
    return [plain(sentence) for text in compared.asked for sentence, _ in of_message(text)]
