"""Finds what a text names against a preference or for it.

It also finds whether the text denies what it names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.embedded_user.preferences.alternatives import (
    AMBIGUOUS,
    BESIDE,
    EVERYDAY,
    FILLER,
    alternatives_of,
    noun_of,
    says,
)
from pytest_personalens.agents.embedded_user.preferences.constraints import constraint
from pytest_personalens.agents.language.lexicon import asks_for
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import content, mentions, stem, stems

if TYPE_CHECKING:
    from pytest_personalens.agents.language.lexicon import TypeWords

AskedType = tuple[str, str, "TypeWords", tuple[str, ...]]
#: Words beside a noun that name no value: "a nice seat", "your usual brand".
_VAGUE: Final = frozenset(
    {
        "a", "an", "the", "your", "my", "his", "her", "its", "this", "that", "one", "new", "usual",
        "same", "right", "other", "next", "nice", "good", "best", "free", "own", "preferred",
        "favorite", "favourite", "regular", "normal", "different", "available", "same-day", "local",
        "nearby", "booked", "confirmed", "reserved", "assigned", "yes", "no", "none", "any", "as",
        "included", "tbc", "n/a", "unchanged", "standard", "default", "requested", "chosen", "selected",
        "matching", "correct", "set", "ready", "saved", "on", "off", "done", "known", "all",
    }
)  # fmt: skip
_NEGATION: Final = re.compile(
    r"\b(?:no|not|without|never|avoid\w*|instead|skip\w*|nor|than|next best|except|rather|free of|from|away|was|were|used to|other than|no longer|but|excluding|neither|drop\w*|old|former|previous|released|cancel\w*|removed|deleted|replaced|swapped|left out)\b"
)
_FREE_OF: Final = re.compile(r"^[ -]free\b")
_NO: Final = re.compile(r"^(?:no|without|never|not|avoid|nothing with|hates?|dislikes?)\b (?:any )?(.+)$")
#: The most words of a value that stands for one thing.
_SHORT: Final = 3
#: Values of seats that exclude each other. A window seat in the exit row is both.
_AXES: Final = (
    frozenset(("window", "aisle")), frozenset(("front row", "middle row", "back row")), frozenset(("general admission", "reserved seat")),
    frozenset(("standing", "reserved seat", "balcony")), frozenset(("single seat", "family compartment")),
)  # fmt: skip
_IN_TIME: Final = re.compile(r"\bin (?:good |plenty of )?time (?:for|to)\b|\bso that you\b")
_SERVED_WITH: Final = r"\b(?:with|plus|including|of|pure|and|a|an|some|extra|the)(?: \w+)? {}\b"
_GUARDED: Final = re.compile(
    r"\b(?:no|not|without|free|nothing|none|never|note\w*|allerg\w*|instead|removed|kept|away|near|separate\w*|avoid\w*)\b"
)
#: A line such as "Seat: aisle".
_LINE: Final = re.compile(r"^([A-Za-z][\w '/&-]{1,34}?)\s*(?::|\s[-–—])\s+(.+)$")
_NAME: Final = r"[A-Z][\w'’&-]+(?: [A-Z][\w'’&-]+)*"


def fits(t: AskedType, text: str) -> bool:
    """True if the text names one of the person's own values.

    It names the value in its words, or as an hour, a day, a sum or a number.
    """
    return any(
        mentions(v, text) and not negated(v, plain(text)) for v in (*t[3], *_heads(t[3]))
    ) or constraint(t[1], t[3]).fits(plain(text))


def _heads(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values without the text after a comma or in brackets.

    An example is "Aisle, near the front".
    """
    return tuple(re.split(r"\s*[,(;]", v)[0] or v for v in values)


def breach(t: AskedType, text: str) -> str:
    """Return what a text names in place of the person's values, or an empty text."""
    return (
        _listed(t, text)
        or _measured(t, text)
        or _denied(t, text)
        or _grouped(t, text)
        or _labelled(t, text)
        or _beside_noun(t, text)
    )


def _listed(t: AskedType, text: str) -> str:
    """Return another value of the type's list, or an empty text."""
    _, name, words, values = t
    folded = plain(text)
    rule = constraint(name, values)
    if not words.values or BESIDE.search(name) or rule.slots or rule.limit:
        return ""  # `_measured` covers types with hours or a limit
    listed = [
        v for v in words.values if any(v.lower() == value.lower() or mentions(v, value) for value in values)
    ]
    if not listed:
        return ""  # the person has values that are not in the list
    about = asks_for(words, text)
    for candidate in words.values:
        if "Seat" in name and not any({candidate, value} <= axis for axis in _AXES for value in listed):
            continue
        if (
            any(mentions(candidate, v) or mentions(v, candidate) for v in values)
            or not mentions(candidate, text)
            or negated(candidate, folded)
        ):
            continue
        if (about or candidate.lower() not in EVERYDAY) and not _in_a_name(candidate, text):
            return candidate
    return ""


def _in_a_name(value: str, text: str) -> bool:
    """True if a word occurs in the text only as a part of names.

    An example is "Busan Bank" for banking.
    """
    if not value.islower() or " " in value or text.isupper():
        return False
    written = [m for m in re.finditer(r"[^\W\d_]+", text) if stem(plain(m[0])) == stem(value)]
    return bool(written) and all(m[0][0].isupper() and m.start() > 0 for m in written)


