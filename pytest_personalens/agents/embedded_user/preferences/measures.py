"""Sums, numbers, people and hours in a folded text, with their currencies and units."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language.slots import NUMBER_WORDS
from pytest_personalens.agents.language.slots import times as slot_times
from pytest_personalens.agents.language.text import stem, stems

if TYPE_CHECKING:
    from pytest_personalens.agents.language.slots import Time

_SIGNS: Final = {"$": "$", "us$": "$", "usd": "$", "dollar": "$", "dollars": "$", "bucks": "$", "€": "€", "eur": "€", "euro": "€", "euros": "€",
                 "£": "£", "gbp": "£", "pound": "£", "pounds": "£", "quid": "£", "₦": "₦", "ngn": "₦", "naira": "₦", "₹": "₹", "inr": "₹", "rupees": "₹", "rs": "₹", "¥": "¥", "yen": "¥",
                 "kronor": "kr", "kroner": "kr", "sek": "kr", "nok": "kr", "dkk": "kr", "ksh": "ksh", "kes": "ksh", "shillings": "ksh"}  # fmt: skip
_SIGN: Final = "|".join(sorted((re.escape(s) for s in _SIGNS), key=len, reverse=True))
_SUM: Final = re.compile(
    rf"(?:(?<![a-z])({_SIGN})\.?\s?(\d(?:[\d,]*\d)?(?:\.\d+)?)|(?<![:.\d])(\d(?:[\d,]*\d)?(?:\.\d+)?)\s?({_SIGN})(?![a-z]))"
)
_SUM_RANGE: Final = re.compile(rf"(?<![a-z])({_SIGN})\s?(\d[\d,]*)\s?(?:-|to)\s?(\d[\d,]*)(?!\d)")
_UNITS: Final = NUMBER_WORDS[:13]
_NUMBERS: Final = {w: i for i, w in enumerate(_UNITS)} | {"fourteen": 14, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "sixty": 60, "ninety": 90, "a": 1, "an": 1}  # fmt: skip
_COUNT: Final = re.compile(
    rf"(?<![\d.:,$€£-])\b(\d{{1,3}}|{'|'.join(w for w in _NUMBERS if len(w) > 2)})[ -]([a-z]+)\b"
)
_NO_UNITS: Final = frozenset("am pm in to of and the or at on for more other is are with by past".split())  # noqa: SIM905
_PEOPLE: Final = frozenset(
    stems("people persons tickets seats guests places adults travellers players spots")
)
_PARTY: Final = re.compile(rf"\b(?:table|party|room|booked|tickets?) (?:for|of) (\d{{1,2}}|{'|'.join(_UNITS[1:])})\b(?! ?(?::|nights?|days?|hours?|weeks?|o'clock|am|pm|%))")  # fmt: skip
#: The words before a number that says by when, how late or how far, and not how much.
_NOT_THIS_NUMBER: Final = re.compile(
    r"\b(?:within|in|after|before|every|takes?|about|last|next|first|ago|left|only|another|than|up to)\W+(?:the )?(?:next |last )?$"
)


def sums(folded: str) -> tuple[tuple[float, str], ...]:
    """Return the sums of money with their currency."""
    folded = _SUM_RANGE.sub(r"\1\2 to \1\3", folded)
    return tuple(
        (float((m[2] or m[3]).replace(",", "").rstrip(".")), _SIGNS[m[1] or m[4]])
        for m in _SUM.finditer(folded)
    )


def counted_things(folded: str, *, chosen: bool = False) -> tuple[tuple[int, str], ...]:
    """Return numbers with the stem of what they count: (30, "day").

    With `chosen`, numbers that only say by when or how far do not count.
    """
    counted = []
    for m in _COUNT.finditer(folded):
        if chosen and (
            _NOT_THIS_NUMBER.search(folded[: m.start()])
            or re.match(r"\s*(?:before|ago|left|later|earlier|early|away)\b", folded[m.end() :])
        ):
            continue
        if m[2] not in _NO_UNITS:
            counted.append((int(m[1]) if m[1].isdigit() else _NUMBERS[m[1]], stem(m[2])))
    return tuple(counted)


def party(folded: str) -> tuple[int, ...]:
    """Return for how many people something is, if the text says so."""
    named = [n for n, unit in counted_things(folded) if unit in _PEOPLE]
    named += [int(m[1]) if m[1].isdigit() else _NUMBERS[m[1]] for m in _PARTY.finditer(folded)]
    return tuple(named)


def hours_named(folded: str) -> tuple[Time, ...]:
    """Return the hours that the text names, also those with "am" right after the digits."""
    return slot_times(re.sub(r"(\d)([ap]\.?m\b)", r"\1 \2", folded))


def money(amount: float, sign: str) -> str:
    """Return a sum in the form that people say: "$45"."""
    number = f"{amount:,.2f}".removesuffix(".00")
    return f"{sign}{number}" if len(sign) == 1 else f"{number} {sign}"
