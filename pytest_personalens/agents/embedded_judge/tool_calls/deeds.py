"""Kinds of deeds, such as to make or to stop something, and the words that speak of them."""

from __future__ import annotations

from typing import Final

from pytest_personalens.agents.language.text import stem

#: Kinds of deeds, each with the verbs that tools and goals have for it.
_DEEDS: Final[dict[str, frozenset[str]]] = {
    kind: frozenset(map(stem, verbs.split()))
    for kind, verbs in {
        "make": "book booked reserve reserved reservation booking buy bought purchase order ordered create created"
        " make made add added set schedule scheduled arrange arranged place placed enter entered save saved"
        " activate enable start subscribe register plan engage engaged hire rent rented borrow borrowed hold held"
        " write post put running active issue open pay",
        "change": "change changed move moved update updated modify reschedule rescheduled exchange exchanged swap"
        " rebook rebooked shift shifted switch switched upgrade edit extend postpone replace adjust set",
        "stop": "cancel cancelled delete deleted remove removed pause paused mute muted silence disable release"
        " drop end stop skip snooze suspend unsubscribe",
        "send": "send sent invite invited invitation share shared message mail email notify pass forward text deliver",
        "play": "play plays playing queue",
        "return": "return returned refund",
    }.items()
}
#: What may do a deed of a kind: what is to be changed may be made anew, what is to be ended may be changed.
_DONE_BY: Final = {
    "make": {"make", "change"},
    "change": {"change", "make", "return"},
    "stop": {"stop", "change"},
    "return": {"return", "make", "change", "stop"},
    "send": {"send"},
    "play": {"play", "make"},
}
#: The classes of a goal's words (`goal.classes`) by the kinds of deeds that they speak of.
_OF_CLASS: Final = {
    "=0": "make", "=1": "make", "=2": "send", "=3": "make", "=5": "stop", "=6": "change", "=7": "play",
}  # fmt: skip


def deeds_of(words: frozenset[str]) -> frozenset[str]:
    """The kinds of deeds that stems of words speak of."""
    return frozenset(kind for kind, verbs in _DEEDS.items() if words & verbs)


def deeds_of_classes(words: frozenset[str]) -> frozenset[str]:
    """The kinds of deeds that a goal's words speak of, by their classes."""
    return frozenset(_OF_CLASS[word] for word in words if word in _OF_CLASS)


def may_do(wanted: frozenset[str], had: frozenset[str]) -> bool:
    """True where deeds of the kinds `had` may be one of those that are wanted."""
    return any(had & _DONE_BY[kind] for kind in wanted)
