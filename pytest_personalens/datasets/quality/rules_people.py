"""Rules for profiles: the facts about a person must agree with each other."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.core.suite.data_check import Finding
from pytest_personalens.datasets.quality.corpus import Corpus, Person, TypeName
from pytest_personalens.datasets.quality.demography import category, country, minutes

if TYPE_CHECKING:
    from collections.abc import Iterator

_PORK: Final = ("pork", "bacon", "ham", "lard", "prosciutto", "chorizo", "pancetta")
_MEAT: Final = (
    *_PORK,
    "steak",
    "steakhouse",
    "beef",
    "lamb",
    "chicken",
    "ribs",
    "brisket",
    "veal",
    "duck",
    "barbecue",
    "bbq",
    "kebab",
)
_SHELLFISH: Final = (
    "shellfish",
    "shrimp",
    "shrimps",
    "prawn",
    "prawns",
    "crab",
    "lobster",
    "oysters",
    "mussels",
    "clams",
    "scallops",
)
_FISH: Final = (*_SHELLFISH, "fish", "seafood", "salmon", "tuna", "sushi", "ceviche", "sardines", "anchovies")
_DAIRY: Final = ("cheese", "butter", "cream", "yoghurt", "yogurt", "eggs", "honey")
#: The foods that a diet excludes. The list has only clear cases: "kosher" does not exclude chicken,
#: "gluten-free" does not exclude beer.
_FORBIDS: Final = {
    "vegetarian": (*_MEAT, *_FISH),
    "vegan": (*_MEAT, *_FISH, *_DAIRY),
    "pescatarian": _MEAT,
    "halal": _PORK,
    "kosher": (*_PORK, *_SHELLFISH),
    "no shellfish": _SHELLFISH,
    "shellfish allergy": _SHELLFISH,
}
#: The rule reads only sentences about eating: "prawns put him in hospital" does not praise prawns.
_APPETITE: Final = re.compile(
    r"\b(?:eats?|ate|eating|orders?|ordered|ordering|loves?|loved|favou?r\w*|crav\w+|enjoy\w*|prefers?|wants?|shares?|sharing|devours?|"
    r"picks?|chooses?|treats?|can't resist|cannot resist|fond of|goes for|dish(?:es)?|plates? of)\b",
    re.IGNORECASE,
)
#: A sentence with one of these words may be about food that is not eaten, is no longer eaten, or is eaten by
#: somebody else.
_EXCUSES: Final = re.compile(
    r"\b(?:no|not|nor|never|none|nothing|without|instead|free|gave up|given up|stopp\w+|quit|used"
    r" to|once|until|before|avoid\w*|refus\w+|"
    r"allerg\w+|anyone|anybody|except|rather than|away from|far"
    r" from|neither|nobody|\w+n't|swor\w+|hidden|smell\w*|others?|like|as if|"
    r"asks?|asked|checks?|whether|remind\w*|leaves?"
    r" out|left|husband|wife|son|daughter|mother|father|brother|sister|friends?|uncle|aunt|"
    r"cousin|colleagues?|boss|everyone"
    r" else|substitut\w+|mock|plant|tofu|seitan|mushroom|jackfruit|vegan|vegetarian|halal|kosher)\b",
    re.IGNORECASE,
)


def interest_keys(corpus: Corpus) -> Iterator[Finding]:
    """The interests of a profile must name the dataset's domains and nothing else."""
    for person in corpus.people if corpus.shared else ():
        for name in person.interests:
            if name not in corpus.domains:
                yield Finding("interest-key", person.file, f"interests.{name}", f"no such domain: {name!r}")
        for name in corpus.domains:
            if name not in person.interests:
                yield Finding("interest-key", person.file, "interests", f"{name!r} is missing")


def outside_mask(corpus: Corpus) -> Iterator[Finding]:
    """A profile must hold preferences only for its domains of interest (paper, section 2.1)."""
    for person in corpus.people:
        extra = sorted({d for d, _ in person.preferences} - person.mask)
        if extra:
            yield Finding(
                "outside-mask",
                person.file,
                "affinities",
                f"preferences for domains without interest: {', '.join(extra)}",
            )


