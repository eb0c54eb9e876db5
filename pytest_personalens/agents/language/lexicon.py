"""The words for domains and preference types that the embedded agents listen for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.language.text import fold, mentions
from pytest_personalens.core.runtime.once import once
from pytest_personalens.core.scenario import DOMAINS
from pytest_personalens.datasets.embedded.embedded import EmbeddedDataset

if TYPE_CHECKING:
    from pytest_personalens.core.scenario import Scenario

#: Words that show that a sentence is about a domain.
DOMAIN_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "Alarm": ("alarm", "wake"),
    "Books": ("book", "novel", "author", "reading", "audiobook", "ebook", "library", "chapter"),
    "Buses": ("bus", "coach"),
    "Calendar": ("calendar", "event", "appointment", "reminder", "schedule", "invite", "meeting", "notification"),
    "Events": ("event", "concert", "exhibition", "festival", "show", "lecture", "workshop", "ticket", "gig"),
    "Finance": ("stock", "share", "market", "invest", "fund", "portfolio", "sector", "finance", "bank", "budget", "watchlist"),
    "Flights": ("flight", "fly", "airline", "plane", "airport"),
    "Games": ("game", "play", "console", "multiplayer"),
    "Hotels": ("hotel", "room", "stay", "suite", "guesthouse", "hostel", "accommodation"),
    "Media": ("series", "film", "movie", "watch", "stream", "documentary", "episode", "programme", "show", "podcast"),
    "Messaging": ("message", "text", "send", "sent", "chat", "whatsapp", "sms", "telegram", "signal"),
    "Movies": ("movie", "film", "cinema", "theater", "theatre", "screening", "showing", "showtime"),
    "Music": ("music", "song", "playlist", "album", "track", "artist", "band", "listen"),
    "Rental Cars": ("car", "rental", "rent", "vehicle", "suv", "pick-up"),
    "Restaurants": ("restaurant", "table", "dinner", "lunch", "dish", "menu", "cuisine", "meal", "food", "delivery", "bistro", "order"),
    "Services": ("appointment", "service", "salon", "plumber", "dentist", "haircut", "cleaner", "repair", "barber", "doctor", "provider", "visit"),
    "Shopping": ("order", "cart", "basket", "buy", "bought", "purchase", "shop", "product", "delivery", "price"),
    "Sports": ("game", "match", "team", "fixture", "score", "league", "kick-off", "sport", "race"),
    "Train": ("train", "rail", "carriage", "station", "platform"),
    "Travel": ("trip", "itinerary", "destination", "travel", "plan", "holiday", "vacation", "getaway"),
}  # fmt: skip

_FILLER = re.compile(r"\b(?:preferred|preferences?|favou?rites?|frequent)\b", re.IGNORECASE)
_SHORTER: Final = {"actors and directors": "actor or director", "service provider types": "kind of provider"}


class TypeWords(NamedTuple):
    """The words of a preference type.

    They are a noun for it, words that ask for it, and values that it may hold.
    """

    noun: str
    ask: tuple[str, ...]
    values: tuple[str, ...]
    multiple: bool


@once
def _embedded() -> EmbeddedDataset:
    return EmbeddedDataset()


@lru_cache(maxsize=512)
def type_words(domain: str, name: str) -> TypeWords:
    """Return the words for a preference type, by (domain, type).

    For a type that the embedded data does not have, they are the words of its name.
    """
    noun = _noun(name)
    spec = None
    if domain in DOMAINS:
        types = _embedded().domain(domain).preferences
        spec = types.get(name) or types.get(name.replace("Favourite", "Favorite"))
    if spec is None:
        return TypeWords(noun, (noun,), (), multiple=True)
    return TypeWords(noun, (*spec.ask, noun), spec.values, spec.multiple)


def words_for(scenario: Scenario, domain: str, name: str) -> TypeWords:
    """Return the words for a preference type of a scenario.

    These are its own words, or those of `type_words`.
    """
    scenario_words = scenario.words[domain].types.get(name) if domain in scenario.words else None
    if scenario_words is None:
        return type_words(domain, name)
    noun = _noun(name)
    return TypeWords(noun, (*scenario_words.ask, noun), scenario_words.values, scenario_words.multiple)


def domain_words(domain: str, scenario: Scenario | None = None) -> tuple[str, ...]:
    """Return the words that show a sentence is about a domain.

    These are those of the scenario and those of this package.
    """
    scenario_words = scenario.words[domain].words if scenario is not None and domain in scenario.words else ()
    return (*scenario_words, *DOMAIN_WORDS.get(domain, ()))


def _noun(name: str) -> str:
    noun = " ".join(_FILLER.sub(" ", name).split()).lower() or name.lower()
    return _SHORTER.get(noun, noun)


@once
def listed_types() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the names and values of all embedded types that have a list of values."""
    types = (item for domain in DOMAINS for item in _embedded().domain(domain).preferences.items())
    return tuple((name, spec.values) for name, spec in types if spec.values)


@once
def embedded_types() -> tuple[tuple[str, TypeWords], ...]:
    """Return the domain and the words of every embedded type."""
    return tuple((d, type_words(d, name)) for d in DOMAINS for name in _embedded().domain(d).preferences)


def asks_for(words: TypeWords, sentence: str) -> bool:
    """True if `sentence` names the type by one of its words."""
    return any(mentions(w, sentence) for w in words.ask)


def in_domain(domain: str, text: str, scenario: Scenario | None = None) -> bool:
    """True if `text` holds a word of the domain."""
    folded = fold(text)
    return any(
        re.search(rf"\b{re.escape(fold(w))}", folded) for w in (*domain_words(domain, scenario), domain)
    )
