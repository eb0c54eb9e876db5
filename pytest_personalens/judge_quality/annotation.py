"""Dialogues of runs drawn for people to label, so that the judge can be held against them (paper,
Table 5).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.verdict import READINGS, Dimension

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.results.values import Item, Results

#: What tells the strata of a run apart: beside the kind of its task, what the judge said of the dialogue.
_SCORES: Final = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
_Stratum = tuple[object, ...]


class Candidate(NamedTuple):
    """A scored dialogue, with the scenario that it is about."""

    item: Item
    scenario: Scenario


def candidates_of(runs: Sequence[Results]) -> dict[_Stratum, list[Candidate]]:
    """The scored dialogues of the runs themselves by stratum: run, kind of task, task completion and
    personalization.
    """
    found: defaultdict[_Stratum, list[Candidate]] = defaultdict(list)
    for number, results in enumerate(runs):
        for item in results.own:
            e = item.evaluation
            if e.scored and e.scenario in results.scenarios:
                found[number, e.kind, *(e.score(d) for d in _SCORES)].append(
                    Candidate(item, results.scenarios[e.scenario])
                )
    return dict(found)


def draw_dialogues(runs: Sequence[Results], count: int, *, seed: str) -> list[Candidate]:
    """`count` dialogues, of each stratum its share of all, in an order that tells nothing of it; the same for
    the same runs and seed.

    Shares are those of the runs, so that agreement on the draw is an estimate of agreement on all of them.
    Raises `SpecError` where there is nothing to draw from, or less than `count`.
    """
    strata = candidates_of(runs)
    total = sum(map(len, strata.values()))
    if not total:
        raise SpecError(
            "there is no scored dialogue whose scenario these files hold; write them with"
            " --personalens-report results.json"
        )
    if total < count:
        raise SpecError(f"--count {count}: there are only {total} scored dialogues; give at most that")
    places = _places({stratum: len(found) for stratum, found in strata.items()}, count)
    drawn = [
        (digest, candidate)
        for stratum, found in strata.items()
        for digest, candidate in sorted((_digest(seed, stratum[0], c.item.nodeid), c) for c in found)[
            : places[stratum]
        ]
    ]
    return [candidate for _, candidate in sorted(drawn, key=lambda one: _digest(seed, one[0]))]


def entries(drawn: Sequence[Candidate], annotators: Sequence[str]) -> list[dict[str, Any]]:
    """The dialogues as labelled ones without labels: null for each reading of the run that an annotator is to
    give.

    Nothing in them says what the judge thought, or which run they are of.
    """
    seen: Counter[str] = Counter()
    found = []
    for item, scenario in drawn:
        seen[scenario.id] += 1
        number = seen[scenario.id]
        found.append(
            _entry(item, scenario, scenario.id if number == 1 else f"{scenario.id}-{number}", annotators)
        )
    return found


def label_lines(found: Sequence[dict[str, Any]]) -> str:
    """One JSON object a line, as `read_labels` takes them."""
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in found)


def _entry(item: Item, scenario: Scenario, name: str, annotators: Sequence[str]) -> dict[str, Any]:
    task, dialogue = scenario.task, item.evaluation.dialogue
    to_label: dict[str, Any] = {d.value: None for d in READINGS if item.evaluation.score(d) is not None}
    return {
        "id": name,
        "scenario": {
            "kind": scenario.kind,
            "demographics": scenario.demographics,
            "preferences": {
                d: {t: list(values) for t, values in types.items()}
                for d, types in scenario.preferences.items()
            },
            "interactions": scenario.summaries,
            "situation": scenario.situation.model_dump(),
            "task": {
                "description": task.description,
                "intent": task.intent,
                "goal": task.goal,
                "domains": list(scenario.domains),
                "relevant_preferences": [f"{domain}: {name}" for domain, name in task.relevant],
            },
        },
        "dialogue": [message.model_dump() for message in dialogue.messages],
        "end": dialogue.end,
        "labels": {annotator: {**to_label, "why": ""} for annotator in annotators},
    }


def _places(sizes: dict[_Stratum, int], count: int) -> dict[_Stratum, int]:
    """How many of each stratum are drawn: its share, rounded so that they add up to `count` (largest
    remainders).
    """
    total = sum(sizes.values())
    places = {stratum: count * size // total for stratum, size in sizes.items()}
    order = sorted(
        sizes, key=lambda stratum: (-(count * sizes[stratum] % total), -sizes[stratum], str(stratum))
    )
    for stratum in order[: count - sum(places.values())]:
        places[stratum] += 1
    return places


def _digest(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()
