"""Rules for profiles: the facts about a person must agree with each other."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_personalens.datasets.quality.demography import category, country, minutes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.datasets.quality.corpus import Corpus, Person, Place, TypeName

#: Foods by group, the groups that a diet excludes, and the words of sentences about eating.
_HERE: Final = Path(__file__).with_name("tables")
_FOOD: Final = tomllib.loads((_HERE / "food.toml").read_text(encoding="utf-8"))
_FORBIDS: Final = {
    diet: [word for group in groups for word in _FOOD["groups"][group]]
    for diet, groups in _FOOD["diets"].items()
}


def _any_of(words: list[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)


_APPETITE, _EXCUSES = _any_of(_FOOD["appetite"]), _any_of(_FOOD["excuses"])


def interest_keys(corpus: Corpus) -> Iterator[Place]:
    """The interests of a profile must name the dataset's domains and nothing else."""
    for person in corpus.people if corpus.shared else ():
        for name in person.interests:
            if name not in corpus.domains:
                yield person.file, f"interests.{name}", f"no such domain: {name!r}"
        for name in corpus.domains:
            if name not in person.interests:
                yield person.file, "interests", f"{name!r} is missing"


def outside_mask(corpus: Corpus) -> Iterator[Place]:
    """A profile must hold preferences only for its domains of interest (paper, section 2.1)."""
    for person in corpus.people:
        if extra := sorted({d for d, _ in person.preferences} - person.mask):
            yield person.file, "affinities", f"preferences for domains without interest: {', '.join(extra)}"


def age_employment(corpus: Corpus) -> Iterator[Place]:
    """Age must agree with employment, education and marital status."""
    for person in corpus.people:
        age, work = category(person, "age"), category(person, "employment_status")
        young, married = age == "18-24", category(person, "marital_status")
        for attribute, odd in (
            ("employment_status", work == "Retired" and age in ("18-24", "25-34", "35-44")),
            ("employment_status", work == "Student" and age == "65+"),
            ("education", young and category(person, "education") == "Graduate degree"),
            ("marital_status", young and married in ("Widowed", "Divorced or separated")),
        ):
            if odd:
                told = f"{person.demographics[attribute]!r} at {person.demographics['age']!r}"
                yield person.file, f"demographics.{attribute}", told


def undisclosed(corpus: Corpus) -> Iterator[Place]:
    """An undisclosed value must have the same name in all attributes."""
    for person in corpus.people:
        for attribute, value in person.demographics.items():
            if value.strip().lower() in ("n/a", "na", "none", "unknown", ""):
                problem = f"{value!r}; elsewhere it is 'Prefer not to say'"
                yield person.file, f"demographics.{attribute}", problem


def timezone_country(corpus: Corpus) -> Iterator[Place]:
    """A person's time zone must exist in the country where the person lives."""
    for person, key, value in _values(corpus):
        lives = person.demographics.get("reside_country", "")
        home = country(lives)
        if key[1].lower() != "timezone" or home is None:
            continue
        match = re.fullmatch(r"UTC([+-]\d{1,2}(?::\d{2})?)", value)
        if match is None:
            yield person.file, person.field_of(*key), f"{value!r} is no offset such as 'UTC+1'"
        elif minutes(match[1]) not in home.offsets:
            yield person.file, person.field_of(*key), f"{value!r} is no time zone of {lives}"


def diet(corpus: Corpus) -> Iterator[Place]:
    """No summary and no favorite cuisine may praise food that the person's diet excludes."""
    for person in corpus.people:
        types = {t: values for (d, t), values in person.preferences.items() if d == "Restaurants"}
        if "Restaurants" not in person.mask:
            continue
        diets = {v.lower() for t, values in types.items() if "Dietary" in t for v in values}
        barred = {word: name for name in diets for word in _FORBIDS.get(name, ())}
        for sentence in re.split(r"(?<=[.!?;])\s+", person.summaries.get("Restaurants", "")):
            # Only sentences about eating count: "prawns put him in hospital" does not praise prawns.
            praises = _APPETITE.search(sentence) and not _EXCUSES.search(sentence)
            for word in re.findall(r"\w+", sentence.lower()) if praises else ():
                if word in barred:
                    told = f"{word!r} in the summary of a {barred[word]} person"
                    yield person.file, person.field_of("Restaurants"), told
        for name, value in ((t, v) for t, values in types.items() if "Dietary" not in t for v in values):
            for word in set(re.findall(r"\w+", value.lower())) & set(barred):
                yield (
                    person.file,
                    person.field_of("Restaurants", name),
                    f"{value!r} for a {barred[word]} person",
                )


def spelling(corpus: Corpus) -> Iterator[Place]:
    """A categorical value must have one spelling; the commonest spelling is the right one."""
    pooled: dict[TypeName, Counter[str]] = defaultdict(Counter)
    for _, key, value in _values(corpus, categorical=True):
        pooled[key][value] += 1
    usual: dict[tuple[TypeName, str], str] = {}
    for key, counts in pooled.items():
        for value, _ in counts.most_common():
            usual.setdefault((key, value.casefold()), value)
    for person, key, value in _values(corpus, categorical=True):
        if value != (best := usual[key, value.casefold()]):
            yield person.file, person.field_of(*key), f"{value!r} is elsewhere {best!r}"


def off_list(corpus: Corpus) -> Iterator[Place]:
    """A categorical value must be in its type's list of values, if there is one."""
    for person, key, value in _values(corpus, categorical=True):
        listed = corpus.types[key].values
        if listed and value not in listed:
            yield person.file, person.field_of(*key), f"{value!r} is not among the type's values"


def _values(corpus: Corpus, *, categorical: bool = False) -> Iterator[tuple[Person, TypeName, str]]:
    for person in corpus.people:
        for key, values in person.preferences.items():
            if not categorical or corpus.categorical(key):
                yield from ((person, key, value) for value in values)