def age_employment(corpus: Corpus) -> Iterator[Finding]:
    """Age must agree with employment, education and marital status."""
    for person in corpus.people:
        age, work = category(person, "age"), category(person, "employment_status")
        young, old = age == "18-24", age == "65+"
        for attribute, odd in (
            ("employment_status", work == "Retired" and age in ("18-24", "25-34", "35-44")),
            ("employment_status", work == "Student" and old),
            ("education", young and category(person, "education") == "Graduate degree"),
            (
                "marital_status",
                young and category(person, "marital_status") in ("Widowed", "Divorced or separated"),
            ),
        ):
            if odd:
                value = person.demographics[attribute]
                yield Finding(
                    "age",
                    person.file,
                    f"demographics.{attribute}",
                    f"{value!r} at {person.demographics['age']!r}",
                )


def undisclosed(corpus: Corpus) -> Iterator[Finding]:
    """An undisclosed value must have the same name in all attributes."""
    for person in corpus.people:
        for attribute, value in person.demographics.items():
            if value.strip().lower() in ("n/a", "na", "none", "unknown", ""):
                yield Finding(
                    "undisclosed",
                    person.file,
                    f"demographics.{attribute}",
                    f"{value!r}; elsewhere it is 'Prefer not to say'",
                )


def timezone_country(corpus: Corpus) -> Iterator[Finding]:
    """A person's time zone must exist in the country where the person lives."""
    for person in corpus.people:
        home = country(person.demographics.get("reside_country", ""))
        for key, values in person.preferences.items():
            if key[1].lower() != "timezone" or home is None:
                continue
            for value in values:
                match = re.fullmatch(r"UTC([+-]\d{1,2}(?::\d{2})?)", value)
                if match is None:
                    yield Finding(
                        "timezone",
                        person.file,
                        person.field_of(*key),
                        f"{value!r} is no offset such as 'UTC+1'",
                    )
                elif minutes(match[1]) not in home.offsets:
                    lives = person.demographics["reside_country"]
                    yield Finding(
                        "timezone",
                        person.file,
                        person.field_of(*key),
                        f"{value!r} is no time zone of {lives}",
                    )


def diet(corpus: Corpus) -> Iterator[Finding]:
    """No summary and no favorite cuisine may praise food that the person's diet excludes."""
    for person in corpus.people:
        if "Restaurants" not in person.mask:
            continue
        diets = {
            v.lower()
            for (d, t), vs in person.preferences.items()
            if d == "Restaurants" and "Dietary" in t
            for v in vs
        }
        barred = {word: name for name in diets for word in _FORBIDS.get(name, ())}
        summary = person.summaries.get("Restaurants", "")
        for sentence in re.split(r"(?<=[.!?;])\s+", summary):
            if _EXCUSES.search(sentence) or not _APPETITE.search(sentence):
                continue
            for word in re.findall(r"\w+", sentence.lower()):
                if word in barred:
                    yield Finding(
                        "diet",
                        person.file,
                        person.field_of("Restaurants"),
                        f"{word!r} in the summary of a {barred[word]} person",
                    )
        for key, values in person.preferences.items():
            if key[0] == "Restaurants" and "Dietary" not in key[1]:
                for value in values:
                    for word in set(re.findall(r"\w+", value.lower())) & set(barred):
                        yield Finding(
                            "diet",
                            person.file,
                            person.field_of(*key),
                            f"{value!r} for a {barred[word]} person",
                        )


def spelling(corpus: Corpus) -> Iterator[Finding]:
    """A categorical value must have one spelling; the commonest spelling is the right one."""
    pooled: dict[TypeName, Counter[str]] = defaultdict(Counter)
    for person in corpus.people:
        for key, values in person.preferences.items():
            if corpus.categorical(key):
                pooled[key].update(values)
    usual: dict[tuple[TypeName, str], str] = {}
    for key, counts in pooled.items():
        for value, _ in counts.most_common():
            usual.setdefault((key, value.casefold()), value)
    for person, key, value in _categorical_values(corpus):
        best = usual[key, value.casefold()]
        if value != best:
            yield Finding("spelling", person.file, person.field_of(*key), f"{value!r} is elsewhere {best!r}")


def off_list(corpus: Corpus) -> Iterator[Finding]:
    """A categorical value must be in its type's list of values, if there is one."""
    for person, key, value in _categorical_values(corpus):
        listed = corpus.types[key].values
        if listed and value not in listed:
            yield Finding(
                "off-list", person.file, person.field_of(*key), f"{value!r} is not among the type's values"
            )


def _categorical_values(corpus: Corpus) -> Iterator[tuple[Person, TypeName, str]]:
    for person in corpus.people:
        for key, values in person.preferences.items():
            if corpus.categorical(key):
                yield from ((person, key, value) for value in values)
