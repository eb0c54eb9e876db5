"""Values of one kind that exclude each other.

They exist for types with a list of values and for types without one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_personalens.agents.language.lexicon import listed_types
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import stem

#: Values that are everyday words. They mean the value only if the text names its type.
EVERYDAY: Final = frozenset(
    """
    free text high normal once quiet table standing brief warm daily weekly history travel radio desk
    country car music soul signal line united budget enterprise premium parking breakfast mobile
    classical folk drama comedy email one week formal lively cheap moderate evening afternoon morning
    overnight occasionally monthly
    """.split()  # noqa: SIM905
)
#: Types with several values at once. Another value beside the user's is no contradiction.
BESIDE: Final = re.compile(
    r"Amenit|Feature|Dietary|Authors?|Favou?rite|Contact|Event Type|News Sources|Duration|Frequency|Notification",
    re.IGNORECASE,
)
#: Everyday alternatives that exclude each other, for types without a list of values.
_GROUPS: Final = tuple(
    tuple(group.split("|"))
    for group in (
        "window|aisle|middle seat", "delivery|delivered|collection|collect|collected|pick-up|pickup|pick up", "email|e-mail|mail|text message|sms|phone call|post|letter|whatsapp",
        "pdf|paper|printed|spreadsheet", "card|cash|bank transfer|direct debit|invoice|paypal", "generic|branded|brand-name", "tablets|liquid|capsules|drops|syrup|inhaler|spray|cream",
        "morning|afternoon|evening|overnight", "smoking|non-smoking", "one-way|return", "vegetarian|vegan|beef|chicken|pork|lamb|steak", "decaf|espresso", "hot|iced", "small|medium|large",
        "red|white|blue|green|black|yellow|grey|pink|brown|purple", "male|female", "man|woman", "automatic|manual", "petrol|diesel|electric|hybrid", "paperback|hardcover|ebook|audiobook",
        "first class|second class|business class|economy", "english|spanish|french|german|italian|portuguese|mandarin|arabic|hindi", "monthly|quarterly|yearly|annual|weekly|daily",
        "video call|phone call|in person|chat", "upper deck|lower deck", "ground floor|top floor|first floor|second floor|third floor", "dark mode|light mode", "celsius|fahrenheit",
    )
)  # fmt: skip
#: Words with many meanings. They mean the value only beside the noun of the type.
AMBIGUOUS: Final = frozenset(
    """
    card hot iced small medium large red white blue green black yellow grey pink brown male female man
    woman return post mail letter english spanish french german monthly weekly daily paper morning
    afternoon evening
    """.split()  # noqa: SIM905
)
#: Words with the same meaning within a group.
_SAME: Final = ({"delivery", "delivered"}, {"collection", "collect", "collected", "pick-up", "pickup", "pick up"}, {"email", "e-mail", "mail"}, {"text message", "sms"}, {"post", "letter", "mail"},
                {"paper", "printed"}, {"branded", "brand-name"}, {"yearly", "annual"}, {"phone call", "call"})  # fmt: skip
FILLER: Final = re.compile(
    r"\b(?:preferred|preferences?|favou?rite|usual|default|choice|type|kind|of|habit)\b"
)


@lru_cache(maxsize=2048)
def alternatives_of(name: str, values: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the values that exclude the given values.

    They are the rest of their group, and the values of embedded types with a list and the same noun.
    """
    folded = [plain(v) for v in values]
    alternatives = []
    for group in (*_GROUPS, *_known_lists(name)):
        own_words = {w for w in group if any(says(w, v) for v in folded)}
        if own_words and all(any(says(w, v) for w in group) for v in folded):
            for same in _SAME:
                own_words |= same if own_words & same else set()
            alternatives.append(tuple(w for w in group if w not in own_words and w.lower() not in EVERYDAY))
    return tuple(alternatives)


@lru_cache(maxsize=512)
def _known_lists(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the value lists of the embedded types that have the same noun."""
    noun = noun_of(name)
    lists = []
    for type_name, values in listed_types():
        # A seat may be by the window and in the exit row.
        if noun and noun != "seat" and noun_of(type_name) == noun and not BESIDE.search(type_name):
            lists.append(tuple(v.lower() for v in values))
    return tuple(lists)


def noun_of(name: str) -> str:
    """Return the noun of a type as a stem: "seat" for "Preferred Seat"."""
    left = FILLER.sub(" ", plain(name)).split()
    return stem(left[-1]) if left else ""


def says(phrase: str, folded: str) -> bool:
    """True if the text holds the phrase as separate words."""
    return bool(re.search(rf"(?<![\w-]){re.escape(phrase.lower())}(?![\w-])", folded))
