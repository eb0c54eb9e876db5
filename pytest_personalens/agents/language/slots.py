"""Finds typed values in a text: times, days, dates, amounts, counts, names.

Each value is the same for every way to write it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

#: The numbers from 0 to 19, each as a word.
NUMBER_WORDS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS: Final = (
    {w: i for i, w in enumerate(NUMBER_WORDS)}
    | {w: 10 * (i + 2) for i, w in enumerate(_TENS)}
    | {"a dozen": 12, "dozen": 12, "half": 30, "quarter": 15}
)
#: A word for a number from 1 on, as a pattern.
NUMBER_WORD: Final = "|".join([*NUMBER_WORDS[1:], *_TENS])
#: The days of the week, from Monday on.
DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY_FORMS: Final = {form: i for i, d in enumerate(DAYS) for form in (d, d[:3], d[:4], d + "s")} | {
    "tues": 1,
    "thur": 3,
    "thurs": 3,
    "weds": 2,
}
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
#: The number of a month by each form of its name.
MONTH_FORMS: Final = {form: i + 1 for i, m in enumerate(_MONTHS) for form in (m, m[:3])} | {"sept": 9}
_MONTH: Final = "|".join(sorted(MONTH_FORMS, key=len, reverse=True))
_ORDINALS: Final = {
    w: i + 1
    for i, w in enumerate((
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
        "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
        "eighteenth", "nineteenth", "twentieth",
    ))
}  # fmt: skip
_AMPM: Final = r"(?:\s*(a\.?m\.?|p\.?m\.?|o'clock|in the morning|in the evening|in the afternoon|at night|tonight|h\b|hrs\b|uhr))?"
_CLOCK: Final = re.compile(
    rf"\b(\d{{1,2}})(?:[:.h](\d{{2}}))\b{_AMPM}|\b(\d{{1,2}})\s*(a\.?m\b\.?|p\.?m\b\.?|o'clock|in the (?:morning|evening|afternoon)|at night)|\b([01]\d|2[0-3])([0-5]\d)\s?(?:h\b|hrs\b|hours\b)"
)
_SPOKEN: Final = re.compile(
    rf"\b(half past|half|quarter past|quarter to|(?:{NUMBER_WORD})(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))? (?:minutes )?(?:past|to)|\d{{1,2}} (?:past|to)) ({NUMBER_WORD}|\d{{1,2}})\b(?![:.]\d){_AMPM}"
    rf"|\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)[ -]((?:oh[ -])?(?:five|ten|fifteen|twenty|thirty|forty|fifty)(?:[ -](?:five))?)\b{_AMPM}"
    rf"|\b(?:at|by|from|until|till|for|around|about|before|after) (one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{{1,2}})(?! ?[%$€£:.,]?\d|\s(?:minutes )?(?:past|to) (?:{NUMBER_WORD}|\d)|\s(?:people|persons|tickets|nights|days|euros?|dollars?|of|more|weeks|hours|minutes|seats|guests|other|st|th))\b{_AMPM}"
    rf"|\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (o'clock|in the (?:morning|evening|afternoon)|at night|a\.?m\b\.?|p\.?m\b\.?)"
)
_NOON: Final = re.compile(r"\b(noon|midday|midnight)\b")
_DAY: Final = re.compile(rf"\b({'|'.join(sorted(_DAY_FORMS, key=len, reverse=True))})\b")
_DATE: Final = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)?[ -]({_MONTH})\b|\b({_MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?\b|\bthe (\d{{1,2}})(?:st|nd|rd|th)\b|\b(\d{{1,2}})(?:st|nd|rd|th)\b|\bthe ({'|'.join(_ORDINALS)})(?: of ({_MONTH}))?\b|\b(\d{{1,2}})[/.](\d{{1,2}})\b(?!\d)"
)
_NEAR: Final = re.compile(
    r"\b(today|tonight|tomorrow|day after tomorrow|this weekend|next week|next month|this week)\b"
)
#: A sum of money, with its currency.
MONEY: Final = re.compile(
    r"(?:[$€£¥₦₹₱₺₩]|\b(?:usd|eur|gbp|ksh|kes|rs|inr|nok|sek|dkk|chf|zar|ngn|php|aud|cad|nzd|mxn|brl|us\$|a\$|r\$|nz\$|c\$|r(?=\d))\.?)\s?(\d[\d,.]*\d|\d)|(\d[\d,.]*\d|\d)\s?(?:[€£$¥₫₺₩₦₹₱]|(?:euros?|dollars?|pounds?|pesos?|rupees?|kroner|kronor|crowns?|yen|rand|naira|shillings?|soles|reais|lira|zloty|zł|kr|eur|usd|gbp|baht|won|dirhams?|francs?|chf|hryvnias?|uah|vnd|dong|nok|sek|dkk|bob|quid|bucks|cents?)\b)"
)
_COUNT: Final = re.compile(
    rf"\b(\d{{1,3}}|{NUMBER_WORD}|both|a pair of|a couple of) (?:more |other |named |extra |library |cinema |return |single )?(people|persons?|guests?|tickets?|seats?|places?|nights?|days?|weeks?|months?|hours?|minutes?|rooms?|beds?|copies|adults|kids|children|of us|titles?|books?|tracks?|songs?|bags?|cars?|boxes|pieces|bottles|rounds?|players?|sessions?|times|films?|spots?|packs?)\b|\b(?:for|party of|table for) ({NUMBER_WORD}|\d{{1,2}})\b(?![:.]\d| (?:nights?|days?|weeks?|hours?|o'clock|a\.?m|p\.?m))"
)
#: Short names of days that are also other words. They mean a day only beside a date or in a span.
_OTHER_WORDS: Final = frozenset({"sun", "sat", "wed", "mon"})
_NEXT_TO_A_DATE: Final = re.compile(r"[-/]\w{3}\b|\w{3}\b[.,]? ?(?:the )?\d|\w{3}[-/]")
_SHORTEST_FORM: Final = 3
_NAME: Final = re.compile(r"(?<![.!?:\"“*#>|\n]\s)(?<!^)(?<![.!?:\"“*#>|\n])\b([A-ZÀ-ÝŁŚŽČŠ][\w'’\-À-ÿ]+)")


class Time(NamedTuple):
    """A time of the day on a clock with twelve hours.

    `minutes` counts from the start of the half of the day. `half` is 0 for the first half, 1 for the second,
    and -1 if the text does not say which.
    """

    minutes: int
    half: int

    def fits(self, time: Time) -> bool:
        return self.minutes == time.minutes and (self.half == time.half or -1 in (self.half, time.half))


def _half(text: str | None, hour: int) -> int:
    text = (text or "").replace(".", "").strip()
    if text in ("am", "in the morning"):
        return 0
    if text in ("pm", "in the evening", "in the afternoon", "at night", "tonight"):
        return 1
    return 1 if hour >= 13 else -1


def number(text: str) -> int:
    """Return the number that a folded text is, in digits or in words."""
    text = text.strip()
    if text.isdigit():
        return int(text)
    return sum(_WORDS.get(w, 0) for w in re.split(r"[ -]", text))


@lru_cache(maxsize=8192)
def times(folded: str) -> tuple[Time, ...]:
    """Return the times of the day in a folded text."""
    clock_times = []
    for m in _CLOCK.finditer(folded):
        if m[1]:
            hour, minute, half = int(m[1]), int(m[2]), _half(m[3], int(m[1]))
            if "." in m[0][: len(m[1]) + 1] and not m[3] and (hour > 23 or minute % 5):
                continue
        elif m[4]:
            hour, minute, half = int(m[4]), 0, _half(m[5], int(m[4]))
        else:
            hour, minute, half = int(m[6]), int(m[7]), _half(None, int(m[6]))
        if hour <= 24 and minute < 60:
            if hour == 0 or (hour == 24):
                half = 0
            clock_times.append(Time((hour % 12) * 60 + minute, half))
    for m in _SPOKEN.finditer(folded):
        if m[1]:
            hour, how = number(m[2]), m[1]
            shift = (
                30
                if how.startswith("half")
                else 15
                if how.startswith("quarter")
                else number(re.sub(r" (?:minutes )?(?:past|to)$", "", how))
            )
            shift = -shift if how.endswith(" to") else shift
            half = _half(m[3], hour)
        elif m[4]:
            hour, shift, half = number(m[4]), number(m[5].replace("oh", "").strip(" -")), _half(m[6], 0)
        elif m[7]:
            hour, shift, half = number(m[7]), 0, _half(m[8], number(m[7]))
        else:
            hour, shift, half = number(m[9]), 0, _half(m[10], number(m[9]))
        if 0 < hour <= 24:
            clock_times.append(Time((hour % 12 * 60 + shift) % 720, half))
    clock_times += [Time(0, 0 if m[1] == "midnight" else 1) for m in _NOON.finditer(folded)]
    return tuple(dict.fromkeys(clock_times))


@lru_cache(maxsize=8192)
def time_mentions(folded: str) -> tuple[tuple[Time, int, int], ...]:
    """Return the times of the day in a folded text as (time, start, end)."""
    return tuple(
        (time, m.start(), m.end())
        for pattern in (_CLOCK, _SPOKEN, _NOON)
        for m in pattern.finditer(folded)
        for time in times(m[0])
    )


@lru_cache(maxsize=8192)
def days(folded: str) -> frozenset[str]:
    """Return the days of the week in a folded text, such as ``friday``."""
    return frozenset(DAYS[day] for day, *_ in day_mentions(folded))


@lru_cache(maxsize=8192)
def day_mentions(folded: str) -> tuple[tuple[int, int, int], ...]:
    """Return the days of the week in a folded text as (day, start, end), with Monday as 0."""
    return tuple(
        (_DAY_FORMS[m[1]], m.start(), m.end())
        for m in _DAY.finditer(folded)
        if m[1] not in _OTHER_WORDS or _NEXT_TO_A_DATE.search(folded, m.start() - 1)
    )


@lru_cache(maxsize=8192)
def dates(folded: str) -> frozenset[tuple[int, int]]:
    """Return the dates in a folded text as (month, day).

    The month is 0 if the text does not name it.
    """
    return frozenset(date for date, *_ in date_mentions(folded))


@lru_cache(maxsize=8192)
def date_mentions(folded: str) -> tuple[tuple[tuple[int, int], int, int], ...]:
    """Return the dates in a folded text as ((month, day), start, end)."""
    mentions = []
    for m in _DATE.finditer(folded):
        date = (0, 0)
        if m[1]:
            date = MONTH_FORMS[m[2]], int(m[1])
        elif m[3]:
            date = MONTH_FORMS[m[3]], int(m[4])
        elif m[5] or m[6]:
            date = 0, int(m[5] or m[6])
        elif m[7]:
            date = MONTH_FORMS[m[8]] if m[8] else 0, _ORDINALS[m[7]]
        elif m[9] and int(m[10]) <= 12 and "/" in m[0]:
            date = int(m[10]), int(m[9])
        if date != (0, 0) and date[1] <= 31:
            mentions.append((date, m.start(), m.end()))
    return tuple(mentions)


def days_of_month(folded: str) -> frozenset[int]:
    """Return the days of the dates in a folded text, in any month."""
    return frozenset(day for _, day in dates(folded))


@lru_cache(maxsize=8192)
def near(folded: str) -> frozenset[str]:
    """Return the days in a folded text that are relative to today, such as ``tomorrow``."""
    return frozenset(m[1] for m in _NEAR.finditer(folded))


@lru_cache(maxsize=8192)
def amounts(folded: str) -> frozenset[float]:
    """Return the sums of money in a folded text."""
    sums = set()
    for m in MONEY.finditer(folded):
        text = (m[1] or m[2]).replace(" ", "")
        text = re.sub(r"[.,](?=\d{3}\b)", "", text).replace(",", ".")
        try:
            sums.add(float(text.rstrip(".")))
        except ValueError:
            continue
    return frozenset(sums)


@lru_cache(maxsize=8192)
def counts(folded: str) -> frozenset[int]:
    """Return the numbers of countable things in a folded text: seats, nights, people."""
    numbers = set()
    for m in _COUNT.finditer(folded):
        text = m[1] or m[3]
        numbers.add(2 if text in ("both", "a pair of", "a couple of") else number(text))
    return frozenset(numbers)


@lru_cache(maxsize=8192)
def names(text: str) -> frozenset[str]:
    """Return the words with a capital letter inside a sentence, folded."""
    stop = {"I", "I'm", "I've", "I'll", "I'd"}
    return frozenset(
        m[1].lower().replace("’", "'").removesuffix("'s")
        for m in _NAME.finditer(text)
        if m[1] not in stop and m[1].lower() not in _DAY_FORMS and m[1].lower() not in MONTH_FORMS
    )


def is_day_word(word: str) -> bool:
    """True for the name of a day or a month, also in the plural.

    Short forms count if they have four letters or more.
    """
    return len(word) > _SHORTEST_FORM and (word in _DAY_FORMS or word in MONTH_FORMS)
