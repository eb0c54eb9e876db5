"""Finds the cues that a statement has outside its dialogue: its words without their topic, and its form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_personalens.agents.language import slots
from pytest_personalens.agents.language.detail_kinds import details
from pytest_personalens.agents.language.statements import plain
from pytest_personalens.agents.language.text import stem
from pytest_personalens.agents.language.weights import words as listed
from pytest_personalens.agents.wording.verb_forms import forms, gist
from pytest_personalens.agents.wording.word_classes import word_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN: Final = re.compile(
    r"\d{1,2}[:.]\d{2}(?:\s?[ap]\.?m\b\.?)?|\d{1,2}\s?[ap]\.?m\b\.?|[$€£¥₦₹]?\d[\d.,]*[$€£¥%]?|[^\W\d_]+(?:'[^\W\d_]+)?|[?:]"
)
_CURRENCY: Final = "$€£¥₦₹"
#: Patterns for the user's reaction to the reply before.
_REACTIONS: Final = {
    "no": re.compile(
        r"^\W*(?:no+|nah|nope|not|wrong|wait|hold on|what|huh|why|but|uh|stop|hang on|ugh|never mind|forget)\b|\bnot (?:what|that|the)\b|!\?|\?!|\?\?"
    ),
    "thanks": re.compile(
        r"\b(?:thank|thanks|thx|cheers|ta|perfect|great|lovely|brilliant|wonderful|bless|good night|bye|super|nice)\b"
    ),
    "yes": re.compile(
        r"^\W*(?:yes|yeah|yep|yup|ok|okay|sure|right|good|fine|do it|go ahead|please do|that one|the first|k)\b"
    ),
    "again": re.compile(
        r"\b(?:again|already|i said|i told|told you|like i|as i|same as|usual|always|you know|should know)\b"
    ),
}
#: The classes of words that show the state of a thing.
_STATES: Final = ("done", "failure", "promise", "proposal", "confirmation", "handing_back")
_SHORT, _LONG = 4, 20


def alone(text: str) -> frozenset[str]:
    """Return the cues of a statement outside a dialogue: its words and its form."""
    folded = plain(text)
    shown = {*word_cues(text, folded, frozenset(), frozenset()), *form_cues(folded)}
    if text.rstrip().endswith("?"):
        shown.add("question")
    return frozenset(shown | {f"has {detail}" for detail in details(text)})


def word_cues(text: str, folded: str, goal: frozenset[str], value_words: frozenset[str]) -> Iterator[str]:
    """Yield the words and the runs of two and three words of a statement.

    Words of the topic are replaced by their kind: #G for the goal, #V for a preference, #N for a name.
    """
    names, vocabulary = slots.names(text), listed("vocabulary")
    row = ["^"]
    for token in _TOKEN.findall(folded):
        if token[0].isdigit() or token[0] in _CURRENCY:
            word = (
                "#t"
                if ":" in token or token.rstrip(".").endswith("m")
                else "#m"
                if token[0] in _CURRENCY or token[-1] in _CURRENCY
                else "#"
            )
        elif slots.is_day_word(token):
            word = "#d"
        elif token in names:
            word = "#N"
        elif token in vocabulary or not token[0].isalpha():
            word = token
        else:
            word = "#G" if stem(token) in goal else "#V" if stem(token) in value_words else "#w"
        if word[0] != "#" or row[-1] != word:
            row.append(word)
    row.append("$")
    yield from (f"w {w}" for w in row[1:-1] if w != "#w")
    for n in (2, 3):
        yield from ("w " + " ".join(row[i : i + n]) for i in range(len(row) - n + 1))
    if len(row) <= _SHORT:
        yield "short"
    if len(row) > _LONG:
        yield "long"


def form_cues(folded: str) -> Iterator[str]:
    """Yield the forms and word classes of a statement, alone and together."""
    seen, classes = forms(folded), word_classes(folded)
    how = gist(seen)
    yield f"gist {how}"
    yield from (f"form {form}" for form in seen)
    yield from (f"class {name}" for name in classes)
    yield from (f"class {name} & {how}" for name in classes)
    state = "+".join(name for name in _STATES if name in classes)
    yield f"classes {state or 'none'}"


def reactions(text: str) -> Iterator[str]:
    """Yield the names of the reactions that a message shows to the message before it."""
    folded = plain(text)
    yield from (name for name, pattern in _REACTIONS.items() if pattern.search(folded))
    if folded.rstrip().endswith("?"):
        yield "question"
