"""Compares people with the marginals in the paper, and tells whether age and gender predict interests."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import ConfigDict

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from pytest_personalens.datasets.quality.corpus import Person

_HERE: Final = Path(__file__).with_name("tables")
_TABLES: Final = tomllib.loads((_HERE / "demography.toml").read_text(encoding="utf-8"))
#: Shares of the 1,500 users (PersonaLens, Tables 6 and 7).
MARGINALS: Final[Mapping[str, Mapping[str, float]]] = {
    attribute: {category: count / 1500 for category, count in counts.items()}
    for attribute, counts in _TABLES["counts"].items()
}
_ALIASES: Final[Mapping[str, str]] = _TABLES["categories"]
_ETHNICITY: Final = "ethnicity"


@dataclass(frozen=True)
class Country:
    """A country: its region in PRISM, and its offsets from UTC in minutes, with those of summer time."""

    region: str
    offsets: frozenset[int]


@dataclass(frozen=True)
class Share:
    """The share of one demographic category here and in the paper, 0 to 1; None if it is not known."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    attribute: str
    category: str
    share: float
    paper: float | None


@cache
def countries() -> Mapping[str, Country]:
    """Return every country by its English name in lower case, with the offsets of 2025 (IANA)."""
    with (_HERE / "countries.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["country"].lower(): Country(
                row["region"], frozenset(minutes(o) for o in row["utc_offsets"].split())
            )
            for row in csv.DictReader(file)
        }


def country(name: str) -> Country | None:
    """Return a country by its name, or None if it is unknown or undisclosed."""
    return countries().get(_TABLES["countries"].get(name.lower(), name).lower())


def minutes(offset: str) -> int:
    """Return the minutes of an offset such as ``+5:30`` or ``-3``; raise `ValueError` for another text."""
    hours, _, rest = offset.lstrip("+-").partition(":")
    return (-1 if offset.startswith("-") else 1) * (60 * int(hours) + int(rest or 0))


def category(person: Person, attribute: str) -> str:
    """Return the category of `MARGINALS` for a person, or ``Other`` if there is none."""
    if attribute == "region":
        birth = person.demographics.get("birth_country", "")
        place = country(birth)
        return place.region if place else _ALIASES.get(birth.lower(), "Other")
    value = person.demographics.get(attribute, "N/A").removesuffix(" years old").strip()
    value = _ALIASES.get(value.lower(), value)
    return value if value in MARGINALS[attribute] else "Other"


def marginals(people: Sequence[Person]) -> list[Share]:
    """Return every category of every attribute, and of ethnicity, which comes last, as the data has it."""
    rows, everyone = [], max(1, len(people))
    for attribute, expected in MARGINALS.items():
        counts = Counter(category(p, attribute) for p in people)
        names = dict.fromkeys([*expected, *counts])
        rows += [Share(attribute, name, counts[name] / everyone, expected.get(name, 0.0)) for name in names]
    stated = [p.demographics[_ETHNICITY] for p in people if p.demographics.get(_ETHNICITY)]
    ethnicities = Counter(_ALIASES.get(text.lower(), text) for text in stated).most_common()
    return rows + [Share(_ETHNICITY, name, number / everyone, None) for name, number in ethnicities]


def interest_gain(people: Sequence[Person], domains: Sequence[str]) -> float:
    """Return how much age and gender help to guess a person's interests.

    Each interest is guessed from the majority of the others with the same age and gender, and from the
    majority of all others. The result is the difference of the two shares of right guesses, about 0 or below
    if the interests do not depend on age and gender.
    """
    if len(people) < 2:
        return 0.0
    groups = [(category(p, "age"), category(p, "gender")) for p in people]
    answers = [[d in p.mask for p in people] for d in domains]
    gains = [_right(of_domain, groups) - _right(of_domain, [()] * len(people)) for of_domain in answers]
    return sum(gains) / max(1, len(gains))


def _right(answers: Sequence[bool], groups: Sequence[Hashable]) -> float:
    yes, size = Counter(g for g, a in zip(groups, answers, strict=True) if a), Counter(groups)
    overall, right = sum(answers), 0.0
    for group, answer in zip(groups, answers, strict=True):
        agree, peers = yes[group] - answer, size[group] - 1
        if not peers:
            agree, peers = overall - answer, len(answers) - 1
        right += 0.5 if 2 * agree == peers else float((2 * agree > peers) == answer)
    return right / len(answers)
