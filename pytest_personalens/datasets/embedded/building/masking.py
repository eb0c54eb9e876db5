"""Masks personal data in texts: mail addresses, phone, card and account numbers, and names from a list."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def _card(text: str) -> int:
    """All of 13 to 19 digits with the check digit of ISO/IEC 7812 (Luhn)."""
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [sum(divmod(2 * d, 10)) for d in digits[-2::-2]]
    return len(text) * ((sum(doubled) + sum(digits[::-2])) % 10 == 0)


def _iban(text: str) -> int:
    """The longest beginning, to the end of a word, with the check digits of ISO 13616."""
    for end in (m.end() for m in reversed([*re.finditer(r"\b\w+", text)])):
        plain = re.sub(r"[\s-]", "", text[:end]).upper()
        digits = "".join(str(int(c, 36)) for c in plain[4:] + plain[:4])
        if 15 <= len(plain) <= 34 and int(digits) % 97 == 1:
            return end
    return 0


def _phone(text: str) -> int:
    """All of 7 to 15 digits (ITU-T E.164), but no day such as 2026-03-14 or 14.03.2026."""
    day = r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}"
    return len(text) * (not re.fullmatch(day, text))


#: The name of a rule, where it may apply, and how many of those characters are personal data, 0 for none. The
#: order counts: the digits of a card look like a phone number.
RULES: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], int]], ...]] = (
    ("mail", re.compile(r"[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"), len),
    ("iban", re.compile(r"\b[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,40}"), _iban),
    ("card", re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?!\w)"), _card),
    (
        "phone",
        re.compile(r"(?<!\d[ -])(?<![\w.,$€£/-])(?:\+|\()?\d(?:[ ()./-]{0,2}\d){6,14}(?!\w|:|[ -]?\d)"),
        _phone,
    ),
)


def masker(names: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces what a rule finds, and each of the `names`, by its kind: ``[mail]``.

    A name counts in upper and lower case, as a whole word, with or without a genitive.
    """
    listed = sorted({name.strip() for name in names if name.strip()}, key=lambda name: (-len(name), name))
    words = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in listed)
    pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if listed else None

    def mask(text: str) -> str:
        for kind, found, length in RULES:
            text = found.sub(partial(_masked, kind, length), text)
        return pattern.sub("[name]", text) if pattern else text

    return mask


def _masked(kind: str, length: Callable[[str], int], match: re.Match[str]) -> str:
    personal = length(match[0])
    return f"[{kind}]{match[0][personal:]}" if personal else match[0]
