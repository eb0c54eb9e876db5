"""Criteria of a team's own: sentences that a model as the judge answers of a dialogue, each a measure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.errors import short_repr
from pytest_personalens.core.judging.measure import CRITERION, Measure, MeasureNames

if TYPE_CHECKING:
    from collections.abc import Collection

#: The word for all criteria together, where a judge of its own reads them: ``criteria=SPEC,SPEC``.
ALL_CRITERIA: Final = Measure("criteria", MeasureNames(*("criteria",) * 6))
#: Why a judge gives no reading of a criterion, and what to do.
NEEDS_MODEL: Final = (
    "criteria are read by a model as the judge, under the default protocol; name one with"
    " --personalens-judge-model, such as criteria=SPEC,embedded for the criteria alone"
)
#: What a model may answer, with its score. Only yes meets a criterion.
ANSWERS: Final = {"yes": 1, "no": 0, "cannot tell": 0}
_MOST_WORDS: Final = 100
_LONGEST_NAME: Final = 24
_NAMED: Final = re.compile(r"([a-z][a-z0-9_-]{0,31}):(?:\s+|$)(.*)", re.DOTALL)


def name_of(text: str) -> str:
    """Return the short name of a criterion: the one before its colon, or its first words with dashes.

    >>> name_of("price-first: names the price before it books"), name_of("Names the price before booking")
    ('price-first', 'names-the-price-before')
    """
    if (named := _NAMED.fullmatch(text.strip())) is not None:
        return named[1].replace("_", "-")
    words = re.findall(r"\w+", text.lower())
    name = ""
    for word in words:
        if len(longer := f"{name}-{word}" if name else word) > _LONGEST_NAME and name:
            break
        name = longer[:_LONGEST_NAME]
    return name


def read_criteria(value: object, taken: Collection[str]) -> tuple[str, ...]:
    """Return the long names of criteria, from a list of texts such as ``NAME: TEXT``, or the text alone.

    `taken` are the names of other measures. Raise ValueError for what is no list of texts, and for a text
    that is empty, too long or doubled.
    """
    if not isinstance(value, (list, tuple)) or not value:
        raise ValueError(
            f"expected a list of texts, such as ['names the price'], not {short_repr(value, 60)}"
        )
    read: dict[str, str] = {}
    for number, text in enumerate(value, 1):
        where = f"criterion {number}"
        if not isinstance(text, str) or not (name := name_of(text)):
            raise ValueError(f"{where}: expected a text with words, not {short_repr(text, 60)}")
        said = " ".join((named[2] if (named := _NAMED.fullmatch(text.strip())) else text).split())
        if not re.search(r"\w", said):
            raise ValueError(f"{where}: {name} has a name and no text")
        if (words := len(said.split())) > _MOST_WORDS or len(said) > 10 * _MOST_WORDS:
            raise ValueError(
                f"{where}: {name} has {words:,} words and {len(said):,} characters; the most are"
                f" {_MOST_WORDS} and {10 * _MOST_WORDS:,}: ask one thing, and make others of the rest"
            )
        if said in read.values():
            raise ValueError(f"{where}: {short_repr(said, 60)} stands there twice; leave one out")
        if name in read or name in taken:
            why = (
                "another criterion has that name" if name in read else "a reading of the suite has that name"
            )
            raise ValueError(f"{where}: {name}: {why}; give it one of its own: NAME: TEXT")
        read[name] = said
    return tuple(f"{CRITERION}{name}: {said}" for name, said in read.items())


def text_of(measure: Measure) -> str:
    """Return the text of a criterion."""
    return measure.value.partition(": ")[2]
