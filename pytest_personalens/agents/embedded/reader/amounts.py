"""Finds counts, lengths of time and sums of money in a folded text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded.reader.kinds import Value
from pytest_personalens.agents.embedded.reader.tables import (
    CURRENCY_BEFORE,
    CURRENCY_BEHIND,
    DOLLARS,
    LENGTHS,
    NUMBER,
    NUMBER_WORD,
    ORDINALS,
    UNIT,
    UNITS,
    number,
    unit,
)
from pytest_personalens.agents.embedded.reader.text import stem

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    rf"(?<![:.\d$€£/-])(?<!\d,)\b(?P<number>{NUMBER}|both|a couple of|a pair of|a dozen)(?:[ -](?P<of>of (?:us|you)\b)|[ -](?P<things>[a-z]{{3,}}(?:[ -][a-z']{{2,}}){{0,3}}))"
    r"|\b(?:for|party of|table of|table for|we are|we'll be|all|us) (?:the )?(?P<party>"
    + NUMBER
    + r")\b(?! ?[%$€£:.,/-]?\d| ?[a-z]{2,}(?<!\bat)(?<!\bon)(?<!\bby)(?<!\bin)(?<!\bfrom)(?<!\band)(?<!\bwith)(?<!\bunder)(?<!\bis)|:)"
    rf"|\b(?P<label>[a-z]{{2,}}(?: [a-z]+){{0,3}})(?: \(\w+\))? ?[:|=][ *_|]{{0,5}}(?P<value>{NUMBER})\b(?![:.,/]\d)(?=\W*$|[,;!)|]|\.(?!\d)| ?\(|\n| (?:and|at|on|in|for|of)\b)"
    rf"|\bnumber of (?P<counted>[a-z]+)[^.,;:\d]{{0,34}}? (?:to|is|at|of|now) (?P<many>{NUMBER})\b(?![:.]\d)"
    rf"|\b(?P<ticket>tickets?|guests?|people|nights|age|aged) (?P<after>{NUMBER})\b(?![:.,/]\d)"
    rf"|\b(?P<series>volume|vol|book|part|number|no|episode|season|row|chapter|level)\.? (?P<place>{NUMBER})\b(?![:.]\d)"
    rf"|\b(?P<ordinal>{'|'.join(ORDINALS)}) (?P<whole>volume|book|part|episode|season|chapter|row)\b"
    r"|\b(?P<percent>\d{1,3}) ?(?:%|percent\b|per cent\b)|\b(?P<times>once|twice)\b"
)
_PEOPLE: Final = stem("people")


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
        if m["of"]:
            many, thing = m["number"], _PEOPLE
        elif m["things"]:
            many, words = m["number"], []
            for word in re.split(r"[ -]", m["things"]):
                if word in _LINK:
                    break
                words.append(word)
            end = place = m.start("things") + max(0, len(" ".join(words)))
            if not words:
                continue
            thing = " ".join(map(stem, words))
        elif m["party"]:
            many, thing = m["party"], _PEOPLE
        elif m["label"]:
            many, thing = m["value"], " ".join(map(stem, m["label"].split()))
        elif m["counted"]:
            many, thing = m["many"], stem(m["counted"])
        elif m["ticket"]:
            many, thing = m["after"], stem(m["ticket"])
        elif m["series"]:
            many, thing = m["place"], stem(m["series"])
        elif m["ordinal"]:
            many, thing = str(ORDINALS[m["ordinal"]]), stem(m["whole"])
        elif m["percent"]:
            many, thing = m["percent"], "percent"
        else:
            many, thing = ("1" if m["times"] == "once" else "2"), "time"
        yield Value("count", number(many), m.start(), end, folded[m.start() : end], thing)
