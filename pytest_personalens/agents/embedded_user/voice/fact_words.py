"""The words for a fact: what a person says of it, insists on instead of a wrong value, and quotes."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.voice.style import lower_first
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.reading.findings import MOST_OF
from pytest_personalens.agents.reading.typed_values import agrees, typed_values
from pytest_personalens.core.facts import RANGE
from pytest_personalens.datasets.world.values import ordinal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.agents.reading.findings import Finding
    from pytest_personalens.core.facts import Fact, FactKind, Thing

#: The kinds of facts that answer only a question of their own kind.
MEASURED: Final = frozenset({"date", "time", "count", "duration", "money"})
_HOW_MANY: Final = re.compile(
    r"(?:for )?how many (?P<noun>people|guests|tickets|places|seats|nights|rooms|books|titles|copies|hours|years|weeks|days|rides|members)\b"
)
_BETWEEN: Final = re.compile(r"between (.+) and (.+)")
_HALF_A_YEAR: Final = dt.timedelta(days=180)
_ONE_OF: Final[dict[FactKind, str]] = {
    "date": "a day", "time": "a time", "money": "a price", "count": "a number", "duration": "a length",
}  # fmt: skip


def spoken(fact: Fact) -> str:
    """Return what a person says of a fact: ``three people``, ``Friday 10 April``."""
    text = fact.says or fact.example
    unit = _HOW_MANY.match(fact.what)
    if fact.kind == "count" and unit and " " not in text:
        noun = unit["noun"]
        return f"{text} {noun if text not in ('one', '1') else 'person' if noun == 'people' else noun.removesuffix('s')}"
    if fact.kind == "count" and "percent" in fact.what:
        return f"{text} percent"
    return text if fact.kind in ("person", "place", "provider", "text", "item", "date") else lower_first(text)


def one_of(fact: Fact, text: str) -> str:
    """Return what a person says of a fact to a question: of several names that will do, one, or two if it asks for two."""
    if len(fact.right) < 2 or fact.every or fact.kind in MEASURED:
        return spoken(fact)
    return " and ".join(fact.right[: 2 if re.search(r"\b(?:two|both|compare)\b", text) else 1])


def required(fact: Fact, was: str, today: str, things: Sequence[Thing] = ()) -> str:
    """Return what a person insists on instead of what `was` said.

    This is as `spoken`. Of a range it is the end that `was` lies beyond: ``Monday 25 May or later``.
    """
    if "." in fact.name and fact.kind == "text" and fact.name.endswith("name"):
        thing = next((t.what for t in things if t.name == fact.name.partition(".")[0]), "")
        return (
            f"the {fact.says} {thing}"
            if thing and thing not in fact.says and " " not in fact.says
            else fact.says
        )
    if MOST_OF.search(fact.what) and fact.kind in ("duration", "money", "count"):
        return f"{spoken(fact)} at most"
    ends = _BETWEEN.fullmatch(spoken(fact))
    found = next((v for v in typed_values(plain(was), today) if v.kind == fact.kind), None)
    if ends is None or found is None:
        return f"{_ONE_OF.get(fact.kind, 'one')} {ends[0]}" if ends else spoken(fact)
    first, _, last = fact.right[0].partition(RANGE)
    if fact.kind == "date":
        start, end = dt.date.fromisoformat(first), dt.date.fromisoformat(last)
        below = agrees(found, f"{start - _HALF_A_YEAR}{RANGE}{first}", today)
        above = agrees(found, f"{last}{RANGE}{end + _HALF_A_YEAR}", today)
    elif fact.kind == "time":
        below, above = (
            agrees(found, f"00:00{RANGE}{first}", today),
            agrees(found, f"{last}{RANGE}23:59", today),
        )
    else:
        assert isinstance(found.value, int | float)
        below, above = found.value < ordinal(fact.kind, first), found.value > ordinal(fact.kind, last)
    if below == above and fact.kind in ("date", "time"):
        return f"another {'day' if fact.kind == 'date' else 'time'}"
    if below == above:
        return f"{_ONE_OF[fact.kind]} {ends[0]}"
    if fact.kind in ("date", "time"):
        return f"{ends[1]} or later" if below else f"{ends[2]} or earlier"
    return f"at least {ends[1]}" if below else f"{ends[2]} at most"


def bank_of_fact(fact: Fact) -> str:
    """Return the bank of phrases that tells a fact."""
    if _BETWEEN.fullmatch(spoken(fact)):
        return f"range_{fact.kind}" if fact.kind in ("date", "time") else "tell_range"
    return {"date": "tell_date", "time": "tell_time", "place": "tell_place"}.get(fact.kind, "tell")


def said(finding: Finding, text: str) -> str:
    """Return the words of a finding as the text has them, with their capitals."""
    days = _DAYS.search(text) if _DAYS.search(finding.said) else None
    return (
        days[0]
        if days
        else re.sub(
            r"^(?:at|by|from|until|on|\w+ (?:for|of)) ",
            "",
            as_written(finding.said, text),
        )
    )


def as_written(words: str, text: str) -> str:
    """Return folded words as the text has them, with their capitals."""
    whole = rf"(?<![\w'’]){re.escape(words)}(?![\w'’])"
    match = re.search(whole, text) or re.search(whole, text, re.IGNORECASE)
    return match[0] if match else words


#: Days of the week in a row. Those of a wrong value may not be all those of the text.
_DAYS: Final = re.compile(r"\w+day(?:, \w+day)*,? and \w+day")
