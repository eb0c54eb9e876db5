"""Compares the people of a dataset with the marginals in the paper.

It also measures whether age and gender predict the interests of a person.
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import ConfigDict

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from pytest_personalens.datasets.quality.corpus import Person

#: Shares of the 1,500 users (PersonaLens, Tables 6 and 7; the same people and counts as Kirk et al. 2024,
#: "PRISM").
MARGINALS: Final[Mapping[str, Mapping[str, float]]] = {
    attribute: {category: count / 1500 for category, count in counts.items()}
    for attribute, counts in {
        "age": {"18-24": 297, "25-34": 454, "35-44": 237, "45-54": 208, "55-64": 197, "65+": 106,
        "undisclosed": 1},
        "gender": {"Male": 757, "Female": 718, "Non-binary": 21, "undisclosed": 4},
        "region": {
            "US": 338, "Europe": 313, "UK": 292, "Latin America and the Caribbean": 146,
            "Australia and New Zealand": 129,
            "Africa": 118, "Asia": 60, "Northern America": 50, "Middle East": 50, "Oceania": 1,
            "undisclosed": 3,
        },
        "religion": {
            "Non-religious": 762, "Christian": 487, "Agnostic": 71, "Jewish": 42, "Muslim": 31,
            "Spiritual": 18, "Buddhist": 12,
            "Folk religion": 6, "Hindu": 5, "Sikh": 3, "Other": 4, "undisclosed": 59,
        },
        "employment_status": {
            "Working full-time": 712, "Working part-time": 265, "Student": 191,
            "Unemployed, seeking work": 113, "Retired": 104,
            "Homemaker": 46, "Unemployed, not seeking work": 46, "undisclosed": 23,
        },
        "education": {
            "Bachelor's degree": 637, "Graduate degree": 241, "Some university": 236, "Secondary school": 209,
            "Vocational training": 125, "Some secondary school": 24, "Primary school": 19, "undisclosed": 9,
        },
        "marital_status": {"Never married": 870, "Married": 463, "Divorced or separated": 123, "Widowed": 21,
        "undisclosed": 23},
        "english_proficiency": {"Native": 886, "Fluent": 405, "Advanced": 160, "Intermediate": 42,
        "Basic": 7},
    }.items()
}  # fmt: skip

#: The official spellings for which this package has shorter ones.
_ALIASES: Final = {
    "n/a": "undisclosed",
    "prefer not to say": "undisclosed",
    "non-binary / third gender": "Non-binary",
    "homemaker / stay-at-home parent": "Homemaker",
    "university bachelors degree": "Bachelor's degree",
    "graduate / professional degree": "Graduate degree",
    "some university but no degree": "Some university",
    "completed secondary school": "Secondary school",
    "some secondary": "Some secondary school",
    "completed primary school": "Primary school",
    "some primary": "Primary school",
    "vocational": "Vocational training",
    "never been married": "Never married",
    "divorced / separated": "Divorced or separated",
    "native speaker": "Native",
    "traditional": "Folk religion",
}
_ETHNICITY: Final = "ethnicity"
_COUNTRIES: Final = {
    "korea, republic of": "South Korea",
    "viet nam": "Vietnam",
    "russian federation": "Russia",
    "iran, islamic republic of": "Iran",
    "venezuela, bolivarian republic of": "Venezuela",
    "bolivia, plurinational state of": "Bolivia",
    "tanzania, united republic of": "Tanzania",
    "moldova, republic of": "Moldova",
    "taiwan, province of china": "Taiwan",
    "syrian arab republic": "Syria",
    "türkiye": "Turkey",
    "czech republic": "Czechia",
}


@dataclass(frozen=True)
class Country:
    """A country: its region in PRISM, and its offsets from UTC in minutes.

    The offsets include those of summer time.
    """

    region: str
    offsets: frozenset[int]


@dataclass(frozen=True)
class Share:
    """One demographic category with its shares.

    `share` is the share in this dataset, and `paper` that in the paper's Tables 6 and 7, both from 0 to 1.
    `paper` is None for an attribute of which no share of the paper is here.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")
    attribute: str
    category: str
    share: float
    paper: float | None


@cache
def countries() -> Mapping[str, Country]:
    """Return every country by its English name in lower case.

    The offsets are those of 2025, from the IANA time zone database.
    """
    with Path(__file__).with_name("countries.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["country"].lower(): Country(
                row["region"], frozenset(minutes(o) for o in row["utc_offsets"].split())
            )
            for row in csv.DictReader(file)
        }


def country(name: str) -> Country | None:
    """Return a country by its name, or None if it is unknown or undisclosed."""
    return countries().get(_COUNTRIES.get(name.lower(), name).lower())


def minutes(offset: str) -> int:
    """Return the minutes of an offset such as ``+5:30`` or ``-3``.

    Raise `ValueError` for anything else.
    """
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
    """Return every category of every attribute.

    Ethnicity (Table 6) comes last, where the people have it: as the data has it, the commonest first.
    """
    rows = []
    for attribute, expected in MARGINALS.items():
        counts = Counter(category(p, attribute) for p in people)
        rows += [
            Share(attribute, name, counts[name] / max(1, len(people)), expected.get(name, 0.0))
            for name in dict.fromkeys([*expected, *counts])
        ]
    said = [p.demographics[_ETHNICITY] for p in people if p.demographics.get(_ETHNICITY)]
    ethnicities = Counter(_ALIASES.get(text.lower(), text) for text in said)
    rows += [
        Share(_ETHNICITY, name, number / len(people), None) for name, number in ethnicities.most_common()
    ]
    return rows


def interest_gain(people: Sequence[Person], domains: Sequence[str]) -> float:
    """Return how much age and gender help to guess a person's interests.

    The result is a difference of accuracy (accuracy is from 0 to 1). The first guess for each (person,
    domain) is the majority of the others with the same age and gender. The second guess is the majority of
    all others. The result is the difference of the two shares of right guesses. At about 0 or below, the
    interests do not depend on age and gender.
    """
    if len(people) < 2:
        return 0.0
    groups = [(category(p, "age"), category(p, "gender")) for p in people]
    gains = [
        _right([d in p.mask for p in people], groups)
        - _right([d in p.mask for p in people], [()] * len(people))
        for d in domains
    ]
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
