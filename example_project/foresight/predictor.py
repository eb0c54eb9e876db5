"""Foretells a reply or its votes from the text of a request, without a model.

The votes follow from the user's earlier replies: those like this one, by words and by manner, count most. A
text is made of the user's own clauses and of what the user answers.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

#: How much a likeness of manner, and one of words, raises the weight of an earlier reply.
MANNER, WORDS = 3.0, 4.0
#: How often a word of the post, of the thread and of what is answered is expected in an answer.
POST, THREAD, ANSWERED = 0.1, 0.2, 0.6
_WORD: Final = re.compile(r"[a-z0-9']+")
_CLAUSE: Final = re.compile(r"(?<=[.!?;–—])\s+|(?<=,)\s+(?=(?:and|but|so|then)\b)")  # noqa: RUF001
_MANNERS: Final = tomllib.loads(Path(__file__).with_name("manners.toml").read_text(encoding="utf-8"))
#: Pairs of a weight and a pattern: what people do in a reply.
CUES: Final[list[tuple[float, re.Pattern[str]]]] = [
    (weight, re.compile(form.format(shown.replace("\n", "")), flags))
    for group, form, flags in (("words", r"\b(?:{})\b", re.IGNORECASE), ("signs", "{}", re.NOFLAG))
    for weight, shown in _MANNERS[group].values()
]


class Told(NamedTuple):
    """What a request tells. A part that it leaves out is empty."""

    past: list[dict[str, Any]]
    post: str
    thread: list[str]
    answered: str
    reply: str


def foretell(messages: Sequence[Mapping[str, str]]) -> str:
    """Return the answer to the request, which is the last message."""
    request = messages[-1]["content"].replace("’", "'")  # noqa: RUF001
    told, asked = read(request), request.rstrip().rpartition("\n")[2]
    if "text" in asked:
        return answer(told)
    votes = foretold_votes(told)
    return str(round(votes)) if "number" in asked else "positive" if votes > 0 else "negative"


def read(request: str) -> Told:
    """Return the parts of a request: each text of others is a line of JSON, known by its fields."""
    rows = [json.loads(line) for line in request.splitlines() if line.startswith("{")]
    said = [row["text"] for row in rows if "by" in row]  # what the user answers comes last
    return Told(
        past=[row for row in rows if "answered" in row],
        post=" ".join(f"{row['title']} {row['text']}" for row in rows if {"title", "text"} <= set(row)),
        thread=said[:-1],
        answered="".join(said[-1:]),
        reply="".join(row["text"] for row in rows if set(row) == {"text"}),
    )


def foretold_votes(told: Told) -> float:
    """Return the weighted median of the votes for earlier replies, or one vote without any."""
    past = [row for row in told.past if row.get("score") is not None]
    weights = [math.exp(alike) for alike in likeness(past, told)]
    half, passed = sum(weights) / 2, 0.0
    for votes, weight in sorted(zip([float(row["score"]) for row in past], weights, strict=True)):
        passed += weight
        if passed >= half:
            return votes
    return 1


def likeness(past: Sequence[Mapping[str, Any]], told: Told) -> list[float]:
    """Return how like each earlier reply is to this one: the higher, the more."""
    replies = [(row["reply"], row["answered"] if told.answered else "") for row in past]
    replies.append((told.reply, told.answered))
    manners = [manner_of(*each) for each in replies]
    # A manner that the user always has, such as a greeting, tells nothing. What differs counts.
    usual = [sum(column) / len(column) for column in zip(*manners, strict=True)]
    differing = [
        {str(place): own - mean for place, (own, mean) in enumerate(zip(each, usual, strict=True))}
        for each in manners
    ]
    rare = rare_words([words(" ".join(each)) for each in replies])
    return [
        MANNER * cosine(manner, differing[-1]) + WORDS * cosine(text, rare[-1])
        for manner, text in zip(differing[:-1], rare[:-1], strict=True)
    ]


def manner_of(reply: str, answered: str) -> list[float]:
    """Return how far the reply has each manner, its length, and how it takes up what it answers."""
    said = words(reply)
    content = {word for word in said if len(word) > 4}
    return [
        *(w * math.log1p(40 * len(cue.findall(reply)) / (len(said) + 20)) for w, cue in CUES),
        2.5 * math.log1p(len(said)),
        5.0 * (len(said) < 15),
        4.0 * reply.rstrip().endswith("?"),
        3.0 * len(content & set(words(answered))) / math.sqrt(1 + len(content)),
        2.5 * ("?" in answered[-120:]),
    ]


def answer(told: Told) -> str:
    """Return a text of the user's usual length, of clauses with words that this user is expected to say."""
    own = [row["reply"] for row in told.past]
    counted = [Counter(words(reply)) for reply in own]
    length = sorted(each.total() for each in counted)[len(counted) // 2] if counted else 30
    expected: dict[str, float] = {}
    for each in counted:
        for word, number in each.items():
            expected[word] = expected.get(word, 0) + number / each.total() * length / len(counted)
    for share, texts in ((POST, [told.post]), (THREAD, told.thread), (ANSWERED, [told.answered])):
        for word in (word for text in texts for word in set(words(text))):
            expected[word] = expected.get(word, 0) + share
    clauses = [clause for text in [*own, told.answered] for clause in _CLAUSE.split(text) if words(clause)]
    chosen: list[str] = []
    while clauses and len(words(" ".join(chosen))) < length:
        chosen.append(max(clauses, key=lambda clause: _expected_in(clause, expected)))
        clauses.remove(chosen[-1])
        for word in words(chosen[-1]):
            expected[word] -= 1
    return " ".join(chosen) or "I cannot tell."


def _expected_in(clause: str, expected: Mapping[str, float]) -> float:
    """Return how many expected words the clause has, for its length."""
    counted = Counter(words(clause))
    overlap = sum(min(n, max(0.0, expected[word])) for word, n in counted.items())
    return overlap / math.pow(counted.total(), 0.9)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())


def rare_words(texts: Sequence[Sequence[str]]) -> list[dict[str, float]]:
    """Return the words of each text with weights (tf-idf): a word of few of the texts has a high one."""
    among = Counter(word for text in texts for word in set(text))
    return [
        {word: (1 + math.log(n)) * math.log(len(texts) / among[word]) for word, n in Counter(text).items()}
        for text in texts
    ]


def cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the cosine of two vectors. It is 0 if one of them is empty."""
    lengths = math.hypot(*one.values()) * math.hypot(*other.values())
    return sum(value * other.get(name, 0.0) for name, value in one.items()) / lengths if lengths else 0.0
