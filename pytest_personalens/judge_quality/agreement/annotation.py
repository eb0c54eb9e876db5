"""Draws dialogues of runs for people to label, to show how far the judge agrees with them (Table 5)."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_personalens.core.errors import SpecError
from pytest_personalens.core.judging.verdict import Dimension
from pytest_personalens.core.suite_names import FIRST_SUITE
from pytest_personalens.datasets.base import digest
from pytest_personalens.judge_quality.agreement.labels import read_unlabelled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_personalens.core.scenario import Scenario
    from pytest_personalens.results.values.item import Item
    from pytest_personalens.results.values.results import Results

#: The scores that divide a run into strata, together with the kind of task.
_SCORES: Final = (Dimension.TASK_COMPLETION, Dimension.PERSONALIZATION)
_Stratum = tuple[object, ...]


class Candidate(NamedTuple):
    """A scored dialogue with its scenario."""

    item: Item
    scenario: Scenario


def candidates_of(runs: Sequence[Results]) -> dict[_Stratum, list[Candidate]]:
    by_stratum: defaultdict[_Stratum, list[Candidate]] = defaultdict(list)
    for number, results in enumerate(runs):
        for item in results.own:
            e = item.evaluation
            if e.scored and e.scenario in results.scenarios:
                by_stratum[number, e.kind, *(e.score(d) for d in _SCORES)].append(
                    Candidate(item, results.scenarios[e.scenario])
                )
    return dict(by_stratum)


class Unlabelled(NamedTuple):
    """A dialogue for people to label: its line in a file of labels, without any, and its scenario."""

    line: dict[str, Any]
    scenario: Scenario


def draw_dialogues(
    runs: Sequence[Results], count: int, *, seed: str, at_most: bool = False
) -> list[Unlabelled]:
    """Return `count` dialogues, drawn from each stratum in proportion to its size; fewer if `at_most`.

    The order shows nothing of the strata. The same runs and seed give the same draw. The shares are those of
    the runs, so agreement on the drawn dialogues is an estimate of the agreement on all of them.

    Raise `SpecError` if the runs have no dialogue to draw, or fewer than `count`, or are of another suite.
    """
    if other := next((run.suite for run in runs if run.suite != FIRST_SUITE), ""):
        raise SpecError(f"results of the suite {other}: people label those of {FIRST_SUITE}", code="PL207")
    strata = candidates_of(runs)
    total = sum(map(len, strata.values()))
    if not total:
        raise SpecError(
            "there is no scored dialogue whose scenario these files hold; write them with"
            " --personalens-report results.json",
            code="PL106",
        )
    count = min(count, total) if at_most else count
    if total < count:
        raise SpecError(
            f"--count {count}: there are only {total} scored dialogues; give at most that", code="PL108"
        )
    places = _places({stratum: len(candidates) for stratum, candidates in strata.items()}, count)
    drawn: list[tuple[str, Candidate]] = []
    for stratum, candidates in strata.items():
        keyed = [(digest(seed, str(stratum[0]), c.item.nodeid).hex(), c) for c in candidates]
        drawn += sorted(keyed, key=itemgetter(0))[: places[stratum]]
    ordered = sorted(drawn, key=lambda pair: digest(seed, pair[0]))
    return _unlabelled([candidate for _, candidate in ordered])


def unlabelled_in(path: Path, count: int | None, *, seed: str) -> list[Unlabelled]:
    """Return the dialogues of a file of labels without what it says of them, `count` drawn if it is given.

    Raise `DataError` for a bad file, and `SpecError` if it has fewer.
    """
    every = [Unlabelled(*pair) for pair in read_unlabelled(path)]
    if count is None:
        return every
    if len(every) < count:
        raise SpecError(f"--count {count}: {path} has only {len(every)} dialogues", code="PL108")
    return sorted(every, key=lambda one: digest(seed, one.line["id"]))[:count]


def _unlabelled(drawn: Sequence[Candidate]) -> list[Unlabelled]:
    """Return the dialogues with lines that show neither the scores of the judge nor the run."""
    seen: Counter[str] = Counter()
    unlabelled = []
    for item, scenario in drawn:
        seen[scenario.id] += 1
        number = f"-{seen[scenario.id]}" if seen[scenario.id] > 1 else ""
        unlabelled.append(Unlabelled(_entry(item, scenario, scenario.id + number), scenario))
    return unlabelled


def label_lines(
    unlabelled: Sequence[Unlabelled], annotators: Sequence[str], readings: Sequence[Dimension]
) -> str:
    """Return one JSON object on each line, as `read_labels` expects them, null for each reading to give."""
    to_label: dict[str, Any] = {d.value: None for d in readings}
    labels = {annotator: {**to_label, "why": ""} for annotator in annotators}
    return "".join(
        json.dumps({**one.line, "labels": labels}, ensure_ascii=False) + "\n" for one in unlabelled
    )


def _entry(item: Item, scenario: Scenario, name: str) -> dict[str, Any]:
    task, dialogue = scenario.task, item.evaluation.dialogue
    return {
        "id": name,
        **({"whole": scenario.without_history()} if task.facts else {"scenario": _short(scenario)}),
        "dialogue": [message.model_dump() for message in dialogue.messages],
        "end": dialogue.end,
    }


def _places(sizes: dict[_Stratum, int], count: int) -> dict[_Stratum, int]:
    """Return how many dialogues are drawn from each stratum, by the method of largest remainders."""
    total = sum(sizes.values())
    places = {stratum: count * size // total for stratum, size in sizes.items()}
    order = sorted(
        sizes, key=lambda stratum: (-(count * sizes[stratum] % total), -sizes[stratum], str(stratum))
    )
    for stratum in order[: count - sum(places.values())]:
        places[stratum] += 1
    return places


def _short(scenario: Scenario) -> dict[str, Any]:
    task = scenario.task
    return {
        "kind": scenario.kind,
        "demographics": scenario.demographics,
        "preferences": {
            d: {t: list(values) for t, values in types.items()} for d, types in scenario.preferences.items()
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
    }
