"""Finds deeds at another time of the day than the user asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_judge.compared_values import BESIDE, Conflict
from pytest_personalens.agents.language import slots, value_mentions
from pytest_personalens.agents.language.statements import of_message, plain
from pytest_personalens.agents.language.text import content
from pytest_personalens.agents.language.value_mentions import Mention

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.agents.embedded_judge.compared_values import Compared

#: Clauses about a time beside that of the deed.
_BESIDE_TIME: Final = re.compile(
    r"\b(?:comes?|lasts?|away|walk|leaves?|departs?|opens?|closes?|ends?|check|return\w*|back|home)\b"
)
#: Deeds whose time the user sets. Trains and films have their own.
_TIMED_BY_USER: Final = re.compile(
    r"\b(?:alarm|wake|remind\w*|calendar|diary|appointment|entry|entered|table|dinner|lunch|meeting|call|timer|message|write|tell|text|send"
    r"|nudge|reserv\w*|dentist|up at|beg[iu]n\w*|start\w*|session|lesson|play\w*|hire|rent\w*|van)\b"
)
_TIMED_BY_OTHERS: Final = re.compile(
    r"\b(?:train|flight|fly|coach|bus|ferry|boat|ticket|board|doctor|clinic|leav\w*|depart\w*|film|cinema|show|match|swap|miss)\b|\d to \d"
    r"|later|earlier|make it|\b(?:between|usual\w*|instead)\b|\bfrom (?:about |around )?(?:\d|one|two|three|four|five|six|seven|eight|nine|ten|noon)"
)
#: A time that the user picks: "the 7:05", or a message of nothing else.
_PICKS: Final = re.compile(r"\b(?:the|ok\w*|take)\s+$")
_NO_PICK: Final = re.compile(
    r"\b(?:miss\w*|make|catch|later|earlier|instead|swap\w*|chang\w*|exchang\w*|mov\w*|before|after|from|my|clash\w*|too|no good|arriv\w*)\b"
)
_NOTHING_ELSE: Final = re.compile(
    r"(?:\W|\b(?:ok(?:ay)?|hmm?|yes|yeah|please|then|the|at|one|so|well|thanks?|you|that|is|it|fine|good|works|perfect|i|ll|take|sharp|am|pm|no|make)\b)*"
)
_SETS_TIME: Final = re.compile(
    r"\b(?:alarm|hour|time|set|rings?|wake|starts?|begins?|when|plays?|reminder|entered)\b"
)
_CLOCK: Final = re.compile(r"\d[:.h]\d\d|past|quarter|o'clock|in the|a\.?m|p\.?m|noon|midnight|at night| to ")
_BEHIND_TIME: Final = re.compile(
    r"\s*(?:$|[,.;!?\n)]|on\b|tomorrow|today|tonight|in\b|sharp|this|next|every|please|and\b|with|for\b|at\b|i\b"
    r"|mon|tue|wed|thu|fri|sat|sun|weekdays|daily|local|my time|exactly)"
)


def times(compared: Compared) -> Iterator[Conflict]:
    """Yield times of deeds whose time the user sets, such as an alarm."""
    named = [t for text in compared.named for t, _ in value_mentions.times(text)]
    for sentence, wanted in _set_times(compared):
        for statement, text in compared.deeds:
            alike = content(text) & content(sentence) or _SETS_TIME.search(text) or _is_all(sentence, wanted)
            for done, mention in value_mentions.times(text):
                beside = BESIDE.search(mention.before) or _BESIDE_TIME.search(mention.before)
                of_user = any(map(done.fits, named))
                if alike and not beside and not of_user and mention.meaning != "limit" and _is_time(mention):
                    yield Conflict("time", wanted.said, mention.said, statement)


def _set_times(compared: Compared) -> Iterator[tuple[str, Mention]]:
    """Yield the times that were asked for and that no reply says, each with its sentence."""
    said = [t for t, _ in value_mentions.times(compared.replies)]
    for text in compared.asked:
        for sentence in (plain(s) for s, _ in of_message(text)):
            by_user = _TIMED_BY_USER.search(f"{compared.goal} {sentence}") and not _TIMED_BY_OTHERS.search(
                sentence
            )
            for asked, wanted in value_mentions.times(sentence):
                if not by_user and not _is_picked(sentence, wanted):
                    continue
                meant = wanted.meaning == "exact" or (text is compared.goal and wanted.meaning == "told")
                whole_hour = asked.minutes % 60 == 0 and any(map(compared.says, _hours(asked)))
                if meant and _is_time(wanted) and not whole_hour and not any(map(asked.fits, said)):
                    yield sentence, wanted


def _is_picked(sentence: str, wanted: Mention) -> bool:
    """True for one of several times on offer: "the 7:05 to Afula", "ok 9:40"."""
    if _NO_PICK.search(sentence):
        return False
    one_of_several = _PICKS.search(wanted.before) and re.match(r"\d{1,2}[:.h]\d\d", wanted.said)
    return bool(one_of_several) or _is_all(sentence, wanted)


def _is_all(sentence: str, wanted: Mention) -> bool:
    return bool(
        _NOTHING_ELSE.fullmatch(sentence[: wanted.start]) and _NOTHING_ELSE.fullmatch(sentence[wanted.end :])
    )


def _hours(time: slots.Time) -> tuple[int, int]:
    hour = time.minutes // 60
    return hour or 12, hour + 12


def _is_time(mention: Mention) -> bool:
    """True for a clock time, and for "at six" where no thing follows ("at one hotel")."""
    words = mention.said
    bare = re.match(r"(?:at|to|until) ", words) and _BEHIND_TIME.match(mention.text, mention.end)
    return bool(_CLOCK.search(words) or bare)