def _measured(t: AskedType, text: str) -> str:
    """Return an hour, day, sum or number that the preference does not allow."""
    if _IN_TIME.search(plain(text)):
        return ""  # the hour follows from another one
    return constraint(t[1], t[3]).breach(plain(text))


def _denied(t: AskedType, text: str) -> str:
    """Return the thing that the person does not want, if the text offers it.

    An example of such a preference is "no seafood".
    """
    folded = plain(text)
    for value in t[3]:
        m = _NO.match(plain(value))
        if (
            m
            and len(m[1].split()) <= 2
            and not _GUARDED.search(folded)
            and re.search(_SERVED_WITH.format(re.escape(m[1])), folded)
        ):
            return m[1]
    return ""


def _label_and_value(text: str) -> tuple[str, str] | None:
    """Return the label and the value of a line such as "Seat: aisle", or None."""
    line = _LINE.match(text)
    return (line[1].strip(), line[2].strip()) if line and len(line[1].split()) <= 4 else None


def _grouped(t: AskedType, text: str) -> str:
    """Return another word of a group of alternatives, or an empty text.

    The rule is for types without a list of their own.
    """
    heads = _heads(t[3])
    if t[2].values or any(len(v.split()) > _SHORT for v in heads):
        return ""
    line = _label_and_value(text)
    if line and noun_of(t[1]) not in stems(line[0]):
        return ""  # the line is about something else
    folded = plain(line[1] if line else text)
    for group in alternatives_of(t[1], heads):
        for word in group:
            if (
                says(word, folded)
                and not negated(word, folded)
                and (word not in AMBIGUOUS or noun_of(t[1]) in stems(folded) or line)
            ):
                return word
    return ""


def _labelled(t: AskedType, text: str) -> str:
    """Return the other value in a line such as "Brand: Salvia".

    The label must be the type's own name.
    """
    line = _label_and_value(text)
    if not line or t[2].values or constraint(t[1], t[3]).slots or constraint(t[1], t[3]).counts:
        return ""
    label, value = line
    if len(value.split()) > _SHORT or any(len(v.split()) > _SHORT for v in t[3]):
        return ""
    head = stem((FILLER.sub(" ", plain(label)).split() or [""])[-1])
    words = set(stems(FILLER.sub(" ", plain(label))))
    if not head or head != noun_of(t[1]) or not words <= set(stems(t[1])):
        return ""
    return _other_name(t, value)


def _beside_noun(t: AskedType, text: str) -> str:
    """Return another name beside the type's own noun: "the Corvex inhaler".

    The person's values must be names.
    """
    if t[2].values or not all(re.match(r"[A-Z]", v) for v in t[3]):
        return ""
    noun = noun_of(t[1])
    for m in re.finditer(
        rf"\b(?:the|your|a|an|one|of|some|in|with|by) ({_NAME}) ([a-z]+)\b|\b([a-z]+) ({_NAME})", text
    ):
        beside, name = (m[2], m[1]) if m[1] else (m[3], m[4])
        if noun and len(noun) > 2 and stem(beside) == noun and not negated(name, plain(text)):
            return _other_name(t, name)
    return ""


def _other_name(t: AskedType, value: str) -> str:
    """Return the value in a form that the user can repeat.

    Return an empty text unless it is a name or word for something other than the person's values.
    """
    value = re.split(r"\s*[,(;–—]|\s-\s|\. ", value.strip(" ."))[0]
    own_stems = frozenset().union(*(frozenset(stems(v)) for v in t[3]))
    tokens = plain(value).split()
    if (
        not tokens
        or len(tokens) > 4
        or tokens[0] in _VAGUE
        or tokens[-1] in _VAGUE
        or re.search(r"\d", tokens[0])
        or not content(value)
    ):
        return ""
    return "" if own_stems & set(stems(value)) else value


def negated(value: str, folded: str) -> bool:
    """True if the text denies every mention of the value.

    A mention is also denied if it is replaced or in the past. Examples are "not the aisle", "instead of the
    aisle" and "aisle-free".
    """
    row, words = stems(value), list(re.finditer(r"\d+[:.]\d{2}|[\w'-]+", folded))
    hay = [w[0].replace(".", ":") if w[0][0].isdigit() else stem(w[0]) for w in words]
    places = [i for i in range(len(hay)) if tuple(hay[i : i + len(row)]) == row] or [
        i for i in range(len(hay)) if row and hay[i] == row[0]
    ]
    if not places or not row:
        return False

    def denied(i: int) -> bool:
        before = folded[words[max(0, i - 4)].start() : words[i].start()]
        last = words[min(i + len(row), len(words)) - 1]
        after = folded[last.end() :]
        return bool(
            _NEGATION.search(re.split(r"[,;:]", before)[-1])
            or _FREE_OF.match(after)
            or re.match(r"\W+(?:\w+ )?(?:is|are|was|were) (?:not|full|sold|gone|taken)\b", after)
        )

    return all(denied(i) for i in places)
