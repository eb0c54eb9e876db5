"""Finds days and times of day in a folded text."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.reader.kinds import Day, Time, Value
from pytest_personalens.agents.embedded.reader.tables import (
    MONTH,
    NUMBER_WORD,
    WEEKDAY,
    month,
    number,
    weekday,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_TH: Final = r"(?:st|nd|rd|th)"
#: Two days, or one: "5 June", "from 5 to 7 June", "Friday, 5th of June 2026", "June 5-7", "Friday the 5th", "Fridays".
_DAY: Final = re.compile(
    r"\b(?P<iso>(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d))(?=t\d|\b)"
    rf"|\b(?:(?P<w1>{WEEKDAY}),? )?(?:the )?(?P<d1>\d{{1,2}}){_TH}?(?: ?(?:-|to|until|till|and) ?(?:{WEEKDAY},? )?(?:the )?(?P<d2>\d{{1,2}}){_TH}?)?[ -](?:of )?(?P<m1>{MONTH})(?: (?P<y1>20\d\d)\b)?"
    rf"|\b(?:(?P<w2>{WEEKDAY}),? )?(?P<m2>{MONTH}) (?:the )?(?P<d3>\d{{1,2}}){_TH}?\b(?![:.]\d)(?: ?(?:-|to|until|till|and) ?(?:(?P<m3>{MONTH}) )?(?P<d4>\d{{1,2}}){_TH}?\b(?![:.]\d| ?[ap]\.?m))?(?:,? (?P<y2>20\d\d)\b)?"
    rf"|\b(?P<w>{WEEKDAY})s?\b(?:,? (?:the )?(?P<d5>\d{{1,2}}){_TH}\b)?"
    rf"|\b(?:the )?(?P<d6>\d{{1,2}}){_TH}\b(?! (?:floor|row|time|birthday|place|street|anniversary|volume|book|part|episode|season|one|title|option|half|of (?:the )?(?:them|series)))"
    r"|\b(?P<d7>\d{1,2})/(?P<m7>\d\d)(?:/(?:20)?\d\d)?\b"
    r"|\b(?P<near>day after tomorrow|tomorrow|today|tonight|yesterday|this (?:morning|afternoon|evening))\b"
)
_NEAR: Final = {"day": 2, "tom": 1, "yes": -1}
_HALF: Final = r"(?: ?(?P<half>[ap]\.?m\b\.?|o'clock|in the (?:morning|evening|afternoon)|at night|tonight|(?:this|tomorrow) (?:morning|evening|afternoon)))"
_ONE_TO_TWELVE: Final = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|1[0-2]|[1-9])"
#: What may stand behind a bare hour: the end of a clause, or a word that begins something else.
_BARE_END: Final = rf"(?= ?[,;!?)]| ?\.(?!\d)|$| -|\n| (?:on|and|or|every|each|tomorrow|today|tonight|sharp|to|until|till|for|with|in the|at night|o'clock|from|as|so|then|this|{WEEKDAY})\b)"
_TIME: Final = re.compile(
    rf"(?:\b|(?<=\dt))(?P<h1>\d{{1,2}})(?P<mark>[:.h])(?P<m1>[0-5]\d)(?:[:]\d\d)?(?!\d|[.,:]\d| ?%){_HALF}?"
    rf"|\b(?P<h2>\d{{1,2}}|{NUMBER_WORD}){_HALF.replace('half', 'half2')}"
    r"|\b(?P<h3>[01]\d|2[0-3])(?P<m3>[0-5]\d) ?(?:h|hrs|hours)\b"
    rf"|\b(?P<past>half|quarter|{NUMBER_WORD}(?: minutes)?|(?:5|10|20|25) minutes|(?<=at )(?:5|10|20|25)|(?<=by )(?:5|10|20|25)) (?P<way>past|to) (?P<h4>{_ONE_TO_TWELVE})\b(?![:.]\d){_HALF.replace('half', 'half4')}?"
    rf"|\bhalf (?P<h5>{_ONE_TO_TWELVE})\b{_BARE_END}"
    rf"|\b(?P<h6>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)[ -](?P<m6>(?:oh[ -])?five|ten|fifteen|(?:twenty|thirty|forty|fifty)(?:[ -]five)?)\b(?! (?:minutes|people|percent)){_HALF.replace('half', 'half6')}?"
    rf"|\b(?:from|between) (?P<h7>{_ONE_TO_TWELVE}) ?(?:to|until|till|and|-) ?(?P<h8>{_ONE_TO_TWELVE})\b(?![:.]\d){_HALF.replace('half', 'half8')}?{_BARE_END}"
    rf"|\b(?:at|by|from|until|till|around|about|before|after) (?P<h9>{_ONE_TO_TWELVE})\b{_BARE_END}"
    r"|\b(?P<noon>noon|midday|midnight)\b"
)
_MINUTES: Final = {"half": 30, "quarter": 15}


def days(folded: str, today: dt.date | None) -> Iterator[Value]:
    """Yield the days. Without `today`, words such as "tomorrow" are none."""
    for m in _DAY.finditer(folded):
        start, end, said = m.start(), m.end(), m[0].strip()
        found: list[Day] = []
        if m["iso"]:
            found = [Day(None, int(m["m"]), int(m["d"]), int(m["y"]))]
        elif m["d1"]:
            year = int(m["y1"]) if m["y1"] else None
            found = [Day(None, month(m["m1"]), int(d), year) for d in (m["d1"], m["d2"]) if d]
            found[0] = found[0]._replace(weekday=weekday(m["w1"]) if m["w1"] else None)
        elif m["m2"]:
            year = int(m["y2"]) if m["y2"] else None
            found = [Day(weekday(m["w2"]) if m["w2"] else None, month(m["m2"]), int(m["d3"]), year)]
            if m["d4"]:
                found.append(Day(None, month(m["m3"] or m["m2"]), int(m["d4"]), year))
        elif m["w"]:
            found = [Day(weekday(m["w"]), None, int(m["d5"]) if m["d5"] else None)]
        elif m["d6"]:
            found = [Day(None, None, int(m["d6"]))]
        elif m["d7"]:
            first, second = int(m["d7"]), int(m["m7"])
            found = [Day(None, second, first)] if second <= 12 else [Day(None, first, second)]
        elif today is not None:
            day = today + dt.timedelta(days=_NEAR.get(m["near"][:3], 0))
            found = [Day(None, day.month, day.day, day.year)]
        for one in found:
            if (one.number is None or 1 <= one.number <= 31) and (one.month is None or 1 <= one.month <= 12):
                yield Value("date", one, start, end, said)


def times(folded: str) -> Iterator[Value]:
    """Yield the times of day."""
    for m in _TIME.finditer(folded):
        for time in _times(m):
            yield Value("time", time, m.start(), m.end(), m[0].strip())


def _times(m: re.Match[str]) -> Iterator[Time]:
    if m["noon"]:
        yield Time(0 if m["noon"] == "midnight" else 720)
    elif m["h1"]:
        hour, minutes, half = int(m["h1"]), int(m["m1"]), m["half"]
        # "4.50" may be anything, and "4.53" is no time.
        if hour <= 24 and not (m["mark"] == "." and not half and minutes % 5):
            yield _clock(hour, minutes, half, certain=m["h1"][0] == "0")
    elif m["h2"]:
        if number(m["h2"]) <= 24:
            yield _clock(number(m["h2"]), 0, m["half2"])
    elif m["h3"]:
        yield Time(60 * int(m["h3"]) + int(m["m3"]))
    elif m["past"]:
        step = _MINUTES.get(m["past"]) or number(m["past"].removesuffix(" minutes"))
        yield _clock(number(m["h4"]), step if m["way"] == "past" else -step, m["half4"])
    elif m["h6"]:
        yield _clock(
            number(m["h6"]), number(m["m6"].removeprefix("oh").strip(" -").replace(" ", "-")), m["half6"]
        )
    elif m["h7"]:
        yield _clock(number(m["h7"]), 0, "")
        yield _clock(number(m["h8"]), 0, m["half8"])
    elif m["h5"]:
        yield _clock(number(m["h5"]), 30, "")
    else:
        yield _clock(number(m["h9"]), 0, "")


def _clock(hour: int, minutes: int, half: str | None, *, certain: bool = False) -> Time:
    half = (half or "").replace(".", "")
    if half.startswith("am") or half.endswith("morning"):
        return Time(((hour % 12) * 60 + minutes) % 1440)
    if half.startswith("pm") or half.endswith(("evening", "afternoon", "night", "tonight")):
        return Time(((hour % 12 + 12) * 60 + minutes) % 1440)
    return Time((hour * 60 + minutes) % 1440, either=hour <= 12 and not certain)
