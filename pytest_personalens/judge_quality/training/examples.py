"""Labelled dialogues in the form that the training of the embedded judge needs.

The form is the statements of a dialogue with their tags, under the user's own profile and another user's.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from pytest_personalens.agents.embedded_judge.acts.cues import Line, lines, read
from pytest_personalens.agents.language.statements import of_message, plain
from pytest_personalens.agents.language.text import content
from pytest_personalens.agents.wording.wording_cues import alone

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.dialogue.dialogue import Message
    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.judge_quality.agreement.labels import Labelled

#: A word is known if this many scenarios use it. The judge learns from a word if `LEARNED` scenarios use it.
KNOWN: Final = 3
LEARNED: Final = 12
#: A stem is common if the assistant uses it in at least this share of the dialogues.
COMMON: Final = 0.02
#: Acts that depend on the profile of the user. Under the profile of another person a statement has none of
#: them.
GROUNDED: Final = "UVAB"
_UNGROUNDED: Final = dict.fromkeys(map(ord, GROUNDED))
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_TOKEN: Final = re.compile(r"\w+")
#: The words of a statement are searched in as many words of the pieces as it has, plus this many.
_SLACK: Final = 8
#: A piece belongs to a statement if it holds this share, or this number, of the words of the statement.
_SHARE, _WORDS = 0.25, 4


class Side(NamedTuple):
    """A dialogue under one profile: its statements with their tags.

    A tag holds the acts of a statement as letters. It is None for a statement that nobody tagged.
    """

    scenario: Scenario
    lines: tuple[Line, ...]
    tags: tuple[str | None, ...]


class Example(NamedTuple):
    """A labelled dialogue under its own profile and under another user's."""

    labelled: Labelled
    user: Side
    other_user: Side


def examples(labelled: Sequence[Labelled]) -> list[Example]:
    """Return the dialogues, each with another user who has the same domains.

    The id of the dialogue decides which other user is chosen.
    """
    by_domain: dict[str, list[Labelled]] = defaultdict(list)
    for entry in labelled:
        for domain in entry.scenario.domains:
            by_domain[domain].append(entry)
    return [_example(entry, _other_user(entry, by_domain)) for entry in labelled]


def _example(entry: Labelled, other_user: Scenario) -> Example:
    messages = entry.dialogue.messages
    tags = (
        tuple(t for m, pieces in zip(messages, entry.pieces, strict=True) for t in aligned(m, pieces))
        if entry.pieces
        else (None,) * sum(len(read(m)) for m in messages)
    )
    user = Side(entry.scenario, lines(entry.scenario, messages), tags)
    ungrounded = tuple(t if t is None else t.translate(_UNGROUNDED) for t in tags)
    return Example(entry, user, Side(other_user, lines(other_user, messages), ungrounded))


def aligned(message: Message, pieces: Sequence[tuple[str, str]]) -> list[str | None]:
    """Return the letters of the pieces that hold the words of each statement.

    The value is None for a statement that the pieces do not hold.
    """
    words = [(w, number) for number, (_, text) in enumerate(pieces) for w in _TOKEN.findall(plain(text))]
    letters: list[str | None] = []
    start = 0
    for text, _ in read(message):
        wanted = _TOKEN.findall(plain(text))
        at = next((i for i in range(start, len(words)) if wanted and words[i][0] == wanted[0]), None)
        if at is None:
            letters.append(None)
            continue
        used: Counter[int] = Counter()
        place, limit = at, at + len(wanted) + _SLACK
        for word in wanted:
            here = next((i for i in range(place, min(limit, len(words))) if words[i][0] == word), None)
            if here is not None:
                used[words[here][1]] += 1
                place = here + 1
        start = max(place, start)
        total = sum(used.values())
        letters.append(
            "".join(
                sorted(
                    {c for i, n in used.items() if n >= _SHARE * total or n >= _WORDS for c in pieces[i][0]}
                )
            )
        )
    return letters


def _other_user(entry: Labelled, by_domain: dict[str, list[Labelled]]) -> Scenario:
    preferences, summaries = {}, {}
    situation = entry.scenario.situation
    for domain in entry.scenario.domains:
        candidates = [o for o in by_domain[domain] if o.group != entry.group]
        if not candidates:
            continue
        number = int.from_bytes(hashlib.sha256(f"{entry.id} {domain}".encode()).digest()[:4], "big")
        scenario = candidates[number % len(candidates)].scenario
        preferences[domain], summaries[domain], situation = (
            scenario.preferences[domain],
            scenario.summaries[domain],
            scenario.situation,
        )
    relevant = tuple((d, t) for d, types in preferences.items() for t in types)
    return entry.scenario.model_copy(
        update={
            "preferences": {d: preferences.get(d, {}) for d in entry.scenario.domains},
            "summaries": {d: summaries.get(d, "") for d in entry.scenario.domains},
            "situation": situation,
            "task": entry.scenario.task.model_copy(update={"relevant": relevant}),
        }
    )


def word_lists(labelled: Sequence[Labelled]) -> dict[str, list[str]]:
    """Return the word lists of the judge by the name of their file."""
    groups: dict[str, set[str]] = defaultdict(set)
    stems: Counter[str] = Counter()
    for entry in labelled:
        for message in entry.dialogue.messages:
            for word in _WORD.findall(plain(message.content)):
                groups[word].add(entry.group)
        stems.update(
            frozenset[str]().union(
                *(content(m.content) for m in entry.dialogue.messages if m.role == "assistant")
            )
        )
    return {
        "known": sorted(w for w, g in groups.items() if len(g) >= KNOWN),
        "vocabulary": sorted(w for w, g in groups.items() if len(g) >= LEARNED),
        "common": sorted(s for s, n in stems.items() if n >= COMMON * len(labelled)),
    }


def tagged_statements(path: Path) -> list[tuple[frozenset[str], str]]:
    """Return the cues and tags of single statements, read from lines ``TAGS | text``."""
    tagged = []
    for line in path.read_text(encoding="utf-8").splitlines():
        tags, bar, text = line.partition("|")
        if bar and tags.strip().isalpha():
            tagged += [(alone(statement), tags.strip()) for statement, _ in of_message(text.strip())[:1]]
    return tagged
