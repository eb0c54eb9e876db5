"""Finds where a text names a day, a date, a time, a count or a length, and whether it means just this value."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from pytest_personalens.agents.language import slots

#: ``exact``: this value is meant. ``told``: a clause about what is so, has been or will be, and no request, names
#: it. ``limit``: the value is an end of a span, an estimate or a repetition.
Meaning = Literal["exact", "told", "limit"]

_LIMIT_BEFORE: Final = re.compile(
    r"\b(?:before|by|until|till|no later than|ahead of|up to|under|at most|max(?:imum)?|within|below|less than|not more than|no more than"
    r"|prior to|through|every|each|on top of)\b(?: \w+){0,3} ?$"
    r"|\b(?:after|not before|past|later than|earliest|since|at least|more than|over|between|around|about|roughly|some|approximately"
    r"|another|extra|next|last|other|only|just|or)\b(?: \w+){0,2} ?$"
)
_LIMIT_BEHIND: Final = re.compile(
    r"^[^,.;!?]{0,12}\b(?:at the latest|tops|or so|or less|at most|or earlier|or later|onwards|max|maximum|limit|or more|each|a day|per"
    r"|every|away|ago|earlier|later|or \w+)\b|^(?:s\b|-?ish|\?)"
)
_TOLD: Final = re.compile(
    r"\b(?:is|are|am|was|were|turn(?:s|ed)?|gets|falls?|comes?|go(?:es|ing)?|leaves?|has|been|starts|away|off|watched|saw|did|finish\w*|clashes"
    r"|wakes|arrives?|ends?|closes?|since|because|'s|works|opens?|birthday|wedding|appointment|had|fl(?:y|ies)|signed|eat|always|usual(?:ly)?"
    r"|never|normally|often|when|while|if)\b[^,.;:!?\n]{0,40}$"
)
_TOLD_BEHIND: Final = re.compile(
    r"(?: (?:morning|afternoon|evening|night))?,? (?:i|we|he|she|they|it) (?!want|need|would|like|wish|must|have to)"
)
_END: Final = ",.;:!?\n"

#: Minutes in each unit of length.
MINUTES: Final = {
    "minute": 1,
    "min": 1,
    "hour": 60,
    "hr": 60,
    "day": 1440,
    "week": 10080,
    "month": 43200,
    "year": 525600,
}
#: Things of which there is one for each person.
OF_PERSONS: Final = frozenset(
    "people guest adult passenger diner traveller seat ticket place spot fare pax cover head".split()  # noqa: SIM905
)
#: Words that stand between a number and the thing of another phrase.
_LINK: Final = (
    r"(?:the|an?|of|for|and|or|my|your|our|to|in|on|at|by|with|is|are|per|give|gives|want|need|please)\b"
)
_COUNTED: Final = r"(?:people|guests|adults|seats|tickets|places|spots|nights|chairs|copies|rooms)\b"
_QUANTITY: Final = re.compile(
    rf"(?<!row )(?<!coach )(?<!car )(?<![:.])(?<!\d,)\b(?:(\d{{1,3}})|({slots.NUMBER_WORD})(?:[- ](one|two|three|four|five|six|seven|eight|nine))?)[ -]"
    r"(?:(?:more|other|named|extra|single|adult|standard|folding|return|cinema|library|new|little|good|small|big|long|whole|short|full"
    r"|different|separate|free) )*"
    rf"(?:(?:(?!{_LINK})[a-z]+[ -]){{1,2}}(?={_COUNTED}))?([a-z]{{3,}}|hr)"
)
_LISTED: Final = re.compile(rf"\b({_COUNTED})[\s*_]*[:|][\s*_]*({slots.NUMBER_WORD}|\d{{1,2}})\b(?![:.,]\d)")
_PARTY: Final = re.compile(
    rf"\b(?:for|party of|table for|we are|we will be|there are|us|all|of us|for the) (?:the )?({slots.NUMBER_WORD}|\d{{1,2}})\b"
    r"(?! ?[%$€£:.,]?\d| (?:o'clock|a\.?m|p\.?m|[a-z]{3,}))"
    rf"|\b({slots.NUMBER_WORD}|\d{{1,2}}) of (?:us|you|them)\b"
    rf"|\b(?:got|grabbed|booked|bought|reserved)\s+(?:you |ye )?({slots.NUMBER_WORD}|\d{{1,2}}) (?:for|right|at|in)\b"
)
#: Words behind a number that are not what it counts.
_NOT_COUNTED: Final = (
    frozenset(
        """
    past percent euro dollar pound per and the for with from time star half quarter oclock kilo metre mile floor line platform gate row
    zloty rand naira peso crown kroner degree cent eur usd gbp pln hryvnia yen rupee dong shilling lira option choice more other less are
    was page chapter point thing way who which that they you all each will left who may sat sun mon tue wed thu fri large tomorrow today
    tonight night's
    """.split()  # noqa: SIM905
    )
    | frozenset(slots.DAYS)
    | frozenset(slots.MONTH_FORMS)
)


class Mention(NamedTuple):
    """A value in a folded text, from `start` to `end`."""

    text: str
    start: int
    end: int

    @property
    def said(self) -> str:
        """Return the words of the value."""
        return self.text[self.start : self.end]

    @property
    def before(self) -> str:
        """Return the words of the same clause before the value."""
        return self.text[max(self.text.rfind(mark, 0, self.start) for mark in _END) + 1 : self.start]

    @property
    def around(self) -> str:
        """Return the clause of the value."""
        ends = [at for at in (self.text.find(mark, self.end) for mark in ",;!?\n") if at >= 0]
        return self.before + self.text[self.start : min(ends, default=len(self.text))]

    @property
    def meaning(self) -> Meaning:
        """Return how the text means the value."""
        if _LIMIT_BEHIND.search(self.text[self.end : self.end + 30]):
            return "limit"
        # "Saturday's party" and "on Saturday I work" name a day and ask for nothing on it.
        told = self.text.startswith("'s", self.end) or _TOLD_BEHIND.match(self.text, self.end)
        return "told" if told else self.meaning_before

    @property
    def meaning_before(self) -> Meaning:
        """Return the meaning as the words before the value alone show it."""
        if _LIMIT_BEFORE.search(self.before):
            return "limit"
        return "told" if _TOLD.search(self.before) else "exact"


class Quantity(NamedTuple):
    """A number of things, such as 2 and ``ticket``."""

    number: int
    thing: str

    @property
    def minutes(self) -> int | None:
        """Return the length in minutes, or None if the things are no units of length."""
        return self.number * MINUTES[self.thing] if self.thing in MINUTES else None


def days(folded: str) -> list[tuple[int, Mention]]:
    """Return the days of the week, with Monday as 0."""
    return [(day, Mention(folded, start, end)) for day, start, end in slots.day_mentions(folded)]


def times(folded: str) -> list[tuple[slots.Time, Mention]]:
    """Return the times of the day."""
    return [(time, Mention(folded, start, end)) for time, start, end in slots.time_mentions(folded)]


@lru_cache(maxsize=8192)
def quantities(folded: str) -> tuple[tuple[Quantity, Mention], ...]:
    """Return the numbers of things. People are counted as ``people``, also in "a table for two"."""
    # "At 9 night" has no nights, and "9 nights" has.
    found = [
        (Quantity(_number(m), _thing(m[4])), Mention(folded, m.start(), m.end()))
        for m in _QUANTITY.finditer(folded)
        if not {m[4], _thing(m[4])} & _NOT_COUNTED and m[4] != "night"
    ]
    found += [
        (Quantity(slots.number(m[2]), _thing(m[1])), Mention(folded, m.start(), m.end()))
        for m in _LISTED.finditer(folded)
    ]
    parties = [
        (Quantity(slots.number(m[1] or m[2] or m[3]), "people"), Mention(folded, m.start(), m.end()))
        for m in _PARTY.finditer(folded)
    ]
    return (*found, *parties)


def _number(match: re.Match[str]) -> int:
    return int(match[1]) if match[1] else slots.number(f"{match[2]} {match[3] or ''}")


def _thing(word: str) -> str:
    if word in ("person", "persons"):
        return "people"
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
