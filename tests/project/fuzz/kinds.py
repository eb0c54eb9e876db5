"""Every kind of input, and how often its turn comes."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from tests.project.fuzz.case import Maker
from tests.project.fuzz.cases import (
    of_data,
    of_options,
    of_places,
    of_processes,
    of_python,
    of_replies,
    of_runs,
    of_suites,
)

#: Kind -> what makes its cases, and how many of them there are in a round.
KINDS: Final[Mapping[str, tuple[Maker, int]]] = {
    "options": (of_options.option, 9),
    "configuration": (of_options.ini, 6),
    "pairs of options": (of_options.pair, 6),
    "marks": (of_options.mark, 2),
    "commands": (of_options.command, 3),
    "environment": (of_processes.environment, 6),
    "workers": (of_processes.workers, 4),
    "own data": (of_data.own_data, 4),
    "official data": (of_data.official, 3),
    "own dataset": (of_python.dataset, 3),
    "prompt templates": (of_data.prompts, 1),
    "prices, parameters": (of_data.prices, 1),
    "lists of users": (of_data.users, 1),
    "labels": (of_data.labels, 2),
    "dialogues": (of_data.dialogues, 2),
    "anchors": (of_data.anchors, 1),
    "records": (of_runs.record, 2),
    "baselines": (of_runs.baseline, 2),
    "results": (of_runs.results, 2),
    "shards": (of_runs.shard, 2),
    "adopted judges": (of_runs.adopted, 1),
    "journals": (of_runs.journal, 2),
    "assistants": (of_python.assistant, 3),
    "replies": (of_replies.reply, 3),
    "fixtures": (of_python.context, 1),
    "agents": (of_python.agent, 2),
    "misspelt keys": (of_places.misspelt, 2),
    "places": (of_places.place, 4),
    "linked records": (of_places.linked_record, 1),
    "arcs": (of_suites.arcs, 4),
    "questions": (of_suites.questions, 3),
    "exports": (of_suites.exports, 5),
    "drafts": (of_suites.drafts, 2),
}
#: A round, in which the kinds come mixed: each share of the cases holds them alike.
ROUND: Final = tuple(kind for kind, (_, times) in KINDS.items() for _ in range(times))


def kind_of(seed: str, number: int, only: str = "") -> str:
    """The kind of the case of a number; `only`, where it is given, is the kind of every case."""
    if only:
        return only
    turns = list(ROUND)
    Random(f"{seed}:{number // len(turns)}").shuffle(turns)
    return turns[number % len(turns)]
