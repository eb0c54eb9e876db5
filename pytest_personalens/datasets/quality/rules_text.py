"""Rules for summaries: each tells a person's own story in English, and not like a model's answer."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_personalens.datasets.quality.diversity import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_personalens.datasets.quality.corpus import Corpus, Place

#: Typical openings of a model that answers a request instead of telling a story. We wrote the list after
#: reading such openings.
_PREAMBLE: Final = re.compile(
    r"\s*(?:here (?:is|are)\b|here's\b|based on\b|sure\b|certainly\b|of course\b|below (?:is|are)\b"
    r"|the following\b|(?:this|the) (?:is a )?summary\b|summary:|in summary\b|as an ai\b"
    r"|as a language model\b|i (?:have|will|can|cannot)\b|\*\*|#)",
    re.IGNORECASE,
)
_ENGLISH: Final = frozenset(
    """
    the a an and or but of to in on at for with from by as is are was were be been has have had he she
    they his her their it its that this which who when where not no one all would will can may than then
    there so if up out about into over after before
    """.split()  # noqa: SIM905  (a block of words reads better than 60 literals)
)
#: A text with a smaller share of the commonest English words is not English. English prose has 0.35 to 0.5.
_ENGLISH_SHARE: Final = 0.2
#: Shorter sentences ("She reads one book a month.") occur twice by chance, in plain prose often.
_SENTENCE_WORDS: Final = 8


def preamble(corpus: Corpus) -> Iterator[Place]:
    """A summary must tell of the person from its first word on."""
    for file, field, text in corpus.summaries():
        if _PREAMBLE.match(text):
            yield file, field, f"begins like a model's answer: {_cut(text)!r}"


def language(corpus: Corpus) -> Iterator[Place]:
    """A summary must be in English."""
    for file, field, text in corpus.summaries():
        tokens = words_in(text)
        if tokens and sum(t in _ENGLISH for t in tokens) / len(tokens) < _ENGLISH_SHARE:
            yield file, field, f"not English: {_cut(text)!r}"


def missing(corpus: Corpus) -> Iterator[Place]:
    """Each domain of interest must have a summary."""
    for person in corpus.people:
        for domain in sorted(person.mask):
            if not person.summaries.get(domain, "").strip():
                yield person.file, person.field_of(domain), "the summary is missing"


def repeated(corpus: Corpus) -> Iterator[Place]:
    """No two summaries may share a sentence; the finding is at the copy, and names the place of the first."""
    first: dict[str, str] = {}
    copies: dict[tuple[str, str], list[str]] = defaultdict(list)
    for person in corpus.people:
        for domain, text in person.summaries.items():
            for sentence in re.split(r"(?<=[.!?:])\s+", text):
                tokens = words_in(sentence)
                here, key = f"{person.id}, {domain}", " ".join(tokens)
                if len(tokens) >= _SENTENCE_WORDS and first.setdefault(key, here) != here:
                    message = f"stands in {first[key]} too: {_cut(sentence)!r}"
                    copies[person.file, person.field_of(domain)].append(message)
    for (file, field), messages in copies.items():
        yield from ((file, field, message) for message in messages)


def _cut(text: str, width: int = 60) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 3].rstrip() + "..."
