"""What a gate's message adds to the columns beside it on the page: value, interval and limit stand there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pytest_personalens.results.values.figures import Gate

_NUMBER: Final = r"-?[\d.]+"
#: ``mean personalization 1.07 (1.00 to 1.36) < 2.30 over 30 scenarios``
_MEASURED: Final = re.compile(rf"(?P<what>.+?) {_NUMBER} \([^()]*\) (?:[<>]=?) {_NUMBER} (?P<rest>over .+)")
#: ``P 2.67 -> 1.07 (-1.60, 95 % -1.88 to -1.12, one-sided p < 0.001) over 30 scenarios: a significant drop``
_COMPARED: Final = re.compile(
    rf"(?P<what>.+? {_NUMBER} -> {_NUMBER}) \([^()]*?(?P<p>, one-sided p [^(),]+)?\) (?P<rest>over .+)"
)
_MINUS: Final = re.compile(r"(?<![\w.-])-(?=\d)")


def gate_remark(gate: Gate) -> str:
    """Return the message of a gate without what its row says already; all of a message of another form."""
    found = None
    if gate.kind in ("floor", "lift"):
        found = _MEASURED.fullmatch(gate.message)
    elif gate.kind == "regression":
        found = _COMPARED.fullmatch(gate.message)
    if found is None or gate.value is None:
        return typeset(gate.message)
    parts = found.groupdict()
    return typeset(f"{parts['what']}{parts.get('p') or ''}, {parts['rest']}")


def typeset(text: str) -> str:
    """Return a text of the terminal with arrows, minus signs and signs of order as a page has them."""
    text = text.replace("->", "\N{RIGHTWARDS ARROW}")
    text = text.replace(">=", "\N{GREATER-THAN OR EQUAL TO}").replace("<=", "\N{LESS-THAN OR EQUAL TO}")
    return _MINUS.sub("\N{MINUS SIGN}", text)
