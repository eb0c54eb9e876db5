"""Compares people with the marginals in the paper."""

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
    from collections.abc import Mapping, Sequence

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
class Share:
    """The share of one demographic category here and in the paper, 0 to 1; None if it is not known."""

    __pydantic_config__ = ConfigDict(extra="forbid")
    attribute: str
    category: str
    share: float
    paper: float | None


@cache
def regions() -> Mapping[str, str]:
    """Return the region in PRISM of every country, by its English name in lower case."""
    with (_HERE / "countries.csv").open(encoding="utf-8", newline="") as file:
        return {row["country"].lower(): row["region"] for row in csv.DictReader(file)}


def category(person: Person, attribute: str) -> str:
    """Return the category of `MARGINALS` for a person, or ``Other`` if there is none."""
    if attribute == "region":
        birth = person.demographics.get("birth_country", "")
        known = regions().get(_TABLES["countries"].get(birth.lower(), birth).lower())
        return known or _ALIASES.get(birth.lower(), "Other")
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
