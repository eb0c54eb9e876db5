"""Every kind of input, and how often its turn comes."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from tests.project.fuzz.case import Maker
from tests.project.fuzz.cases import of_files, of_options, of_python, of_replies, of_suites, of_surroundings

#: Kind -> what makes its cases, and how many of them there are in a round.
KINDS: Final[Mapping[str, tuple[Maker, int]]] = {
    "options": (of_options.option, 9), "configuration": (of_options.ini, 6), "pairs of options": (of_options.pair, 6),
    "marks": (of_options.mark, 2), "commands": (of_options.command, 3), "environment": (of_surroundings.environment, 6),
    "workers": (of_surroundings.workers, 4), **of_files.KINDS, "own dataset": (of_python.dataset, 3),
    "assistants": (of_python.assistant, 3), "replies": (of_replies.reply, 3), "fixtures": (of_python.context, 1),
    "agents": (of_python.agent, 2), "misspelt keys": (of_surroundings.misspelt, 2), "places": (of_surroundings.place, 4),
    "linked records": (of_surroundings.linked_record, 1), "arcs": (of_suites.arcs, 4), "questions": (of_suites.questions, 3),
    "exports": (of_suites.exports, 5), "drafts": (of_suites.drafts, 2),
}  # fmt: skip
#: The other kinds do nothing to what is there: their control is the plain run.
WITH_A_CONTROL: Final = frozenset(KINDS) - {
    "options", "pairs of options", "environment", "assistants", "replies", "fixtures", "agents", "misspelt keys", "places", "linked records", "drafts",
}  # fmt: skip
#: A round, in which the kinds come mixed: each share of the cases holds them alike.
ROUND: Final = tuple(kind for kind, (_, times) in KINDS.items() for _ in range(times))


def kind_of(seed: str, number: int, only: str = "") -> str:
    """The kind of the case of a number; `only`, where it is given, is the kind of every case."""
    if only:
        return only
    turns = list(ROUND)
    Random(f"{seed}:{number // len(turns)}").shuffle(turns)
    return turns[number % len(turns)]
