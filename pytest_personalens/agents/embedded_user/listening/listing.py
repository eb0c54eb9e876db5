"""Finds the lists in a reply that hold options, and skips lists of facts."""

from __future__ import annotations

import re
from typing import Final

from pytest_personalens.agents.embedded_user.listening.hearing import statements_of
from pytest_personalens.agents.language.sentence_types import DEED
from pytest_personalens.agents.language.statements import plain

_KEYCAP: Final = re.compile(r"([0-9])\ufe0f?\u20e3")
_NUMBER: Final = re.compile(
    r"^\s*(?:[#*_>]+\s*)*(?:\(?\d{1,2}[.):]|\(?[a-dA-D][).]|(?:option|offer|choice) \w{1,2}\b[:.)]?)\s*(?:\*\*)?\s*(\S.*)$",
    re.IGNORECASE,
)
#: A bullet. A bullet with a box is a step that was taken, and no choice.
_BULLET: Final = re.compile(r"^(\s*)[-*•·–—]\s+(?!\[[ xX✓✔]\])(\S.*)$")
_ROW: Final = re.compile(r"^\s*\|(.+)\|\s*$")
_RULE: Final = re.compile(r"^[\s|:-]+$")
_LABEL: Final = re.compile(r"^[A-Z][\w '/&-]{1,30}:\s+\S")
#: The least cells of a row that describes an option. A row with fewer is a label and its value.
_CELLS: Final = 2


def items(reply: str, *, choosing: bool) -> list[str]:
    """Return the items of a list.

    Without a request to choose, items that are facts about one finished thing do not count.
    """
    numbered, bullets, rows = _lists(reply)
    listed = numbered if len(numbered) > 1 else rows if len(rows) > 1 else bullets
    if choosing or len(listed) < 2:
        return listed
    if listed is not numbered and (
        any(_LABEL.match(item) for item in listed)
        or (listed is rows and all(item.count(", ") < _CELLS for item in listed))
    ):
        return []
    if any(
        DEED.search(plain(text))
        and "?" not in text
        and not re.search(r"\bhere (?:is|are)\b|\bfound\b", plain(text))
        for text, _ in statements_of(reply)
    ):
        return []
    return listed


def _lists(reply: str) -> tuple[list[str], list[str], list[str]]:
    numbered: list[str] = []
    bullets: list[str] = []
    rows: list[list[str]] = []
    for raw in reply.splitlines():
        line = _KEYCAP.sub(r"\1. ", raw)
        row = _ROW.match(line)
        number, bullet = _NUMBER.match(line), _BULLET.match(line)
        if row and not _RULE.match(line):
            rows.append([_clean(c) for c in row[1].split("|")])
        elif number:
            numbered.append(_clean(number[1]))
        elif bullet and numbered:
            # Text under an option belongs to it.
            numbered[-1] += f", {_clean(bullet[2])}"
        elif bullet:
            bullets.append(_clean(bullet[2]))
    # The first row of a table is its head.
    row_texts = [
        ", ".join(c for c in cells if c and not re.fullmatch(r"\d{1,2}[.)]?", c)) for cells in rows[1:]
    ]
    return numbered, bullets, row_texts


def _clean(text: str) -> str:
    return re.sub(r"[*_`]+", "", text).strip()
