"""Masks personal data in texts: mail addresses, phone, card and account numbers, and names from a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def _is_card(text: str) -> bool:
    """True for 13 to 19 digits with the check digit of ISO/IEC 7812 (Luhn)."""
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [sum(divmod(2 * d, 10)) for d in digits[-2::-2]]
    return 13 <= len(digits) <= 19 and (sum(doubled) + sum(digits[::-2])) % 10 == 0


def _is_iban(text: str) -> bool:
    """True for 15 to 34 letters and digits with the check digits of ISO 13616."""
    plain = re.sub(r"[\s-]", "", text).upper()
    return 15 <= len(plain) <= 34 and int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _is_phone(text: str) -> bool:
    """True for 7 to 15 digits (ITU-T E.164) that are no day such as 2026-03-14 or 14.03.2026."""
    return 7 <= sum(c.isdigit() for c in text) <= 15 and not re.fullmatch(
        r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}", text
    )


#: The name of a rule, where it may apply, and whether it does. The order counts: a card looks like a phone.
RULES: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...]] = (
    ("mail", re.compile(r"[\w.+%'-]+@[\w-]+(?:\.[\w-]+)+"), lambda text: True),
    ("iban", re.compile(r"\b[A-Za-z]{2}\d{2}(?:[\s-]?[A-Za-z0-9]{1,4}){3,8}\b"), _is_iban),
    ("card", re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?!\w)"), _is_card),
    ("phone", re.compile(r"(?<![\w.,$€£/-])(?:\+|\()?\d(?:[ ()./-]{0,2}\d){6,14}(?![\w:])"), _is_phone),
)


def masker(names: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces what a rule finds, and each of the `names`, by its kind: ``[mail]``.

    A name counts in upper and lower case, as a whole word, with or without a genitive.
    """
    listed = sorted({name.strip() for name in names if name.strip()}, key=lambda name: (-len(name), name))
    words = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in listed)
    pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if listed else None

    def mask(text: str) -> str:
        for kind, found, applies in RULES:
            text = found.sub(lambda m, k=kind, a=applies: f"[{k}]" if a(m[0]) else m[0], text)  # type: ignore[misc]
        return pattern.sub("[name]", text) if pattern else text

    return mask
