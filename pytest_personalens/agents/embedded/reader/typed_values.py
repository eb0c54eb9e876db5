"""Finds the typed values of a text, in all their written forms, and compares them with the values of facts."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded.reader.text import fold, mentions, plain, stem, stems
from pytest_personalens.datasets.world.dates import MONTHS, WEEKDAYS
from pytest_personalens.datasets.world.written import UNITS as _UNITS
from pytest_personalens.datasets.world.written import ordinal, range_ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_personalens.core.facts import Clock, FactKind


_ONES: Final = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]  # fmt: skip
_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS: Final = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"]  # fmt: skip
#: Words for numbers.
NUMBERS: Final = (
    {word: n for n, word in enumerate(_ONES)}
    | {word: 10 * n for n, word in enumerate(_TENS, 2)}
    | {
        f"{ten}{dash}{one}": 10 * n + k
        for n, ten in enumerate(_TENS, 2)
        for k, one in enumerate(_ONES[1:10], 1)
        for dash in "- "
    }
    | {"both": 2, "a couple of": 2, "a pair of": 2, "a dozen": 12, "a": 1, "an": 1}
)
#: Words for places in a row: the second volume.
ORDINALS: Final = {word: n for n, word in enumerate(_ORDINALS, 1)}
#: A word for a number from 1 to 99, as a pattern.
NUMBER_WORD: Final = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES[1:10])})\b)?|{'|'.join(reversed(_ONES[1:]))})"
)
#: A number in digits or words, as a pattern.
NUMBER: Final = rf"(?:\d{{1,4}}|{NUMBER_WORD})"


def number(text: str) -> int:
    """Return the number that a folded text is, in digits or in words."""
    text = text.strip()
    return int(text) if text.isdigit() else NUMBERS[text]


#: Weekdays, from Monday as 0, and months, from 1, by the first three letters.
_DAYS: Final = {day.lower()[:3]: n for n, day in enumerate(WEEKDAYS)}
_MONTHS: Final = {month.lower()[:3]: n for n, month in enumerate(MONTHS, 1)}
WEEKDAY: Final = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:tues?|wed|thu(?:rs?)?|fri)(?=\W|$)|(?:mon|sat|sun)(?=[.,]? ?\d|[-/–]))"
MONTH: Final = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"


def is_day_word(word: str) -> bool:
    """True for the folded name of a weekday or a month, whole, in the plural, or with four letters or more."""
    return len(word) > 3 and re.fullmatch(rf"{WEEKDAY}s?|{MONTH}", word) is not None


#: Minutes in each unit of length, by its singular.
UNITS: Final = _UNITS | {"year": 525_600}
_SHORT_UNITS: Final = {"min": "minute", "hr": "hour", "h": "hour"}
UNIT: Final = r"(?:minutes?|mins?|hours?|hrs?|h|days?|nights?|weeks?|months?|years?)"


def unit(text: str) -> str:
    """Return the singular of a unit of length, such as ``hour`` for ``hrs``."""
    singular = text if text == "h" else text.rstrip("s")
    return _SHORT_UNITS.get(singular, singular)


#: Words for whole lengths in minutes.
LENGTHS: Final = {"half an hour": 30.0, "half hour": 30.0, "quarter of an hour": 15.0, "fortnight": 20_160.0}
#: A currency before a sum, and behind it.
CURRENCY_BEFORE: Final = r"(?:(?:us|ca?|a|nz|r|mx|hk)?\$|[€£¥₪₹₺₽₩₫₱₦₴]|\b(?:usd|eur|gbp|ksh|kes|rs|inr|nok|sek|dkk|chf|zar|ngn|php|aud|cad|nzd|mxn|brl|pln|rm|rp)\.?|\br(?=\d))"
CURRENCY_BEHIND: Final = (
    r"(?:[$€£¥₪₹₺₽₩₫₱₦₴]|(?:usd|us dollars?|dollars?|bucks|euros?|eur|pounds?|quid|gbp|zloty|zl|pln|kr|kroner|kronor|nok|sek|dkk|crowns?|pesos?|rand|zar|yen|won|rupees?|inr"
    r"|lira|francs?|chf|reais|soles|naira|ngn|shillings?|kes|forint|ft|lei|hryvnias?|uah|vnd|dong|baht|dirhams?|cents?)\b)"
)
#: The sums of facts are in US dollars.
DOLLARS: Final = re.compile(r"(?:us)?\$|usd|.*(?:usd|dollars?|\$|bucks)$")
#: Stems of what there is one of for each person, and of persons.
PERSONS: Final = frozenset(
    stems(
        "people person guest adult passenger diner traveller seat ticket spot fare pax cover head chair member"
    )
)


class Day(NamedTuple):
    """A day as a text names it: ``Friday``, ``the 5th``, ``5 June`` or a full date. Monday is 0."""

    weekday: int | None = None
    month: int | None = None
    number: int | None = None
    year: int | None = None


class Time(NamedTuple):
    """A time of day in minutes from midnight; `either` is true if the half of the day is not said."""

    minutes: int
    either: bool = False


class Value(NamedTuple):
    """A value in a folded text, from `start` to `end`, with the words `said`.

    `value` is a `Day`, a `Time`, a count, a length in minutes, a sum, or the words of a name. `thing` holds the
    stems of what is counted, the unit of a length, or the currency of a sum that is not in dollars.
    """

    kind: FactKind
    value: object
    start: int
    end: int
    said: str
    thing: str = ""

    @property
    def vague(self) -> bool:
        """True for a weekday without its date, and for an hour of either half of the day."""
        if isinstance(self.value, Day):
            return self.value.number is None
        return isinstance(self.value, Time) and self.value.either

    def same(self, other: Value) -> bool:
        """True if both are the same value of the same thing."""
        if isinstance(self.value, Time) and isinstance(other.value, Time):
            return self.value.minutes % 720 == other.value.minutes % 720
        if isinstance(self.value, Day) and isinstance(other.value, Day):
            return self.value[1:3] == other.value[1:3] and (
                self.value.number is not None or self.value.weekday == other.value.weekday
            )
        return self.kind == other.kind and self.value == other.value


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
    rf"|\b(?:(?P<past>half|quarter|{NUMBER_WORD}(?: minutes)?|(?:5|10|20|25) minutes|(?<=at )(?:5|10|20|25)|(?<=by )(?:5|10|20|25)) (?P<way>past|to) (?P<h4>{_ONE_TO_TWELVE})\b(?![:.]\d){_HALF.replace('half', 'half4')}?"
    rf"|half (?P<h5>{_ONE_TO_TWELVE})\b{_BARE_END}"
    rf"|(?P<h6>one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)[ -](?P<m6>(?:oh[ -])?five|ten|fifteen|(?:twenty|thirty|forty|fifty)(?:[ -]five)?)\b(?! (?:minutes|people|percent)){_HALF.replace('half', 'half6')}?"
    rf"|(?:from|between) (?P<h7>{_ONE_TO_TWELVE}) ?(?:to|until|till|and|-) ?(?P<h8>{_ONE_TO_TWELVE})\b(?![:.]\d){_HALF.replace('half', 'half8')}?{_BARE_END}"
    rf"|(?:at|by|from|until|till|around|about|before|after) (?P<h9>{_ONE_TO_TWELVE})\b{_BARE_END}"
    r"|(?P<noon>noon|midday|midnight)\b)"
)
_MINUTES: Final = {"half": 30, "quarter": 15}


def days(folded: str, today: dt.date | None) -> Iterator[Value]:
    """Yield the days. Without `today`, words such as "tomorrow" are none."""
    for m in _DAY.finditer(folded):
        if m["iso"]:
            found = [Day(None, int(m["m"]), int(m["d"]), int(m["y"]))]
        elif m["d7"]:
            first, second = int(m["d7"]), int(m["m7"])
            found = [Day(None, second, first)] if second <= 12 else [Day(None, first, second)]
        elif m["near"]:
            day = today + dt.timedelta(days=_NEAR.get(m["near"][:3], 0)) if today else None
            found = [Day(None, day.month, day.day, day.year)] if day else []
        else:
            of_week, of_year = m["w1"] or m["w2"] or m["w"], m["m1"] or m["m2"]
            number, year = m["d1"] or m["d3"] or m["d5"] or m["d6"], m["y1"] or m["y2"]
            week = _DAYS[of_week[:3]] if of_week else None
            month = _MONTHS[of_year[:3]] if of_year else None
            found = [Day(week, month, int(number) if number else None, int(year) if year else None)]
            if last := m["d2"] or m["d4"]:
                month = _MONTHS[m["m3"][:3]] if m["m3"] else month
                found.append(Day(None, month, int(last), found[0].year))
        for one in found:
            if (one.number is None or 1 <= one.number <= 31) and (one.month is None or 1 <= one.month <= 12):
                yield Value("date", one, m.start(), m.end(), m[0].strip())


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
    elif m["past"]:
        step = _MINUTES.get(m["past"]) or number(m["past"].removesuffix(" minutes"))
        yield _clock(number(m["h4"]), step if m["way"] == "past" else -step, m["half4"])
    elif m["h6"]:
        minutes = number(m["m6"].removeprefix("oh").strip(" -").replace(" ", "-"))
        yield _clock(number(m["h6"]), minutes, m["half6"])
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


_MONEY: Final = re.compile(
    rf"{CURRENCY_BEFORE} ?(?P<first>\d[\d,.]*\d|\d)|(?<![\d.,])(?P<last>\d[\d,.]*\d|\d) ?{CURRENCY_BEHIND}"
    rf"|\b(?P<word>{NUMBER_WORD}) (?:us )?(?:dollars|bucks|euros|pounds)\b"
)
#: What costs nothing.
_FREE: Final = re.compile(
    r"\b(?:free of charge|for free|(?:is|are|it's|entry) free|no (?:extra |additional |further )?(?:costs?|charge|fee)|nothing (?:extra|more|to pay)|costs? nothing)\b"
)
_LENGTH: Final = re.compile(
    rf"\b(?P<whole>(?:a )?(?:{'|'.join(LENGTHS)}))\b"
    rf"|\b(?P<one>an?|one) (?P<unit>minute|hour|day|week|month|year)\b(?P<half> and a half)?"
    rf"|(?<![:.\d])\b(?P<number>\d+(?:[.,]5)?|{NUMBER_WORD})(?P<more> and a half)?[ -]?(?P<units>{UNIT})\b(?P<last>(?:,? and)? ?(?P<minutes>\d+) ?(?:m|mins?|minutes?)?\b)?(?! ?(?:later|ago)\b)"
)
#: Before a single day or week that is a length: "for a week", and not "three times a week".
_LASTS: Final = re.compile(
    r"(?:\b(?:for|in|of|within|about|over|takes?|lasts?|least|most|after|every|than|is|runs?|to|by)|:) $|^$"
)
_LINK: Final = frozenset(
    """
    the an a of for and or my your our to in on at by with is are per give gives want need please past percent from that which who they you all each will
    was were has have be left now as if so it its than until till before after more other less we i he she may there this only also am pm o'clock euro
    euros dollar dollars pound pounds cent cents usd eur gbp january february march april june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday
    """.split()  # noqa: SIM905
)
_COUNT: Final = re.compile(
    rf"\b(?:(?<![:.\d$€£/-])(?<!\d,)(?P<number>{NUMBER}|both|a couple of|a pair of|a dozen)(?:[ -](?P<of>of (?:us|you)\b)|[ -](?P<things>[a-z]{{3,}}(?:[ -][a-z']{{2,}}){{0,3}}))"
    r"|(?:for|party of|table of|table for|we are|we'll be|all|us) (?:the )?(?P<party>"
    + NUMBER
    + r")\b(?! ?[%$€£:.,/-]?\d| ?[a-z]{2,}(?<!\bat)(?<!\bon)(?<!\bby)(?<!\bin)(?<!\bfrom)(?<!\band)(?<!\bwith)(?<!\bunder)(?<!\bis)|:)"
    rf"|(?P<label>[a-z]{{2,}}(?: [a-z]+){{0,3}})(?: \(\w+\))? ?[:|=][ *_|]{{0,5}}(?P<value>{NUMBER})\b(?![:.,/]\d)(?=\W*$|[,;!)|]|\.(?!\d)| ?\(|\n| (?:and|at|on|in|for|of)\b)"
    rf"|number of (?P<counted>[a-z]+)[^.,;:\d]{{0,34}}? (?:to|is|at|of|now) (?P<many>{NUMBER})\b(?![:.]\d)"
    rf"|(?P<ticket>tickets?|guests?|people|nights|age|aged) (?P<after>{NUMBER})\b(?![:.,/]\d)"
    rf"|(?P<series>volume|vol|book|part|number|no|episode|season|row|chapter|level)\.? (?P<place>{NUMBER})\b(?![:.]\d)"
    rf"|(?P<ordinal>{'|'.join(ORDINALS)}) (?P<whole>volume|book|part|episode|season|chapter|row)\b"
    r"|(?P<percent>\d{1,3}) ?(?:%|percent\b|per cent\b)|(?P<times>once|twice)(?= (?:an?|per|every|each|in)\b))"
)
#: The groups of `_COUNT` that hold the number.
_MANY: Final = ("number", "party", "value", "many", "after", "place", "ordinal", "percent")


def money(folded: str) -> Iterator[Value]:
    """Yield the sums; those in another currency than dollars have the thing ``other``."""
    for m in _MONEY.finditer(folded):
        if m["word"]:
            amount = float(number(m["word"]))
        else:
            digits = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", m["first"] or m["last"]).replace(",", ".")
            try:
                amount = float(digits.rstrip("."))
            except ValueError:
                continue
        dollars = DOLLARS.match(m[0]) or m[0].endswith(("dollars", "bucks"))
        yield Value("money", amount, m.start(), m.end(), m[0], "" if dollars else "other")
    for m in _FREE.finditer(folded):
        yield Value("money", 0.0, m.start(), m.end(), m[0], "free")


def lengths(folded: str) -> Iterator[Value]:
    """Yield the lengths of time in minutes; the thing is the unit."""
    for m in _LENGTH.finditer(folded):
        if m["whole"]:
            minutes, of = LENGTHS[m["whole"].removeprefix("a ")], ""
        elif m["one"]:
            of = m["unit"]
            single = of in ("day", "week", "month", "year") and m["one"] != "one"
            if single and not _LASTS.search(folded[max(0, m.start() - 9) : m.start()]):
                continue  # "A Day in Rome", "three times a week"
            minutes = UNITS[of] * (1.5 if m["half"] else 1.0)
        else:
            of, digits = unit(m["units"]), m["number"].replace(",", ".")
            many = float(digits) if digits[0].isdigit() else float(number(digits))
            rest = float(m["minutes"]) if m["minutes"] and of == "hour" else 0.0
            minutes = (many + (0.5 if m["more"] else 0.0)) * UNITS[of] + rest
        yield Value("duration", minutes, m.start(), m.end(), m[0], of)


def counts(folded: str) -> Iterator[Value]:
    """Yield the counts; the thing holds the stems of what is counted, the nearest word last."""
    place = 0
    while m := _COUNT.search(folded, place):
        end = place = m.end()
        many = next((m[group] for group in _MANY if m[group]), "1" if m["times"] == "once" else "2")
        named = m["label"] or m["counted"] or m["ticket"] or m["series"] or m["whole"]
        if m["things"]:
            words = list(takewhile(lambda word: word not in _LINK, re.split(r"[ -]", m["things"])))
            named = " ".join(words)
            end = place = m.start("things") + len(named)
            if not words:
                continue
        other = "percent" if m["percent"] else "time" if m["times"] else "people"
        thing = " ".join(map(stem, (named or other).split()))
        yield Value(
            "count", ORDINALS.get(many) or number(many), m.start(), end, folded[m.start() : end], thing
        )


#: A shorter value is a size or a letter, and is found as it is written.
SHORTEST: Final = 3
_TITLES: Final = frozenset(
    "the your my aunt auntie uncle cousin mrs mr ms dr father mother grandma grandpa don dona".split()  # noqa: SIM905
)
#: Before the place that somebody leaves, or that is named for another reason.
_LEAVES: Final = re.compile(r"\b(?:from|via|leav\w*|home|near|live\w*|based)\b[^,.;]{0,16}$")


@lru_cache(maxsize=32_768)
def says(value: str, text: str, kind: FactKind = "text") -> bool:
    """True if a text says a value that is a name or words; a person also by the first name."""
    if len(value) <= SHORTEST:
        return bool(re.search(rf"(?<![\w'’]){re.escape(value)}(?![\w'’])", text))
    if mentions(value, text):
        return True
    if kind in ("item", "text") and (long := [v.value for v in values(value) if v.kind == "duration"]):
        return any(v.kind == "duration" and v.value in long for v in values(text))  # "two hours before"
    if kind == "person":
        first = first_name(value)
        return bool(first) and bool(re.search(rf"\b{re.escape(first)}\b", fold(text)))
    return False


def said_in(value: str, text: str, kind: FactKind, synonyms: Mapping[str, Sequence[str]]) -> str:
    """Return the way in which a text says a value, itself or a synonym of it; empty if it does not."""
    if says(value, text, kind):
        return value
    return next((way for way in synonyms.get(value, ()) if says(way, text, kind)), "")


def first_name(name: str) -> str:
    """Return the folded first name of a person; empty for a title, and for less than three letters."""
    first = re.split(r"[ -]", fold(name))[0].rstrip(".")
    return first if len(first) > 2 and first not in _TITLES else ""


def is_start(place: str, folded: str) -> bool:
    """True if a folded text names a place only as the one that somebody leaves."""
    at = folded.find(fold(place))
    return at >= 0 and bool(_LEAVES.search(folded[:at]))


#: The kinds of facts whose values are found by their form. The others are found by their words.
TYPED: Final = frozenset[str](("count", "date", "time", "duration", "money"))
#: What every number, length and time has, what every sum has besides, and what every day has.
_NUMBER: Final = re.compile(
    rf"\d|\b(?:{NUMBER_WORD}|noon|midday|midnight|both|once|twice|half|quarter|{'|'.join(UNITS)}|fortnight|a (?:couple|pair|dozen))\b"
    rf"|\b(?:{'|'.join(ORDINALS)}) [a-z]"
)
_CURRENCY: Final = re.compile(rf"{CURRENCY_BEFORE} ?\d|\d ?{CURRENCY_BEHIND}")
_SUM: Final = re.compile(r"dollars|bucks|euros|pounds|free\b|no (?:\w+ )?c|nothing")
_DIGIT: Final = re.compile(r"\d")
_DATE: Final = re.compile(
    r"\d|day|tonight|tomorrow|this (?:morning|afternoon|evening)|\b(?:tues?|wed|thu(?:rs?)?|fri)\b"
)
#: The most days of a range that is compared day by day.
_LONGEST: Final = 400


def values(text: str, now: Clock | None = None) -> list[Value]:
    """Return the typed values of a text, in its order; places are those of `plain(text)`.

    `now` says which day "tomorrow" is.
    """
    return list(_values(plain(text), now.date if now else ""))


@lru_cache(maxsize=8192)
def _values(folded: str, today: str) -> tuple[Value, ...]:
    numbers, found = _NUMBER.search(folded) is not None, list[Value]()

    def free(candidates: Iterable[Value], taken: Sequence[Value]) -> list[Value]:
        return [c for c in candidates if not any(v.start < c.end and c.start < v.end for v in taken)]

    if (_DIGIT.search(folded) and _CURRENCY.search(folded)) or _SUM.search(folded):
        found += money(folded)
    if numbers:
        found += free(lengths(folded), found)
    if _DATE.search(folded):
        found += free(days(folded, dt.date.fromisoformat(today) if today else None), found)
    if numbers:
        found += free(times(folded), found)
        # A number of nights or weeks is a count of them, too.
        found += free(counts(folded), [v for v in found if v.kind != "duration"])
    return tuple(sorted(found, key=lambda v: v.start))


def agrees(fact_kind: FactKind, written: str, value: Value) -> bool:
    """True if a value may be the `written` value of a fact of a kind, or lies in the written range.

    A weekday agrees with each of its dates, and a time without its half of the day with both. Values of other
    kinds, and sums in other currencies than dollars, do not agree.
    """
    if value.kind != fact_kind or value.thing == "other":
        return False
    if fact_kind not in TYPED:
        return str(value.value).lower() == written.lower()
    low, high = _range(fact_kind, written)
    if isinstance(value.value, Day):
        return _day_within(value.value, int(low), int(high))
    if isinstance(value.value, Time):
        minutes = value.value.minutes
        either = (minutes, (minutes + 720) % 1440) if value.value.either else (minutes,)
        return any(low <= time <= high for time in either)
    assert isinstance(value.value, int | float)
    return low - 0.01 <= value.value <= high + 0.01


@lru_cache(maxsize=8192)
def _range(kind: FactKind, written: str) -> tuple[float, float]:
    low, high = range_ends(written)
    return ordinal(kind, low), ordinal(kind, high)


@lru_cache(maxsize=8192)
def _day_within(day: Day, low: int, high: int) -> bool:
    for number in range(low, min(high, low + _LONGEST) + 1):
        date = dt.date.fromordinal(number)
        if day.number is None:
            if date.weekday() == day.weekday:
                return True
        elif date.day == day.number and day.month in (None, date.month) and day.year in (None, date.year):
            return True
    return False
