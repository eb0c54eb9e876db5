"""The tables of the reader: numbers, weekdays and months, units of length, currencies."""

from __future__ import annotations

import re
from typing import Final

from pytest_personalens.agents.embedded.reader.text import stem
from pytest_personalens.datasets.world.dates import MONTHS, WEEKDAYS
from pytest_personalens.datasets.world.values import UNITS as _UNITS

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


#: A weekday by its folded name or the first letters of it, with Monday as 0.
_DAYS: Final = {day.lower()[:3]: n for n, day in enumerate(WEEKDAYS)}
_MONTHS: Final = {month.lower()[:3]: n for n, month in enumerate(MONTHS, 1)}
WEEKDAY: Final = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:tues?|wed|thu(?:rs?)?|fri)(?=\W|$)|(?:mon|sat|sun)(?=[.,]? ?\d|[-/–]))"
MONTH: Final = r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"


def weekday(text: str) -> int:
    """Return the number of a weekday, with Monday as 0."""
    return _DAYS[text[:3]]


def month(text: str) -> int:
    """Return the number of a month, from 1."""
    return _MONTHS[text[:3]]


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
    map(
        stem,
        [
            "people",
            "person",
            "guest",
            "adult",
            "passenger",
            "diner",
            "traveller",
            "seat",
            "ticket",
            "spot",
            "fare",
            "pax",
            "cover",
            "head",
            "chair",
            "member",
        ],
    )
)
